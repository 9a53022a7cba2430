"""Triton's driver: AMD code objects, compiled by Triton itself, run by the emulator's runtime library."""

from __future__ import annotations

import dataclasses
import sys
from types import ModuleType

from . import clock, specialising, trials

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

    backends["amd"] = dataclasses.replace(backends["amd"], driver=PresentedDriver)
    driver._default = driver._active = None
    triton.testing.do_bench = clock.do_bench
    triton.testing.do_bench_cudagraph = clock.do_bench_cudagraph
    trials.mark(autotuner.Autotuner)
    specialising.follow(compiler.CompiledKernel)
