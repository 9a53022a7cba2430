"""Loops whose turns each write several elements of one array, shared out to lanes by rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from rowproposals import propose
from rulebench import output

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void turn(float* x, const float* angle, int rows, int pairs) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float* mine = x + row * pairs * 2;
  for (int i = 0; i < pairs; ++i) {
    float c = cosf(angle[i]), s = sinf(angle[i]), re = mine[2 * i], im = mine[2 * i + 1];
    mine[2 * i] = re * c - im * s;
    mine[2 * i + 1] = re * s + im * c;
  }
}
int main() {
  const int rows = 70, pairs = 45, n = rows * pairs * 2;
  static float h[n], a[pairs];
  for (int i = 0; i < n; ++i) h[i] = i % 11 - 3;
  for (int i = 0; i < pairs; ++i) a[i] = i * 0.1f;
  float *x, *d;
  hipMalloc(&x, sizeof h); hipMalloc(&d, sizeof a);
  hipMemcpy(x, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(d, a, sizeof a, hipMemcpyHostToDevice);
  turn<<<2, 64>>>(x, d, rows, pairs);
  hipMemcpy(h, x, sizeof h, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 7) printf("%.5g ", h[i]);
}
"""


def test_pairs_of_elements_are_shared_out(tmp_path: Path) -> None:
    proposal = propose(tmp_path / "task", "app.hip", PROGRAM, "turn")
    assert proposal.candidate is not None, proposal.declined
    (edit,) = proposal.candidate.edits
    assert "int i = lane; i < pairs; i += " in edit.text
    assert output(tmp_path / "after", {"app.hip": edit.text}) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mine[2 * i + 1] = re", "mine[2 * i + 2] = re", "writes to another element"),
        ("mine[2 * i + 1] = re", "mine[2 * i - 4] = re", "writes to another element"),
        ("mine[2 * i + 1] = re", "mine[i * pairs + 1] = re", "writes to more than the turn"),
        ("im = mine[2 * i + 1]", "im = mine[2 * i + 3]", "uses another element"),
        ("im = mine[2 * i + 1]", "im = mine[i]", "uses another element"),
    ],
)
def test_elements_that_other_turns_have_as_well_are_not(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in PROGRAM
    proposal = propose(tmp_path, "app.hip", PROGRAM.replace(old, new), "turn")
    assert proposal.declined is not None and words in proposal.declined.reason, proposal
