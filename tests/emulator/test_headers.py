"""The device language of include/, checked by HIP and CUDA programs that compare with host references."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "headers"
COMPILER = {".hip": "hipcc", ".cu": "nvcc"}


def build(source: Path, folder: Path) -> Path:
    program = folder / source.stem
    command = [sys.executable, "-m", "intelliperf.emulator.driver", COMPILER[source.suffix], str(source)]
    built = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, timeout=400)
    assert built.returncode == 0, built.stderr
    return program


@pytest.mark.parametrize("source", sorted(PROGRAMS.glob("*.hip")) + sorted(PROGRAMS.glob("*.cu")), ids=lambda s: s.name)
def test_a_program_agrees_with_its_host_references(source: Path, tmp_path: Path) -> None:
    program = build(source, tmp_path)
    ran = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, ["all good"]), ran.stdout + ran.stderr
