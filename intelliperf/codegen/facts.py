"""What a model is told of a kernel beside its lines: the exactness asked of each buffer, and where the time goes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from intelliperf.codegen.disclosure import shown_text
from intelliperf.records import KernelProfile, Metric
from intelliperf.sentences import number

_FLOATS = frozenset({"float", "double", "half", "__half", "bfloat16", "__hip_bfloat16", "__nv_bfloat16", "_Float16"})
_INTEGERS = frozenset({"bool", "char", "short", "int", "long", "signed", "unsigned", "void", "volatile"})
# The judge's measure of exactness, `validation.buffers.algebra`.
_SAME_NUMBERS = (
    "the same real numbers: terms may be added or multiplied in another order, and nothing else; the rounding error "
    "(rms) may be 4 times the original's plus 1 unit in the last place"
)
_COMPONENTS = (
    ("launch", Metric.LAUNCH_TIME_NS),
    ("starting blocks and waves", Metric.DISPATCH_TIME_NS),
    ("issue", Metric.ISSUE_TIME_NS),
    ("LDS", Metric.LDS_TIME_NS),
    ("constant cache", Metric.CONSTANT_TIME_NS),
    ("L1", Metric.L1_TIME_NS),
    ("L2", Metric.L2_TIME_NS),
    ("DRAM", Metric.DRAM_TIME_NS),
    ("atomics on one address", Metric.ATOMIC_TIME_NS),
    ("latency", Metric.LATENCY_TIME_NS),
    ("private memory", Metric.LOCAL_TIME_NS),
)
_SHARES = (
    ("occupancy", Metric.OCCUPANCY_RATIO),
    ("the most that its own needs allow", Metric.OCCUPANCY_LIMIT_RATIO),
    ("lanes of its waves that have a thread", Metric.LANE_FILL_RATIO),
    ("active lanes per instruction", Metric.ACTIVE_LANE_RATIO),
    ("compute units with a block", Metric.UNIT_FILL_RATIO),
    ("rounds of blocks that are full", Metric.ROUND_FILL_RATIO),
    ("L1 hits", Metric.L1_HIT_RATIO),
    ("L2 hits", Metric.L2_HIT_RATIO),
)
_NUMBERS = (
    ("vector registers per thread", Metric.VGPRS),
    ("scalar registers per wave", Metric.SGPRS),
    ("spilled registers", Metric.SPILLED_REGISTERS),
    ("bytes of LDS per block", Metric.LDS_BYTES),
    ("waves that registers allow", Metric.WAVES_BY_REGISTERS),
    ("waves that LDS allows", Metric.WAVES_BY_LDS),
)


def buffers(kernel: str) -> str:
    """Per pointer parameter what a candidate must leave there, by its type in the kernel's demangled name."""
    lines = [f"argument {index} ({type_}): {_asked(type_)}" for index, type_ in _pointers(kernel)]
    rest = "all other device memory, and the program's output: unchanged, byte for byte"
    return "\n".join([*(shown_text(line) for line in lines), rest])


def _asked(type_: str) -> str:
    pointee = type_[: type_.rindex("*")].strip()
    if pointee.endswith("const") or pointee.startswith("const "):
        return "only read; it must stay as it is"
    if pointee.split("::")[-1] in _FLOATS:
        return _SAME_NUMBERS
    if set(pointee.split()) <= _INTEGERS:
        return "bit for bit as the original leaves it"
    return f"where it holds floating-point numbers, {_SAME_NUMBERS}; all else bit for bit"


def _pointers(kernel: str) -> Iterator[tuple[int, str]]:
    match = re.search(r"\((?!anonymous)(.*)\)[^()]*$", kernel)
    for index, type_ in enumerate(_split(match[1]) if match else ()):
        if type_.endswith(("*", "__restrict__", "__restrict")) and "*" in type_:
            yield index, type_


def _split(parameters: str) -> Iterator[str]:
    """At commas that no bracket encloses."""
    depth, start = 0, 0
    for at, character in enumerate(parameters):
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            yield parameters[start:at].strip()
            start = at + 1
    yield parameters[start:].strip()


def costs(before: KernelProfile, after: KernelProfile | None = None) -> str:
    """Time by component (they overlap), registers and occupancy; of two versions where there is another one."""
    told = [f"time per dispatch: {_of_both(_mean_us(before), _mean_us(after) if after else None)} us"]
    for name, metric, scale, unit in _rows():
        if metric not in before.quantities and (after is None or metric not in after.quantities):
            continue
        values = [
            profile.quantities[metric].value * scale if profile is not None and metric in profile.quantities else None
            for profile in (before, after)
        ]
        if any(values):
            told.append(f"{name}: {_of_both(*values)}{unit}")
    return "; ".join(told)


def _rows() -> Iterator[tuple[str, Metric, float, str]]:
    yield from ((name, metric, 1e-3, " us") for name, metric in _COMPONENTS)
    yield from ((name, metric, 100.0, " %") for name, metric in _SHARES)
    yield from ((name, metric, 1.0, "") for name, metric in _NUMBERS)


def _mean_us(profile: KernelProfile) -> float | None:
    times = profile.device_time_ns
    return sum(times) / len(times) / 1e3 if times else None


def _of_both(before: float | None, after: float | None) -> str:
    one, two = (number(value) if value is not None else "not known" for value in (before, after))
    return one if after is None else f"{one} -> {two}"
