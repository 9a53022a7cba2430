"""Operators that a GPU computes in floats and rounds once, where PyTorch on the host adds up in the tensors' own type.

Their results differ little, but the derivatives of shared parameters are sums over all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

_IN_FLOATS = frozenset({"layer_norm", "native_layer_norm"})
_NARROW = (torch.float16, torch.bfloat16)


def called(func: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    if name not in _IN_FLOATS:
        return func(*args, **kwargs)
    given = [v for v in (*args, *kwargs.values()) if isinstance(v, torch.Tensor) and v.is_floating_point()]
    kinds = {tensor.dtype for tensor in given}
    if len(kinds) != 1 or not kinds & {*_NARROW} or not any(tensor.requires_grad for tensor in given):
        return func(*args, **kwargs)
    made = func(*map(_widened, args), **{key: _widened(value) for key, value in kwargs.items()})
    return _rounded(made, kinds.pop())


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in _NARROW else value


def _rounded(made: Any, kind: torch.dtype) -> Any:
    """The first of several is the result; what is kept for derivatives stays in floats."""
    return made.to(kind) if isinstance(made, torch.Tensor) else (made[0].to(kind), *made[1:])
