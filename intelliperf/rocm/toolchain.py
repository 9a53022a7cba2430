"""The drop-ins of AMD hardware: the compiler that the build names, with line tables added, and a log.

Which one that is says compilers.py. The build that records accesses may need another, whose LLVM can be extended.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.dropins.programs import kept_programs, python_script
from intelliperf.dropins.redirect import named_as, redirecting
from intelliperf.errors import IntelliPerfError, ToolchainError
from intelliperf.processes.storage import cache_directory, write_atomically
from intelliperf.rocm.compilers import (
    Compiler,
    as_text,
    behind,
    clang_within,
    find_compiler,
    for_clang,
    from_text,
    version_of,
)

ARCHITECTURE = "INTELLIPERF_HIP_ARCHITECTURE"
PLUGIN = "INTELLIPERF_PASS_PLUGIN"  # of clang, for the device's code; see passplugin.py
COMPILER = "INTELLIPERF_HIP_COMPILER"  # what a bare hipcc is
RECORDER = "INTELLIPERF_HIP_RECORDER"  # builds all of HIP in place of what the build names, for the sake of PLUGIN
# Where CMake tries its compilers out: no program of the build comes from there, and so no kernel that records.
_TRIALS = re.compile(r"/CMakeFiles/(?:CMakeScratch|CMakeTmp|[^/]+/CompilerId\w+)(?:/|$)")
_HIPCXX = "INTELLIPERF_HIPCXX"  # the user's, since ours takes its place
NAMES = ("hipcc", "amdclang++", "amdclang", "clang++")
_NUMBERED = re.compile(r"^clang\+\+-\d+$")
_HAS_LINES = re.compile(r"^-g(\d|gdb|dwarf.*|line-tables-only|mlt)?$")
_HAS_ARCHITECTURE = ("--offload-arch", "--cuda-gpu-arch", "--amdgpu-target")
_LINES = "-gline-tables-only"
_LIBRARIES = Path("/usr/lib")
_DEADLINE_S = 30.0


def build_environment(architecture: str) -> Mapping[str, str]:
    """Our drop-ins first on PATH, and in place of compilers that a build names by their paths.

    Raises `ToolchainError` where nothing here builds HIP.
    """
    compiler = find_compiler(architecture)
    programs = _drop_ins(compiler)
    return {
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
        "HIPCXX": str(programs / "clang++"),
        **({_HIPCXX: os.environ["HIPCXX"]} if os.environ.get("HIPCXX") else {}),
        "HIP_PLATFORM": "amd",
        ARCHITECTURE: architecture,
        COMPILER: as_text(compiler),
        "ROCM_TARGET_LST": os.environ.get("ROCM_TARGET_LST") or str(targets_file(architecture)),
        **_cmake_prefixes(),
        **redirecting(programs),
    }


def _cmake_prefixes() -> dict[str, str]:
    """Where Debian keeps what its hip-lang asks for: CMake's HIP language alone looks in no directory of a platform."""
    found = [str(package.parent) for package in sorted(_LIBRARIES.glob("*/cmake/amd_comgr"))]
    known = os.environ.get("CMAKE_PREFIX_PATH")
    return {"CMAKE_PREFIX_PATH": os.pathsep.join([*([known] if known else []), *found])} if found else {}


def targets_file(architecture: str) -> Path:
    """For rocm_agent_enumerator, which CMake asks for the architecture, and which looks past a launcher's device."""
    path = cache_directory() / "rocm" / f"targets-{architecture}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{architecture}\n".encode())
    return path


def _drop_ins(compiler: Compiler) -> Path:
    numbered = {path.name for place in os.get_exec_path() for path in Path(place).glob("clang++-*")}
    names = (*NAMES, *sorted(name for name in numbered if _NUMBERED.match(name)))
    programs = kept_programs("rocm", {name: python_script(__name__, "run", name) for name in names})
    _lend_libraries(compiler, programs.parent / "lib" / "clang")
    return programs


def _lend_libraries(compiler: Compiler, place: Path) -> None:
    """HIP's files for CMake look for compiler-rt in ../lib/clang of the compiler that CMake has: our drop-in."""
    from intelliperf.processes.process import output_of  # half of what a drop-in loads

    done, out, _ = output_of([*compiler.words, "-print-resource-dir"], _DEADLINE_S, {"HIP_PLATFORM": "amd"})
    real = Path(out.strip()).parent
    if not done.ok or not real.is_dir() or place.resolve() == real.resolve():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(real)


def completed(words: Sequence[str], architecture: str) -> list[str]:
    """The arguments with line tables and an architecture, unless these are asked for already."""
    added = [] if any(_HAS_LINES.match(word) for word in words) else [_LINES]
    if architecture and not any(word.startswith(_HAS_ARCHITECTURE) for word in words):
        added.append(f"--offload-arch={architecture}")
    return [*added, *words]


def is_hip(words: Sequence[str]) -> bool:
    """Of a call of clang: does it compile HIP?"""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(
        word == "-xhip" or (word == "-x" and following == "hip") or word.endswith(".hip") or word == "--hip-link"
        for word, following in pairs
    )


def run(name: str, words: Sequence[str]) -> None:
    """Log the GPU sources, then become the real compiler."""
    named = named_as(os.environ)
    if _TRIALS.search(str(Path.cwd())):
        for variable in (RECORDER, PLUGIN):
            os.environ.pop(variable, None)
    compiles_hip = name == "hipcc" or is_hip(words)
    try:
        compiler = _real_compiler(name, named, compiles_hip)
        argv = [*compiler.words, *(_arguments(compiler, name, words) if compiles_hip else words)]
    except IntelliPerfError as error:
        sys.exit(f"{name}: error: {error}")
    if compiles_hip:
        _log(words, compiler)
    os.execv(argv[0], argv)


def _log(words: Sequence[str], compiler: Compiler) -> None:
    # Half of this program's time, of which a build system's questions to compilers need nothing.
    from intelliperf.dropins.compilelog import log_or_say_why_not

    log_or_say_why_not("hipcc", words, compiler.describe())


def _real_compiler(name: str, named: str, compiles_hip: bool) -> Compiler:
    """What carries out a call of the drop-in `name`, by that name or by the path `named`."""
    recorder = os.environ.get(RECORDER)
    if compiles_hip and recorder:
        return from_text(recorder)
    if named:
        return Compiler((named,), True, version_of(Path(named)) if compiles_hip else "")
    if name == "hipcc":
        known = os.environ.get(COMPILER)
        return from_text(known) if known else find_compiler(os.environ.get(ARCHITECTURE, ""))
    chosen = os.environ.get(_HIPCXX)
    real = [Path(chosen)] if chosen and name == "clang++" and compiles_hip else behind(name)
    if real:
        return Compiler((str(real[0]),), True, version_of(real[0]) if compiles_hip else "")
    if not compiles_hip:
        raise ToolchainError(f"there is no {name} but ours")
    return clang_within(find_compiler(os.environ.get(ARCHITECTURE, "")))


def _arguments(compiler: Compiler, name: str, words: Sequence[str]) -> list[str]:
    asked = completed(with_plugin(words, os.environ.get(PLUGIN, "")), os.environ.get(ARCHITECTURE, ""))
    return asked if compiler.complete else for_clang(asked, optimised=name == "hipcc")


def with_plugin(words: Sequence[str], plugin: str) -> list[str]:
    """The arguments with a plugin for the device's code. Raises `ToolchainError` where it would not see that code."""
    if not plugin:
        return list(words)
    if "-fgpu-rdc" in words:
        raise ToolchainError("accesses are not recorded in relocatable device code (-fgpu-rdc)")
    return ["-Xarch_device", f"-fpass-plugin={plugin}", "-Wno-unused-command-line-argument", *words]
