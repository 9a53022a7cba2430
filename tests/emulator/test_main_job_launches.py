"""Bottlenecks of registers, launches and divergence through the whole command: found, rewritten, judged, accepted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from servers.provider_server import Conversation, ProviderServer

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
DEADLINE_S = 240.0
# Blocks of 40 threads: of a wave of 64 lanes 24 have nothing to do.
NARROW = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
__global__ void decay(float* values, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = values[i];
    for (int k = 0; k < 500; ++k) x = x * 0.999f + 0.001f;
    values[i] = x;
  }
}
int main() {
  const int n = 1 << 16;
  std::vector<float> values(n, 1.0f);
  float* device;
  hipMalloc(&device, n * 4);
  hipMemcpy(device, values.data(), n * 4, hipMemcpyHostToDevice);
  const int threads = 40;
  decay<<<(n + threads - 1) / threads, threads>>>(device, n);
  hipMemcpy(values.data(), device, n * 4, hipMemcpyDeviceToHost);
  for (int i = 0; i < n; i += 1000) if (!(values[i] > 0.99f && values[i] < 1.01f)) return puts("FAIL"), 1;
  puts("PASS");
}
"""


def report_of(project: Path, formula: str, *command: str, key: str = "", status: int = 0) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    if key:
        environment["OPENAI_API_KEY"] = key
    done = subprocess.run(
        [sys.executable, "-m", "intelliperf", "-f", formula, *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    (run,) = project.glob(".intelliperf/runs/*")
    report: dict[str, Any] = json.loads((run / "report.json").read_text())
    return report


def test_spills_for_want_of_a_bound_end_with_an_accepted_patch(tmp_path: Path) -> None:
    project = tmp_path / "mixing"
    shutil.copytree(ROOT / "examples" / "mixing", project, ignore=shutil.ignore_patterns(".intelliperf"))
    report = report_of(project, "registerPressure", "-b", "make", "--", "./mixing")
    (attempt,) = report["attempts"]
    assert attempt["verdict"]["outcome"] == "ACCEPTED"
    assert "__launch_bounds__(256) mix(" in report["patch"]
    assert attempt["verdict"]["metric_before"]["value"] > 0 == attempt["verdict"]["metric_after"]["value"]
    kernel = next(m for m in report["measurements"] if m["scope"] == "kernel")
    saved = kernel["baseline_ns"] - kernel["candidate_ns"]
    assert saved < report["finding"]["profile"]["quantities"]["local_time_ns"]["value"] * 1.1, "the ceiling holds"


def test_lanes_that_go_different_ways_are_put_into_waves_of_their_own_by_a_model(tmp_path: Path) -> None:
    project = tmp_path / "sides"
    shutil.copytree(ROOT / "examples" / "sides", project, ignore=shutil.ignore_patterns(".intelliperf"))
    replies = Conversation.read(ROOT / "tests" / "servers" / "conversations" / "sides" / "conversation.json")
    with ProviderServer(replies) as server:
        model = ("-r", "openai", "-m", "demo-model", "--api-base", f"{server.root}/v1")
        command = (
            "-b",
            "make",
            "--target",
            "radeon8060s",
            "--parallel",
            "1",
            *model,
            "--",
            "./sides",
            str(1 << 15),
            "500",
        )
        report = report_of(project, "branchDivergence", *command, key="demo-key")
    verdicts = [attempt["verdict"] for attempt in report["attempts"] if attempt["verdict"]]  # rules decline
    assert [verdict["outcome"] for verdict in verdicts] == ["WRONG_OUTPUT", "ACCEPTED"]
    assert verdicts[1]["metric_before"]["value"] < 0.51 and verdicts[1]["metric_after"]["value"] > 0.99
    kernel = next(m for m in verdicts[1]["measurements"] if m["scope"] == "kernel")
    assert kernel["low"] > 1.0


def test_blocks_of_broken_waves_are_made_whole_and_the_gain_told_with_the_models_error(tmp_path: Path) -> None:
    (tmp_path / "narrow.hip").write_text(NARROW)
    report = report_of(
        tmp_path,
        "launchConfig",
        "--target",
        "radeon8060s",
        "-b",
        "hipcc -O2 narrow.hip -o app",
        "--",
        "./app",
        status=3,
    )
    attempt = next(attempt for attempt in report["attempts"] if attempt["verdict"])
    assert attempt["verdict"]["outcome"] == "NOT_FASTER"
    assert "+  const int threads = 64;" in attempt["diff"]
    kernel = next(m for m in attempt["verdict"]["measurements"] if m["scope"] == "kernel")
    assert kernel["low"] < 1.0 < 1.2 < kernel["ratio"] < kernel["high"]
