"""Loads, stores and atomics are counted as the real target's compiler makes them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from profile_programs import BUILD_DEADLINE_S, build

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.compiler.targetsites import TABLES
from intelliperf.emulator.container import unpack_container
from intelliperf.emulator.ir.memory import COMBINED, COUNTED, SPINS
from intelliperf.processes.process import run
from intelliperf.records import Metric

PROGRAMS = Path(__file__).parent / "programs"
ATOMICS = (PROGRAMS / "target_atomics.inc").read_text()
_EXPECTED = re.compile(r"void (\w+)\(.*// is: (\w+) (\w+)$", re.MULTILINE)
KERNELS = {name: (nvidia, amd) for name, nvidia, amd in _EXPECTED.findall(ATOMICS)}
ACCESSES = (PROGRAMS / "target_accesses.inc").read_text()
_WIDTHS = re.compile(r"^// is: (\w+): (.*) \| (.*)$", re.MULTILINE)
WIDTHS = {name: (nvidia, amd) for name, nvidia, amd in _WIDTHS.findall(ACCESSES) if name != "kernel"}


def metadata_of(compiler: str, name: str, target: str, directory: Path) -> Mapping[str, Any]:
    """What the object that `compiler` makes of a program says of its device code."""
    source = f"{name}.{'cu' if compiler == 'nvcc' else 'hip'}"
    for file in (source, f"{name}.inc"):
        shutil.copy(PROGRAMS / file, directory)
    environment = EmulatorBackend(directory / "records", target).build_environment()
    command = [compiler, "-O3", "-c", source, "-o", "made.o"]
    done = run(command, directory, BUILD_DEADLINE_S, directory / "logs", "build", environment)
    assert done.ok, done.tail()
    content = (directory / "made.o").read_bytes()
    return unpack_container(content[content.index(b"IPERFSIM") :])[1]


def atomics_of(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one atomic site of each kernel, by the kernel's plain name."""
    atomics = [site for site in metadata["sites"] if site["kind"] in ("atomic", "reduction")]
    return {metadata["kernels"][site["function"]]["name"]: site for site in atomics}


def widths_of(metadata: Mapping[str, Any], kernel: str) -> str:
    """Of the kernel's loads and stores, as target_accesses.inc writes them but for the memory."""
    symbol = next(symbol for symbol, facts in metadata["kernels"].items() if facts["name"] == kernel)
    sites = [site for site in metadata["sites"] if site["function"] == symbol and site["kind"] in ("load", "store")]
    return " ".join(sorted(f"{site['kind'][0].upper()}{site['bytes']}" for site in sites))


@pytest.fixture(scope="module")
def nvidia(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return atomics_of(metadata_of("nvcc", "target_atomics", "h100", tmp_path_factory.mktemp("nvidia")))


@pytest.fixture(scope="module")
def amd(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return atomics_of(metadata_of("hipcc", "target_atomics", "mi300x", tmp_path_factory.mktemp("amd")))


def way(flags: int, in_lds: bool) -> str:
    """As the runtime takes them: what is said of LDS means nothing elsewhere."""
    if in_lds and flags & (COUNTED | SPINS):
        return "counted" if flags & COUNTED else "spins"
    return "combined" if flags & COMBINED else "each"


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_atomic_is_done_as_in_sass(nvidia: Mapping[str, Any], kernel: str) -> None:
    """Where there is no disassembler the table says the same."""
    site = nvidia[kernel]
    assert way(site["flags"], kernel.startswith("lds_")) == KERNELS[kernel][0]
    assert site["by"] == TABLES["nvidia"] or "ptxas" in site["by"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_atomic_is_done_as_in_amds_code(amd: Mapping[str, Any], kernel: str) -> None:
    site = amd[kernel]
    assert way(site["flags"] & ~SPINS, kernel.startswith("lds_")) == KERNELS[kernel][1]
    assert site["by"].endswith("for gfx942")


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "target"), [("nvcc", "h100"), ("hipcc", "mi300x")])
def test_loads_and_stores_have_the_widths_of_the_targets_code(compiler: str, target: str, tmp_path: Path) -> None:
    metadata = metadata_of(compiler, "target_accesses", target, tmp_path)
    of = 0 if compiler == "nvcc" else 1
    expected = {kernel: " ".join(sorted(code[of].upper().split())) for kernel, code in WIDTHS.items()}
    assert {kernel: widths_of(metadata, kernel) for kernel in WIDTHS} == expected


@pytest.mark.parametrize(
    ("compiler", "source", "target"), [("nvcc", "strides.cu", "h100"), ("hipcc", "strides.hip", "mi300x")]
)
def test_a_grids_size_stays_in_a_register_whatever_is_stored(
    compiler: str, source: str, target: str, tmp_path: Path
) -> None:
    for name in (source, "strides.inc"):
        shutil.copy(PROGRAMS / name, tmp_path)
    program = build(tmp_path, [[compiler, "-O2", source, "-o", "app"]], ["./app"], target)
    given, own = (program.kernel(name).quantity(Metric.INSTRUCTIONS).value for name in ("by_argument", "by_grid"))
    assert own == pytest.approx(given, rel=0.02)
