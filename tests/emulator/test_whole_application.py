"""A search over an application with long host work: how often the application starts, and what is said of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Two siblings with one fault, and a kernel that depends on both. Each start of the program leaves a mark.
_SOURCE = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <unistd.h>
#include <vector>
__global__ void positive(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] > 0) atomicAdd(out, 1);
}
__global__ void total(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + 1, in[i]);
}
__global__ void shifted(int* data, const int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += out[0] % 3 - out[1] % 2;
}
int main() {
  FILE* starts = fopen("starts", "a");
  if (starts) { fputs("x", starts); fclose(starts); }
  usleep(2200 * 1000);
  const int n = 1 << 19;
  std::vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = i % 11 - 4;
  int *data, *out;
  hipMalloc(&data, n * 4);
  hipMalloc(&out, 8);
  hipMemcpy(data, h.data(), n * 4, hipMemcpyHostToDevice);
  hipMemset(out, 0, 8);
  for (int round = 0; round < 2; ++round) {
    positive<<<n / 256, 256>>>(data, out, n);
    total<<<n / 256, 256>>>(data, out, n);
    shifted<<<n / 256, 256>>>(data, out, n);
  }
  int sums[2];
  hipMemcpy(sums, out, 8, hipMemcpyDeviceToHost);
  printf("%d %d\n", sums[0], sums[1]);
}
"""
_DEADLINE_S = 600.0


def starts(project: Path) -> int:
    copies = (project / ".intelliperf/runs").rglob("starts")  # the program writes one letter per start
    return sum(len(path.read_text()) for path in copies if path.is_file())


@pytest.mark.slow
def test_a_search_starts_a_long_application_four_times_whatever_the_number_of_candidates(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "app.hip").write_text(_SOURCE)
    argv = [sys.executable, "-m", "intelliperf", "--keep-work", "-b", "hipcc -O2 -o app app.hip", "--", "./app"]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, timeout=_DEADLINE_S)
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = project.glob(".intelliperf/runs/*")
    report = json.loads((run / "report.json").read_text())
    accepted = {
        a["kernel"].partition("(")[0] for a in report["attempts"] if a["verdict"] and a["verdict"]["on_recordings"]
    }
    assert accepted == {"positive", "total"}
    assert report["whole"]["outcome"] == "ACCEPTED"
    assert report["whole"]["compared_dispatches"] == 6  # all launches of all kernels
    assert starts(project) <= 4, done.stderr
    assert {m["kernel"].partition("(")[0] for m in report["measurements"] if m["scope"] == "kernel"} == accepted
    assert len(list((run / "patches").glob("*.diff"))) == 2
