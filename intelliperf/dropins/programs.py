"""Our small programs that stand before a machine's own on PATH, kept in the cache by what they hold."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from intelliperf.processes.storage import cache_directory, write_atomically

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def python_script(module: str, function: str, *first: str) -> str:
    """A program that calls the function with `first` and the list of its arguments.

    It needs neither PYTHONPATH nor a working directory.
    """
    # Where this process found its packages, for an interpreter that ignores PYTHONPATH.
    places = [str(_PACKAGE_ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    call = f"{function}({''.join(f'{word!r}, ' for word in first)}sys.argv[1:])"
    code = f"import sys; sys.path[:0] = {places!r}; from {module} import {function}; {call}"
    return f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -c {shlex.quote(code)} "$@"\n'


def kept_programs(vendor: str, scripts: Mapping[str, str]) -> Path:
    """A directory with those scripts, by name, as programs, and no others."""
    home = cache_directory() / vendor / f"bin-{hashlib.sha256(repr(dict(scripts)).encode()).hexdigest()[:12]}"
    for name, script in scripts.items():
        program = home / name
        if not os.access(program, os.X_OK):
            made = home / f".{name}-{os.getpid()}"
            write_atomically(made, script.encode())
            made.chmod(0o755)
            made.replace(program)
    return home
