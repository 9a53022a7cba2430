"""Planted cheats and bugs, built and run on the emulator: each must be refused with its own outcome."""

from __future__ import annotations

import pytest
from patchbench import NOTHING, Bench

from intelliperf.records import (
    CheckStatus,
    Declaration,
    Outcome,
)

HOST = """
int main() {
  const int rows = 64, cols = 250;
  const int n = rows * cols;
  std::vector<float> host(n);
  float *in, *out;
  if (hipMalloc(&in, n * sizeof(float)) != hipSuccess) return 1;
  if (hipMalloc(&out, n * sizeof(float)) != hipSuccess) return 1;
  const int block = 256;
  dim3 grid((n + block - 1) / block);
  double sum = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < n; ++i) host[i] = 0.37f * ((i * 7 + round) % 101) + 0.01f;
    hipMemcpy(in, host.data(), n * sizeof(float), hipMemcpyHostToDevice);
    blend<<<grid, block>>>(out, in, rows, cols);
    if (hipDeviceSynchronize() != hipSuccess) return 2;
    hipMemcpy(host.data(), out, n * sizeof(float), hipMemcpyDeviceToHost);
    for (float v : host) sum += v;
  }
  std::printf("sum %.3f\\n", sum);
  hipFree(in);
  hipFree(out);
  return 0;
}
"""
SLOW = "const int i = (t % rows) * cols + t / rows;"
FAST = "const int i = t;"
READ = "if (threadIdx.x == 0) first = in[0];"
SYNC = "__syncthreads();"
WRITE = "if (t < n) out[i] = 2.0f * in[i] + first;"
KERNEL = f"""#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

__global__ void blend(float* out, const float* in, int rows, int cols) {{
  __shared__ float first;
  const int n = rows * cols;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  {SLOW}
  {READ}
  {SYNC}
  {WRITE}
}}
"""
SOURCE = KERNEL + HOST
LAUNCH = "blend<<<grid, block>>>(out, in, rows, cols);"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("cheats"), SOURCE, "app.hip")


@pytest.mark.slow
def test_a_right_and_slightly_faster_rewrite_passes_every_gate_up_to_the_clock(bench):
    """Its gain is within the error of the time model, so that the clock alone does not accept it."""
    verdict = bench.verdict((SLOW, FAST))
    assert verdict.outcome is Outcome.NOT_FASTER, (verdict.detail, verdict.checks)
    assert verdict.compared_dispatches == 3
    assert verdict.compared_bytes == 5 * 3 * 2 * 64000
    assert [check.name for check in verdict.checks if check.status is CheckStatus.FAILED] == ["time"]


GEOMETRY = Declaration(geometry=True, reason="fewer blocks")
KERNELS = Declaration(kernels=True, reason="one pass less")
CHEATS = {
    "no-op": ([(READ, ""), (WRITE, "")], None, Outcome.WRONG_OUTPUT),
    "zeros": ([(WRITE, "if (t < n) out[i] = 0.0f;")], None, Outcome.WRONG_OUTPUT),
    "all but the last element": ([(WRITE, WRITE.replace("t < n", "t < n - 1"))], None, Outcome.WRONG_OUTPUT),
    "another formula": ([(WRITE, WRITE.replace("2.0f", "2.0001f"))], None, Outcome.WRONG_OUTPUT),
    "a missing barrier that works by luck": ([(SYNC, "")], None, Outcome.RACE),
    "bf16 in disguise": (
        [(WRITE, "if (t < n) out[i] = __uint_as_float(__float_as_uint(2.0f * in[i] + first) & 0xffff0000u);")],
        None,
        Outcome.WRONG_OUTPUT,
    ),
    "a changed input": ([(SYNC, SYNC + " if (t < n) ((float*)in)[i] = 1.0f;")], None, Outcome.WRONG_OUTPUT),
    "a skipped launch": ([(LAUNCH, "")], None, Outcome.FORBIDDEN_EDIT),
    "a skipped launch, declared": ([(LAUNCH, "")], KERNELS, Outcome.DISPATCHES_CHANGED),
    "a shrunk grid, declared": ([("blend<<<grid,", "blend<<<dim3(7),")], GEOMETRY, Outcome.WRONG_OUTPUT),
    "an early exit of the program": ([("double sum = 0;", "double sum = 0; exit(0);")], None, Outcome.FORBIDDEN_EDIT),
    "an answer kept from an earlier launch": ([(SYNC, "static float kept; " + SYNC)], None, Outcome.FORBIDDEN_EDIT),
    "a write beyond the end": ([(WRITE, WRITE + " if (t == 0) out[n + 2000] = 1.0f;")], None, Outcome.MEMORY_ERROR),
    "a write through null": ([(WRITE, WRITE + " if (t == 3) *(volatile int*)0 = 1;")], None, Outcome.MEMORY_ERROR),
    "a read of LDS that nobody wrote": (
        [("float first;", "float first, more[256];"), (WRITE, "if (more[threadIdx.x] < 1e30f) " + WRITE)],
        None,
        Outcome.MEMORY_ERROR,
    ),
    "an LDS array that is one element too short": (
        [
            ("float first;", "float first, row[255];"),
            (SYNC, "if (t < n) row[threadIdx.x] = in[i]; " + SYNC),
            (WRITE, WRITE.replace("in[i]", "row[threadIdx.x]")),
        ],
        None,
        Outcome.MEMORY_ERROR,
    ),
    "a hang": ([(SYNC, SYNC + " for (volatile int spin = 1; spin;) { }")], None, Outcome.TIMED_OUT),
    "a trap": ([(SYNC, SYNC + " if (t == 70) __builtin_trap();")], None, Outcome.CRASHED),
    "code that does not compile": ([(SYNC, SYNC + " undeclared = 1;")], None, Outcome.BUILD_FAILED),
    "nothing gained": ([(WRITE, "if (t < n) out[i] = first + in[i] * 2.0f;")], None, Outcome.NOT_FASTER),
}  # fmt: skip


# One of each outcome; the others are judged by `make slow`.
EVERY_TIME = (
    "all but the last element",
    "a missing barrier that works by luck",
    "a skipped launch",
    "a skipped launch, declared",
    "a write beyond the end",
    "a trap",
    "code that does not compile",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in EVERY_TIME else [pytest.mark.slow]) for name in CHEATS]
)
def test_a_cheat_is_refused(bench, name):
    changes, declares, outcome = CHEATS[name]
    verdict = bench.verdict(*changes, declares=declares or NOTHING)
    assert verdict.outcome is outcome, verdict.detail


SPLIT = [
    ("int main() {", "__global__ void blend_base(float* base, const float* in) { *base = in[0]; }\nint main() {"),
    (READ, "if (threadIdx.x == 0) first = base[0];"),
    ("const float* in, int rows, int cols)", "const float* in, const float* base, int rows, int cols)"),
    (SLOW, FAST),
    (
        LAUNCH,
        "float* base;\n    hipMalloc(&base, 4);\n    blend_base<<<1, 1>>>(base, in);\n"
        "    blend<<<grid, block>>>(out, in, base, rows, cols);\n    hipFree(base);",
    ),
]  # fmt: skip


REMEMBERED = [
    (LAUNCH, "blend<<<grid, block>>>(out, in, rows, cols, kept);"),
    ("double sum = 0;", "float* kept;\n  hipMalloc(&kept, n * 4);\n  hipMemset(kept, 0, n * 4);\n  double sum = 0;"),
    ("int rows, int cols) {", "int rows, int cols, float* kept) {"),
    (SLOW, FAST + " const float seen = t < n ? kept[t] : 0.0f; if (t < n && seen == 0.0f) kept[t] = in[i];"),
    (WRITE, "if (t < n) out[i] = 2.0f * (seen != 0.0f ? seen : in[i]) + first;"),
]  # fmt: skip


@pytest.mark.slow
def test_scratch_memory_is_spoilt_before_the_next_launch_reads_what_it_remembers(bench):
    constant = SOURCE.replace("((i * 7 + round) % 101)", "((i * 7) % 101)")
    text = constant
    for old, new in REMEMBERED:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    verdict = bench.verdict_of(constant, text, KERNELS)
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "dispatch 1" in verdict.detail


@pytest.mark.slow
def test_a_declared_split_with_scratch_memory_is_followed_to_its_last_kernel(bench):
    right = bench.verdict(*SPLIT, declares=KERNELS)
    assert right.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER, Outcome.SLOWER_OVERALL), right.detail
    assert right.compared_dispatches == 3
    spoilt = bench.verdict(*SPLIT, (WRITE, WRITE.replace("2.0f", "2.5f")), declares=KERNELS)
    assert spoilt.outcome is Outcome.WRONG_OUTPUT, spoilt.detail
