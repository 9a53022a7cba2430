"""Builds the compiler plugin that makes kernels record their accesses, and finds the clang that can load it.

That is the compiler of the user's own build where its LLVM has headers here and takes plugins. Where it does not (AMD's
own clang is linked without exported symbols, Debian's hipcc is of LLVM 15) another clang builds the recording program,
and that one alone.
"""

from __future__ import annotations

import hashlib
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
from intelliperf.processes.storage import cache_directory, write_atomically
from intelliperf.rocm.compilers import Compiler, clangs_for_hip, find_compiler, stamp, why_it_fails

_HERE = Path(__file__).resolve().parent
_SOURCES = (*sorted((_HERE / "plugin").glob("*.[ch]*")), _HERE / "native" / "records.h")
_FLAGS = ("-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-Wall", "-Wextra")
_NAME = "libintelliperf_records.so"
_OLDEST = 18  # its interfaces to the code generator
_COMBINES_ATOMICS = 17  # LLVM: since then a wave's atomics on one address are one, unless switched off
_INSTALLED = re.compile(r"^InstalledDir: (?P<place>.+)$", re.MULTILINE)
_DEADLINE_S = 30.0


@dataclass(frozen=True)
class LLVM:
    """`includes` are preprocessor flags; `options` what its classes must be compiled with."""

    version: str
    includes: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Recorder:
    """What builds the recording program. `why` it is not the user's own compiler; "" where it is."""

    compiler: Compiler
    plugin: Path
    why: str = ""

    def describe(self) -> str:
        return f"{self.compiler.version} in place of the build's own compiler ({self.why})" if self.why else ""


@lru_cache(maxsize=4)
def recorder(architecture: str) -> Recorder:
    """For what `hipcc` is here. Raises `ToolchainError` with what is missing, of the user's own compiler first."""
    own = find_compiler(architecture)
    try:
        return Recorder(own, _usable(own, architecture))
    except ToolchainError as error:
        why = error
    others = [
        Compiler((*other.words, *_as_it_was(own, other)), other.complete, other.version)
        for other in clangs_for_hip(oldest=_OLDEST)
        if other.words[0] != own.words[0]
    ]
    kept = _choice_among(others, architecture)
    for candidate in sorted(others, key=lambda other: repr(other) != _kept_text(kept)):
        try:
            found = Recorder(candidate, _usable(candidate, architecture), str(why))
        except ToolchainError:
            continue
        if repr(candidate) != _kept_text(kept):
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(kept, repr(candidate).encode())
        return found
    raise why


def _choice_among(others: Sequence[Compiler], architecture: str) -> Path:
    """Where it is kept which of these worked, until one of them changes: a trial that fails takes seconds."""
    stamps = [(other, stamp(Path(other.words[0]))) for other in others]
    key = hashlib.sha256(repr((architecture, stamps)).encode()).hexdigest()[:24]
    return cache_directory() / "rocm" / f"recorder-{key}"


def _kept_text(kept: Path) -> str:
    try:
        return kept.read_text(encoding="utf-8")
    except OSError:
        return ""


def _as_it_was(own: Compiler, other: Compiler) -> tuple[str, ...]:
    """Options by which the other clang keeps to what the user's own does by default."""
    if own.clang is not None and own.clang < _COMBINES_ATOMICS <= (other.clang or 0):
        return ("-mllvm", "-amdgpu-atomic-optimizer-strategy=None")
    return ()


def _usable(compiler: Compiler, architecture: str) -> Path:
    """The plugin for this compiler, seen to be loaded. Raises `ToolchainError`."""
    plugin = pass_plugin(compiler)
    load = ("-Xarch_device", f"-fpass-plugin={plugin}", "-Wno-unused-command-line-argument")
    reason = why_it_fails(compiler, architecture, load)
    if reason:
        raise ToolchainError(f"{compiler.version} loads no plugin: {reason}")
    return plugin


def pass_plugin(compiler: Compiler) -> Path:
    """The plugin for the compiler's LLVM, built if need be. Raises `ToolchainError` with what is missing."""
    llvm = llvm_of(compiler)

    def compile_all(builder: str, copy: Path, sources: Sequence[str], made: Path) -> None:
        def compile_one(source: str) -> str:
            run_tool([builder, *_FLAGS, *llvm.options, *llvm.includes, "-c", source, "-o", f"{source}.o"])
            return f"{source}.o"

        with ThreadPoolExecutor(os.cpu_count()) as workers:
            objects = list(workers.map(compile_one, sources))
        run_tool([builder, "-shared", *objects, "-o", str(made)])

    files = {path.name: path.read_bytes() for path in _SOURCES}
    return built("rocm", _NAME, files, (llvm.version, *llvm.includes, *llvm.options, *_FLAGS), compile_all)


def llvm_of(compiler: Compiler) -> LLVM:
    """The headers of the LLVM that this compiler is made of. Raises `ToolchainError` with the remedy."""
    if compiler.clang is not None and compiler.clang < _OLDEST:
        raise ToolchainError(f"{compiler.version} is of LLVM {compiler.clang}; recording accesses needs {_OLDEST}")
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
    # Moved in LLVM 22.
    if not any((directory / "llvm" / folder / "PassPlugin.h").exists() for folder in ("Passes", "Plugins")):
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
