"""Files of tensors: what was on the device is read back to it, and `map_location` may name it."""

from __future__ import annotations

import torch

from . import memory
from .tensors import is_cuda

_BEFORE_PYTORCHS_OWN = 5


def begin() -> None:
    torch.serialization.register_package(_BEFORE_PYTORCHS_OWN, _place_of, _placed)


def _place_of(storage: torch.UntypedStorage) -> str | None:
    return "cuda:0" if memory.holds(storage.data_ptr()) else None


def _placed(storage: torch.UntypedStorage, location: str) -> torch.UntypedStorage | None:
    if not is_cuda(location):
        return None
    with memory.on_device():
        made = torch.UntypedStorage(storage.nbytes())
    made.copy_(storage, False)
    return made
