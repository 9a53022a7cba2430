"""The corpus on the emulator, traced whole: the figures that `on_device.py` has from a GPU, and what the model saw.

    python benchmarks/hardware/on_emulator.py OUTPUT.json [TARGET [FAMILY …]]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from families import CORPUS, FAMILIES, Family

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.lines import kernel_lines
from intelliperf.emulator.tracefiles import KernelLaunch, Trace
from intelliperf.emulator.tracing import Tracer
from intelliperf.process import run
from intelliperf.records import Application, MemorySpace, Metric, SourceEvidence

WHOLE = (("INTELLIPERF_TRACE_EVENTS", "100000000000"), ("INTELLIPERF_TRACE_LAUNCHES", "1000"))
DEADLINE_S = 900.0


def build(family: Family, backend: EmulatorBackend, directory: Path) -> Path:
    program = directory / family.name
    argv = ["nvcc", "-std=c++17", "-O3", str(family.source), "-o", str(program)]
    done = run(argv, CORPUS, DEADLINE_S, directory / "logs", family.name, backend.build_environment())
    if not done.ok:
        raise SystemExit(f"{family.name}: {done.tail()}")
    return program
