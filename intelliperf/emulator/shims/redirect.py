"""The library that leads builds to the drop-ins where they name a compiler by its usual absolute path."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory

DROP_INS_VARIABLE = "INTELLIPERF_DROP_INS"  # redirect.cpp reads it
_SOURCE = Path(__file__).with_name("redirect.cpp")
_FLAGS = (
    "-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra",
    "-Wl,--as-needed", "-ldl",
)  # fmt: skip
_DEADLINE_S = 600.0  # zig builds its C++ library at the first link


def redirecting_library() -> Path:
    """Built on first use and kept. Raises `ToolchainError` with the compiler's words."""
    toolchain = find_toolchain()
    key = repr((toolchain.host_linker, toolchain.identity, _FLAGS)).encode() + _SOURCE.read_bytes()
    library = cache_directory() / "redirect" / hashlib.sha256(key).hexdigest()[:24] / "libintelliperf_redirect.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        made = library.with_suffix(f".{os.getpid()}")
        argv = [*toolchain.host_linker, str(_SOURCE), *_FLAGS, "-o", str(made)]
        done, out, err = output_of(argv, _DEADLINE_S, tool_environment())
        if not done.ok:
            raise ToolchainError(f"cannot build {library.name}: {done.describe()}\n{(err or out).strip()[-4000:]}")
        made.replace(library)
    return library
