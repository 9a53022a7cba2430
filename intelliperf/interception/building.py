"""Builds one of our libraries on first use, with the machine's compiler and headers, and keeps it in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.interception.precompiling import with_precompiled
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory

FLAGS = ("-std=c++17", "-O2", "-g1", "-fPIC", "-shared", "-pthread", "-fvisibility=hidden", "-Wall", "-Wextra")
_BUILD_DEADLINE_S = 300.0
_HERE = Path(__file__).resolve().parent
PROTOCOL = _HERE / "protocol"  # what both ends speak, the emulator's runtime included
_SHARED = (PROTOCOL, _HERE / "native")

Compile = Callable[[str, Path, Sequence[str], Path], None]  # compiler, directory of all sources, *.cpp, result


def library(vendor: str, name: str, sources: Path, key: Sequence[str], compile_all: Compile) -> Path:
    """`sources` and what all such libraries share, made by `compile_all`; anew where these or `key` change.

    Raises `ToolchainError` where there is no compiler.
    """
    return built(vendor, name, _read(sources), key, compile_all)


def is_built(vendor: str, name: str, sources: Path, key: Sequence[str]) -> bool:
    """Whether `library` returns at once; False where it would compile for a while, or cannot."""
    compiler = _compiler()
    return compiler is not None and _result(vendor, name, _read(sources), compiler, key).exists()


def objects(compiler: str, flags: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Each source of one directory compiled, on all processors. Raises `ToolchainError` with the compiler's words."""
    words = with_precompiled([compiler], flags, [*map(Path, sources)], Path(sources[0]).parent)

    def compile_one(source: str) -> str:
        run_tool([compiler, *words, "-c", source, "-o", f"{source}.o"])
        return f"{source}.o"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, sources))


def built(vendor: str, name: str, files: Mapping[str, bytes], key: Sequence[str], compile_all: Compile) -> Path:
    """The same of given files, by name. Raises `ToolchainError` where there is no compiler."""
    compiler = _compiler()
    if compiler is None:
        raise ToolchainError(f"there is no g++ to build {name} with; install g++")
    result = _result(vendor, name, files, compiler, key)
    if not result.exists():
        result.parent.mkdir(parents=True, exist_ok=True)
        with (result.parent / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # released when the file is closed
            if not result.exists():
                _build(compiler, files, result, compile_all)
    return result


def _compiler() -> str | None:
    return shutil.which("g++") or shutil.which("clang++")


def _result(vendor: str, name: str, files: Mapping[str, bytes], compiler: str, key: Sequence[str]) -> Path:
    digest = hashlib.sha256("\0".join([compiler, *key]).encode())
    for path, content in sorted(files.items()):
        digest.update(path.encode() + b"\0" + content)
    return cache_directory() / vendor / digest.hexdigest()[:24] / name


def _read(sources: Path) -> dict[str, bytes]:
    found = [path for place in (*_SHARED, sources) for path in sorted(place.iterdir()) if path.suffix in (".cpp", ".h")]
    return {path.name: path.read_bytes() for path in found}


def _build(compiler: str, files: Mapping[str, bytes], result: Path, compile_all: Compile) -> None:
    with tempfile.TemporaryDirectory(prefix="sources-", dir=result.parent) as name:
        copy = Path(name)
        for path, content in files.items():
            (copy / path).write_bytes(content)
        made = result.with_suffix(f".{os.getpid()}")
        compile_all(compiler, copy, [str(copy / path) for path in sorted(files) if path.endswith(".cpp")], made)
        made.replace(result)


def run_tool(argv: Sequence[str]) -> None:
    """Raises `ToolchainError` with the compiler's words."""
    done, out, err = output_of(argv, _BUILD_DEADLINE_S)
    if not done.ok:
        raise ToolchainError(f"{argv[0]} cannot build a library: {done.describe()}\n{(err or out).strip()[-4000:]}")
