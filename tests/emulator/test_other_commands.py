"""Candidates with kernels of their own: the program is run with other numbers in its command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from patchbench import Bench

from intelliperf.records import Application, CheckStatus, Declaration, Outcome, Verdict
from intelliperf.validation.trial import BuildFailure

TWICE = """#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
__global__ void twice(const int* in, int* part, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) part[i] = 2 * in[i];
}
__global__ void mirror(const int* part, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = part[n - 1 - i];
}
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 200, blocks = (n + 255) / 256;
  if (n > 1000) return 3;
  int *in, *part, *out, host[1000];
  for (int i = 0; i < n; ++i) host[i] = i * 37 % 101;
  if (hipMalloc(&in, n * 4) || hipMalloc(&part, n * 4) || hipMalloc(&out, n * 4)) return 1;
  hipMemcpy(in, host, n * 4, hipMemcpyHostToDevice);
  twice<<<blocks, 256>>>(in, part, n);
  mirror<<<blocks, 256>>>(part, out, n);
  hipMemcpy(host, out, n * 4, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) if (host[i] != 2 * ((n - 1 - i) * 37 % 101)) return 2;
  return 0;
}
"""
# One launch of both: right for one block, or, with another formula, for any number of them.
FUSED = [
    (
        "  if (i < n) part[i] = 2 * in[i];",
        "  if (i < n) part[i] = 2 * in[i];\n  __syncthreads();\n  if (i < n) out[i] = part[n - 1 - i];",
    ),
    ("const int* in, int* part, int n)", "const int* in, int* part, int* out, int n)"),
    (
        "twice<<<blocks, 256>>>(in, part, n);\n  mirror<<<blocks, 256>>>(part, out, n);",
        "twice<<<blocks, 256>>>(in, part, out, n);",
    ),
]
RIGHT = [
    (FUSED[0][0], FUSED[0][1].replace("  __syncthreads();\n", "").replace("part[n - 1 - i]", "2 * in[n - 1 - i]")),
    *FUSED[1:],
]
KERNELS = Declaration(geometry=True, kernels=True)


class _Numbered(Bench):
    """Both versions are run with these."""

    numbers: tuple[str, ...] = ()

    def _build(self, *given: Any) -> Application | BuildFailure:
        built = super()._build(*given)
        assert isinstance(built, Application), built
        return replace(built, command=(built.command[0], *self.numbers))


def _verdict(
    bench: _Numbered, changes: list[tuple[str, str]], *numbers: str, declares: Declaration = KERNELS
) -> Verdict:
    bench.numbers = numbers
    bench.reference = replace(bench.reference, command=(bench.reference.command[0], *numbers))
    return bench.verdict(*changes, declares=declares)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> _Numbered:
    return _Numbered(tmp_path_factory.mktemp("twice"), TWICE, "app.hip", "twice")


def test_one_launch_of_two_that_is_right_for_one_block_alone_is_refused(bench: _Numbered) -> None:
    verdict = _verdict(bench, FUSED, "200")
    assert verdict.outcome in (Outcome.WRONG_OUTPUT, Outcome.RACE), verdict.detail
    assert verdict.detail.startswith("with `") and "app 400`: " in verdict.detail


@pytest.mark.slow
def test_what_is_right_by_other_numbers_is_told_with_them(bench: _Numbered) -> None:
    verdict = _verdict(bench, RIGHT, "600")  # twice as many are more than the program takes
    (check,) = (one for one in verdict.checks if one.name == "other numbers in the command")
    assert check.status is CheckStatus.PASSED, check
    assert "app 300`" in check.detail and "app 599`" in check.detail and "1200" not in check.detail


@pytest.mark.slow
def test_a_command_without_numbers_is_not_checked_for_other_sizes_which_is_said_first(bench: _Numbered) -> None:
    verdict = _verdict(bench, FUSED)
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER), verdict.detail
    assert verdict.left_open[0].startswith("other numbers in the command: other sizes than this command's")


ROWS = """#include <cstdlib>
#include <hip/hip_runtime.h>
__global__ void rows(const int* in, int* out) { out[blockIdx.x] = 3 * in[blockIdx.x]; }
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 200;
  int *in, *out, host[1000];
  for (int i = 0; i < n; ++i) host[i] = i;
  if (n > 1000 || hipMalloc(&in, n * 4) || hipMalloc(&out, n * 4) || hipMemset(out, 0, n * 4)) return 1;
  hipMemcpy(in, host, n * 4, hipMemcpyHostToDevice);
  rows<<<n, 1>>>(in, out);
  return hipMemcpy(host, out, n * 4, hipMemcpyDeviceToHost);
}
"""


def test_a_grid_of_what_no_kernel_is_handed_is_that_of_other_sizes_too(tmp_path: Path) -> None:
    bench = _Numbered(tmp_path, ROWS, "app.hip", "rows")
    verdict = _verdict(
        bench, [("rows<<<n, 1>>>", "rows<<<n / 4 * 4, 1>>>")], "100", declares=Declaration(geometry=True)
    )
    assert verdict.outcome is Outcome.WRONG_OUTPUT and "app 50`: " in verdict.detail, verdict.detail
