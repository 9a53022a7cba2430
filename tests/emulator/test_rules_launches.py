"""Rules on block sizes: bounds that the compiler is told, and blocks of whole waves."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import (
    AccessKind,
    Geometry,
    Kernel,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
)

BOUND = "bound_block_size"
WAVES = "whole_waves"
SMALLER = "smaller_blocks"
PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr int kThreads = 256;
template <int N>
__global__ void sums(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float part[N];
  for (int k = 0; k < N; ++k) part[k] = i * k;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += part[(k * 7 + 1) % N];  //@
  if (i < n) out[i] = sum;
}
int main() {
  float* out;
  hipMalloc(&out, 4096);
  sums<8><<<4, kThreads>>>(out, 1000);
  sums<16><<<8, 128>>>(out, 1000);
  float host[1000];
  hipMemcpy(host, out, 4000, hipMemcpyDeviceToHost);
  for (int i = 0; i < 1000; i += 111) printf("%g\\n", host[i]);
}
"""


def propose(
    root: Path,
    program: str,
    threads: int = 256,
    spilled: float = 40,
    vendor: str = "amd",
    rule: str = BOUND,
    blocks: int = 4,
    starting: float = 0.0,  # share of the kernel's time
    kernel: str = "",  # default: the first
) -> Proposal:
    bench = Bench(root, {"app.hip": program})
    task = bench.task(rule, AccessKind.LOAD, MemorySpace.LOCAL)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if text.startswith("__global__") and kernel in text)
    profile = dataclasses.replace(
        task.finding.profile,
        kernel=Kernel("k", "sums<8>", root / "app.hip", line),
        geometries=(Geometry((blocks, 1, 1), (threads, 1, 1)),),
        quantities={
            Metric.SPILLED_REGISTERS: Quantity(spilled, Provenance.STATIC),
            Metric.DISPATCH_TIME_NS: Quantity(10_000 * starting, Provenance.MODELLED),
            Metric.DEVICE_TIME_NS: Quantity(10_000, Provenance.MODELLED),
        },
    )
    finding = dataclasses.replace(task.finding, profile=profile)
    device = dataclasses.replace(task.device, vendor=vendor)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding, device=device), ())
    assert proposal is not None
    return proposal


def declined(root: Path, program: str, **known: object) -> str:
    proposal = propose(root, program, **known)  # type: ignore[arg-type]
    assert proposal.declined is not None, proposal.candidate
    return proposal.declined.reason


def test_the_largest_block_of_all_launches_is_the_bound(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "a", PROGRAM)
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "__global__ void __launch_bounds__(256) sums(float* out, int n) {" in edit.text
    assert edit.text.replace("__launch_bounds__(256) ", "") == PROGRAM
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("sums<16><<<8, 128>>>", "sums<16><<<8, dim3(printf(\"\"))>>>", "is not a constant"),
        ("sums<16><<<8, 128>>>", "sums<16><<<1, 1024>>>", "1024 threads, which the compiler reckons with anyway"),
        ("__global__ void sums", "__global__ void __launch_bounds__(512) sums", "has bounds already"),
        ("  float host", "  hipFuncAttributes a; hipFuncGetAttributes(&a, (const void*)sums<8>);\n  float host",
         "otherwise than in a launch"),
    ],
)  # fmt: skip
def test_a_bound_that_might_be_exceeded_or_helps_nothing_is_not_set(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in PROGRAM
    assert reason in declined(tmp_path, PROGRAM.replace(old, new))


def test_a_bound_below_what_was_seen_is_not_set(tmp_path: Path) -> None:
    assert "ran with blocks of 512 threads" in declined(tmp_path, PROGRAM, threads=512)


def test_an_array_that_is_indexed_freely_is_not_helped_by_registers(tmp_path: Path) -> None:
    assert "indices are not constants" in declined(tmp_path, PROGRAM, spilled=0)


def test_nvcc_needs_no_bound_to_give_all_registers(tmp_path: Path) -> None:
    assert "all registers that there are" in declined(tmp_path, PROGRAM, vendor="nvidia")


HALVES = """
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void halves(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float half = 0.5f;
  if (i >= n) return;
  float x = in[i];  //@
  for (int k = 0; k < 100; ++k) x = x * half + i;
  out[i] = x;
}
int main() {
  const int count = 1000;
  const int threads = 48;
  float *in, *out, host[count];
  hipMalloc(&in, count * 4);
  hipMalloc(&out, count * 4);
  hipMemset(in, 0, count * 4);
  int blocks = (count + threads - 1) / threads;
  halves<<<blocks, threads>>>(out, in, count);
  hipMemcpy(host, out, count * 4, hipMemcpyDeviceToHost);
  for (int i = 0; i < count; i += 111) printf("%g\\n", host[i]);
}
"""


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        ("", "", "threads = 48;", "threads = 64;"),
        ("  if (i >= n) return;", "  if (i >= n) { return; }", "threads = 48;", "threads = 64;"),
        ("halves<<<blocks, threads>>>", "halves<<<(count + 100 - 1) / 100, dim3(100)>>>",
         "(count + 100 - 1) / 100, dim3(100)", "(count + 128 - 1) / 128, dim3(128)"),
        ("halves<<<blocks, threads>>>(", "hipLaunchKernelGGL(halves, dim3(blocks), dim3(threads), 0, 0, ",
         "threads = 48;", "threads = 64;"),
        ("(count + threads - 1) / threads", "1 + (count - 1) / threads", "threads = 48;", "threads = 64;"),
        ("const int threads = 48;", "const int other = 1, threads = 48;", "threads = 48;", "threads = 64;"),
        ("__global__ void halves", "__device__ int unused() { return blockDim.x; }\n__global__ void halves",
         "threads = 48;", "threads = 64;"),
        ("  if (i >= n) return;", "  if (i < 1 || i >= n - 1) return;", "threads = 48;", "threads = 64;"),
        ("  float *in, *out, host[count];", "  float *in, *out, host[count + threads];",
         "<<<blocks, threads>>>", "<<<(count + 63) / 64, 64>>>"),
        ("  hipMemcpy(host", "  if (blocks > 9) halves<<<blocks, threads>>>(out, in, count);\n  hipMemcpy(host",
         "<<<blocks, threads>>>", "<<<(count + 63) / 64, 64>>>"),
    ],
)  # fmt: skip
def test_blocks_are_rounded_up_to_whole_waves(tmp_path: Path, old: str, new: str, before: str, after: str) -> None:
    program = HALVES.replace(old, new) if old else HALVES
    proposal = propose(tmp_path / "a", program, rule=WAVES)
    assert proposal.candidate is not None, proposal.declined
    assert proposal.candidate.declares.geometry
    (edit,) = proposal.candidate.edits
    assert edit.text == program.replace(before, after) != program
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": program})


def test_elements_numbered_by_blocks_of_one_thread_share_blocks(tmp_path: Path) -> None:
    other = "__global__ void other(int* o) { extern __shared__ int all[]; o[0] = all[0]; }\n__global__ void halves"
    program = HALVES.replace("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x").replace(
        "<<<blocks, threads>>>", "<<<count, 1>>>"
    ).replace("__global__ void halves", other)  # fmt: skip
    proposal = propose(tmp_path / "a", program, threads=1, rule=WAVES, kernel="halves")
    assert proposal.candidate is not None, proposal.declined
    text = proposal.candidate.edits[0].text
    assert "int i = blockIdx.x * blockDim.x + threadIdx.x;" in text and "<<<(count + 63) / 64, 64>>>" in text
    assert output(tmp_path / "b", {"app.hip": text}) == output(tmp_path / "c", {"app.hip": program})
    alone = program.replace("x * half + i", "x * half + threadIdx.x")
    assert "uses threadIdx.x by itself" in declined(tmp_path, alone, threads=1, rule=WAVES, kernel="halves")


def test_a_block_size_that_is_a_macro_is_written_anew_at_the_launch_and_asked_for_in_the_kernel(tmp_path: Path) -> None:
    program = HALVES.replace("const int threads = 48;", "").replace("__global__", "#define WIDE 48\n__global__", 1)
    program = (
        program.replace("* blockDim.x", "* WIDE").replace("threads", "WIDE").replace("half + i;", "half + i + WIDE;")
    )
    proposal = propose(tmp_path / "a", program, rule=WAVES)
    assert proposal.candidate is not None, proposal.declined
    text = proposal.candidate.edits[0].text
    assert "blockIdx.x * blockDim.x" in text and "half + i + WIDE" in text
    assert "(count + 64 - 1) / 64;" in text and "<<<blocks, 64>>>" in text
    assert output(tmp_path / "b", {"app.hip": text}) == output(tmp_path / "c", {"app.hip": program})


@pytest.mark.parametrize(
    ("blocks", "starting", "threads"),
    [(100_000, 0.9, 256), (100_000, 0.1, 64), (3000, 0.9, 64), (6000, 0.9, 128)],
    ids=["starts dominate", "the work dominates", "few blocks", "some blocks"],
)
def test_blocks_that_are_mostly_started_grow_as_far_as_every_unit_has_some(
    tmp_path: Path, blocks: int, starting: float, threads: int
) -> None:
    proposal = propose(tmp_path, HALVES, 48, rule=WAVES, blocks=blocks, starting=starting)
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert edit.text == HALVES.replace("threads = 48", f"threads = {threads}")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("threads = 48", "threads = 128", "are whole waves"),
        ("x * half + i", "x * half + threadIdx.x", "uses threadIdx.x by itself"),
        ("x * half + i", "x * half + blockDim.x", "uses blockDim.x by itself"),
        ("  if (i >= n) return;\n", "  out[i] = 0;\n  if (i >= n) return;\n", "does not begin by comparing"),
        ("  if (i >= n) return;\n", "  if (i >= n - 2) return;\n", "does not begin by comparing"),
        ("  if (i >= n) return;\n", "  if (in[i] < 0 || i >= n) return;\n", "does not begin by comparing"),
        ("  if (i >= n) return;\n", "", "does not begin by comparing"),
        ("  float x = in[i];", "  __shared__ float all[64];\n  all[0] = 1;\n  float x = in[i];", "uses LDS (all)"),
        ("  float x = in[i];", "  __syncthreads();\n  float x = in[i];", "syncthreads does may depend"),
        ("  float x = in[i];", "  float x = __shfl(in[i], 0);", "depends on the order of threads (__shfl)"),
        ("(count + threads - 1) / threads", "count / threads + 1", "the grid is not count divided by threads"),
        ("halves<<<blocks, threads>>>(out, in, count)", "halves<<<blocks, threads>>>(out, in, count - 7)",
         "the grid is not count-7 divided by threads"),
        ("  const int count = 1000;\n  const int threads = 48;\n  float *in, *out, host[count];",
         "  int count = 999, threads = 48;\n  ++count;\n  float *in, *out, host[1000];\n  in = out + threads;",
         "count is changed in the launching function"),
        ("__global__ void halves", "__global__ void __launch_bounds__(48) halves", "has bounds for its blocks"),
        ("  float x = in[i];", "  struct S { __device__ operator int() const { return blockDim.x; } };\n"
         "  float x = in[i] + S();", "uses blockDim"),
        ("__global__ void halves", "extern __shared__ float all[];\n__global__ void halves", "LDS of any size"),
        ("threads = 48;", "threads = 24 * 2;", "is not written as a number"),
        ("const int threads = 48;", "int threads = 48; ++threads;", "is not a constant"),
    ],
)  # fmt: skip
def test_what_may_depend_on_the_block_size_is_left_alone(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in HALVES
    assert reason in declined(tmp_path, HALVES.replace(old, new), rule=WAVES)


@pytest.mark.parametrize(
    ("number", "old", "new"),
    [
        ("int i = number();", "<<<4, 256>>>", "<<<4 * 4, 64>>>"),
        ("int i = (blockIdx.y * blockDim.y + threadIdx.y) * across(gridDim.x * blockDim.x)\n"
         "        + blockIdx.x * blockDim.x + threadIdx.x;",
         "<<<wide, dim3(32, 16)>>>", "<<<dim3(wide.x, wide.y * 8, wide.z), dim3(32, 2)>>>"),
        ("int i = blockIdx.y * 512 + blockIdx.x * blockDim.x + threadIdx.x;",
         "<<<dim3(4, 2), 128>>>", "<<<dim3(4 * 2, 2), 64>>>"),
    ],
)  # fmt: skip
def test_threads_of_too_few_blocks_are_spread_over_smaller_ones(
    tmp_path: Path, number: str, old: str, new: str
) -> None:
    program = HALVES.replace("int i = blockIdx.x * blockDim.x + threadIdx.x;", number).replace(
        "<<<blocks, threads>>>", old
    ).replace("  int blocks", "  dim3 wide(2, 1);\n  int blocks")  # fmt: skip
    helpers = "__device__ int across(int threads) { return threads; }\n"
    helpers += "__device__ int number() { return blockIdx.x * blockDim.x + threadIdx.x; }\n"
    program = program.replace("__global__", f"{helpers}__global__", 1)
    proposal = propose(tmp_path / "a", program, rule=SMALLER)
    assert proposal.candidate is not None, proposal.declined
    assert proposal.candidate.declares.geometry
    (edit,) = proposal.candidate.edits
    assert edit.text == program.replace(old, new)
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": program})


def test_a_block_whose_threads_do_not_meet_is_cut_into_parts(tmp_path: Path) -> None:
    program = HALVES.replace("threads = 48", "threads = 256").replace(
        "x * half + i", "x * half + threadIdx.x - 3.f * blockIdx.x + blockDim.x / gridDim.x"
    )
    proposal = propose(tmp_path / "a", program, rule=SMALLER)
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "const unsigned int whole_thread = blockIdx.x % 4 * blockDim.x + threadIdx.x;" in edit.text
    assert "x * half + whole_thread - 3.f * whole_block + (blockDim.x * 4) / (gridDim.x / 4)" in edit.text
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": program})
    twice = program.replace("  hipMemcpy(host", "  halves<<<9, 128>>>(out, in, count);\n  hipMemcpy(host")
    assert "have blocks of different sizes" in declined(tmp_path / "d", twice, rule=SMALLER)


def test_lds_of_another_kernel_is_nobody_else_s(tmp_path: Path) -> None:
    other = "__global__ void other(float* p) {\n  extern __shared__ float s[];\n  p[0] = s[0];\n}\n"
    program = HALVES.replace("threads = 48", "threads = 256").replace("int main", f"{other}int main")
    assert propose(tmp_path, program, rule=SMALLER).candidate is not None


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("threads = 48", "threads = 64", "blocks of 64 threads cannot be halved into whole waves"),
        ("threads = 48", "threads = 129", "blocks of 129 threads cannot be halved"),
        ("  float x = in[i];", "  __shared__ float all[64];\n  all[0] = 1;\n  float x = in[i];", "uses LDS (all)"),
        ("  float x = in[i];", "  __syncthreads();\n  float x = in[i];", "has a barrier on line"),
        ("  float x = in[i];", "  float x = __shfl(in[i], 0);", "depends on the order of threads (__shfl)"),
        ("  float x = in[i];", "  float x = in[i] + size();", "size, which the kernel calls, uses blockDim"),
        ("  float x = in[i];", "  dim3 b = blockIdx;\n  float x = in[i] + b.x;", "blockIdx"),
        ("__global__ void halves", "extern __shared__ float all[];\n__global__ void halves", "LDS of any size"),
    ],
)  # fmt: skip
def test_blocks_that_a_kernel_may_notice_keep_their_size(tmp_path: Path, old: str, new: str, reason: str) -> None:
    program = HALVES.replace("__global__", "__device__ int size() { int n = blockDim.x; return n; }\n__global__", 1)
    if "threads" not in old:
        program = program.replace("threads = 48", "threads = 256")
    assert old in program
    assert reason in declined(tmp_path, program.replace(old, new), rule=SMALLER)
    assert "every compute unit has 4 blocks" in declined(
        tmp_path, program.replace("= 48", "= 256"), rule=SMALLER, blocks=4 * 304
    )
