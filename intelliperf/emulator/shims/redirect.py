"""The library that leads compilers called by their absolute paths to the drop-ins, built on first use."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from intelliperf.emulator.toolchain import find_toolchain, tool_environment
from intelliperf.errors import ToolchainError
from intelliperf.process import output_of
from intelliperf.storage import cache_directory

DROP_INS = "INTELLIPERF_DROP_INS"  # the directory that redirect.c leads to
_SOURCE = Path(__file__).with_name("redirect.c")
_DEADLINE_S = 300.0


@lru_cache(maxsize=1)
def redirect_library() -> Path:
    """Raises `ToolchainError` with the compiler's words."""
    toolchain = find_toolchain()
    key = hashlib.sha256("\0".join((toolchain.identity, _SOURCE.read_text(encoding="utf-8"))).encode()).hexdigest()
    library = cache_directory() / "redirect" / key[:24] / "libintelliperf_redirect.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        argv = [
            *toolchain.host_linker, "-x", "c", "-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra",
            "-shared", str(_SOURCE), "-x", "none", "-ldl", "-o", str(made),
        ]  # fmt: skip
        done, out, err = output_of(argv, _DEADLINE_S, tool_environment())
        if not done.ok:
            raise ToolchainError(f"cannot build {library.name}: {done.describe()}\n{(err or out).strip()[-2000:]}")
        made.replace(library)
    return library


def redirecting_environment(programs: Path) -> dict[str, str]:
    """Variables under which a build finds the drop-ins in `programs` whatever path it calls them by.

    None where the loader could not take the library's path.
    """
    if any(mark in str(cache_directory()) for mark in " :"):
        return {}
    before = os.environ.get("LD_PRELOAD")
    library = str(redirect_library())
    return {DROP_INS: str(programs), "LD_PRELOAD": f"{library}:{before}" if before else library}
