"""Which operations on signed numbers from memory are rewritten, and how."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.module import parse_module
from intelliperf.emulator.ir.overflows import Overflows, declarations


def overflows(body: str) -> Overflows:
    module = parse_module(f"define void @f(ptr %p, i32 %n) {{\n{body}  ret void\n}}\n")
    return Overflows(module.functions[0])


@pytest.mark.parametrize(
    ("operation", "rewritten"),
    [
        ("add nsw i32 %v, %n", True),
        ("sub nuw nsw i32 %v, 3", True),
        ("mul nsw i32 %n, %v", True),
        ("add i32 %v, %n", False),  # wraps by right
        ("add nuw i32 %v, %n", False),
        ("add nsw i32 %n, 1", False),  # of no number from memory
        ("add nsw i16 %v, 1", False),
    ],
)
def test_signed_operations_on_numbers_from_memory_are_rewritten(operation: str, rewritten: bool) -> None:
    kind = operation.split()[-3]
    found = overflows(f"  %v = load i32, ptr %p, align 4\n  %r = {operation}\n  %c = icmp sgt {kind} %r, 0\n")
    assert found.found == ({"%r"} if rewritten else set())
    lines = found.rewritten("%r", f"  %r = {operation}")
    assert (len(lines) > 1) is rewritten and lines[-1].startswith("  %r = ")
    assert bool(found.beginning) is rewritten


def test_sums_that_nothing_is_compared_with_stay() -> None:
    assert not overflows("  %v = load i32, ptr %p, align 4\n  %r = add nsw i32 %v, %n\n").found


def test_what_the_module_declares_is_not_declared_again() -> None:
    found = overflows("  %v = load i64, ptr %p, align 8\n  %r = sub nsw i64 %v, 1\n  %c = icmp sgt i64 %r, 0\n")
    lines = found.rewritten("%r", "  %r = sub nsw i64 %v, 1")
    name = "llvm.ssub.with.overflow.i64"
    assert declarations(lines, {}) == [f"declare {{ i64, i1 }} @{name}(i64, i64)"]
    assert declarations(lines, {name}) == []
