"""Interpreters that have Triton, and PyTorch beside it: this one, or the one that INTELLIPERF_TRITON_PYTHON names."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

_DEADLINE_S = 60


@functools.lru_cache
def _has(python: str, module: str) -> bool:
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", look], timeout=_DEADLINE_S, check=False).returncode == 0


@functools.lru_cache
def python_with(*modules: str) -> str | None:
    named = os.environ.get("INTELLIPERF_TRITON_PYTHON")
    for python in filter(None, (named, sys.executable)):
        if all(_has(python, module) for module in modules):
            return python
    return None


def missing() -> str | None:
    return None if python_with("triton") else "no interpreter here has triton; INTELLIPERF_TRITON_PYTHON names another"
