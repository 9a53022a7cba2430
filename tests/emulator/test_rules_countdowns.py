"""Rows whose turns are counted down in the condition of their loop: run on the emulator before and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from rowproposals import propose
from rulebench import output

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void counted(const int* m, int* out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const int* x = m + r * cols;
  int* y = out + r * cols;
  int sum = 0, left = cols, odd = 0;
  while (left--) sum += *x++;
  int n = cols;
  while (n-- > 0) {
    odd += m[r * cols + n] & 1;
    y[n] = m[r * cols + n] * sum;
  }
  int k = cols;
  for (; k-- != 0;) y[k] += odd;
}
int main() {
  const int rows = 128, cols = 77;
  static int h[rows * cols];
  for (int i = 0; i < rows * cols; ++i) h[i] = i * 7 % 31;
  int *a, *b;
  hipMalloc(&a, sizeof h); hipMalloc(&b, sizeof h);
  hipMemcpy(a, h, sizeof h, hipMemcpyHostToDevice);
  counted<<<2, 64>>>(a, b, rows, cols);
  hipMemcpy(h, b, sizeof h, hipMemcpyDeviceToHost);
  unsigned s = 0; for (int i = 0; i < rows * cols; ++i) s = s * 31 + h[i];
  printf("%u\\n", s);
}
"""


def test_turns_that_a_condition_counts_down_go_round_the_lanes(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "a", "app.hip", PROGRAM, "counted")
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "while (left-- > 0) { sum += *x; left -= 31; x += 32; }" in edit.text
    assert "for (; k-- > 0;) { y[k] += odd; k -= 31; }" in edit.text
    assert output(tmp_path / "b", {"app.hip": edit.text}) == output(tmp_path / "c", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("while (left--) sum", "while (--left) sum", "the loop on line 9 does not count up by one"),
        ("left = cols, odd", "odd", "the loop on line 9 does not count up by one"),
        ("  int n = cols;", "  int n = cols + left;", "line 10 uses left, which the loop on line 9 moves"),
    ],
)
def test_other_countdowns_stay(tmp_path: Path, old: str, new: str, reason: str) -> None:
    program = PROGRAM.replace(
        "int sum = 0, ", "unsigned left = cols; int sum = 0, " if new == "odd" else "int sum = 0, "
    )
    program = program.replace(old, new)
    for loop in ("while (n-- > 0)", "for (; k-- != 0;)"):
        program = program.replace(loop, "if (cols > 0)")
    proposal = propose(tmp_path, "app.hip", program, "counted")
    assert proposal.declined is not None and reason in proposal.declined.reason
