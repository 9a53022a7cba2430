"""Host code of two versions, compared as compiled: what the optimiser does by the way counts for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from intelliperf.validation.edits.hostcode import Host, Needs, alike_optimised
from intelliperf.validation.edits.ir import parse
from intelliperf.validation.edits.units import Compiler, Unit

MAIN = """define i32 @main() #0 {
  ret i32 0
}
attributes #0 = { "min-legal-vector-width"="0" "target-cpu"="x86-64" }
"""


def _lines(text: str) -> list[str]:
    return [line.text for line in parse(text).lines("@main")]


def test_the_widest_vector_of_what_was_inlined_makes_no_difference() -> None:
    assert _lines(MAIN) == _lines(MAIN.replace('"min-legal-vector-width"="0" ', ""))
    assert _lines(MAIN) != _lines(MAIN.replace("x86-64", "native"))


class _Compiler:
    def optimised(self, ir: str, directory: Path) -> str:
        return f"{ir}'"


def test_a_version_without_scratch_memory_is_optimised_as_often_as_one_with_it() -> None:
    unit = Unit(Path("a.hip"), "hip", Path(), ())
    old, new = Host({}, {Needs.KERNELS: {unit: ["old"]}}), Host({}, {Needs.KERNELS: {unit: ["a", "b", "new"]}})
    sides = alike_optimised(cast(Compiler, _Compiler()), old, new, Needs.KERNELS)
    assert sides == ({unit: "old''"}, {unit: "new"})
