"""Where the machine's CUDA toolkit and its tools lie."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import BackendUnavailable, ToolchainError
from intelliperf.processes.process import output_of

_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
_DEFAULT_ROOTS = ("/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr")
_DEADLINE_S = 30.0


@dataclass(frozen=True)
class Toolkit:
    """One CUDA toolkit. `version` as nvcc tells it, "13.0"."""

    root: Path
    nvcc: Path
    version: str

    @property
    def include_directories(self) -> tuple[Path, ...]:
        """Those that hold cuda.h and cupti.h."""
        places = (self.root / "include", self.root / "extras" / "CUPTI" / "include")
        return tuple(place for place in places if place.is_dir())

    @property
    def cupti_library(self) -> Path:
        """Raises `ToolchainError` where CUPTI was not installed."""
        for place in ("lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"):
            library = self.root / place / "libcupti.so"
            if library.exists():
                return library
        raise ToolchainError(f"no libcupti.so below {self.root}; install the CUPTI part of the CUDA toolkit")

    def tool(self, name: str) -> Path | None:
        """A program of the toolkit (cuobjdump, nvdisasm, compute-sanitizer), or of that name on PATH."""
        own = self.root / "bin" / name
        found = own if own.exists() else shutil.which(name)
        return Path(found) if found else None


@lru_cache(maxsize=1)
def find_toolkit() -> Toolkit:
    """The toolkit of the nvcc on PATH, else of CUDA_HOME, else at the usual places. Raises `BackendUnavailable`."""
    for nvcc in _candidates():
        done, out, _ = output_of([str(nvcc), "--version"], _DEADLINE_S)
        version = re.search(r"release (\d+\.\d+)", out)
        if done.ok and version:
            return Toolkit(_root_of(nvcc), nvcc, version[1])
    raise BackendUnavailable("no CUDA toolkit found: put nvcc on PATH or set CUDA_HOME")


def _candidates() -> Iterator[Path]:
    for directory in os.get_exec_path():
        nvcc = Path(directory) / "nvcc"
        if os.access(nvcc, os.X_OK):
            yield nvcc
    roots = [os.environ[name] for name in _VARIABLES if os.environ.get(name)]
    for root in (*roots, *_DEFAULT_ROOTS):
        nvcc = Path(root) / "bin" / "nvcc"
        if os.access(nvcc, os.X_OK):
            yield nvcc


def _root_of(nvcc: Path) -> Path:
    """The directory with include/: beside the real nvcc, which is often reached through links."""
    for start in (nvcc, nvcc.resolve()):
        root = start.parent.parent
        if (root / "include" / "cuda.h").exists() or (root / "include" / "cuda_runtime.h").exists():
            return root
    named = next((Path(root) for root in _DEFAULT_ROOTS if (Path(root) / "include" / "cuda_runtime.h").exists()), None)
    return named or nvcc.resolve().parent.parent
