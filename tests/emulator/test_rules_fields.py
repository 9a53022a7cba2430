"""Atomics on fields of records, collected by the block: read, and run on the emulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from rulebench import Bench, output

from intelliperf.records import AccessKind

PROGRAM = """\
#include <hip/hip_runtime.h>
#include <cstdio>
struct Cell { float energy; int hits; double heat; };
__global__ void alias(const int* where, Cell* cells, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Cell* c = &cells[where[i]];
    atomicAdd(&c->energy, 0.5f * (i % 8));  //@ alias
    atomicAdd(&c->hits, 1);
  }
}
__global__ void direct(const int* where, Cell* cells, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = where[i];
  atomicAdd(&cells[k].heat, 0.25);  //@ direct
  if (i % 3 == 0) atomicAdd(&(cells + k)->hits, 2);
}
int main() {
  const int n = 5000, m = 700;
  int h[n], *where; Cell* cells; Cell out[m];
  for (int i = 0; i < n; ++i) h[i] = i * 7919 % 1013 % (i % 2 ? 5 : m);
  hipMalloc(&where, sizeof h); hipMalloc(&cells, sizeof out);
  hipMemcpy(where, h, sizeof h, hipMemcpyHostToDevice); hipMemset(cells, 0, sizeof out);
  alias<<<20, 256>>>(where, cells, n);
  direct<<<20, 256>>>(where, cells, n);
  hipMemcpy(out, cells, sizeof out, hipMemcpyDeviceToHost);
  double sums[3] = {};
  for (int i = 1; i <= m; ++i) {
    const Cell& c = out[i - 1];
    sums[0] += c.energy * i, sums[1] += 1.0 * c.hits * i, sums[2] += c.heat * i;
  }
  printf("%.1f %.1f %.2f\\n", sums[0], sums[1], sums[2]);
}
"""


def test_blocks_collect_what_their_threads_add_to_fields(tmp_path: Path) -> None:
    files = {"app.hip": PROGRAM}
    for mark in ("alias", "direct"):
        files = Bench(tmp_path / mark, files).rewritten("privatize_fields", AccessKind.ATOMIC, mark=mark)
    text = files["app.hip"]
    assert "block_or_record(block_cells_energy, c - cells, &c->energy, 0.5f * (i % 8));" in text
    assert "block_or_record(block_cells_hits, c - cells, &c->hits, 1);" in text
    assert "(block_cells_heat, k, &cells[k].heat, 0.25);" in text and "k, &(cells + k)->hits, 2);" in text
    assert "  if (block_cells_hits[entry] != 0) atomicAdd(&cells[entry].hits, block_cells_hits[entry]);" in text
    assert "__shared__ double block_cells_heat[" in text
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("mark", "old", "new", "words"),
    [
        ("alias", "&c->hits, 1);", "&c->hits, 1); c->energy = 1;", "c is also used on line"),
        ("alias", "&c->hits, 1);", "&c->hits, 1); c++;", "moves a pointer to a record"),
        ("alias", "&c->hits, 1);", "&c->hits, 1 + cells[0].hits);", "cells is also used on line"),
        ("alias", "&c->hits, 1);", "&c->hits, 1); __threadfence();", "other blocks may look at cells"),
        ("alias", "Cell* c = &cells[where[i]];", "Cell* c = &cells[__ldg(where + i)];", "is computed by a call"),
        ("alias", "float energy;", "float energy; union { int a; float b; } u;", "declares a union"),
        (
            "direct",
            "    atomicAdd(&cells[k].heat, 0.25)",
            "    double d = atomicAdd(&cells[k].heat, 0.25)",
            "old value",
        ),
        ("direct", "atomicAdd(&(cells + k)->hits, 2)", "atomicExch(&(cells + k)->hits, 2)", "is also used on line"),
        ("direct", "i % 3 == 0", "i % 3 == 0) return; if (i < 9", "is not a plain guard of all that follows"),
    ],
)
def test_other_fields_stay(mark: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    program = PROGRAM.replace("  atomicAdd(&cells[k].heat", "    atomicAdd(&cells[k].heat")
    assert old in program
    bench = Bench(tmp_path, {"app.hip": program.replace(old, new, 1)})
    assert words in bench.declined("privatize_fields", AccessKind.ATOMIC, mark=mark)


OVERLOADED = """\
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ void atomicAdd(float3* to, float3 what) {
  atomicAdd(&((*to).x), what.x);  //@ over
  atomicAdd(&((*to).y), what.y);
  atomicAdd(&to->z, what.z);
}
__global__ void sums(const int* key, const float3* values, float3* totals, int* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int k = key[i];
  atomicAdd(totals + k, values[i]);  //^ over
  atomicAdd(counts + k, 1);
}
int main() {
  const int n = 5000, m = 20;
  int h[n], *key, *counts; float3 v[n], *values, *totals, out[m];
  for (int i = 0; i < n; ++i) h[i] = i * 7919 % 1013 % m, v[i] = make_float3(i % 8, 0.5f * (i % 4), 1);
  hipMalloc(&key, sizeof h); hipMalloc(&values, sizeof v); hipMalloc(&totals, sizeof out); hipMalloc(&counts, 4 * m);
  hipMemcpy(key, h, sizeof h, hipMemcpyHostToDevice); hipMemcpy(values, v, sizeof v, hipMemcpyHostToDevice);
  hipMemset(totals, 0, sizeof out); hipMemset(counts, 0, 4 * m);
  sums<<<20, 256>>>(key, values, totals, counts, n);
  hipMemcpy(out, totals, sizeof out, hipMemcpyDeviceToHost);
  for (int i = 0; i < m; ++i) printf("%.1f %.1f %.1f\\n", out[i].x, out[i].y, out[i].z);
}
"""


def test_an_overload_of_the_project_leaves_the_atomics_of_other_types_what_they_are(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "k", {"app.hip": OVERLOADED})
    files = bench.rewritten("privatize_fields", AccessKind.ATOMIC)
    text = files["app.hip"]
    assert "(block_totals_x, k, &((*to_2).x), what_2.x);" in text and "(block_totals_z, k, &to_2->z, what_2.z)" in text
    assert "atomicAdd(counts + k, 1);" in text
    assert output(tmp_path / "after", files) == output(tmp_path / "before", {"app.hip": OVERLOADED})
    theirs = "__device__ float atomicAdd(float* to, int n) { return *to = n; }\n"
    own = OVERLOADED.replace("__device__ void", f"{theirs}__device__ void")
    own = own.replace("(&((*to).x), what.x)", "(&((*to).x), int(what.x))")
    declined = Bench(tmp_path / "own", {"app.hip": own}).declined("privatize_fields", AccessKind.ATOMIC)
    assert "has a definition of the project's own" in declined
