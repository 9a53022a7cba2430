"""Command lines of clang's front end for the two sides of a GPU source file.

The driver is asked (`-###`) for its host-side `-cc1` line; the device side is derived from it:
the same language, macros and include paths, compiled for this machine's processor as device code.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.dropins.headers import Found, libraries_of, search_order
from intelliperf.dropins.toolchain import (
    TRIPLE,
    Toolchain,
    host_processor,
    include_directory,
    tool_environment,
)
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory

PRELUDE = "simt/core.h"  # included before the first line of every GPU source
_CUDA_SDK = "12.4"
_DRIVER_DEADLINE_S = 60.0
_INLINE_THRESHOLD = 5000  # GPU compilers inline nearly everything; calls cost registers there
# Short loops of known length, as GPU compilers unroll them: neighbours in them become one access. No others, since
# lanes leave these at different turns. The processor's own limits would differ from one machine to the next.
_UNROLLING = (
    "-mllvm", "-unroll-threshold=300", "-mllvm", "-unroll-full-max-count=32", "-mllvm", "-unroll-allow-partial=0",
    "-mllvm", "-unroll-runtime=0", "-mllvm", "-unroll-allow-peeling=0",
)  # fmt: skip
_DROPPED_WITH_VALUE = frozenset(
    {"-aux-triple", "-o", "-fcuda-include-gpubinary", "-dependency-file", "-MT", "-target-cpu", "-tune-cpu",
     "-target-feature", "-coverage-notes-file", "-coverage-data-file", "-stack-protector"}
)  # fmt: skip
_DROPPED = frozenset(
    {"-emit-obj", "-S", "-discard-value-names", "-vectorize-loops", "-vectorize-slp", "-pic-is-pie", "-sys-header-deps",
     "-mconstructor-aliases", "-fcuda-allow-variadic-functions", "-fopenmp", "-fopenmp-simd", "-pg", "-MP",
     "-fmath-errno"}
)  # fmt: skip
_DROPPED_PREFIXES = ("-debug-info-kind", "-dwarf-version", "-debugger-tuning", "-fsanitize", "-fprofile", "-O",
                     "-fopenmp", "-funwind-tables", "-mframe-pointer", "-ffp-contract", "-fstack-")  # fmt: skip


_OLD_STANDARDS = frozenset(("98", "03", "0x", "11", "1y", "14"))


@dataclass(frozen=True)
class Unit:
    """One GPU source file and how it is to be compiled."""

    source: Path
    language: str  # hip | cuda
    directory: Path
    flags: tuple[str, ...]  # the user's, for the front end
    optimisation: str  # of the host side
    target: str
    device: dict[str, object]  # device file of the target
    relocatable: bool
    standins: bool = False  # libraries made of headers are ours, whatever the machine has
    as_written: bool = False  # the host side: overflow wraps, and pointers of other types may alias

    def front_flags(self) -> list[str]:
        """The user's flags, and after their directories of headers ours and those of libraries."""
        return search_order(self.language, self.flags, self.directory, self.standins)

    def libraries(self) -> tuple[Found, ...]:
        """Where the libraries made of headers come from."""
        return libraries_of(self.language, self.flags, self.directory, self.standins)

    @property
    def wave_size(self) -> int:
        value = self.device["wave_size"]
        return int(str(value))


def host_cc1(unit: Unit, toolchain: Toolchain, output: str, dependency_file: Path) -> list[str]:
    """The host side's `-cc1` words, without the compiler; raises `CompilerMessage`."""
    command = [
        *host_driver(unit, toolchain), "-x", unit.language, "-S", "-###", unit.optimisation, "-fPIC",
        *unit.front_flags(), "-MD", "-MF", str(dependency_file), str(unit.source), "-o", output,
    ]  # fmt: skip
    done, _, err = output_of(command, _DRIVER_DEADLINE_S, tool_environment(), unit.directory)
    lines = [line for line in err.splitlines() if '"-cc1"' in line]
    if not done.ok or len(lines) != 1:
        raise CompilerMessage(_without_plan(err) or f"clang: {done.describe()}\n")
    words = shlex.split(lines[0])
    words = words[words.index("-cc1") :]
    words[words.index("-aux-triple") + 1] = TRIPLE  # no macros or limits of a real GPU
    if unit.language == "cuda":
        words = [word for word in words if not word.startswith("-target-sdk-version")]
        words.append(f"-target-sdk-version={_CUDA_SDK}")
        words.append("-fcuda-allow-variadic-functions")  # clang 19 asks for it on the host side, too
    return words


def host_driver(unit: Unit, toolchain: Toolchain) -> list[str]:
    """The driver's command line for the host side, up to the language and the user's own words."""
    return [
        *toolchain.driver(), "--cuda-host-only", *_sdk_flags(unit), "-nogpulib", "-nogpuinc", *_our_flags(unit),
        "-Wno-unused-command-line-argument",
    ]  # fmt: skip


def device_reader_flags(unit: Unit, toolchain: Toolchain) -> list[str]:
    """What comes after `Toolchain.driver()` for a tool that reads the device side as a syntax tree."""
    ours = host_driver(unit, toolchain)[len(toolchain.driver()) :]
    device = ["-aux-triple", TRIPLE, "-fcuda-is-device", "-fcuda-allow-variadic-functions"]
    if unit.language == "cuda":
        device += [f"-target-sdk-version={_CUDA_SDK}", f"-D__CUDA_ARCH__={architecture_number(unit)}"]
    else:
        device += _chip_macros(unit)
    return [
        *ours,
        *(word for flag in device for word in ("-Xclang", flag)),
        "-x",
        unit.language,
        *unit.front_flags(),
        f"-working-directory={unit.directory}",
    ]


def host_flags(openmp: bool, toolchain: Toolchain) -> tuple[str, ...]:
    """Flags of the host side that depend on the machine.

    clang's OpenMP runtime is usually absent: gcc's libgomp serves parallel regions by way of our runtime library's
    `openmp.cpp`. Where there is no gcc, regions run on one thread.
    """
    found = _openmp_directory(toolchain)
    headers = ("-idirafter", found) if found else ()  # omp.h, which programs also include without -fopenmp
    if not openmp:
        return headers
    return ("-fopenmp" if has_openmp(toolchain) else "-fopenmp=libgomp", "-U_OPENMP", "-D_OPENMP=201511", *headers)


def has_openmp(toolchain: Toolchain) -> bool:
    """Do parallel regions of GPU sources run on several threads?"""
    return _openmp_directory(toolchain) is not None


def dialect_flags(flavour: str, flags: Sequence[str]) -> tuple[str, ...]:
    """What a GPU source gets after its own `flags`, so that clang takes what the vendors' compilers take.

    nvcc and g++ warn where clang refuses: narrowing in braces, `register`, a macro right behind a string. They and
    ROCm's clang before 6.2 take `x.template f(…)`, which ROCm's own headers have until then.
    The vendors' headers were C++11 and C++14 for long and ours are C++17: an older standard is raised, and what
    it took away is kept.
    """
    lenient: tuple[str, ...] = ("-Wno-missing-template-arg-list-after-template-kw",)
    if flavour == "nvcc":
        lenient += ("-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal")
    standards = [match for flag in flags if (match := re.fullmatch(r"-std=(?:c|gnu)\+\+(\w+)", flag))]
    if not standards or standards[-1][1] not in _OLD_STANDARDS:
        return (*lenient, "-Wno-register") if flavour == "nvcc" else lenient
    kept = ("-Wno-register", "-Wno-dynamic-exception-spec", "-D_LIBCPP_ENABLE_CXX17_REMOVED_FEATURES")
    return (*lenient, *kept, "-std=gnu++17")


@lru_cache(maxsize=1)
def _openmp_directory(toolchain: Toolchain) -> str | None:
    """A directory with gcc's `omp.h` and nothing else, whose other headers clang's own would include."""
    if toolchain.standard_library != "libstdc++":
        return None
    argv = [toolchain.host_linker[0], "-print-file-name=include/omp.h"]
    done, out, _ = output_of(argv, _DRIVER_DEADLINE_S, tool_environment())
    header = Path(out.strip())
    if not done.ok or not header.is_absolute():
        return None
    directory = cache_directory() / "openmp" / hashlib.sha256(str(header).encode()).hexdigest()[:12]
    if not (directory / "omp.h").is_symlink():
        directory.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # another process was faster
            (directory / "omp.h").symlink_to(header)
    return str(directory)


class CompilerMessage(Exception):
    """The compiler refused the user's input; the text is what to show, the exit status is 1."""


def _without_plan(text: str) -> str:
    """The driver's messages without its `-###` output."""
    kept = [line for line in text.splitlines(keepends=True) if re.match(r"\S.*(?:error|warning|note): ", line)]
    return "".join(kept)


def _sdk_flags(unit: Unit) -> list[str]:
    if unit.language != "cuda":
        return []
    empty = cache_directory() / "no-cuda-sdk"
    empty.mkdir(exist_ok=True)
    return [f"--cuda-path={empty}"]


def _our_flags(unit: Unit) -> list[str]:
    flags = [f"-DSIMT_WAVE_SIZE={unit.wave_size}"]
    if unit.language == "cuda":
        flags += [*as_nvcc_defines(), "-U__CUDA_ARCH_LIST__", f"-D__CUDA_ARCH_LIST__={architecture_number(unit)}"]
    if unit.relocatable:
        flags.append("-D__CUDACC_RDC__=1")
    return [*flags, "-include", str(include_directory() / PRELUDE)]


def as_nvcc_defines() -> list[str]:
    """nvcc does not define `__CUDA__`, by which programs know clang; our headers have a macro of their own."""
    return ["-U__CUDA__", "-D__SIMT_CUDA__=1"]


def architecture_number(unit: Unit) -> int:
    """The value of `__CUDA_ARCH__`, for example 900."""
    major, minor = (int(str(unit.device[f"compute_capability_{part}"])) for part in ("major", "minor"))
    return major * 100 + minor * 10


def _chip_macros(unit: Unit) -> list[str]:
    """What AMD's compiler defines for the chip on the device side: kernels ask for it, some empty without it."""
    chip = str(unit.device["architecture"])
    family = chip.removeprefix("gfx")[:-2]
    return [f"-D__{chip}__=1", f"-D__GFX{family}__=1"]


def optimisation_flags() -> list[str]:
    """What the optimiser does to device code: what a GPU compiler would, minus what only suits a CPU."""
    return [
        "-O2", "-ffp-contract=fast", "-funroll-loops", "-mllvm", "-disable-loop-idiom-all",
        "-mllvm", f"-inline-threshold={_INLINE_THRESHOLD}",
        *_UNROLLING,
        "-mllvm", "-pick-merged-source-locations",  # one of two lines rather than none
    ]  # fmt: skip


def device_cc1(host: Sequence[str], unit: Unit, output: Path, dependency_file: Path) -> list[str]:
    """The device side's `-cc1` words, which write unoptimised IR: text, or bitcode if relocatable."""
    words: list[str] = []
    pending = iter(host)
    for word in pending:
        if word in _DROPPED_WITH_VALUE:
            next(pending, None)
        elif word not in _DROPPED and not word.startswith(_DROPPED_PREFIXES):
            words.append(word)
    source = words.pop()
    words += [
        "-aux-triple", TRIPLE, "-fcuda-is-device", "-fcuda-allow-variadic-functions", *optimisation_flags(),
        "-disable-llvm-passes",
        "-no-enable-noundef-analysis",  # lanes hand shuffles values that only the lane they are read from has set
        "-target-cpu", host_processor(), "-debug-info-kind=limited", "-dwarf-version=5", "-w",
        "-dependency-file", str(dependency_file), "-MT", "unit", "-sys-header-deps",
    ]  # fmt: skip
    if unit.relocatable:
        words += ["-fgpu-rdc", "-emit-llvm-bc"]
    else:
        words.append("-emit-llvm")
    if unit.language == "cuda":
        words.append(f"-D__CUDA_ARCH__={architecture_number(unit)}")
    else:
        words += _chip_macros(unit)
    words += ["-o", str(output), source]
    return words


def system_directories(cc1: Sequence[str]) -> list[str]:
    """Directories whose headers count as system headers for -MMD."""
    marks = {"-internal-isystem", "-internal-externc-isystem", "-isystem", "-c-isystem", "-cxx-isystem"}
    return [cc1[i + 1] for i, word in enumerate(cc1[:-1]) if word in marks]
