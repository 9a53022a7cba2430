"""The tools library and HIP programs against the headers of ROCm 5.2 (Debian) and 6.2."""

from __future__ import annotations

from pathlib import Path

import pytest
import rocmheaders
from rocmdevice import HERE

from intelliperf.interception import building
from intelliperf.processes.process import output_of
from intelliperf.rocm import native

ROOT = Path(building.__file__).resolve().parents[1]
SOURCES = ROOT / "rocm" / "native"
INCLUDES = [f"-I{ROOT / place}" for place in ("rocm/native", "interception/native", "interception/protocol")]
BUILTIN = "__clang_hip_runtime_wrapper.h"


def compiler(*argv: str) -> str:
    done, out, err = output_of(argv, 120.0)
    assert done.ok, err
    return out


@pytest.mark.slow
@pytest.mark.rocm_headers
def test_the_tools_library_compiles_without_a_warning_against_the_headers_of_6_2() -> None:
    headers = ["-isystem", str(rocmheaders.directory() / "hsa")]
    sources = [str(path) for path in sorted(SOURCES.glob("*.cpp"))]
    compiler("g++", *native.FLAGS_OF_LIBRARY, *INCLUDES, *headers, "-fsyntax-only", *sources)


def told_of_tables(headers: Path, place: Path) -> list[str]:
    program = place / "tables"
    flags = ["-std=c++17", "-DAMD_INTERNAL_BUILD", *INCLUDES, "-isystem", str(headers)]
    compiler("g++", *flags, str(HERE / "programs" / "tables.cpp"), str(SOURCES / "tables.cpp"), "-o", str(program))
    return compiler(str(program)).splitlines()


@pytest.mark.parametrize(
    "release", [pytest.param("6.2", marks=pytest.mark.rocm_headers), pytest.param("5.2", marks=pytest.mark.gfx90a)]
)
def test_tables_of_another_version_or_too_small_are_refused_by_name(release: str, tmp_path: Path) -> None:
    headers = rocmheaders.directory() / "hsa" if release == "6.2" else Path("/usr/include/hsa")
    told = told_of_tables(headers, tmp_path)
    assert told[:2] == ["as built: taken", "larger: taken"]
    whole, core = told[2:4]
    assert "other whole: the runtime's tables have version" in whole and "this library was built for" in whole
    assert core.startswith("other core: the runtime's table of core functions has version")
    assert told[4].startswith("small amd: the runtime's table of AMD's functions has 64 bytes, at least")
    assert told[5].startswith("small core: the runtime's table of core functions has 16 bytes, at least")
    assert told[6] == "no amd: the runtime passes no table of AMD's functions"


@pytest.mark.gfx90a
@pytest.mark.rocm_headers
@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100", "gfx1201"])
def test_hip_programs_compile_for_newer_chips_against_the_headers_of_6_2(architecture: str, tmp_path: Path) -> None:
    headers = ["-nogpuinc", "-isystem", str(rocmheaders.directory()), "-include", BUILTIN, "-nogpulib"]
    flags = ["-x", "hip", f"--offload-arch={architecture}", "--cuda-device-only", "-O1", "-DFACTOR=1", "-DLAUNCH=true"]
    made = tmp_path / "code.s"
    compiler("clang++-19", *flags, *headers, "-S", str(HERE / "programs" / "saxpy.hip"), "-o", str(made))
    assert f'amdgcn-amd-amdhsa--{architecture}"' in made.read_text()
