"""The drop-ins of AMD hardware: the real compiler with line tables and the GPU's architecture added, and a log.

Where HIP is installed without a compiler of its own, LLVM's clang builds with HIP's headers and AMD's device libraries.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.dropins.compilelog import log_command
from intelliperf.dropins.programs import kept_programs, python_script
from intelliperf.errors import IntelliPerfError, ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory, write_atomically
from intelliperf.rocm.stack import roots

ARCHITECTURE = "INTELLIPERF_HIP_ARCHITECTURE"
PLUGIN = "INTELLIPERF_PASS_PLUGIN"  # of clang, for the device's code; see passplugin.py
NAMES = ("hipcc", "amdclang++", "clang++")
_HAS_LINES = re.compile(r"^-g(\d|gdb|dwarf.*|line-tables-only|mlt)?$")
_HAS_ARCHITECTURE = ("--offload-arch", "--cuda-gpu-arch", "--amdgpu-target")
_LINES = "-gline-tables-only"
_SOURCES = (".hip", ".cpp", ".cc", ".cxx", ".c++", ".cu", ".C")
_NOT_LINKED = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--genco", "--cuda-device-only"}
_TAKES_A_WORD = {"-o", "-x", "-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-MF", "-MT", "-MQ", "-Xlinker"}
_LLVM_NEWEST, _LLVM_OLDEST = 24, 17
_OLD_OBJECTS_BELOW = 6  # HIP: releases that know no code object of version 5
_VERSION = re.compile(r"#define HIP_VERSION_MAJOR\s+(\d+)")
_LIBRARIES = Path("/usr/lib")
_DEADLINE_S = 30.0


@dataclass(frozen=True)
class Compiler:
    """`words` start it; a complete hipcc needs nothing more, LLVM's clang is told how to build HIP."""

    words: tuple[str, ...]
    complete: bool
    version: str


def build_environment(architecture: str) -> Mapping[str, str]:
    """Our compilers first on PATH. Raises `ToolchainError` where nothing here builds HIP."""
    find_compiler()
    programs = _drop_ins()
    return {
        "PATH": os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)]),
        "HIPCXX": str(programs / "clang++"),
        "HIP_PLATFORM": "amd",
        ARCHITECTURE: architecture,
        "ROCM_TARGET_LST": os.environ.get("ROCM_TARGET_LST") or str(targets_file(architecture)),
        **_cmake_prefixes(),
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


@lru_cache(maxsize=1)
def find_compiler() -> Compiler:
    """ROCm's own hipcc, else LLVM's clang with HIP's headers, else the hipcc of the distribution."""
    for hipcc in _behind_us("hipcc"):
        if Path("/usr/bin") not in (hipcc.parent, hipcc.resolve().parent) and hipcc.parent != Path("/bin"):
            return Compiler((str(hipcc),), True, _version_of(hipcc))
    clang = _clang_for_hip()
    if clang is not None:
        return clang
    for hipcc in _behind_us("hipcc"):
        return Compiler((str(hipcc),), True, _version_of(hipcc))
    raise ToolchainError(
        "nothing here builds HIP programs: install ROCm, or (Debian) "
        "apt-get install clang-19 lld-19 clang-tools-19 rocm-device-libs libamdhip64-dev"
    )


def _behind_us(name: str) -> list[Path]:
    """Programs of that name that are not ours: of ROCm's installations, then of PATH."""
    own = cache_directory() / "rocm"
    places = [root / "bin" / name for root in roots() if root != Path("/usr")]
    places += [root / "llvm" / "bin" / name for root in roots() if root != Path("/usr")]
    places += [Path(entry) / name for entry in os.get_exec_path()]
    return [place for place in places if own not in place.parents and os.access(place, os.X_OK)]


def _clang_for_hip() -> Compiler | None:
    header = Path("/usr/include/hip/hip_version.h")
    libraries = [place for place in Path("/usr/lib").glob("*/amdgcn/bitcode") if (place / "ocml.bc").exists()]
    if not header.exists() or not libraries:
        return None
    for number in range(_LLVM_NEWEST, _LLVM_OLDEST - 1, -1):
        for clang in _behind_us(f"clang++-{number}"):
            words = [str(clang), f"--rocm-device-lib-path={libraries[0]}"]
            major = _VERSION.search(header.read_text(errors="replace"))
            if major and int(major[1]) < _OLD_OBJECTS_BELOW:
                words.append("-mcode-object-version=4")
            return Compiler(tuple(words), False, _version_of(clang))
    return None


def _version_of(program: Path) -> str:
    done, out, _ = output_of([str(program), "--version"], _DEADLINE_S, {"HIP_PLATFORM": "amd"})
    return out.splitlines()[0].strip() if done.ok and out else program.name


def _drop_ins() -> Path:
    programs = kept_programs("rocm", {name: python_script(__name__, "run", name) for name in NAMES})
    _lend_libraries(programs.parent / "lib" / "clang")
    return programs


def _lend_libraries(place: Path) -> None:
    """HIP's files for CMake look for compiler-rt in ../lib/clang of the compiler that CMake has: our drop-in."""
    done, out, _ = output_of([*find_compiler().words, "-print-resource-dir"], _DEADLINE_S, {"HIP_PLATFORM": "amd"})
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


def for_clang(words: Sequence[str]) -> list[str]:
    """What hipcc's driver makes of its arguments: sources are HIP, and programs are linked with HIP's runtime."""
    done: list[str] = []
    language_given = any(word == "-x" or (word.startswith("-x") and len(word) > 2) for word in words)
    previous = ""
    for word in words:
        source = previous not in _TAKES_A_WORD and not word.startswith("-") and word.endswith(_SOURCES)
        done += ["-x", "hip", word, "-x", "none"] if source and not language_given else [word]
        previous = word
    if not _NOT_LINKED.intersection(words):
        done += ["--hip-link", "-lamdhip64"]
    return done


def is_hip(words: Sequence[str]) -> bool:
    """Of a call of clang: does it compile HIP?"""
    pairs = zip(words, [*words[1:], ""], strict=True)
    return any(
        word == "-xhip" or (word == "-x" and following == "hip") or word.endswith(".hip") or word == "--hip-link"
        for word, following in pairs
    )


def run(name: str, words: Sequence[str]) -> None:
    """Log the GPU sources, then become the real compiler."""
    try:
        argv = _real_command(name, words)
    except IntelliPerfError as error:
        sys.exit(f"{name}: error: {error}")
    if os.environ.get("INTELLIPERF_COMPILE_LOG") and (name == "hipcc" or is_hip(words)):
        try:
            log_command("hipcc", words)
        except (IntelliPerfError, OSError, ValueError) as error:
            sys.stderr.write(f"intelliperf: this compilation cannot be logged: {error}\n")
    os.execv(argv[0], argv)


def with_plugin(words: Sequence[str], plugin: str) -> list[str]:
    """The arguments with a plugin for the device's code. Raises `ToolchainError` where it would not see that code."""
    if not plugin:
        return list(words)
    if "-fgpu-rdc" in words:
        raise ToolchainError("accesses are not recorded in relocatable device code (-fgpu-rdc)")
    return ["-Xarch_device", f"-fpass-plugin={plugin}", "-Wno-unused-command-line-argument", *words]


def _real_command(name: str, words: Sequence[str]) -> list[str]:
    architecture = os.environ.get(ARCHITECTURE, "")
    if name == "hipcc" or is_hip(words):
        words = with_plugin(words, os.environ.get(PLUGIN, ""))
    if name == "hipcc" or (is_hip(words) and not _behind_us(name)):
        compiler = find_compiler()
        asked = completed(words, architecture)
        return [*compiler.words, *(asked if compiler.complete else for_clang(asked))]
    real = _behind_us(name)
    if not real:
        raise ToolchainError(f"there is no {name} but ours")
    return [str(real[0]), *(completed(words, architecture) if is_hip(words) else words)]
