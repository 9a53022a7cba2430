"""Builds the CUPTI injection library on first use, and the environments that load it into an application."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from intelliperf.cuda.toolkit import Toolkit, find_toolkit
from intelliperf.errors import ToolchainError
from intelliperf.process import output_of
from intelliperf.storage import cache_directory

LIBRARY_NAME = "libintelliperf_cuda.so"
_BUILD_DEADLINE_S = 300.0
_SOURCES = Path(__file__).resolve().parent / "native"
_SHARED = Path(__file__).resolve().parents[1] / "emulator" / "runtime"  # JSON and the wire protocol
_SHARED_FILES = ("json.cpp", "json.h", "wire.cpp", "wire.h")
_FLAGS = ("-std=c++17", "-O2", "-g1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-Wall", "-Wextra")


@lru_cache(maxsize=1)
def injection_library() -> Path:
    """The library, built if need be. Raises `ToolchainError` with the compiler's words or what is missing."""
    toolkit = find_toolkit()
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise ToolchainError("there is no g++ to build the CUDA interception library with; install g++")
    files = _read_sources()
    digest = hashlib.sha256("\0".join([compiler, str(toolkit.root), toolkit.version, *_FLAGS]).encode())
    for name, content in sorted(files.items()):
        digest.update(name.encode() + b"\0" + content)
    library = cache_directory() / "cuda" / digest.hexdigest()[:24] / LIBRARY_NAME
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        with (library.parent / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed
            if not library.exists():
                _build(compiler, toolkit, files, library)
    return library


def _read_sources() -> dict[str, bytes]:
    found = sorted(path for suffix in ("cpp", "h") for path in _SOURCES.glob(f"*.{suffix}"))
    found += [_SHARED / name for name in _SHARED_FILES]
    return {path.name: path.read_bytes() for path in found}


def _build(compiler: str, toolkit: Toolkit, files: dict[str, bytes], library: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="sources-", dir=library.parent) as name:
        copy = Path(name)
        for path, content in files.items():
            (copy / path).write_bytes(content)
        # Names the driver as needed without one at hand: its symbols are found when the application runs.
        (copy / "driver.c").write_text("")
        driver = copy / "libcuda.so.1"
        _run([compiler, "-shared", "-Wl,-soname,libcuda.so.1", "-o", str(driver), "-x", "c", str(copy / "driver.c")])
        cupti = toolkit.cupti_library
        made = library.with_suffix(f".{os.getpid()}")
        sources = [str(copy / path) for path in sorted(files) if path.endswith(".cpp")]
        includes = [flag for directory in toolkit.include_directories for flag in ("-isystem", str(directory))]
        _run(
            [
                *(compiler, *_FLAGS, f"-I{copy}", *includes, *sources, "-o", str(made)),
                *("-Wl,--no-as-needed", str(driver), "-Wl,--as-needed", str(cupti)),
                *(f"-Wl,-rpath,{cupti.parent}", "-Wl,--unresolved-symbols=ignore-in-object-files"),
            ]
        )
        made.replace(library)


def _run(argv: Sequence[str]) -> None:
    done, out, err = output_of(argv, _BUILD_DEADLINE_S)
    if not done.ok:
        raise ToolchainError(f"cannot build {LIBRARY_NAME}: {done.describe()}\n{(err or out).strip()[-4000:]}")


def trace_environment(records: Path) -> dict[str, str]:
    """Makes every process of a run write its activity records to `records` with the process id appended."""
    return {
        "CUDA_INJECTION64_PATH": str(injection_library()),
        "INTELLIPERF_CUDA_MODE": "trace",
        "INTELLIPERF_CUDA_TRACE": str(records),
    }


def export_environment(socket: Path, kernels: str, poison: str | None) -> dict[str, str]:
    """Makes a run connect to `socket` and speak `validation.wire`; waits after `kernels` (comma list or "*")."""
    return {
        "CUDA_INJECTION64_PATH": str(injection_library()),
        "INTELLIPERF_CUDA_MODE": "export",
        "INTELLIPERF_EXPORT_SOCKET": str(socket),
        "INTELLIPERF_EXPORT_KERNEL": kernels,
        **({"INTELLIPERF_POISON": poison} if poison is not None else {}),
    }
