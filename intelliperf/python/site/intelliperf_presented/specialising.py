"""Kernels without what the JIT assumes of their numbers, for launches that are run once more with other ones.

Triton compiles a kernel of its own for a number that 16 divides. Where a launch is altered so that it no longer does,
that code means nothing: the program would have had the other. See `other_numbers.h`.
"""

from __future__ import annotations

import os
from typing import Any

from . import keeping
from .runtime import runtime

_RECORDING = "INTELLIPERF_EXPORT_BEFORE"  # what is compiled then serves replays, too, whose launches may be altered
_ALTERS_ARGUMENTS = "3"  # of INTELLIPERF_OTHER_NUMBERS
_DIVISIBILITY = "tt.divisibility"
_loading: list[Any] = []  # kernels, the one at hand last
_general = [0]


def ttir() -> str:
    """Of the kernel that is being loaded; empty where it was not made from Triton's own language."""
    known = getattr(_loading[-1], "asm", {}) if _loading else {}
    return str(known["ttir"]) if "ttir" in known else ""


def files() -> dict[str, str]:
    """Where Triton has kept what it made of the kernel that is being loaded, by stage."""
    group = getattr(_loading[-1], "metadata_group", None) or {} if _loading else {}
    stages = {str(name).rpartition(".")[2]: str(place) for name, place in group.items()}
    return {stage: stages[stage] for stage in ("ttgir", "amdgcn") if stage in stages}


def under_way() -> bool:
    """Is the kernel that is being loaded one that the program did not ask for?"""
    return bool(_general[0])


def follow(compiled: Any) -> None:
    """`compiled`: Triton's class of compiled kernels, which load themselves when they are first used."""
    load = compiled._init_handles

    def followed(kernel: Any) -> Any:
        if kernel.module is not None:
            return load(kernel)
        _loading.append(kernel)
        try:
            return load(kernel)
        finally:
            _loading.pop()
            if kernel.module is not None and not under_way():
                _provide_general(kernel)

    compiled._init_handles = followed


def _provide_general(kernel: Any) -> None:
    """Nothing where the JIT assumed nothing of a number, or no launch is altered."""
    altered = os.environ.get("INTELLIPERF_OTHER_NUMBERS") == _ALTERS_ARGUMENTS
    if not altered and not os.environ.get(_RECORDING):
        return
    from triton.compiler import compiler

    source = kernel.src
    if type(source) is not compiler.ASTSource:
        return
    attributes = {path: _without(source, path, known) for path, known in source.attrs.items()}
    if attributes == source.attrs:
        return
    plain = compiler.ASTSource(source.fn, source.signature, source.constants, attributes)
    special = _latest[0]
    _general[0] += 1
    try:
        general = compiler.compile(plain, target=kernel.metadata.target, options=kernel.metadata._asdict())
        general._init_handles()
    finally:
        _general[0] -= 1
    _kept.append(general)
    keeping.keep_general(special, _latest[0], general.metadata.shared)
    runtime().general(kernel.function, general.function, general.metadata.shared)


def kept(digest: str) -> None:
    """Called with what `keeping` says of each kernel, as it is loaded."""
    _latest[0] = digest


_latest = [""]
_kept: list[Any] = []  # their code must stay


def _without(source: Any, path: tuple[int, ...], known: list[Any]) -> list[Any]:
    """What is known of an argument, but for the divisibility of a number."""
    kind: Any = list(source.signature.values())
    for index in path:
        kind = kind[index]
    is_number = isinstance(kind, str) and not kind.startswith(("*", "tensordesc", "constexpr"))
    return [one for one in known if not (is_number and one[0] == _DIVISIBILITY)]
