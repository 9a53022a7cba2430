"""Kernels without what the JIT assumes of their numbers, or with other constants, for launches that are run once more.

Triton compiles a kernel of its own for a number that 16 divides. Where a launch is altered so that it no longer does,
that code means nothing: the program would have had the other. See `other_numbers.h`. What a launch compiles a kernel
for may be altered as well: a size that a candidate has written into its text.
"""

from __future__ import annotations

import os
from typing import Any

from . import constants, keeping, trials
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
                special = _latest[0]
                _provide_general(kernel, special)
                _provide_other_constants(kernel, special)

    compiled._init_handles = followed


def _provide_general(kernel: Any, special: str) -> None:
    """`special`: under what it is kept. Nothing where the JIT assumed nothing of a number, or no launch is altered."""
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
    general = _compiled(kernel, source.constants, attributes)
    keeping.keep_general(special, _latest[0], general.metadata.shared)
    runtime().general(kernel.function, general.function, general.metadata.shared)


def _provide_other_constants(kernel: Any, special: str) -> None:
    """Nothing where no launch of the kernel is altered so; tells the parent what can be compiled, and what cannot."""
    from triton.compiler import compiler

    source, recorded = kernel.src, bool(os.environ.get(_RECORDING))
    if type(source) is not compiler.ASTSource or trials.under_way():
        return
    if not recorded or not constants.is_looked_at(kernel.metadata.name):
        return
    made: list[tuple[str, str, int]] = []
    failed: list[str] = []
    for others in constants.alternatives(constants.numbers(source)):
        how = constants.told(others, constants.numbers(source))
        try:
            other = _compiled(kernel, constants.replaced(source, others), source.attrs)
        except Exception:  # noqa: BLE001 - of any kind: the kernel is not meant for that
            failed.append(how)
            continue
        made.append((how, _latest[0], other.metadata.shared))
    keeping.keep_others(special, made)
    constants.log(kernel.metadata.name, [how for how, _, _ in made], failed)


def _compiled(kernel: Any, values: Any, attributes: Any) -> Any:
    """The kernel for other constants, or with other things known of its numbers. Raises what Triton raises."""
    from triton.compiler import compiler

    source = compiler.ASTSource(kernel.src.fn, kernel.src.signature, values, attributes)
    _general[0] += 1
    try:
        other = compiler.compile(source, target=kernel.metadata.target, options=kernel.metadata._asdict())
        other._init_handles()
    finally:
        _general[0] -= 1
    _kept.append(other)
    return other


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
