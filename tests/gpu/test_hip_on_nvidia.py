"""A HIP program on a real NVIDIA GPU, by HIP's own headers for that platform."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.nvidia, pytest.mark.hip_nvidia]

ROOT = Path(__file__).resolve().parents[2]


def test_a_hip_program_goes_through_the_main_job_as_it_is(tmp_path: Path) -> None:
    import hiptoolkit

    directory = tmp_path / "reduction"
    directory.mkdir()
    shutil.copy(ROOT / "examples" / "reduction" / "signal_energy.hip", directory)
    where = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": where, **hiptoolkit.environment(tmp_path / "toolkit")}
    build = "hipcc -O3 -o app signal_energy.hip"
    argv = [sys.executable, "-m", "intelliperf", "--backend", "cuda", "-f", "atomicContention", "-b", build]
    done = subprocess.run(
        [*argv, "--", "./app"], cwd=directory, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (path,) = directory.glob(".intelliperf/runs/*/report.json")
    report = json.loads(path.read_text())
    assert report["ending"] == "improved"
    (kernel,) = (m for m in report["measurements"] if m["scope"] == "kernel")
    assert (kernel["provenance"], kernel["low"] > 1.0, kernel["ratio"] > 50) == ("measured", True, True)
