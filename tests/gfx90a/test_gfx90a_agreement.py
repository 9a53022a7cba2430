"""Two independent instruments on the examples: machine code counted on the software gfx90a, and the product's emulator.

They share no code. `EXPLAINED` says where the compiler for gfx90a makes something else of a line than the line says.
What the compiler plugin records on each example has to be what the device counts.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from emulated_lines import agree, on_the_emulator, shown
from recorded_on_device import EXAMPLES, NO_LINE, PARTICLES, REDUCTION, TRANSPOSE, TRIAD, Program, Twice, equal

pytestmark = pytest.mark.gfx90a
# Lines that differ, and why.
EXPLAINED: dict[str, dict[tuple[str, str, str], str]] = {
    "particles": {  # neighbouring members of a structure are loaded and stored by two or three at a time
        ("integrator.hip:26", "global", "load"): "position and velocity: three members each are one access",
        ("integrator.hip:26", "global", "store"): "three members are one access",
        ("integrator.hip:27", "global", "load"): "loaded with what line 26 loads",
        ("integrator.hip:27", "global", "store"): "three members are one access",
    },
}
IN_BOTH = (
    REDUCTION,
    pytest.param(TRANSPOSE, marks=pytest.mark.slow),
    pytest.param(PARTICLES, marks=pytest.mark.slow),
    TRIAD,
)


@pytest.fixture(scope="module", params=IN_BOTH, ids=lambda example: example.name)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Twice]:
    return request.param, request.param.twice(tmp_path_factory.mktemp(request.param.name))


def test_both_instruments_count_the_same_on_every_line(built: tuple[Program, Twice], tmp_path: Path) -> None:
    example, twice = built
    project = tmp_path / "project"
    shutil.copytree(EXAMPLES / example.name, project)
    device, emulator = twice.lines_on_device(), on_the_emulator(example.sources, project, example.arguments)
    assert device, "no line was counted"
    different = {
        place: f"{place}\n  gfx90a   {shown(device, place)}\n  emulator {shown(emulator, place)}"
        for place in sorted({*device, *emulator})
        if not agree(device.get(place), emulator.get(place))
    }
    assert {(place.line, place.space, place.kind) for place in different} == set(EXPLAINED.get(example.name, {})), (
        "\n".join(different.values())
    )


def test_what_the_compiler_plugin_records_is_the_same_too(built: tuple[Program, Twice]) -> None:
    _, twice = built
    assert any(place.line != NO_LINE for place in equal(twice))
