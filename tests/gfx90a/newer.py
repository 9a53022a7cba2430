"""Releases of ROCr and HIP newer than the system's, unpacked into directories: GFX90A_RUNTIMES lists these.

A program is started by the C library of such a directory, so that nothing of it gets into the system. ROCr before 6.3
finds the device as ROCr 5.2 does; since 7 it loads it with HSA_ENABLE_DTIF; releases between hold the library below
them within themselves.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "GFX90A_RUNTIMES"
_LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
_LOADER = _LIBRARIES / "ld-linux-x86-64.so.2"
_HIP = "libamdhip64.so.5"  # what programs that are linked with the system's HIP ask for


def runtimes() -> list[Path]:
    return [Path(word) for word in os.environ.get(VARIABLE, "").split(os.pathsep) if word]


def missing() -> str | None:
    """What is lacking to try them, with the remedy; None where nothing is."""
    if not runtimes():
        return f"{VARIABLE} names no directory with an unpacked ROCr; tests/gfx90a/README.md says how to get one"
    absent = [str(root / _LOADER) for root in runtimes() if not (root / _LOADER).exists()]
    return f"{', '.join(absent)} missing" if absent else None


def command(root: Path, device: Path, argv: Sequence[str]) -> list[str]:
    """Starts a program on the device in `device` with the runtimes of `root`."""
    program = shutil.which(argv[0]) or argv[0]
    places = [device, hip_by_the_old_name(root), root / _LIBRARIES]
    return [str(root / _LOADER), "--library-path", os.pathsep.join(map(str, places)), program, *argv[1:]]


def hip_by_the_old_name(root: Path) -> Path:
    """A directory where the root's HIP has the name that the system's programs were linked with."""
    place = Path(tempfile.gettempdir()) / f"gfx90a-hip-{os.getuid()}" / root.name
    newest = max((root / _LIBRARIES).glob("libamdhip64.so.*"), key=lambda path: len(path.name))
    link = place / _HIP
    if not link.is_symlink() or link.resolve() != newest.resolve():
        place.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(newest)
    return place


@contextmanager
def headers_of(root: Path) -> Iterator[None]:
    """The tools library is built with the HSA headers of `root`, which holds until then."""
    from intelliperf.rocm import native, stack

    def forget() -> None:
        stack.hsa_headers.cache_clear()
        native.tools_library.cache_clear()

    forget()
    before = os.environ.get("ROCM_PATH")
    os.environ["ROCM_PATH"] = str(root / "usr")
    try:
        native.tools_library()
    finally:
        os.environ.pop("ROCM_PATH") if before is None else os.environ.update(ROCM_PATH=before)
    try:
        yield
    finally:
        forget()
