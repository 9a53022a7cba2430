"""Device functions that do more than one atomic: collected by the block where the kernel calls them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

RULE = "block_reduce_atomics"
PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
struct Point { int x, y; unsigned char valid; };
__device__ void extend(int* box, int x, int y, bool ok) {
  if (!ok) return;
  // the corners
  atomicMin(&box[0], x);  //@ box
  atomicMin(box + 1, y);
  if (x > 9) {
    int twice = 2 * x;
    atomicMax(&box[2], twice);  //@ box
  }
  atomicMax(&box[3], y);  //@ box
}
__global__ void bounds(const Point* points, int n, int* box) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Point p = points[i];
    extend(box, p.x, p.y, p.valid != 0);  //^ box
  }
}
__device__ void note(unsigned long long* hits, float* total, int value) { atomicAdd(hits, 1ull); atomicAdd(total, value); }  //@ note
__global__ void survey(const int* v, int n, unsigned long long* hits, float* total) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  for (int k = 0; k < 3; ++k)
    if (v[t] % 5 != k) note(hits, total, v[t] + k);  //^ note
}
__global__ void two(const int* v, int n, int* sum, int* most) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(sum, v[i]);  //@ two
  if (v[i] & 1) atomicMax(most, v[i]);  //@ two
}
__device__ void tally(int* bins, float* weights, int value, float w, int count) {
  int bin = value / 64;
  if (bin < 0 || bin >= count) return;
  atomicAdd(&bins[bin], 1);  //@ tally
  atomicAdd(weights + bin % 4, w);  //@ tally
}
__global__ void histogram(const int* v, int n, int* bins, float* weights, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    tally(bins, weights, v[i], abs(v[i] - 9) * 0.5f, count);  //^ tally
}
int main() {
  const int n = 1000;
  static Point h[n]; static int v[n];
  for (int i = 0; i < n; ++i) { v[i] = i * 7919 % 1013; h[i] = {v[i] - 300, v[i] / 3, (unsigned char)(i % 3)}; }
  Point* p; int *d, *box; unsigned long long* hits;
  hipMalloc(&p, sizeof h); hipMalloc(&d, sizeof v); hipMalloc(&box, 128); hipMalloc(&hits, 8);
  hipMemcpy(p, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(d, v, sizeof v, hipMemcpyHostToDevice);
  hipMemset(box, 0, 128); hipMemset(hits, 0, 8);
  bounds<<<8, 128>>>(p, n, box);
  survey<<<8, 128>>>(d, n, hits, (float*)(box + 4));
  two<<<8, 128>>>(d, n, box + 5, box + 6);
  histogram<<<4, 128>>>(d, n, box + 20, (float*)(box + 8), 12);
  int out[32]; unsigned long long k;
  hipMemcpy(out, box, 128, hipMemcpyDeviceToHost); hipMemcpy(&k, hits, 8, hipMemcpyDeviceToHost);
  for (int o : out) printf("%d ", o);
  printf("%llu\\n", k);
}
"""  # noqa: E501


def test_a_block_collects_what_a_function_adds_to_several_places(tmp_path: Path) -> None:
    files = {"app.hip": PROGRAM}
    for mark in ("box", "note", "two"):
        files = Bench(tmp_path / mark, files).rewritten(RULE, AccessKind.ATOMIC, mark=mark)
    text = files["app.hip"]
    assert "    {\n      bool ok_2 = p.valid != 0;\n      if (ok_2) {\n        // the corners\n" in text
    assert "        }\n      }\n    }  //^ box\n" not in text and "\n      }\n    }  //^ box\n" in text
    assert "block_part_4 += 1ull; block_part_2_2 += static_cast<float>(value_2); }" in text
    assert "extend(box, p.x" not in text and "note(hits, total, v" not in text
    assert text.count("block_atomic_max(") >= 3 and "atomicMin(box + 1, p.y);" in text
    files = Bench(tmp_path / "tally", files).rewritten("privatize_atomics", AccessKind.ATOMIC, mark="tally")
    text = files["app.hip"]
    assert "block_or_table(block_bins, bins, &bins[bin], 1);" in text and "float w_2 = abs(v[i] - 9) * 0.5f;" in text
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("int twice = 2 * x;", "int twice = 2 * x; if (y) return;", "returns otherwise"),
        ("int twice = 2 * x;", "int i = 2 * x, twice = i;", ""),
        ("extend(box, p.x, p.y, p.valid != 0);", "if (threadIdx.x == 0) extend(box, p.x, p.y, true);", "one thread"),
        ("atomicMin(&box[0], x);", "atomicMin(&box[y], x);", "address may differ"),
        ("Point p =", "int twice = 0; Point p =", ""),
        (
            "extend(box, p.x, p.y, p.valid != 0);",
            "extend(box + p.y, p.x, p.y, true);",
            "may differ between the threads",
        ),
    ],
)
def test_what_a_function_does_otherwise_is_told(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in PROGRAM
    program = PROGRAM.replace(old, new)
    proposal = Bench(tmp_path, {"app.hip": program}).propose(RULE, AccessKind.ATOMIC, mark="box")
    told = proposal.declined.reason if proposal.declined else proposal.candidate.rationale  # type: ignore[union-attr]
    assert reason in told
