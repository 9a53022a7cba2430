"""Which parameters take copies of floats, bit by bit."""

from __future__ import annotations

import pytest

from intelliperf.emulator.ir.copies import copied
from intelliperf.emulator.ir.module import parse_module

LOAD = "  %p = getelementptr inbounds float, ptr %in, i64 %i\n  %v = load float, ptr %p, align 4, !tbaa !7\n"
PLACE = "  %q = getelementptr inbounds float, ptr %out, i64 %i\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{LOAD}{PLACE}  store float %v, ptr %q, align 4, !tbaa !7\n", [1]),
        (f"{LOAD}{PLACE}  %w = fadd float %v, 0.0\n  store float %w, ptr %q, align 4\n", []),
        (f"{LOAD}{PLACE}  %w = select i1 %c, float %v, float 0.0\n  store float %w, ptr %q, align 4\n", [1]),
        # What other lanes find in LDS is what was stored there.
        (f"{LOAD}{PLACE}  %w = fneg float %v\n  store float %w, ptr @s\n  store float %v, ptr %q\n", []),
        (f"{LOAD}{PLACE}  store float %v, ptr @s\n  %x = load float, ptr @s\n  store float %x, ptr %q\n", [1]),
        (f"{LOAD}{PLACE}  store float %v, ptr %q\n  %o = atomicrmw fadd ptr %q, float %v monotonic\n", []),
        (f"{LOAD}{PLACE}  call void @other(ptr %q)\n  store float %v, ptr %q\n", []),
        (f"{LOAD}  %w = fmul float %v, 2.0\n  store float %w, ptr %out\n  store float %v, ptr %more\n", [2]),
    ],
)
def test_floats_that_are_stored_as_they_were_loaded_are_copies(body: str, expected: list[int]) -> None:
    header = "ptr %in, ptr %out, ptr %more, i64 %i, i1 %c"
    (function,) = parse_module(f"define void @f({header}) {{\n{body}  ret void\n}}\n").functions
    assert copied(function, {"%in": 0, "%out": 1, "%more": 2}) == expected
