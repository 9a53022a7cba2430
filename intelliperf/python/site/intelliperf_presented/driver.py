"""Triton's driver: AMD code objects, compiled by Triton itself, run by the emulator's runtime library."""

from __future__ import annotations

import dataclasses
import sys
from types import ModuleType
from typing import Any

from . import assembly, choices, clock, deriving, specialising, trials, tuning

LEAST, BELOW = (3, 6), (4, 0)
REFUSED = 125  # the exit status with which the runtime library refuses, too


def refuse(why: str) -> None:
    """End the program with one line."""
    print(f"intelliperf: {why}", file=sys.stderr, flush=True)
    raise SystemExit(REFUSED)


def present(triton: ModuleType) -> None:
    """Give the imported Triton our driver for AMD's back end, which stays the compiler."""
    version = tuple(int(part) for part in triton.__version__.split("+")[0].split(".")[:2])
    if not LEAST <= version < BELOW:
        known = ".".join(map(str, LEAST))
        refuse(f"Triton {triton.__version__} is not supported; install triton>={known},<{BELOW[0]}")
    from triton.backends import backends
    from triton.compiler import compiler
    from triton.runtime import autotuner, driver

    if "amd" not in backends:
        refuse("this Triton has no AMD back end; install the triton wheel from PyPI")
    from .launching import PresentedDriver

    _do_without_torch(backends["amd"].compiler)
    assembly.follow(backends["amd"].compiler)
    backends["amd"] = dataclasses.replace(backends["amd"], driver=PresentedDriver)
    driver._default = driver._active = None
    triton.testing.do_bench = clock.do_bench
    triton.testing.do_bench_cudagraph = clock.do_bench_cudagraph
    trials.mark(autotuner.Autotuner)
    choices.remember(autotuner.Autotuner)
    tuning.limit(autotuner.Autotuner)
    deriving.follow(autotuner)
    specialising.follow(compiler.CompiledKernel)


def _do_without_torch(compiler: Any) -> None:
    """Triton 3.6 imports PyTorch to ask any argument for its size; in a program without it there is no tensor."""
    within = getattr(compiler, "is_within_2gb", None)
    if within is None:
        return

    def is_within_2gb(argument: Any) -> bool:
        if "torch" in sys.modules:
            return bool(within(argument))
        return hasattr(argument, "ptr_range") and argument.ptr_range() < 1 << 31

    compiler.is_within_2gb = staticmethod(is_within_2gb)
