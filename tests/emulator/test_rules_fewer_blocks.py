"""Sums over far more elements than the device holds threads: a grid that fills it, whose threads walk over them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rulebench import Bench, output, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Geometry, MemorySpace, Metric, Provenance, Quantity

PROGRAM = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__global__ void around(const int* in, unsigned long long* sum, int* seen, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int twice = 2 * in[i];
    seen[i] += 1;
    if (twice > 4) atomicAdd(sum, (unsigned long long)twice);  //@ around
  }
}
__global__ void plain(const int* in, int* top, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) atomicMax(top, in[i]);  //@ plain
}
__global__ void leaving(const int* in, int* sum, int* seen, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  seen[i] += 2;

  atomicAdd(sum, in[i]);  //@ leaving
}
__global__ void tallied(const int* in, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int bin = in[i] / 9;
    atomicAdd(&bins[bin], i & 3);  //@ tallied
  }
}
int main() {
  const int n = 150001;
  std::vector<int> h(n), zeros(n);
  for (int i = 0; i < n; ++i) h[i] = i * 37 % 101;
  int *in, *seen, *few;
  unsigned long long* sum;
  hipMalloc(&in, n * 4); hipMalloc(&seen, n * 4); hipMalloc(&few, 8); hipMalloc(&sum, 8);
  hipMemcpy(in, h.data(), n * 4, hipMemcpyHostToDevice);
  hipMemcpy(seen, zeros.data(), n * 4, hipMemcpyHostToDevice);
  hipMemcpy(few, zeros.data(), 8, hipMemcpyHostToDevice);
  hipMemcpy(sum, zeros.data(), 8, hipMemcpyHostToDevice);
  const int blocks = (n + 31) / 32;
  around<<<(n + 32 - 1) / 32, 32>>>(in, sum, seen, n);
  plain<<<blocks, 32>>>(in, few, n);
  leaving<<<dim3((n + 31) / 32), dim3(32)>>>(in, few + 1, seen, n);
  int *bins, counts[12];
  hipMalloc(&bins, 48);
  hipMemcpy(bins, zeros.data(), 48, hipMemcpyHostToDevice);
  tallied<<<(n + 31) / 32, 32>>>(in, bins, n);
  hipMemcpy(counts, bins, 48, hipMemcpyDeviceToHost);
  for (int count : counts) printf("%d ", count);
  int some[2];
  unsigned long long all;
  hipMemcpy(&all, sum, 8, hipMemcpyDeviceToHost);
  hipMemcpy(some, few, 8, hipMemcpyDeviceToHost);
  hipMemcpy(h.data(), seen, n * 4, hipMemcpyDeviceToHost);
  long times = 0;
  for (int i = 0; i < n; ++i) times += h[i] == 3;
  printf("%llu %d %d %ld\\n", all, some[0], some[1], times);
}
"""
_UNITS = 38  # × 8 blocks, of 4,688


def propose(
    root: Path, program: str, mark: str, blocks: int = 4688, counted: dict[Metric, float] | None = None
) -> Proposal:
    rule = "privatize_atomics" if mark == "tallied" else "block_reduce_atomics"
    task = Bench(root, {"app.hip": program}).task(rule, AccessKind.REDUCTION, MemorySpace.GLOBAL, mark)
    limits = dataclasses.replace(task.device.limits, compute_units=_UNITS)
    quantities = {metric: Quantity(value, Provenance.MODELLED) for metric, value in (counted or {}).items()}
    shapes = (Geometry((blocks, 1, 1), (32, 1, 1)),)
    profile = dataclasses.replace(task.finding.profile, geometries=shapes, quantities=quantities)
    proposal = RuleRewriter(parser()).propose(
        dataclasses.replace(
            task,
            finding=dataclasses.replace(task.finding, profile=profile),
            device=dataclasses.replace(task.device, limits=limits),
        ),
        (),
    )
    assert proposal is not None
    return proposal


@pytest.mark.slow
def test_each_form_of_guard_becomes_a_walk_over_the_elements(tmp_path: Path) -> None:
    text = PROGRAM
    for number, mark in enumerate(("around", "plain", "leaving", "tallied")):
        proposal = propose(tmp_path / str(number), text, mark)
        assert proposal.candidate is not None, proposal.declined
        assert proposal.candidate.declares.geometry
        ((edit),) = proposal.candidate.edits
        text = edit.text
    assert text.count("< n; element") == 4
    assert "((n + 32 - 1) / 32) < 304 ? ((n + 32 - 1) / 32) : 304" in text
    assert "plain<<<(blocks < 304 ? blocks : 304), 32>>>" in text
    assert output(tmp_path / "b", {"app.hip": text}) == output(tmp_path / "c", {"app.hip": PROGRAM})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("plain<<<blocks, 32>>>", "plain<<<blocks / 2, 32>>>"),
        ("const int blocks = (n + 31) / 32;", "const int blocks = (n + 30) / 32;"),
        ("atomicMax(top, in[i]);", "atomicMax(top + blockIdx.x % 2, in[i]);"),
        ("if (i < n) atomicMax", "top += 0;\n  if (i < n) atomicMax"),
        ("atomicMax(top, in[i]);", "{ if (in[i] < 0) return; atomicMax(top, in[i]); }"),
        ("atomicMax(top, in[i]);", "{ atomicMax(top, in[i]); i = 3; }"),
        ("if (i < n) atomicMax", "if (threadIdx.x + blockIdx.x * blockDim.x < n) atomicMax"),
        ("const int* in, int* top, int n)", "const int* in, int* top, long n)"),
    ],
)
def test_a_kernel_or_launch_that_may_mean_more_keeps_its_grid(tmp_path: Path, old: str, new: str) -> None:
    assert PROGRAM.count(old) == 1
    proposal = propose(tmp_path, PROGRAM.replace(old, new), "plain")
    assert proposal.candidate is None or not proposal.candidate.declares.geometry


def test_a_grid_that_the_device_holds_stays_as_it_is(tmp_path: Path) -> None:
    proposal = propose(tmp_path, PROGRAM, "plain", blocks=900)
    assert proposal.candidate is not None, proposal.declined
    assert not proposal.candidate.declares.geometry
    assert "304" not in proposal.candidate.edits[0].text


def test_copies_that_do_not_pay_in_many_blocks_are_kept_by_fewer(tmp_path: Path) -> None:
    lanes = {Metric.ATOMIC_LANES: 900 * 32.0}
    proposal = propose(tmp_path / "a", PROGRAM, "tallied", 900, {**lanes, Metric.ATOMIC_ADDRESSES: 20.0})
    assert proposal.candidate is not None, proposal.declined
    assert "< 152 ?" in proposal.candidate.edits[0].text  # 4 for each unit, in place of 8
    declined = propose(tmp_path / "b", PROGRAM, "tallied", 200, {**lanes, Metric.ATOMIC_ADDRESSES: 200.0}).declined
    assert declined is not None
    assert "a block has 144 atomic operations, on up to 200 entries" in declined.reason
    assert "the grid is not several times 76 blocks, 2 for each unit" in declined.reason
