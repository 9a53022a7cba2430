"""The library that leads a build's compilers, where they are named by their paths, to our drop-ins of those names."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import MutableMapping
from pathlib import Path

from intelliperf.errors import ToolchainError
from intelliperf.processes.storage import cache_directory

REDIRECT = "INTELLIPERF_REDIRECT"  # read by redirect.c: the directory of the drop-ins
NAMED = "INTELLIPERF_NAMED"  # set by redirect.c: the path by which a drop-in was called
_SOURCE = Path(__file__).with_name("redirect.c")
_BUILD_DEADLINE_S = 60.0


def redirecting(programs: Path) -> dict[str, str]:
    """Variables of a build in which compilers named by their paths are the drop-ins in `programs`.

    Empty where there is no C compiler to build the library, or where the loader could not take its path.
    """
    library = _library()
    if library is None:
        return {}
    others = os.environ.get("LD_PRELOAD", "")
    return {REDIRECT: str(programs), "LD_PRELOAD": f"{library}:{others}" if others else str(library)}


def named_as(environment: MutableMapping[str, str]) -> str:
    """The path by which this drop-in was called, "" for a bare name; what it starts is then no longer redirected."""
    environment.pop(REDIRECT, None)
    return environment.pop(NAMED, "")


def _library() -> Path | None:
    """Built on first use."""
    from intelliperf.processes.process import output_of  # half of what a drop-in loads

    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    directory = cache_directory() / "redirect"
    if compiler is None or any(mark in str(directory) for mark in " :"):
        return None
    digest = hashlib.sha256(_SOURCE.read_bytes() + compiler.encode()).hexdigest()[:16]
    library = directory / f"compilers-{digest}.so"
    if not library.exists():
        directory.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        argv = [compiler, "-shared", "-fPIC", "-O2", "-o", str(made), str(_SOURCE), "-ldl"]
        done, out, err = output_of(argv, _BUILD_DEADLINE_S)
        if not done.ok:
            raise ToolchainError(f"cannot build {_SOURCE.name}: {(err or out).strip()[-400:]}")
        made.replace(library)
    return library
