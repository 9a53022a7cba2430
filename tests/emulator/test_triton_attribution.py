"""Planted faults in Triton kernels: each is found at the line of the user's that has it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_TESTS = Path(__file__).resolve().parents[1]
_ARRAYS = _TESTS / "zoo" / "triton" / "programs" / "arrays.py"
_DEADLINE_S = 240

# Each fault has its formula in a comment; kernels without one are in order.
PLANTED = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def contended(x, total, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at)
    part = tl.sum(value * value)
    tl.atomic_add(total, part)  # atomicContention

@triton.jit
def fetched(x, at):
    return tl.load(x + at * 16)  # memoryAccess

@triton.jit
def strided(x, y, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, fetched(x, at) + 1.0)

@triton.jit
def turned(x, y, n, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + row[:, None] * n + column[None, :])
    tl.store(y + column[None, :] * n + row[:, None], tile)

@triton.jit
def exchanged(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * BLOCK + at)
    for _ in range(8):
        value = tl.gather(value, at * 32 % BLOCK + at // 32, 0) + 1.0  # bankConflict
    tl.store(y + tl.program_id(0) * BLOCK + at, value)

@triton.jit
def few(x, y, n, BLOCK: tl.constexpr):  # launchConfig
    for first in range(tl.program_id(0) * BLOCK, n, BLOCK * tl.num_programs(0)):
        at = first + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at) * 0.5)

x, y = Array("fp32", [1.0] * (1 << 22)), Array("fp32", [0.0] * (1 << 20))
contended[(2048,)](x, Array("fp32", [0.0]), BLOCK=256)
strided[(2048,)](x, y, BLOCK=128)
turned[(16, 32)](x, y, 1024, TILE=32)
exchanged[(304,)](x, y, BLOCK=1024)
few[(4,)](x, y, 1 << 15, BLOCK=256)
"""
_FINDING = re.compile(r"^  \d+\. (\w+) in \w+, app\.py:(\d+)", re.MULTILINE)


def interpreter() -> str:
    specification = importlib.util.spec_from_file_location("interpreters", _TESTS / "triton" / "interpreters.py")
    assert specification is not None and specification.loader is not None
    finder = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(finder)
    found: str = finder.python_with("triton")
    return found


@pytest.mark.triton
@pytest.mark.slow
def test_planted_faults_are_found_at_their_lines_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(PLANTED)
    shutil.copy(_ARRAYS, tmp_path / "arrays.py")
    words = ["diagnose", "--backend", "emulator", "--top-n", "9", "--", interpreter(), "app.py"]
    argv = [sys.executable, "-m", "intelliperf", *words]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    assert done.returncode == 0, done.stderr
    planted = {
        (line.rpartition("# ")[2], number)
        for number, line in enumerate(PLANTED.splitlines(), 1)
        if re.search(r"  # \w+$", line)
    }
    assert len(planted) == 4
    found = {(formula, int(line)) for formula, line in _FINDING.findall(done.stdout + done.stderr)}
    assert found == planted
