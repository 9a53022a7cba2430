"""Builds the runtime library that stands in for the HIP and CUDA runtimes, once per content.

The sources are part of the package. The library is kept in the cache directory under a hash of the
compiler, the flags and every source; objects are kept by their own hashes, so that an edit rebuilds
little. Several processes may ask at once: one builds, the others wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from intelliperf.emulator.toolchain import (
    Toolchain,
    cache_directory,
    find_toolchain,
    include_directory,
    tool_environment,
)
from intelliperf.errors import ToolchainError
from intelliperf.process import output_of

LIBRARY_NAME = "libintelliperf_simt.so"
_COMPILE_DEADLINE_S = 300.0
_LINK_DEADLINE_S = 600.0  # zig builds its C++ library at the first link
_SOURCES = Path(__file__).resolve().parent / "runtime"
_COMPILE_FLAGS = (
    "-std=c++17",
    "-O2",
    "-g1",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fcf-protection=none",  # lanes switch stacks by hand
    "-Wall",
    "-Wextra",
)
_API_HEADERS = (  # what the sources include of the application's headers
    "cuda.h",
    "cuda_runtime_api.h",
    "driver_types.h",
    "hip/hip_runtime_api.h",
    "simt/host_attributes.h",
    "simt/host_errors.h",
    "simt/host_functions.h",
    "simt/host_functions_cuda.h",
    "simt/host_functions_hip.h",
    "simt/host_templates.h",
    "simt/host_types.h",
    "simt/host_unsupported.h",
    "simt/host_unsupported_hip.h",
    "simt/vector_types.h",
)
_LINK_FLAGS = ("-shared", "-pthread", f"-Wl,-soname,{LIBRARY_NAME}", "-Wl,-z,defs", "-ldl", "-lrt")


@lru_cache(maxsize=1)
def runtime_library() -> Path:
    """The shared library, built if need be. Raises `ToolchainError` with the compiler's words."""
    toolchain = find_toolchain()
    headers = sorted([*_SOURCES.glob("*.h"), *(include_directory() / name for name in _API_HEADERS)])
    common = _digest([*toolchain.host_linker, toolchain.version, *_COMPILE_FLAGS, *_LINK_FLAGS], headers)
    sources = sorted(_SOURCES.glob("*.cpp"))
    if not sources:
        raise ToolchainError(f"the runtime's sources are missing from {_SOURCES}; reinstall intelliperf")
    keys = {source: _digest([common, source.name], [source]) for source in sources}
    directory = cache_directory() / "runtime"
    library = directory / _digest(list(keys.values()), []) / LIBRARY_NAME
    if not library.exists():
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory / "lock"):
            if not library.exists():
                _build(toolchain, directory, keys, library)
    return library


def _digest(words: list[str], files: list[Path]) -> str:
    digest = hashlib.sha256("\0".join(words).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:24]


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed, on every way out
        yield


def _build(toolchain: Toolchain, directory: Path, keys: dict[Path, str], library: Path) -> None:
    objects = {source: directory / "objects" / f"{source.stem}-{key}.o" for source, key in keys.items()}
    missing = [source for source in keys if not objects[source].exists()]
    (directory / "objects").mkdir(exist_ok=True)
    with ThreadPoolExecutor(max_workers=max(1, os.cpu_count() or 1)) as pool:
        for _ in pool.map(lambda source: _compile(toolchain, source, objects[source]), missing):
            pass
    library.parent.mkdir(exist_ok=True)
    made = library.with_suffix(f".{os.getpid()}")
    inputs = [str(objects[source]) for source in sorted(keys)]
    _run([*toolchain.host_linker, *inputs, *_LINK_FLAGS, "-o", str(made)], _LINK_DEADLINE_S, "link the runtime library")
    made.replace(library)


def _compile(toolchain: Toolchain, source: Path, into: Path) -> None:
    made = into.with_suffix(f".{os.getpid()}")
    argv = [*toolchain.host_linker, *_COMPILE_FLAGS, f"-I{include_directory()}", "-c", str(source), "-o", str(made)]
    _run(argv, _COMPILE_DEADLINE_S, f"compile the runtime's {source.name}")
    made.replace(into)


def _run(argv: list[str], deadline_s: float, purpose: str) -> None:
    done, out, err = output_of(argv, deadline_s, tool_environment())
    if not done.ok:
        raise ToolchainError(f"cannot {purpose}: {done.describe()}\n{(err or out).strip()[-4000:]}")
