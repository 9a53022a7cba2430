"""Atomics are issued as the real target's compiler does them."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from profile_programs import BUILD_DEADLINE_S

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.compiler.targetsites import TABLES
from intelliperf.emulator.container import unpack_container
from intelliperf.emulator.ir.memory import COMBINED, COUNTED, SPINS
from intelliperf.processes.process import run

PROGRAMS = Path(__file__).parent / "programs"
SHARED = Path(__file__).parent / "programs" / "target_atomics.inc"
_EXPECTED = re.compile(r"void (\w+)\(.*// is: (\w+) (\w+)$")
KERNELS = {m[1]: (m[2], m[3]) for line in SHARED.read_text().splitlines() if (m := _EXPECTED.search(line))}


@functools.lru_cache
def atomics_of(compiler: str, source: str, target: str, directory: Path) -> Mapping[str, Any]:
    """The one atomic site of each kernel, by the kernel's plain name."""
    for name in (source, SHARED.name):
        shutil.copy(PROGRAMS / name, directory)
    environment = EmulatorBackend(directory / "records", target).build_environment()
    command = [compiler, "-O3", "-c", source, "-o", "made.o"]
    done = run(command, directory, BUILD_DEADLINE_S, directory / "logs", "build", environment)
    assert done.ok, done.tail()
    content = (directory / "made.o").read_bytes()
    metadata = unpack_container(content[content.index(b"IPERFSIM") :])[1]
    atomics = [site for site in metadata["sites"] if site["kind"] in ("atomic", "reduction")]
    return {metadata["kernels"][site["function"]]["name"]: site for site in atomics}


@pytest.fixture(scope="module")
def nvidia(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return atomics_of("nvcc", "target_atomics.cu", "h100", tmp_path_factory.mktemp("nvidia"))


@pytest.fixture(scope="module")
def amd(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    return atomics_of("hipcc", "target_atomics.hip", "mi300x", tmp_path_factory.mktemp("amd"))


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
