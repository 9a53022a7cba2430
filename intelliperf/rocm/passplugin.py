"""Builds the compiler plugin that makes kernels record their accesses, against the LLVM of the compiler in use."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.interception.building import built, run_tool
from intelliperf.processes.process import output_of
from intelliperf.rocm.toolchain import Compiler, find_compiler

_HERE = Path(__file__).resolve().parent
_SOURCES = (*sorted((_HERE / "plugin").glob("*.[ch]*")), _HERE / "native" / "records.h")
_FLAGS = ("-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-Wall", "-Wextra")
_NAME = "libintelliperf_records.so"
_OLDEST = 18  # its interfaces to the code generator
_INSTALLED = re.compile(r"^InstalledDir: (?P<place>.+)$", re.MULTILINE)
_DEADLINE_S = 30.0


@dataclass(frozen=True)
class LLVM:
    """`includes` are preprocessor flags; `options` what its classes must be compiled with."""

    version: str
    includes: tuple[str, ...]
    options: tuple[str, ...]


@lru_cache(maxsize=1)
def pass_plugin() -> Path:
    """The plugin for `find_compiler()`, built if need be. Raises `ToolchainError` with what is missing."""
    llvm = llvm_of(find_compiler())

    def compile_all(compiler: str, copy: Path, sources: Sequence[str], made: Path) -> None:
        def compile_one(source: str) -> str:
            run_tool([compiler, *_FLAGS, *llvm.options, *llvm.includes, "-c", source, "-o", f"{source}.o"])
            return f"{source}.o"

        with ThreadPoolExecutor(os.cpu_count()) as workers:
            objects = list(workers.map(compile_one, sources))
        run_tool([compiler, "-shared", *objects, "-o", str(made)])

    files = {path.name: path.read_bytes() for path in _SOURCES}
    return built("rocm", _NAME, files, (llvm.version, *llvm.includes, *llvm.options, *_FLAGS), compile_all)


def llvm_of(compiler: Compiler) -> LLVM:
    """The headers of the LLVM that this compiler is made of. Raises `ToolchainError` with the remedy."""
    done, out, err = output_of([*compiler.words, "--version"], _DEADLINE_S, {"HIP_PLATFORM": "amd"})
    place = _INSTALLED.search(out)
    if not done.ok or place is None:
        raise ToolchainError(f"{compiler.words[0]} --version does not tell where its LLVM is: {(err or out).strip()}")
    config = Path(place["place"]) / "llvm-config"
    if not config.exists():
        raise ToolchainError(f"{config} is missing: {_remedy(compiler.version)}")
    version, directory = _ask(config, "--version"), Path(_ask(config, "--includedir"))
    if int(version.partition(".")[0]) < _OLDEST:
        raise ToolchainError(f"the compiler is of LLVM {version}; recording accesses needs {_OLDEST} or newer")
    if not (directory / "llvm" / "Passes" / "PassPlugin.h").exists():
        raise ToolchainError(f"{directory} lacks LLVM's headers: {_remedy(compiler.version)}")
    words = [word for word in _ask(config, "--cppflags").split() if word.startswith("-D")]
    rtti = () if _ask(config, "--has-rtti") == "YES" else ("-fno-rtti",)
    return LLVM(version, (*words, "-isystem", str(directory)), rtti)


def _remedy(version: str) -> str:
    number = re.search(r"version (\d+)", version)
    return f"install rocm-llvm-dev of ROCm, or (Debian) apt-get install llvm-{number[1] if number else 'N'}-dev"


def _ask(config: Path, what: str) -> str:
    done, out, err = output_of([str(config), what], _DEADLINE_S)
    if not done.ok:
        raise ToolchainError(f"{config} {what} fails: {err.strip() or done.describe()}")
    return out.strip()
