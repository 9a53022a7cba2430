"""Elements of memory kept in registers by rule: run on the emulator before and after."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Kernel, MemorySpace

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void totals(const float* values, float* result, int count) {  //@ totals
  result[0] = 0;
  result[1] = values[0];
  for (int i = 0; i < count; ++i) {
    result[0] += values[i];
    if (values[i] > result[1]) result[1] = values[i];
  }
}
__global__ void matmul(const double* A, const double* B, double* C, int n) {  //@ matmul
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < n && c < n) {
    C[r * n + c] = 0.0;
    for (int k = 0; k < n; k++) C[r * n + c] += A[r * n + k] * B[k * n + c];
  }
}
__global__ void walk(unsigned* state, unsigned* steps, int n) {  //@ walk
  unsigned t = threadIdx.x;
  state[t] = t * 7 + 1;
  steps[t] = 0;
  while (state[t] != 1 && steps[t] < 100u) {
    state[t] = state[t] % 2 ? 3 * state[t] + 1 : state[t] / 2;
    ++steps[t];
  }
}
__global__ void lines(float* out, const float* in, int w) {  //@ lines
  int j = threadIdx.x;
  float* mine = out + 2 * j;
  mine[0] = mine[1] = 0;
  for (int k = 0; k < w; ++k)
    for (int q = 0; q < 2; ++q) {
      mine[0] = fmaxf(mine[0], in[j * w + k] * q);
      mine[1] += mine[0];
    }
}
int main() {
  const int n = 32;
  static double h[n * n]; static float f[4096]; static unsigned u[256];
  for (int i = 0; i < n * n; ++i) h[i] = i % 13 - 4;
  for (int i = 0; i < 4096; ++i) f[i] = i * 31 % 17;
  double *a, *c; float *v, *r; unsigned *s, *t;
  hipMalloc(&a, sizeof h); hipMalloc(&c, sizeof h); hipMalloc(&v, sizeof f); hipMalloc(&r, sizeof f);
  hipMalloc(&s, 512); hipMalloc(&t, 512);
  hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(v, f, sizeof f, hipMemcpyHostToDevice);
  totals<<<1, 1>>>(v, r, 4096); hipMemcpy(f, r, 8, hipMemcpyDeviceToHost); printf("%g %g ", f[0], f[1]);
  matmul<<<dim3(2, 2), dim3(16, 16)>>>(a, a, c, n); hipMemcpy(h, c, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < n * n; i += 9) printf("%g ", h[i]);
  walk<<<1, 128>>>(s, t, 0); hipMemcpy(u, t, 512, hipMemcpyDeviceToHost);
  for (int i = 0; i < 128; ++i) printf("%u ", u[i]);
  lines<<<1, 64>>>(r, v, 64); hipMemcpy(f, r, 512, hipMemcpyDeviceToHost);
  for (int i = 0; i < 128; ++i) printf("%g ", f[i]);
}
"""


def propose(root: Path, text: str, kernel: str) -> Proposal:
    bench = Bench(root, {"app.hip": text})
    task = bench.task("keep_in_register", AccessKind.KERNEL, MemorySpace.GLOBAL, kernel)
    known = Kernel(kernel, kernel, root / "app.hip", task.evidence[0].line)
    finding = dataclasses.replace(task.finding, profile=dataclasses.replace(task.finding.profile, kernel=known))
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding), ())
    assert proposal is not None
    return proposal


def test_what_is_kept_in_registers_is_there_after_the_loop(tmp_path: Path) -> None:
    text = PROGRAM
    for kernel in ("totals", "matmul", "walk", "lines"):
        proposal = propose(tmp_path / kernel, text, kernel)
        assert proposal.candidate is not None, proposal.declined
        text = proposal.candidate.edits[0].text
    assert "if (values[i] > kept_2) kept_2 = values[i];" in text
    assert "kept_3 += A[r * n + k] * B[k * n + c];\n    C[r * n + c] = kept_3;" in text
    assert "while (kept_4 != 1 && kept_5 < 100u) {" in text
    assert output(tmp_path / "after", {"app.hip": text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("kernel", "old", "new", "words"),
    [
        ("totals", "  result[0] = 0;\n", "", "line 6 stores to an element that is not stored to before the loop"),
        (
            "totals",
            "  result[1] = values[0];",
            "  if (count > 1) result[1] = values[0];",
            "not stored to before the loop",
        ),
        ("totals", "result[0] += values[i];", "result[0] += values[i]; result[i] = 0;", "no loop stores to the same"),
        ("totals", "result[0] += values[i];", "result[0] += values[i]; result[count] = 0;", "may be the same one"),
        ("totals", "result[0] += values[i];", "result[0] += values[i]; __syncthreads();", "whose order may matter"),
        ("walk", "++steps[t];", "++steps[t]; if (n) return;", "returns from the function"),
        ("walk", "++steps[t];", "atomicAdd(&steps[t], 1u);", "hands a pointer to atomicAdd"),
    ],
)
def test_elements_stay_in_memory_where_others_may_look(
    kernel: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    declined = propose(tmp_path, PROGRAM.replace(old, new, 1), kernel).declined
    assert declined is not None
    assert words in declined.reason
