"""Functions of PyTorch's GPU modules that need what its compiled part lacks without CUDA say so by their names."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from types import ModuleType

_MODULE = "torch.cuda"
_BESIDE = ("torch.nn.parallel.comm", "torch.backends.cuda")  # the first: between GPUs, of which there is one
_BELOW = ("_cuda_", "_cudnn_", "_nccl_", "_gds_", "_broadcast", "_scatter", "_gather")
_GUARDS = frozenset(("hasattr", "getattr"))


def refuse(
    refused: Mapping[int, object],
    kept: Collection[str],
    below: Collection[str],
    refusing: Callable[[str, object], object],
) -> None:
    """In all of its modules that are loaded; a class of which any method needs more is refused as a whole.

    `refused`: by the identity of what is absent, what stands there instead already, for modules that name it as well.
    `below`: what is presented of the compiled part. All else there drives a real GPU where CUDA was compiled in.
    """
    replaced = dict(refused)
    for module in _modules():
        is_main = module.__name__ == _MODULE
        for name, value in list(vars(module).items()):
            told = f"{module.__name__}.{name}".removeprefix(f"{_MODULE}.")
            if id(value) not in replaced and not (is_main and name in kept) and _lacks(value, module, below):
                replaced[id(value)] = refusing(told, value)
            if id(value) in replaced and replaced[id(value)] is not value:
                setattr(module, name, replaced[id(value)])


def _modules() -> Iterator[ModuleType]:
    for name, module in list(sys.modules.items()):
        if module is not None and (name == _MODULE or name.startswith(f"{_MODULE}.") or name in _BESIDE):
            yield module


def _lacks(value: object, module: ModuleType, presented: Collection[str]) -> bool:
    if isinstance(value, type):
        own = vars(value).values() if value.__module__ == module.__name__ else ()
        return any(_needs_more(method, presented) for method in own)
    return _needs_more(value, presented)


def _needs_more(value: object, presented: Collection[str]) -> bool:
    """Does a function call something of the compiled part that is not presented, without a look whether it is there?"""
    seen: set[int] = set()
    if not isinstance(value, (types.FunctionType, staticmethod, classmethod)):
        return False  # asked for an attribute, some others begin to work
    while hasattr(value, "__wrapped__") and id(value) not in seen:
        seen.add(id(value))
        value = value.__wrapped__
    if not isinstance(value, types.FunctionType):
        return False
    names = value.__code__.co_names
    below = (name for name in names if name.startswith(_BELOW))
    return _GUARDS.isdisjoint(names) and any(name not in presented for name in below)
