"""How a Python program computes a launch's grid from what it hands to the kernel."""

from __future__ import annotations

import pytest

from intelliperf.project import pythonsource
from intelliperf.validation.edits.grids import alike
from intelliperf.validation.edits.pythongrids import grid_formulas

_KERNEL = """import triton
import triton.language as tl

TILE = 64

@triton.jit
def scale(x_ptr, n, rows, BLOCK: tl.constexpr):
    pass


def run(x, n, rows, block, other):
    {before}
    scale[{grid}](x, {size}, rows=rows, BLOCK={constant})
"""
_UP = "add.64 #1 sub.64 {0} sdiv.64"
_PLAIN = "#1 #32 shl.64 or.64:#1"


def formulas(grid: str, before: str = "pass", size: str = "n", constant: str = "128") -> tuple[str, ...]:
    text = _KERNEL.format(grid=grid, before=before, size=size, constant=constant)
    program = pythonsource.program({"app.py": text})
    (kernel,) = program.kernels("scale")
    return grid_formulas(program, kernel)


@pytest.mark.parametrize(
    ("grid", "before", "expected"),
    [
        ("(rows,)", "pass", f"@rows {_PLAIN}"),
        ("rows", "pass", f"@rows {_PLAIN}"),
        ("(rows, 1, n)", "pass", "@rows #1 #32 shl.64 or.64:@n"),
        ("(triton.cdiv(n, 128),)", "pass", f"@n #128 {_UP.format('#128')} {_PLAIN}"),
        ("(triton.cdiv(n, TILE),)", "pass", f"@n #64 {_UP.format('#64')} {_PLAIN}"),
        ("lambda meta: (triton.cdiv(n, meta['BLOCK']),)", "pass", f"@n #128 {_UP.format('#128')} {_PLAIN}"),
        ("grid", "grid = (n // 128 + 1,)", f"@n #128 sdiv.64 #1 add.64 {_PLAIN}"),
        ("grid", "grid = lambda META: (min(n, 64), rows % 7)", "@n #64 smin.64 @rows #7 srem.64 #32 shl.64 or.64:#1"),
        (
            "grid",
            "def grid(meta): return triton.cdiv(n, meta['BLOCK']), rows",
            f"@n #128 {_UP.format('#128')} @rows #32 shl.64 or.64:#1",
        ),
        ("(b, r)", "b, r = n * 2, rows", "@n #2 mul.64 @rows #32 shl.64 or.64:#1"),
    ],
)
def test_a_grid_is_a_formula_of_the_arguments_by_name(grid: str, before: str, expected: str) -> None:
    assert formulas(grid, before) == (f"0:{expected}",)


@pytest.mark.parametrize(
    ("grid", "before"),
    [
        ("(64,)", "pass"),  # of no argument
        ("(other,)", "pass"),  # that the kernel does not take
        ("(triton.next_power_of_2(n),)", "pass"),
        ("(n / 2,)", "pass"),
        ("(g,)", "g = n; g = g + 1"),
        ("grid", "def grid(meta): print(n); return (n,)"),
        ("grid", "grid = 7; grid = 8\n    def grid(meta): return (n,)"),
        ("grid", "def grid(meta): return (n,)\n    def grid(meta): return (n, 2)"),
        ("grid", "def grid(meta): return (meta['n'],)"),
        ("(g,)", "for g in range(n): pass"),
        ("lambda meta: (n // meta['WIDTH'],)", "pass"),
        ("(n, n, n, n)", "pass"),
        ("(max(n, 1),)", "global max; max = min"),
    ],
)
def test_what_is_made_of_anything_else_is_not_told(grid: str, before: str) -> None:
    assert formulas(grid, before) == ()


def test_the_same_expression_is_the_same_number() -> None:
    tensor = "(triton.cdiv(x.numel(), 128),)"
    assert formulas(tensor, size="x.numel()") == formulas("(triton.cdiv(n, 128),)")
    assert formulas(tensor, "count = x.numel()", size="count") == formulas(tensor, size="x.numel()")
    assert formulas(tensor) == ()
    assert formulas("(128,)", size="128") == ()  # a number that is written twice
    assert formulas("lambda meta: (n // meta['BLOCK'],)", constant="block") == ()


def test_versions_must_go_by_the_same_arguments() -> None:
    mine, theirs, others = formulas("(n,)"), formulas("(n // 2,)"), formulas("(n // rows,)")
    assert alike(mine, theirs) == (mine, theirs)
    assert alike(mine, others) is None and alike(mine, ()) is None
