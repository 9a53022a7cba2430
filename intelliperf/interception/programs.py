"""Small programs of ours that stand before a machine's own on PATH, kept in the cache by what they hold."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from intelliperf.storage import cache_directory, write_atomically


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
