"""Constants of Triton kernels: those that a compiler writes as two floats, and those that a launch compiles for."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path

import pytest
from test_triton_programs import interpreter

_ARRAYS = Path(__file__).resolve().parents[1] / "zoo" / "triton" / "programs" / "arrays.py"
_DEADLINE_S = 240
_PROGRAM = """import triton, triton.language as tl
from arrays import Array

@triton.jit
def logarithms(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=1.0)
    tl.store(y_ptr + at, tl.log(x), mask=at < n)

n = 200
y = Array("fp32", [0.0] * n)
logarithms[(4,)](Array("fp32", [1 + k * 0.37 for k in range(n)]), y, n, BLOCK=64, num_warps=1)
print(round(sum(y.values())))
"""


def _verified(directory: Path, program: str, change: tuple[str, str]) -> subprocess.CompletedProcess[str]:
    (directory / "arrays.py").write_text(_ARRAYS.read_text())
    (directory / "app.py").write_text(program)
    lines, patched = program.splitlines(keepends=True), program.replace(*change).splitlines(keepends=True)
    patch = directory.with_suffix(".patch")
    patch.write_text("".join(difflib.unified_diff(lines, patched, "a/app.py", "b/app.py")))
    argv = [sys.executable, "-m", "intelliperf", "verify", str(patch), "--", interpreter("triton"), "app.py"]
    return subprocess.run(argv, cwd=directory, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)


@pytest.mark.triton
@pytest.mark.parametrize(
    "logarithm, right",
    [("tl.log2(x) * 0.6931471805599453", True), ("tl.log2(x) * 0.693147", False)],
)
def test_a_logarithm_by_two_and_a_constant_is_the_one_of_the_language(
    tmp_path: Path, logarithm: str, right: bool
) -> None:
    done = _verified(tmp_path, _PROGRAM, ("tl.log(x)", logarithm))
    assert done.returncode == 3, done.stdout + done.stderr
    assert ("WRONG_OUTPUT" in done.stdout) != right and ("NOT_FASTER" in done.stdout) == right, done.stdout


_SCALED = """import triton, triton.language as tl
from arrays import Array

@triton.jit
def scaled(x_ptr, s_ptr, y_ptr, n, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    s = tl.load(s_ptr + at // GROUP, mask=at < n, other=0.0)
    tl.store(y_ptr + at, x * s, mask=at < n)

n = 200
y = Array("fp32", [0.0] * n)
s = Array("fp32", [1.0 + k for k in range(13)])
scaled[(4,)](Array("fp32", [1 + k * 0.37 for k in range(n)]), s, y, n, BLOCK=64, GROUP=16, num_warps=1)
print(round(sum(y.values())))
"""


@pytest.mark.triton
@pytest.mark.parametrize("group, right", [("16", False), ("GROUP * 1", True)])
def test_a_constant_of_the_launch_written_into_the_kernel_is_found(tmp_path: Path, group: str, right: bool) -> None:
    done = _verified(tmp_path, _SCALED, ("at // GROUP", f"at // ({group})"))
    assert done.returncode == 3, done.stdout + done.stderr
    assert ("GROUP = 32 instead of 16" in done.stdout and "WRONG_OUTPUT" in done.stdout) != right, done.stdout
    assert ("NOT_FASTER" in done.stdout) == right, done.stdout
