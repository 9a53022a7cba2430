"""Operators that a program registers for CUDA: they run for tensors of the presented device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import memory
from .tensors import Presented, holds_any

_KEYS = ("CPU", "CUDA")
_implementations: dict[str, dict[str, Callable[..., Any]]] = {}  # by operator, then by key


def begin() -> None:
    """From now on. PyTorch's own operators stay as they are."""
    register = torch.library.Library.impl

    def impl(library: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> Any:
        key = dispatch_key or library.dispatch_key
        if key not in _KEYS or library.ns == "aten" or options.get("with_keyset"):
            return register(library, op_name, fn, dispatch_key, **options)
        name = f"{library.ns}::{str(getattr(op_name, '_name', op_name)).rpartition('::')[2]}"
        known = _implementations.setdefault(name, {})
        known[key] = fn
        if len(known) == 1:
            register(library, op_name, _chooser(name, known), "CPU", **options)
        return None

    torch.library.Library.impl = impl


def _chooser(name: str, known: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        key = "CUDA" if holds_any((*args, *kwargs.values())) else "CPU"
        if key not in known:
            raise NotImplementedError(f"{name} has no implementation for tensors of {key}")
        with memory.on_device(False), Presented():
            return known[key](*args, **kwargs)

    return run
