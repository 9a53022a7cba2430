"""The main job on a real NVIDIA GPU: examples, cheating patches, every launch form."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.nvidia

ROOT = Path(__file__).resolve().parents[2]
REDUCTION = ("-b", "make app-cuda")
CHEATS = {
    # A million atomic additions may err by more than 2 %; on recordings, time is asked before other numbers.
    "wrong": ("s * s", "s * s * 1.02f", "NOT_FASTER"),
    "noop": ("if (i < count)", "if (i < 0)", "WRONG_OUTPUT"),
    "skip": ("  signal_energy<<<", "  if (false) signal_energy<<<", "FORBIDDEN_EDIT"),
    "out of bounds": ("float s = samples[i];", "float s = samples[i + 100000000];", "MEMORY_ERROR"),
    "racy": (
        "    float s = samples[i];\n    atomicAdd(energy, s * s);",
        "    float s = samples[i];\n    *energy += s * s;",
        "WRONG_OUTPUT",
    ),
}


def run(directory: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Exit status and report of one run."""
    argv = [sys.executable, "-m", "intelliperf", *words]
    where = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": where}
    done = subprocess.run(argv, cwd=directory, env=environment, capture_output=True, text=True, timeout=300)
    found = sorted(directory.glob(".intelliperf/runs/*/report.json"))
    if not found:
        pytest.fail(f"no report: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    report = found[-1]
    content: dict[str, Any] = json.loads(report.read_text())
    return done.returncode, content


def example(tmp_path: Path, name: str) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / name, tmp_path / name))


def gain(report: dict[str, Any]) -> float:
    (kernel,) = (m for m in report["measurements"] if m["scope"] == "kernel")
    assert kernel["provenance"] == "measured"
    assert kernel["low"] > 1.0
    return float(kernel["ratio"])


def test_a_contended_reduction_ends_many_times_faster(tmp_path: Path) -> None:
    directory = example(tmp_path, "reduction")
    status, report = run(directory, "--backend", "cuda", "-f", "atomicContention", *REDUCTION, "--", "./app-cuda")
    assert (status, report["ending"]) == (0, "improved")
    assert gain(report) > 50


@pytest.mark.parametrize(
    ("name", "formula", "build", "program"),
    [
        ("transpose", "bankConflict", "cmake -S . -B build -DGPU=CUDA && cmake --build build", "build/transpose"),
        ("scan", "bankConflict", "make", "./scan"),
        ("particles", "memoryAccess", "make particles-cuda", "./particles-cuda"),
    ],
)
def test_an_example_ends_with_a_measured_gain(
    tmp_path: Path, name: str, formula: str, build: str, program: str
) -> None:
    directory = example(tmp_path, name)
    status, report = run(directory, "--backend", "cuda", "-f", formula, "-b", build, "--", program)
    assert (status, report["ending"]) == (0, "improved")
    assert gain(report) > 1.2
    assert report["device"]["emulated"] is False


@pytest.mark.parametrize(
    ("name", "formula", "build", "program"),
    [
        ("triad", "memoryAccess", "make triad-cuda", "./triad-cuda"),
        ("dotproduct", "atomicContention", "make", "./dot"),
    ],
)
def test_a_healthy_program_is_left_alone(tmp_path: Path, name: str, formula: str, build: str, program: str) -> None:
    directory = example(tmp_path, name)
    status, report = run(directory, "--backend", "cuda", "-f", formula, "-b", build, "--", program)
    assert (status, report["ending"]) == (0, "nothing to improve")


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheating_patch_is_rejected(tmp_path: Path, cheat: str) -> None:
    before, after, outcome = CHEATS[cheat]
    directory = example(tmp_path, "reduction")
    source = directory / "signal_energy.hip"
    original = source.read_text()
    assert before in original
    subprocess.run(["git", "init", "-q"], cwd=directory, check=True)
    subprocess.run(["git", "add", "-A"], cwd=directory, check=True)
    source.write_text(original.replace(before, after))
    patch = subprocess.run(["git", "diff"], cwd=directory, check=True, capture_output=True, text=True).stdout
    (tmp_path / "cheat.diff").write_text(patch)
    source.write_text(original)
    words = ("verify", str(tmp_path / "cheat.diff"), "--backend", "cuda", *REDUCTION, "--", "./app-cuda")
    _, report = run(directory, *words)
    assert report["attempts"][0]["verdict"]["outcome"] == outcome
