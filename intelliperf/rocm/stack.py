"""Where the machine's ROCm lies: headers, the HSA runtime, compilers."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import ToolchainError

_VARIABLES = ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")
_VERSION = re.compile(r"#define HSA_AMD_INTERFACE_VERSION_(MAJOR|MINOR) (\d+)")


@dataclass(frozen=True)
class Headers:
    """`directory` holds hsa.h itself; `interface` is the version of AMD's extensions to HSA, "" if not told."""

    directory: Path
    interface: str


def roots() -> Iterator[Path]:
    """Installations of ROCm, the one that is asked for first; a distribution's own last."""
    for name in _VARIABLES:
        if os.environ.get(name):
            yield Path(os.environ[name])
    yield Path("/opt/rocm")
    yield from sorted(Path("/opt").glob("rocm-*"), reverse=True)
    yield Path("/usr")


@lru_cache(maxsize=1)
def hsa_headers() -> Headers:
    """Raises `ToolchainError` with the remedy."""
    for root in roots():
        directory = root / "include" / "hsa"
        if (directory / "hsa_api_trace.h").exists():
            text = (directory / "hsa_ext_amd.h").read_text(errors="replace")
            return Headers(directory, ".".join(number for _, number in _VERSION.findall(text)))
    raise ToolchainError(
        "no HSA headers here; install them: apt-get install libhsa-runtime-dev, or hsa-rocr-dev of ROCm"
    )


def find_program(name: str) -> Path | None:
    """Of an installation of ROCm, else on PATH."""
    for root in roots():
        for place in (root / "bin" / name, root / "llvm" / "bin" / name, root / "lib" / "llvm" / "bin" / name):
            if root != Path("/usr") and os.access(place, os.X_OK):
                return place
    found = shutil.which(name)
    return Path(found) if found else None
