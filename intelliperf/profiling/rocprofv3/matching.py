"""Dispatches of several runs brought together: same kernel, same geometry, same place in the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intelliperf.errors import ApplicationFailed
from intelliperf.profiling.rocprofv3.blocks import ACCUMULATORS, base_name, is_level
from intelliperf.profiling.rocprofv3.recordings import CountedDispatch, Shape

_Key = tuple[str, Shape, int]


def merge(passes: Sequence[Sequence[CountedDispatch]]) -> tuple[CountedDispatch, ...]:
    """One entry per dispatch with the counters of all passes, in the order of the first.

    Raises `ApplicationFailed` where a pass has other dispatches than the first: counters of different work cannot
    be put together.
    """
    if not passes:
        return ()
    keyed = [dict(zip(_keys(one), one, strict=True)) for one in passes]
    first = keyed[0]
    for number, other in enumerate(keyed[1:], 2):
        if other.keys() != first.keys():
            raise ApplicationFailed(_difference(first, other, number))
    merged = []
    for key, dispatch in first.items():
        for other in keyed[1:]:
            dispatch = replace(
                dispatch,
                values={**dispatch.values, **other[key].values},
                instances={**dispatch.instances, **other[key].instances},
            )
        merged.append(dispatch)
    return tuple(merged)


def _keys(dispatches: Sequence[CountedDispatch]) -> list[_Key]:
    seen: dict[tuple[str, Shape], int] = {}
    keys = []
    for one in dispatches:
        kind = (one.symbol, one.shape)
        keys.append((*kind, seen.get(kind, 0)))
        seen[kind] = seen.get(kind, 0) + 1
    return keys


def _order(key: _Key) -> tuple[str, int, int, int]:
    symbol, shape, nth = key
    return symbol, nth, shape.grid_items, shape.workgroup_items


def _difference(first: dict[_Key, CountedDispatch], other: dict[_Key, CountedDispatch], number: int) -> str:
    symbol, shape, nth = min(first.keys() ^ other.keys(), key=_order)
    where = "the first run" if (symbol, shape, nth) in first else f"run {number}"
    return (
        f"the application does not do the same in every run, so that the counters of its {number} runs do not fit "
        f"together: dispatch {nth + 1} of {symbol} over {shape.grid_items} work-items in groups of "
        f"{shape.workgroup_items} is only in {where} ({len(first)} and {len(other)} dispatches); fix its seed or its "
        "number of iterations"
    )


def named_accumulators(dispatches: Sequence[CountedDispatch], counters: Sequence[str]) -> list[CountedDispatch]:
    """The accumulator's value under a name that says what it accumulates; each pass has its own."""
    pairs = {
        counter: f"{counter}({before})"
        for before, counter in zip(counters, counters[1:], strict=False)
        if base_name(counter) in ACCUMULATORS and is_level(before)
    }
    if not pairs:
        return list(dispatches)
    return [
        replace(
            one,
            values={pairs.get(name, name): value for name, value in one.values.items()},
            instances={pairs.get(name, name): value for name, value in one.instances.items()},
        )
        for one in dispatches
    ]
