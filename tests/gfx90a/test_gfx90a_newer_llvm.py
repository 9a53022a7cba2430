"""The recording plugin in clangs newer than 19, run on the software gfx90a and held to that device's counts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import newerllvm
import pytest
from instruments import Figures, Place
from recorded_on_device import SHAPES, WIDTHS, Program

from intelliperf.rocm.compilers import Compiler
from intelliperf.rocm.passplugin import pass_plugin

pytestmark = [pytest.mark.newer_llvm, pytest.mark.slow]


def without_executions(found: dict[Place, Figures]) -> dict[Place, Figures]:
    """In code of LLVM 22 an instruction may run in no lane, where 19 branched over it: that requests nothing."""
    return {place: replace(figures, executions=0) for place, figures in found.items()}


@pytest.mark.parametrize("program", [SHAPES, WIDTHS], ids=lambda program: program.name)
@pytest.mark.parametrize("clang", newerllvm.clangs(), ids=lambda clang: clang.version)
def test_a_plugin_of_a_newer_llvm_records_what_the_device_counts(
    clang: Compiler, program: Program, tmp_path: Path
) -> None:
    build = partial(newerllvm.compile_by, clang, tmp_path / "given_back.h")
    twice = program.twice(tmp_path, build, pass_plugin(clang))
    counted, own = twice.counted_by_device(), twice.by_line(twice.recorded())
    assert own and without_executions(own) == without_executions(counted)
    assert all(own[place].executions <= counted[place].executions for place in own)
    assert not [site for module in twice.modules for site in module.unresolved]
