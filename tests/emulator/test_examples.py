"""Each example builds as its README line says, checks its own result, and shows what it is an example of."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from profile_programs import RUN_DEADLINE_S, Program, build

from intelliperf.formulas import BOTTLENECKS, FORMULAS
from intelliperf.processes.process import run

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Example:
    name: str
    commands: tuple[tuple[str, ...], ...]
    program: str
    formula: str | None = None  # None: healthy
    kernel: str = ""  # part of the display name
    blamed: str = ""  # text on the worst line
    besides: str | None = None  # a formula that may find something, too, by how the chip is filled


MAKE = (("make",),)
TABLE = (
    Example("reduction", MAKE, "./app", "atomicContention", "signal_energy", "atomicAdd(energy, s * s);"),
    Example("histogram", (("./build.sh",),), "./histogram", "atomicContention", "histogramKernel", "atomicAdd(&bins"),
    Example(
        "transpose",
        (("cmake", "-S", ".", "-B", "build"), ("cmake", "--build", "build")),
        "build/transpose",
        "bankConflict",
        "transposeTiled",
        "tile[threadIdx.x][threadIdx.y + k]",
    ),
    Example("scan", MAKE, "./scan", "bankConflict", "scan_chunks", "tree["),
    # 147 blocks for 304 compute units
    Example("particles", MAKE, "./particles", "memoryAccess", "advance", "particles[i]", besides="launchConfig"),
    Example("rowsums", MAKE, "./rowsums", "memoryAccess", "rowSums", "m.elements[row * m.columns + column]"),
    Example("mixing", MAKE, "./mixing", "registerPressure", "mix", "state[c] * gain + state[(c * 5 + 1) % kChannels]"),
    Example("sides", MAKE, "./sides", "branchDivergence", "relax", "x = 1.0f - x * x * 0.125f;"),
    Example("triad", MAKE, "./triad"),
    Example("dotproduct", MAKE, "./dot"),
)


@pytest.fixture(scope="module", params=TABLE, ids=lambda example: example.name)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Example, Program]:
    chosen: Example = request.param
    if shutil.which(chosen.commands[0][0]) is None and not chosen.commands[0][0].startswith("./"):
        pytest.fail(f"{chosen.commands[0][0]} is needed to build the examples")
    directory = tmp_path_factory.mktemp(chosen.name) / "project"
    shutil.copytree(EXAMPLES / chosen.name, directory, ignore=shutil.ignore_patterns(".intelliperf"))
    return chosen, build(directory, chosen.commands, [chosen.program])


def test_an_example_checks_its_own_result(example: tuple[Example, Program], tmp_path: Path) -> None:
    _, program = example
    application = program.application
    done = run(application.command, application.directory, RUN_DEADLINE_S, tmp_path, "run")
    assert done.ok, done.tail()
    assert "PASS" in done.tail("stdout")


def test_an_example_shows_its_bottleneck_and_no_other(example: tuple[Example, Program]) -> None:
    chosen, program = example
    kernels = program.profile().kernels
    device = program.backend.probe()  # the profiled program's own
    findings = {
        formula.name: next((f for k in kernels if (f := formula.diagnose(k, device))), None) for formula in BOTTLENECKS
    }
    shown = [name for name, finding in findings.items() if finding is not None and name != chosen.besides]
    assert shown == [chosen.formula] * bool(chosen.formula)
    if chosen.formula is not None:
        finding = findings[chosen.formula]
        assert finding is not None
        assert chosen.kernel in finding.profile.kernel.name
        assert finding.gain_ceiling > 1.0


def test_the_worst_line_of_an_example_is_the_one_to_change(example: tuple[Example, Program]) -> None:
    chosen, program = example
    if chosen.formula is None:
        assert all(program.lines(kernel.kernel.name) for kernel in program.profile().kernels)
        return
    formula, device = FORMULAS[chosen.formula], program.backend.probe()
    kernel = next(k for k in program.profile().kernels if formula.diagnose(k, device) is not None)
    blamed = formula.blame(program.lines(kernel.kernel.name))
    assert chosen.blamed in blamed[0].text
