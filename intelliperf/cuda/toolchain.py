"""The nvcc drop-in of real hardware: the real nvcc with line information added and a log of what was compiled."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.cuda.toolkit import find_toolkit
from intelliperf.emulator.compiler.arguments import parse
from intelliperf.emulator.compiler.build import Build
from intelliperf.emulator.toolchain import find_toolchain, write_atomically
from intelliperf.errors import IntelliPerfError
from intelliperf.storage import cache_directory

REAL_NVCC = "INTELLIPERF_NVCC"
ARCHITECTURE = "INTELLIPERF_CUDA_ARCHITECTURE"
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_HAS_LINES = {"-lineinfo", "--generate-line-info", "-G", "--device-debug"}
_HAS_ARCHITECTURE = ("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code", "--cubin")


def build_environment(architecture: str) -> Mapping[str, str]:
    """PATH with our nvcc first, and where the real one lies. Raises `BackendUnavailable` where there is none.

    Builds that name no architecture are made for `architecture` ("sm_90"): otherwise the driver would compile
    the kernels anew, and what runs would not be what can be taken apart.
    """
    toolkit = find_toolkit()
    path = os.pathsep.join([str(_drop_ins()), os.environ.get("PATH", os.defpath), str(toolkit.root / "bin")])
    return {"PATH": path, REAL_NVCC: str(toolkit.nvcc), ARCHITECTURE: architecture}


def _drop_ins() -> Path:
    python, package = shlex.quote(sys.executable), str(_PACKAGE_ROOT)
    code = (
        "import sys; "
        f"sys.path[:0] = {[p for p in (package, *_site_directories()) if p]!r}; "
        "from intelliperf.cuda.toolchain import main; main(sys.argv[1:])"
    )
    script = f'#!/bin/sh\nexec {python} -I -c {shlex.quote(code)} "$@"\n'
    home = cache_directory() / "cuda" / f"bin-{hashlib.sha256(script.encode()).hexdigest()[:12]}"
    nvcc = home / "nvcc"
    if not nvcc.exists():
        write_atomically(nvcc, script.encode())
        nvcc.chmod(0o755)
    return home


def _site_directories() -> list[str]:
    """Where this process found its packages, for an interpreter that ignores PYTHONPATH."""
    return [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]


def completed(words: Sequence[str], architecture: str) -> list[str]:
    """The arguments with line information and an architecture, unless they ask for these already."""
    added = [] if _HAS_LINES.intersection(words) else ["-lineinfo"]
    if architecture and not any(word.startswith(_HAS_ARCHITECTURE) for word in words):
        added.append(f"-arch={architecture}")
    return [*added, *words]


def main(words: Sequence[str]) -> None:
    """Log the GPU sources, then become the real nvcc."""
    if os.environ.get("INTELLIPERF_COMPILE_LOG"):
        try:
            _log(words)
        except (IntelliPerfError, OSError, ValueError) as error:
            sys.stderr.write(f"intelliperf: this compilation cannot be logged: {error}\n")
    real = os.environ[REAL_NVCC]
    os.execv(real, [real, *completed(words, os.environ.get(ARCHITECTURE, ""))])


def _log(words: Sequence[str]) -> None:
    command = parse("nvcc", list(words), None)
    if command.stage not in ("link", "object"):
        return
    build = Build(
        command=command,
        words=tuple(words),
        directory=Path.cwd(),
        environment=os.environ,
        toolchain=find_toolchain(),
    )
    for source in command.sources:
        if source.is_gpu:
            build.log(source, command.object_of(source))
