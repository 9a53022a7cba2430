"""An interpreter that has both Triton and PyTorch."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def missing() -> str | None:
    path = Path(__file__).with_name("interpreters.py")
    specification = importlib.util.spec_from_file_location("interpreters", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return None if module.python_with("triton", "torch") else "no interpreter here has triton and torch"
