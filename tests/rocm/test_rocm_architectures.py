"""Programs for every generation claimed, by real compilers; what we read of them against what LLVM's tools say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
from rocmdevice import HERE, compile_hip

from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.records import AccessKind, Kernel, MemorySpace, SourceEvidence
from intelliperf.rocm import codeobject, lines, linetimes
from intelliperf.rocm.metadata import KernelNeeds, kernel_needs

pytestmark = pytest.mark.gfx90a  # its packages hold clang 19 and LLVM's tools
SOURCE = HERE / "programs" / "needs.hip"
CLANG_19 = ("gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1200", "gfx1201")
ARCHITECTURES = (*CLANG_19, "gfx950")
KERNELS = ("light", "tiled", "heavy", "heavier", "spilling")
FLAGS = ["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-g"]
WAVE = {name: 32 if name.startswith("gfx1") else 64 for name in ARCHITECTURES}
UNSEEN = lines.Seen({}, linetimes.none(""), 64)
_NUMBER = re.compile(r"^\s+(?:- )?(\.\w+):\s+(\d+|true|false)$")


def ran(*argv: str) -> str:
    done, out, err = output_of(argv, 120.0, tool_environment())
    assert done.ok, out + err
    return out


@lru_cache(maxsize=len(ARCHITECTURES))
def built(architecture: str, place: Path) -> tuple[Path, str]:
    """The code object, and the assembly with the compiler's own remarks."""
    assembly, code = place / f"{architecture}.s", place / f"{architecture}.co"
    if architecture in CLANG_19:
        ran("clang++-19", *FLAGS, f"--offload-arch={architecture}", "-S", str(SOURCE), "-o", str(assembly))
        machine = ["clang-19", "--target=amdgcn-amd-amdhsa", f"-mcpu={architecture}", str(assembly), "-o", str(code)]
        ran(*machine)
    else:  # newer than LLVM 19: the compiler of the ziglang wheel
        zig = find_toolchain()
        target = (f"--offload-arch={architecture}", "-S", str(SOURCE), "-o", str(assembly))
        ran(*zig.driver(), *FLAGS, *target)
        made = assembly.with_suffix(".o")
        words = ["--driver-mode=gcc", "--target=amdgcn-amd-amdhsa", f"-mcpu={architecture}", "-c", str(assembly)]
        ran(*zig.clang, *words, "-o", str(made))
        ran("ld.lld-19", "-shared", str(made), "-o", str(code))
    return code, assembly.read_text()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("architectures")


def needs_of(architecture: str, place: Path) -> Mapping[str, KernelNeeds]:
    return kernel_needs(built(architecture, place)[0].read_bytes())


def printed_notes(code: Path) -> dict[str, dict[str, str]]:
    """What llvm-readelf prints of each kernel."""
    found: dict[str, dict[str, str]] = {}
    entry: dict[str, str] = {}
    for line in ran("llvm-readelf-19", "--notes", str(code)).splitlines():
        if line.startswith("  - ."):
            entry = {}
        if number := _NUMBER.match(line):
            entry[number[1]] = number[2]
        if name := re.match(r"^    \.name:\s+(\w+)$", line):
            found[name[1]] = entry
    return found


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_needs_are_those_that_llvm_prints(architecture: str, place: Path) -> None:
    found, expected = needs_of(architecture, place), printed_notes(built(architecture, place)[0])
    assert set(found) == set(expected) == set(KERNELS)
    for name, one in found.items():
        printed = expected[name]
        assert (one.architecture, one.wave_size) == (architecture, WAVE[architecture])
        assert (one.vgprs, one.sgprs) == (int(printed[".vgpr_count"]), int(printed[".sgpr_count"]))
        assert one.agprs == int(printed.get(".agpr_count", 0))
        assert (one.vgpr_spills, one.sgpr_spills) == (
            int(printed[".vgpr_spill_count"]),
            int(printed[".sgpr_spill_count"]),
        )
        assert one.lds_bytes == int(printed[".group_segment_fixed_size"]) == (4000 if name == "tiled" else 0)
        assert one.scratch_bytes == int(printed[".private_segment_fixed_size"])
        assert one.kernarg_bytes == int(printed[".kernarg_segment_size"])
        assert one.max_block == int(printed[".max_flat_workgroup_size"])
        assert one.dynamic_stack == (printed[".uses_dynamic_stack"] == "true")
    assert found["spilling"].vgpr_spills > 0 and found["spilling"].scratch_bytes > 0
    assert found["heavy"].vgprs > 64 and not found["heavy"].vgpr_spills


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_waves_that_registers_allow_are_those_of_the_compilers_remark(architecture: str, place: Path) -> None:
    _, assembly = built(architecture, place)
    remarks = dict(re.findall(r"^(\w+): +; @\1$.*?^; Occupancy: (\d+)$", assembly, re.MULTILINE | re.DOTALL))
    without_lds = {
        name: one.waves_per_simd() for name, one in needs_of(architecture, place).items() if not one.lds_bytes
    }
    assert without_lds == {name: int(remarks[name]) for name in without_lds}
    assert len(set(without_lds.values())) >= 3


def test_a_chip_of_unknown_registers_has_no_occupancy(place: Path) -> None:
    known = needs_of("gfx90a", place)["light"]
    assert replace(known, architecture="gfx1250").waves_per_simd() is None
    assert replace(known, architecture="gfx1100", wave_size=64, vgprs=96).waves_per_simd() == 768 // 96


def line_of(text: str) -> int:
    (number,) = (at for at, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)
    return number


def told_of(name: str, image: bytes, scratch: Path) -> tuple[SourceEvidence, ...]:
    kernel = Kernel(name, name)
    code = lines.kernel_code([image], kernel, scratch)
    accesses = lines.kernel_lines(code, kernel, SOURCE.parent, UNSEEN)
    return (*accesses, *lines.beside_accesses(code, kernel, SOURCE.parent, UNSEEN))


@pytest.mark.parametrize("architecture", CLANG_19)
def test_every_access_has_its_line_chain_kind_and_width(architecture: str, place: Path, tmp_path: Path) -> None:
    image = built(architecture, place)[0].read_bytes()
    found = told_of("light", image, tmp_path)
    assert {(e.line, e.access, e.space, e.element_bytes) for e in found} == {
        (line_of("return from[i]"), AccessKind.LOAD, MemorySpace.GLOBAL, 1),
        (line_of("__atomic_fetch_add"), AccessKind.ATOMIC, MemorySpace.GLOBAL, 4),
        (line_of("to[t] = pick"), AccessKind.STORE, MemorySpace.GLOBAL, 8),
        (line_of("void light"), AccessKind.KERNEL, MemorySpace.NONE, 0),
    }
    (load,) = (e for e in found if e.access is AccessKind.LOAD)
    assert [(frame.line, frame.function) for frame in load.chain] == [
        (line_of("return from[i]"), "pick(unsigned char const*, int)"),
        (line_of("to[t] = pick"), "light"),
    ]
    tiled = told_of("tiled", image, tmp_path)
    assert {(e.line, e.access, e.space) for e in tiled} == {
        (line_of("tile[t] = from[t]"), AccessKind.LOAD, MemorySpace.GLOBAL),
        (line_of("tile[t] = from[t]"), AccessKind.STORE, MemorySpace.SHARED),
        (line_of("to[t] = tile"), AccessKind.LOAD, MemorySpace.SHARED),
        (line_of("to[t] = tile"), AccessKind.STORE, MemorySpace.GLOBAL),
        (line_of("void tiled"), AccessKind.KERNEL, MemorySpace.NONE),
    }


def test_a_chip_newer_than_the_disassembler_is_named(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llvm-objdump").symlink_to("/usr/bin/llvm-objdump-19")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match="newer LLVM"):
        codeobject.accesses(built("gfx950", place)[0])


def test_what_is_no_code_object_is_refused(place: Path) -> None:
    image = built("gfx90a", place)[0].read_bytes()
    for broken in (b"", b"no ELF file", image[:100]):
        with pytest.raises(ToolchainError):
            kernel_needs(broken)
    at = image.index(b"amdhsa.kernels")
    with pytest.raises(ToolchainError, match="malformed"):
        kernel_needs(image[:at] + b"\xc1" + image[at + 1 :])


@pytest.mark.slow
def test_a_code_object_without_symbols_is_known(tmp_path: Path) -> None:
    source = HERE / "programs" / "turn.hip"
    for options, known in (((), False), (("-Xoffload-linker", "-s"), True)):
        compile_hip(source, tmp_path / "app", *options)
        (image,) = codeobject.code_objects(tmp_path / "app", "gfx90a", tmp_path)
        assert codeobject.without_symbols(image) is known


def test_compressed_device_code_of_every_translation_unit_is_found(tmp_path: Path) -> None:
    hip = ("clang++-19", "-x", "hip", "-nogpulib", "-nogpuinc", "--offload-compress")
    made = []
    for name, chips in {"first": ("gfx90a",), "second": ("gfx90a:xnack+", "gfx1100")}.items():
        source, made_of = tmp_path / f"{name}.hip", tmp_path / f"{name}.o"
        source.write_text(f"__attribute__((device)) int {name} = 1;\n")
        ran(*hip, *(f"--offload-arch={chip}" for chip in chips), "-c", str(source), "-o", str(made_of))
        made.append(str(made_of))
    program = tmp_path / "program.o"
    ran("ld.lld-19", "-r", *made, "-o", str(program))
    assert {target.rpartition("--")[2] for target in codeobject.targets(program)} == {
        "gfx90a",
        "gfx90a:xnack+",
        "gfx1100",
    }
    images = codeobject.code_objects(program, "gfx90a", tmp_path)
    assert len(images) == 2 and len(set(images)) == 2 and codeobject.is_compressed(program)
