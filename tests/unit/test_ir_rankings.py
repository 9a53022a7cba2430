"""Compares that find the largest of several numbers: which they are, and what becomes of them."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.addresses import Addresses
from intelliperf.emulator.ir.functions import successors
from intelliperf.emulator.ir.layout import Layout
from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.rankings import Rankings

TREE = """  %m = load float, ptr @lds, align 4
  %p = getelementptr inbounds float, ptr @lds, i64 %i
  %o = load float, ptr %p, align 4
  %c = fcmp contract ogt float %o, %m
"""
STORED = f"""{TREE}  br i1 %c, label %then, label %end
then:
  store float %o, ptr @lds, align 4
  br label %end
end:
  ret void
"""
LOOP = """  %first = load float, ptr %p, align 4
  br label %body
body:
  %j = phi i64 [ 1, %0 ], [ %k, %body ]
  %m = phi float [ START, %0 ], [ %n, %body ]
  %q = getelementptr inbounds float, ptr %p, i64 %j
  %v = load float, ptr %q, align 4
  %c = fcmp contract olt float %m, %v
  %n = select i1 %c, float %v, float %m
  %k = add i64 %j, 1
  %e = icmp eq i64 %k, %i
  br i1 %e, label %end, label %body
end:
  store float %n, ptr %p, align 4
  ret void
"""
COUNT = f"""{TREE}  br i1 %c, label %then, label %end
then:
  %old = atomicrmw add ptr %q, i32 1 monotonic
  br label %end
end:
  store float %m, ptr %p, align 4
  ret void
"""
LIMIT = """  %m = load float, ptr %p, align 4
  %l = load float, ptr %q, align 4
  %c = fcmp ogt float %m, %l
  %n = select i1 %c, float %l, float %m
  store float %n, ptr %p, align 4
  ret void
"""
FOUND = f"""{TREE}  %w = select i1 %c, i64 %i, i64 %j
  %r = getelementptr inbounds float, ptr @lds, i64 %w
  ret void
"""


def rankings(body: str) -> Rankings:
    text = f"@lds = global [64 x float] undef\ndefine void @f(ptr %p, ptr %q, i64 %i, i64 %j) {{\n{body}}}\n"
    module = parse_module(text)
    (function,) = module.functions
    return Rankings(function, Addresses(function, Layout(module.structs)), successors(function.blocks))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (STORED, {"%c": True}),
        (f"{TREE}  %n = select i1 %c, float %o, float %m\n  ret void\n", {"%c": True}),
        (f"{TREE}  %n = select i1 %c, float %m, float %o\n  ret void\n", {"%c": False}),
        (STORED.replace("ogt", "ugt"), {}),  # asks for NaN
        (LOOP.replace("START", "%first"), {"%c": False}),
        (LOOP.replace("START", "%first").replace("%n, ptr %p", "%n, ptr @lds"), {}),  # in the program's own order
        (LOOP.replace("START", "0.0"), {}),  # no NaN gets in
        (COUNT, {}),
        (LIMIT, {}),
        (LIMIT.replace("ptr %q", "ptr %p"), {"%c": False}),
        (FOUND, {}),
    ],
)
def test_compares_that_keep_the_larger_of_numbers_of_one_kind_are_found(body: str, expected: dict[str, bool]) -> None:
    assert rankings(body).found == expected


def test_such_a_compare_remains_what_it_was_unless_nan_is_ranked() -> None:
    found = rankings(STORED)
    plain, *others = found.rewritten("%c", "  %c = fcmp contract ogt float %o, %m")
    assert plain == "  %simt.plain2.c = fcmp contract ogt float %o, %m"
    assert others[-1] == "  %c = select i1 %simt.nan2.c.asked, i1 %simt.side2.c, i1 %simt.plain2.c"
    assert found.beginning[0] == "  %simt.rank = load i8, ptr @__simt_nan_rank, align 1"
    assert rankings(COUNT).rewritten("%c", "  %c = fcmp ogt float %o, %m") == ["  %c = fcmp ogt float %o, %m"]
    assert rankings(COUNT).beginning == []
