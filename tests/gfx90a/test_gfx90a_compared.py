"""Programs beside the examples, line by line: built by the distribution's hipcc for the software gfx90a, and emulated.

Vector types, loops, templates, records, atomics of all kinds: what two instruments that share nothing count on a line
has to be equal, unless `EXPLAINED` says what the compiler for gfx90a makes of that line.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from emulated_lines import agree, on_the_emulator, shown
from instruments import code_objects, device_lines
from programs_on_device import PROGRAMS, dispatches_in, run_program

from intelliperf.processes.process import output_of

pytestmark = [pytest.mark.gfx90a, pytest.mark.slow]
SOURCES = sorted((PROGRAMS / "compared").glob("*.hip"))
_DEADLINE_S = 120.0
# By program: the accesses that differ, and why.
EXPLAINED: dict[str, dict[tuple[str, str, str], str]] = {
    "bytes": {
        ("bytes.hip:20", "global", "load"): "loaded as the wider number that line 21 shifts",
        ("bytes.hip:21", "global", "load"): "the load of line 20, widened",
    },
    "mixture": {
        ("mixture.hip:17", "global", "load"): "the last of three bytes is loaded on line 18, which uses it",
        ("mixture.hip:18", "global", "load"): "the last of three bytes of line 17",
        ("mixture.hip:18", "lds", "store"): "eight bytes aligned to four are two accesses, in as many cycles",
        ("mixture.hip:63", "global", "atomic"): "clang 22 combines 64-bit atomics of a wave, clang 15 does not",
    },
}


def test_there_are_enough_programs_and_each_explanation_is_of_one() -> None:
    assert len(SOURCES) >= 20
    assert set(EXPLAINED) <= {source.stem for source in SOURCES}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_emulator_and_machine_code_count_the_same_on_every_line(source: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    copy = Path(shutil.copy(source, project))
    program = tmp_path / "plain"
    words = ["hipcc", "-O3", "-g", "--offload-arch=gfx90a", "-std=c++17", str(copy), "-o", str(program)]
    done, _, err = output_of(words, _DEADLINE_S, {"HIP_PLATFORM": "amd", "TMPDIR": str(tmp_path)})
    assert done.ok, err
    done, out, err = run_program([str(program)], tmp_path / "counts")
    assert done.ok, out + err
    dispatches = dispatches_in(tmp_path / "counts")
    device = device_lines(dispatches, code_objects(program, tmp_path), project.resolve(), as_written=True)
    emulator = on_the_emulator((copy.name,), project)
    assert device, "no line was counted"
    different = {
        (place.line, place.space, place.kind): f"{place}\n  gfx90a   {shown(device, place)}\n"
        f"  emulator {shown(emulator, place)}"
        for place in sorted({*device, *emulator})
        if not agree(device.get(place), emulator.get(place))
    }
    assert set(different) == set(EXPLAINED.get(source.stem, {})), "\n".join(different.values())
