"""Members of records that loops add to: kept in registers or shared out to lanes, by rule, where they are apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import rowproposals
from rulebench import output
from test_rules_keep_in_register import propose

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
struct Cell { float sum, most; int hits; };
__global__ void pull(const float4* body, float3* force, Cell* cell, int n) {  //@ pull
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  force[i].x = 0; force[i].y = 0; cell[i].sum = 1; cell[i].hits = i;
  for (int j = 0; j < n; j++) {
    float d = body[j].x - body[i].x;
    force[i].x += d * body[j].w;
    force[i].y += d + body[j].y;
    cell[i].sum += d;
    cell[i].hits += j;
  }
}
int main() {
  const int n = 64;
  float4 h[n]; float3 f[n]; Cell c[n] = {};
  for (int i = 0; i < n; ++i) h[i] = make_float4(i * 7 % 11, i % 3, 0, i % 5);
  for (int i = 0; i < n; ++i) f[i] = make_float3(3, 3, 3);
  float4* b; float3* d; Cell* e;
  hipMalloc(&b, sizeof h); hipMalloc(&d, sizeof f); hipMalloc(&e, sizeof c);
  hipMemcpy(b, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(d, f, sizeof f, hipMemcpyHostToDevice);
  hipMemcpy(e, c, sizeof c, hipMemcpyHostToDevice);
  pull<<<2, 32>>>(b, d, e, n);
  hipMemcpy(f, d, sizeof f, hipMemcpyDeviceToHost); hipMemcpy(c, e, sizeof c, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) printf("%g %g %g %g %d ", f[i].x, f[i].y, f[i].z, c[i].sum, c[i].hits);
}
"""


def test_sums_in_members_of_a_record_are_kept_or_shared_out(tmp_path: Path) -> None:
    kept = propose(tmp_path / "kept", PROGRAM, "pull")
    shared = rowproposals.propose(tmp_path / "shared", "app.hip", PROGRAM, "pull")
    before = output(tmp_path / "before", {"app.hip": PROGRAM})
    for name, proposal in (("kept", kept), ("shared", shared)):
        assert proposal.candidate is not None, proposal.declined
        (edit,) = proposal.candidate.edits
        assert "cell[i].hits += j" not in edit.text
        assert output(tmp_path / name / "after", {"app.hip": edit.text}) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("float sum, most;", "union { float sum, most; };"),
        ("int hits;", "int hits : 8, more : 8;"),
        ("cell[i].hits += j;", "cell[i].hits += j; cell[j] = cell[i];"),
        ("cell[i].hits += j;", "cell[i].hits += cell[j].hits;"),
    ],
)
def test_members_that_may_share_memory_are_left_alone(old: str, new: str, tmp_path: Path) -> None:
    assert old in PROGRAM
    text = PROGRAM.replace(old, new)
    for proposal in (
        propose(tmp_path / "kept", text, "pull"),
        rowproposals.propose(tmp_path / "shared", "app.hip", text, "pull"),
    ):
        edited = proposal.candidate.edits[0].text if proposal.candidate is not None else text
        assert edited.count("cell[i].sum += d") == 1
