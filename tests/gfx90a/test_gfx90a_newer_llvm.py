"""The recording plugin in clangs newer than 19, run on the software gfx90a and held to that device's counts."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import newerllvm
import pytest
from instruments import Figures, Place
from recorded_on_device import SHAPES

from intelliperf.rocm.passplugin import pass_plugin

pytestmark = [pytest.mark.newer_llvm, pytest.mark.slow]


def without_executions(found: dict[Place, Figures]) -> dict[Place, Figures]:
    """In code of LLVM 22 an instruction may run in no lane, where 19 branched over it: that requests nothing."""
    return {place: replace(figures, executions=0) for place, figures in found.items()}


def test_a_plugin_of_a_newer_llvm_records_what_the_device_counts(tmp_path: Path) -> None:
    for number, clang in enumerate(newerllvm.clangs()):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        build = partial(newerllvm.compile_by, clang, scratch / "given_back.h")
        twice = SHAPES.twice(scratch, build, pass_plugin(clang))
        counted, own = twice.counted_by_device(), twice.by_line(twice.recorded())
        assert own and without_executions(own) == without_executions(counted), clang.version
        assert all(own[place].executions <= counted[place].executions for place in own), clang.version
        assert not [site for module in twice.modules for site in module.unresolved], clang.version
