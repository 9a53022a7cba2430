"""Builds HIP programs for gfx90a and runs them on the software device."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import device

from intelliperf.processes.process import Completed, output_of

PROGRAMS = Path(__file__).resolve().parent / "programs"
_DEADLINE_S = 120.0


def compile_program(
    source: Path | Sequence[Path], binary: Path, *flags: str, environment: Mapping[str, str] | None = None
) -> Path:
    return compiled("clang++-19", source, binary, *flags, environment=environment)


def compiled(
    clang: str, source: Path | Sequence[Path], binary: Path, *flags: str, environment: Mapping[str, str] | None = None
) -> Path:
    """With code objects of version 4, the newest that HIP 5.2 runs, and source lines."""
    sources = [source] if isinstance(source, Path) else source
    argv = [clang, "-x", "hip", "--offload-arch=gfx90a", "-mcode-object-version=4", "-O3", "-g", "-std=c++17"]
    argv += [f"--rocm-device-lib-path={device.BITCODE}", *flags, *map(str, sources), "-o", str(binary), "-lamdhip64"]
    done, out, err = output_of(argv, _DEADLINE_S, environment)
    assert done.ok, out + err
    return binary


def run_program(argv: list[str], counts: Path | None = None) -> tuple[Completed, str, str]:
    return output_of(argv, _DEADLINE_S, device.environment(counts))


def dispatches_in(counts: Path) -> list[dict[str, Any]]:
    """What was counted, blit kernels included, in order."""
    return [json.loads(line) for file in sorted(counts.glob("*.jsonl")) for line in file.read_text().splitlines()]
