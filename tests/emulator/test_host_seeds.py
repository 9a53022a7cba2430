"""What a program seeds its input by is the same in each of its runs, so that these can be compared."""

from __future__ import annotations

from pathlib import Path

from rulebench import output

SOURCE = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <random>
__global__ void nothing() {}
int main() {
  nothing<<<1, 1>>>();
  (void)hipDeviceSynchronize();
  std::random_device first, second("default");
  std::mt19937 random(first());
  std::printf("%lu %u %u\\n", (unsigned long)random(), first(), second());
}
"""


def test_numbers_of_a_random_device_differ_in_one_run_and_not_from_run_to_run(tmp_path: Path) -> None:
    printed = output(tmp_path / "one", {"app.hip": SOURCE})
    assert printed == output(tmp_path / "other", {"app.hip": SOURCE})
    assert len(set(printed.split())) == 3
