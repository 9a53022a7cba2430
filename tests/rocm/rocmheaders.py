"""Headers of HIP and HSA 6.2, which the triton wheel carries: fetched once with pip and kept in the cache."""

from __future__ import annotations

import fcntl
import shutil
import sys
import tempfile
import zipfile
from functools import lru_cache
from pathlib import Path

from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory

_WHEEL = "triton==3.5.1"
_INSIDE = "triton/backends/amd/include/"
_DEADLINE_S = 180.0
_KEPT = cache_directory() / "rocm-headers" / _WHEEL


@lru_cache(maxsize=1)
def missing() -> str | None:
    """Why they are not here; None where they are."""
    if (_KEPT / "hsa" / "hsa_api_trace.h").exists():
        return None
    _KEPT.parent.mkdir(parents=True, exist_ok=True)
    with (_KEPT.parent / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return None if _KEPT.exists() else _fetch()


def directory() -> Path:
    """Of hsa/ and hip/."""
    return _KEPT


def _fetch() -> str | None:
    with tempfile.TemporaryDirectory(dir=_KEPT.parent) as name:
        place = Path(name)
        argv = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            name,
            _WHEEL,
        ]
        done, _, err = output_of(argv, _DEADLINE_S)
        wheels = list(place.glob("*.whl"))
        if not done.ok or not wheels:
            return f"pip cannot download {_WHEEL} for its HIP 6.2 headers: {err.strip()[-200:] or done.describe()}"
        with zipfile.ZipFile(wheels[0]) as archive:
            inside = [entry for entry in archive.namelist() if entry.startswith(_INSIDE)]
            archive.extractall(place, inside)
        if not inside:
            return f"{_WHEEL} carries no HIP headers"
        shutil.move(place / _INSIDE, _KEPT)
    return None
