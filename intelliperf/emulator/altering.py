"""How launches of a kernel may be altered: with other values of the numbers that it is handed, and how many of them."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.emulator.modulefacts import Quantity
from intelliperf.emulator.tracefiles import KernelLaunch, Trace
from intelliperf.processes.storage import write_atomically
from intelliperf.project.codec import decode, encode

_KINDS = {"float": "f", "signed": "i", "unsigned": "i", "char": "i", "boolean": "b"}
_FLOATS, _INTEGERS = {"float", "bfloat"}, {"signed", "unsigned", "char"}
_LANE_NS = 6.0  # of an access in the fast version, on the slower machines seen
_WATCHED_LANE_NS = 150.0  # with every access checked
_THREAD_NS = 20.0  # to start and end one
_LAUNCH_NS = 0.4e6  # whatever the kernel does: memory is put back, the parent looks at it
_BUDGET_NS = 1.2e9  # of one version, for one way to alter launches
_WATCHED_NS, _WATCHED_FEW_NS = 0.15e9, 0.6e9  # of one launch, where all that are larger are watched, or a few
_FEWEST, _MOST = 3, 64
_PREFIX = "INTELLIPERF_OTHER_"
_MOST_PLANNED = 100_000  # characters
_ALTERED_LAUNCHES = 8  # the runtime alters so many in a row, and few of those that follow


@dataclass(frozen=True)
class AlterationPlan:
    """For one kernel, as the original has it: both versions are altered alike."""

    slots: tuple[Quantity, ...]
    window: int  # alterations of one launch
    reads_grid: bool
    lanes: int  # accesses of a launch, on average
    only_read: tuple[int, ...]  # parameters that it stores nothing through
    only_written: tuple[int, ...]  # or loads nothing
    types: str  # of the numbers in its buffers and in device variables: f, i, or empty for several
    watched: bool  # whether a launch is small enough to be run with every access checked
    watched_few: bool = False  # or some launches

    def environment(self) -> Mapping[str, str]:
        return {
            "INTELLIPERF_OTHER_SLOTS": ";".join(_spelt(slot) for slot in self.slots if slot.encoding in _KINDS),
            "INTELLIPERF_OTHER_WINDOW": str(self.window),
            "INTELLIPERF_OTHER_GRID": str(int(self.reads_grid)),
            "INTELLIPERF_OTHER_ACCESSES": str(self.lanes),
            "INTELLIPERF_OTHER_READ": ",".join(map(str, self.only_read)),
            "INTELLIPERF_OTHER_WRITTEN": ",".join(map(str, self.only_written)),
            "INTELLIPERF_OTHER_TYPES": self.types,
            "INTELLIPERF_OTHER_WATCH": "1" if self.watched else "2" if self.watched_few else "0",
        }


def lines_of(plans: Mapping[str, AlterationPlan]) -> str:
    """As `settings.cpp` reads them beside one kernel's own variables; not more than an environment has room for."""
    found = ""
    for symbol, plan in plans.items():
        said = (f"{name.removeprefix(_PREFIX)}={text}" for name, text in plan.environment().items())
        line = "|".join((symbol, *said)) + "\n"
        found += line if len(found) + len(line) <= _MOST_PLANNED else ""
    return found


@dataclass(frozen=True)
class Seen:
    """What a run keeps of the original as it was first seen, for the processes that resume it as well."""

    plans: dict[str, AlterationPlan] = field(default_factory=dict)
    hip_wave: int | None = None  # of a program in HIP, which is for both sizes

    def and_of(self, trace: Trace) -> Seen:
        waves = {module.wave_size if module.language == "hip" else None for module in trace.modules.values()}
        return Seen({**plans(trace), **self.plans}, next(iter(waves)) if len(waves) == 1 else None)

    def write(self, path: Path) -> None:
        write_atomically(path, json.dumps(encode(self)).encode())


def seen_before(path: Path) -> Seen:
    return decode(Seen, json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else Seen()


def plans(trace: Trace) -> dict[str, AlterationPlan]:
    """By the kernel's symbol, of those that were launched."""
    found: dict[str, AlterationPlan] = {}
    launches: dict[str, list[KernelLaunch]] = {}
    for launch in trace.launches:
        if isinstance(launch, KernelLaunch):
            launches.setdefault(launch.kernel, []).append(launch)
    for symbol, own in launches.items():
        module = trace.modules[own[0].module]
        lanes = sum(launch.lanes for launch in own) / len(own)
        launch_ns = _LAUNCH_NS + lanes * _LANE_NS + sum(map(_threads, own)) / len(own) * _THREAD_NS
        window = _BUDGET_NS / (min(len(own), _ALTERED_LAUNCHES) * launch_ns)
        found[symbol] = AlterationPlan(
            module.kernels[symbol].quantities + module.quantities,
            int(min(max(window, _FEWEST), _MOST)),
            module.kernels[symbol].reads_grid,
            int(lanes),
            module.kernels[symbol].only_read,
            module.kernels[symbol].only_written,
            _types(module.kernels[symbol].numbers | module.numbers),
            lanes * _WATCHED_LANE_NS < _WATCHED_NS,
            _WATCHED_NS <= lanes * _WATCHED_LANE_NS < _WATCHED_FEW_NS,
        )
    return found


def _threads(launch: KernelLaunch) -> int:
    return launch.blocks * math.prod(launch.geometry.block)


def _types(encodings: Collection[str]) -> str:
    if not encodings:
        return ""
    return "f" if _FLOATS.issuperset(encodings) else "i" if _INTEGERS.issuperset(encodings) else ""


def _spelt(slot: Quantity) -> str:
    """As `other_sizes.h` reads it."""
    where = f"@{slot.parameter}" if isinstance(slot.parameter, str) else str(slot.parameter)
    marks = (("o", slot.open), ("c", slot.compared), ("m", slot.mask), ("b", slot.bound))
    flags = "".join(mark for mark, holds in (*marks, ("u", slot.encoding == "unsigned")) if holds)
    lists = (",".join(map(str, numbers)) for numbers in (slot.divisors, slot.constants))
    return ":".join((where, str(slot.offset), str(slot.bytes), _KINDS[slot.encoding], flags, *lists))
