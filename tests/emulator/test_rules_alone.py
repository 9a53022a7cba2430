"""What one thread did alone, shared by a wave or by further blocks: run on the emulator before and after."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Geometry, MemorySpace

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void k(const int* in, int* out, int* running, int n) {  //@ x
  __shared__ int part[96];
  __shared__ int worst, total;
  extern __shared__ int sums[];
  const unsigned tid = threadIdx.x;
  part[tid] = in[blockIdx.x * blockDim.x + tid] % 53;
  __syncthreads();
  if (tid == 0) {
    int low = part[0];
    int at = 0;
    for (int t = 1; t < 96; ++t)
      if (part[t] < low) { low = part[t]; at = t; }
    worst = at;
    int sum = 0;
    for (int t = 0; t < 96; ++t) {
      sum += part[t];
      sums[t] = sum;
    }
    total = sum;
    out[blockIdx.x] = sum * 1000 + low;
  }
  __syncthreads();
  running[blockIdx.x * blockDim.x + tid] = sums[tid] * 128 + worst + total;
  if (!threadIdx.x && n > 3)
    for (int i = 0; i < n; ++i) out[2 + i + blockIdx.x * n] = in[i] + i;
}
int main() {
  static int host[192], all[192];
  for (int i = 0; i < 192; ++i) host[i] = i * 7919 % 1009;
  int *in, *out, *running;
  hipMalloc(&in, sizeof host); hipMalloc(&out, sizeof host); hipMalloc(&running, sizeof all);
  hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice); hipMemset(out, 0, sizeof host);
  k<<<2, 96, 96 * sizeof(int)>>>(in, out, running, 60);
  hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost); hipMemcpy(all, running, sizeof all, hipMemcpyDeviceToHost);
  for (int i = 0; i < 192; ++i) printf("%d %d\\n", host[i], all[i]);
}
"""


def propose(root: Path, program: str, rule: str = "wave_for_thread") -> Proposal:
    bench = Bench(root, {"app.hip": program})
    task = bench.task(rule, AccessKind.KERNEL, MemorySpace.GLOBAL)
    line = next(n for n, text in enumerate(program.splitlines(), 1) if "__global__" in text)
    kernel = dataclasses.replace(task.finding.profile.kernel, name="k", line=line)
    shapes = (Geometry((3, 1, 1), (32, 1, 1)),)
    profile = dataclasses.replace(task.finding.profile, kernel=kernel, geometries=shapes)
    finding = dataclasses.replace(task.finding, profile=profile)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding), ())
    assert proposal is not None
    return proposal


def test_a_wave_leaves_what_one_thread_left(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "rule", PROGRAM)
    assert proposal.candidate is not None, proposal.declined
    text = proposal.candidate.edits[0].text
    assert "if (threadIdx.x < 32) {" in text and "if (threadIdx.x < 32 && n > 3)" in text
    assert "if (lane == 0) worst = at;" in text and "sum += group_running_sum(" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<<<2, 96, ", "<<<2, 48, ", "blocks of 48 threads are not whole groups"),
        ("  part[tid] =", "  if (tid == 7) return;\n  part[tid] =", "may not get to line"),
        ("  __syncthreads();\n  if (tid", "  if (tid", "no barrier keeps line"),
        ("  __syncthreads();\n  running", "  running", "no barrier keeps line"),
        (
            "  if (tid == 0) {",
            "  if (tid == 0) worst = 9;\n  if (tid == 0) {\n  int first = worst;",
            "no barrier keeps line",
        ),
        ("sum += part[t];", "sum = sum * 3 + part[t];", "carries sum from one turn"),
        ("sum += part[t];", "sum += part[t] * tid;", "may differ between the threads"),
        ("sums[t] = sum;", "sums[t] = sum; worst = t;", "writes to more than the turn's own element"),
        ("    total = sum;", "    total = sum; if (sum < 0) return;", "leaves what one thread does alone"),
        ("sums[t] = sum;", "sums[t / 2] = sum;", "writes to more than the turn's own element"),
    ],
)
def test_what_the_other_threads_must_not_do_is_told(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    only = (
        PROGRAM.replace("!threadIdx.x", "tid < 9")
        .replace("    for (int t = 1;", "    if (n)")
        .replace(" t < 96; ++t)\n", "")
    )
    only = only.replace("part[t] < low) { low = part[t]; at = t; }", "n > 4) low = n;").replace(old, new)
    proposal = propose(tmp_path, only)
    assert proposal.declined is not None, proposal.candidate
    assert reason in proposal.declined.reason


COLUMNS = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void k(const int* in, int* out, int width, int height) {  //@ x
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int weight = in[0] | 1;
  if (x >= width) return;
  for (int y = -2; y < height - 2; y++) {
    int sum = 0;
    for (int d = -1; d <= 1; ++d)
      if (y + 2 + d >= 0 && y + 2 + d < height) sum += in[(y + 2 + d) * width + x];
    out[(y + 2) * width + x] = sum * weight;
  }
}
int main() {
  static int host[70 * 40];
  for (int i = 0; i < 70 * 40; ++i) host[i] = i * 7919 % 1009;
  int *in, *out;
  hipMalloc(&in, sizeof host); hipMalloc(&out, sizeof host);
  hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice); hipMemset(out, 0, sizeof host);
  const dim3 grid((70 + 31) / 32);
  k<<<grid, 32>>>(in, out, 70, 40);
  hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost);
  for (int i = 0; i < 70 * 40; ++i) printf("%d ", host[i]);
}
"""


@pytest.mark.slow
def test_further_blocks_leave_what_each_thread_left(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "rule", COLUMNS, "turns_over_grid")
    assert proposal.candidate is not None, proposal.declined
    text = proposal.candidate.edits[0].text
    assert "int y = -2 + static_cast<int>(blockIdx.y);" in text and "k<<<dim3(grid.x, 64), 32>>>" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": COLUMNS})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("x >= width", "x > 69", "writes to more than the turn's own element"),
        ("width + x] = sum * weight", "width + x] = sum + out[x]", "uses another element of an array that the loop"),
        ("in[0] | 1", "out[0] | 1", "reads what the loop on line 7 may write"),
        ("in[0] | 1", "gridDim.y", "uses gridDim.y"),
        ("    int sum = 0;\n", "    weight += y; int sum = 0;\n", "carries weight"),
        ("grid((70 + 31) / 32)", "grid(3, 2)", "may have more than one dimension"),
        ("  if (x >=", "  out[width * height + x] = 1;\n  if (x >=", "writes outside of a loop"),
    ],
)
def test_what_turns_owe_one_another_is_told(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in COLUMNS
    proposal = propose(tmp_path, COLUMNS.replace(old, new).replace("const int weight", "int weight"), "turns_over_grid")
    assert proposal.declined is not None, proposal.candidate
    assert reason in proposal.declined.reason
