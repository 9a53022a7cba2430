"""The environment in which an interpreter finds our Triton driver and our "cuda": for every run of a version."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

from intelliperf.devices import models
from intelliperf.errors import UsageError
from intelliperf.processes.storage import cache_directory
from intelliperf.project.versions import (
    GENERATED_LOG,
    JIT_DIRECTORY,
    JIT_LOG,
    KEPT_CODE,
    KEPT_VARIABLE,
    ORIGINALS_TUNED,
    TUNED,
)
from intelliperf.python.building import torch_memory_library
from intelliperf.records import Application

SITE = Path(__file__).resolve().parent / "site"
EXECUTED = ("gfx90a", "gfx942", "gfx950")  # what the emulator executes code objects of
DEFAULT_TARGET = models.DEFAULT_TARGETS["hip"]


def presented(application: Application, target: str | None, runtime: Path) -> Application:
    """The application with a GPU for its interpreter. Raises `UsageError` for a chip whose code is not executed.

    `runtime`: the emulator's library. Caches of compiled kernels lie in the project, where each scratch copy has its
    own: a version never finds what another has compiled.
    """
    chip = models.resolve(target or DEFAULT_TARGET)
    figures = models.device_file_values(chip)
    if figures["architecture"] not in EXECUTED:
        able = [name for name in models.target_names() if _architecture(name) in EXECUTED]
        raise UsageError(f"Triton kernels are executed for {', '.join(able)}: not for --target {chip}")
    jit = application.project / JIT_DIRECTORY
    ours = {
        "PYTHONPATH": os.pathsep.join([str(SITE), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "INTELLIPERF_RUNTIME": str(runtime),
        "INTELLIPERF_TORCH_MEMORY": str(torch_memory_library()),
        "INTELLIPERF_CHIP": json.dumps(figures),
        "INTELLIPERF_DEVICE": str(_device_file(chip)),
        "INTELLIPERF_JIT_LOG": str(application.project / JIT_LOG),
        KEPT_VARIABLE: str(application.project / KEPT_CODE),
        "INTELLIPERF_GENERATED_LOG": str(application.project / GENERATED_LOG),
        "INTELLIPERF_TUNED": str(application.project / TUNED),
        "INTELLIPERF_TUNED_BEFORE": str(application.project / ORIGINALS_TUNED),
        "INTELLIPERF_PROJECT": str(application.project),
        "INTELLIPERF_HOME": json.dumps(application.project.parts),  # a scratch copy makes every path its own
        "TRITON_CACHE_DIR": str(jit / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(jit / "inductor"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TRITON_DEFAULT_BACKEND": "amd",
        "TRITON_INTERPRET": "0",
    }
    given = dict(application.environment)
    return dataclasses.replace(application, environment=tuple({**ours, **given}.items()))


def _architecture(target: str) -> str:
    return str(models.device_file_values(target)["architecture"])


def _device_file(chip: str) -> Path:
    """The chip's figures for the runtime, before the first code object names its target."""
    path = cache_directory() / "python" / f"{chip}.device"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    models.write_device_file(chip, made)
    made.replace(path)
    return path
