"""The activity records of a run: device time of every kernel, copy and memset, as the GPU's own clock saw it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.profiling.ranking import TRANSFERS, other_time, ranked, with_shares
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import Geometry, Kernel, KernelProfile, Metric, Provenance, Quantity

_NOTEWORTHY = 0.1  # of the device's span of time


@dataclass(frozen=True)
class KernelActivity:
    """One kernel that ran; times are nanoseconds of the device's clock."""

    symbol: str
    name: str
    start_ns: int
    end_ns: int
    geometry: Geometry
    static_lds_bytes: int
    registers: int
    local_bytes: int
    queue: tuple[int, int] = (0, 0)  # context and stream
    after_flush: bool = False  # the L2 was emptied just before, see `native.Flush`

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class TransferActivity:
    """One copy or memset that ran; `pageable` host memory makes a copy slow."""

    operation: str
    size: int
    start_ns: int
    end_ns: int
    pageable: bool

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Activity:
    """What one process had the GPU do, in order of time. `dropped` counts records that CUPTI lost."""

    kernels: tuple[KernelActivity, ...]
    transfers: tuple[TransferActivity, ...]
    dropped: int

    @property
    def busy_ns(self) -> int:
        """Time in which the device did anything; what ran side by side counts once."""
        total, reached = 0, 0
        for start, end in sorted((a.start_ns, a.end_ns) for a in self._all):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        return total

    @property
    def span_ns(self) -> int:
        """From the first start to the last end."""
        return max(a.end_ns for a in self._all) - min(a.start_ns for a in self._all) if self._all else 0

    @property
    def total_ns(self) -> int:
        """Durations of everything, added up."""
        return sum(a.duration_ns for a in self._all)

    @property
    def _all(self) -> tuple[KernelActivity | TransferActivity, ...]:
        return (*self.kernels, *self.transfers)

    def of(self, symbol: str) -> tuple[KernelActivity, ...]:
        return tuple(kernel for kernel in self.kernels if kernel.symbol == symbol)


def read(paths: Iterable[Path], flush: str = "") -> Activity:
    """The records of the one process that used the GPU, without those of our kernel that `flush` names.

    Raises `ApplicationFailed` where several did, `ProtocolError` for a file that is not such a record.
    """
    used = [activity for path in paths if (activity := _read_one(path, flush)).kernels]
    if len(used) > 1:
        raise ApplicationFailed(f"the program starts {len(used)} processes that launch GPU kernels; run one by itself")
    return used[0] if used else Activity((), (), 0)


def _read_one(path: Path, flush: str) -> Activity:
    kernels: list[KernelActivity] = []
    transfers: list[TransferActivity] = []
    dropped = 0
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
        try:
            record = json.loads(line)
            if record["type"] == "kernel":
                kernels.append(_kernel(record))
            elif record["type"] == "end":
                dropped = int(record["dropped"])
            else:
                transfers.append(_transfer(record))
        except (ValueError, KeyError, TypeError) as error:
            raise ProtocolError(f"{path}: line {number} is not an activity record ({error})") from error
    kernels.sort(key=lambda kernel: kernel.start_ns)
    transfers.sort(key=lambda transfer: transfer.start_ns)
    return Activity(tuple(_without_flushes(kernels, flush)), tuple(transfers), dropped)


def _without_flushes(kernels: Iterable[KernelActivity], flush: str) -> Iterator[KernelActivity]:
    """In order of time; those that the flush came right before, in their own stream, are marked."""
    flushed: set[tuple[int, int]] = set()
    for kernel in kernels:
        if flush and kernel.symbol == flush:
            flushed.add(kernel.queue)
            continue
        yield replace(kernel, after_flush=True) if kernel.queue in flushed else kernel
        flushed.discard(kernel.queue)


def _kernel(record: Mapping[str, object]) -> KernelActivity:
    return KernelActivity(
        symbol=str(record["kernel"]),
        name=display_name(str(record["name"])),
        start_ns=_integer(record, "start_ns"),
        end_ns=_integer(record, "end_ns"),
        geometry=Geometry(_extent(record, "grid"), _extent(record, "block"), _integer(record, "dynamic_lds")),
        static_lds_bytes=_integer(record, "static_lds"),
        registers=_integer(record, "registers"),
        local_bytes=_integer(record, "local_bytes"),
        queue=(_integer(record, "context"), _integer(record, "stream")),
    )


def _transfer(record: Mapping[str, object]) -> TransferActivity:
    return TransferActivity(
        str(record["operation"]),
        _integer(record, "bytes"),
        _integer(record, "start_ns"),
        _integer(record, "end_ns"),
        record["pageable"] is True,
    )


def _integer(record: Mapping[str, object], key: str) -> int:
    value = record[key]
    if not isinstance(value, int):
        raise TypeError(f"{key} is not a number")
    return value


def _extent(record: Mapping[str, object], key: str) -> tuple[int, int, int]:
    value = record[key]
    if not isinstance(value, list) or len(value) != 3:
        raise TypeError(f"{key} is not an extent")
    x, y, z = (int(entry) for entry in value)
    return x, y, z


def display_name(demangled: str) -> str:
    """Without return type and parameters: "void n::f<float>(float*)" → "n::f<float>"."""
    depth = 0
    for position in range(len(demangled) - 1, -1, -1):
        character = demangled[position]
        depth += (character == ")") - (character == "(")
        if character == "(" and depth == 0:
            demangled = demangled[:position]
            break
        if depth == 0:
            break
    return demangled.removeprefix("void ")


def application_profile(activity: Activity, exit_status: int) -> ApplicationProfile:
    """Kernels by falling device time."""
    profiles = []
    for symbol in dict.fromkeys(kernel.symbol for kernel in activity.kernels):
        runs = activity.of(symbol)
        profiles.append(
            KernelProfile(
                kernel=Kernel(symbol, runs[0].name),
                dispatches=len(runs),
                geometries=tuple(dict.fromkeys(run.geometry for run in runs)),
                device_time_ns=tuple(float(run.duration_ns) for run in runs),
                time_provenance=Provenance.MEASURED,
                share=0.0,
                quantities={
                    Metric.VGPRS: Quantity(max(run.registers for run in runs), Provenance.STATIC),
                    Metric.SCRATCH_BYTES: Quantity(max(run.local_bytes for run in runs), Provenance.STATIC),
                    Metric.LDS_BYTES: Quantity(
                        max(run.static_lds_bytes + run.geometry.dynamic_lds_bytes for run in runs), Provenance.STATIC
                    ),
                },
            )
        )
    total = float(activity.total_ns)
    pieces = ((TRANSFERS.get(copy.operation, copy.operation), float(copy.duration_ns)) for copy in activity.transfers)
    others = other_time(pieces, total, Provenance.MEASURED)
    return ApplicationProfile(ranked(with_shares(profiles, total)), total, exit_status, _notes(activity), others)


def _notes(activity: Activity) -> tuple[str, ...]:
    notes = []
    if activity.dropped:
        notes.append(f"CUPTI lost {activity.dropped} records: times are too low")
    span, busy = activity.span_ns, activity.busy_ns
    if span and (idle := 1 - busy / span) > _NOTEWORTHY:
        notes.append(f"between its first and last work the GPU was idle for {100 * idle:.0f} % of {span / 1e6:.3g} ms")
    copies = [t for t in activity.transfers if t.operation in ("memcpy_htod", "memcpy_dtoh")]
    copying = sum(t.duration_ns for t in copies)
    if busy and copying / busy > _NOTEWORTHY:
        pageable = sum(t.size for t in copies if t.pageable)
        how = f", {pageable / 1e6:.3g} MB of it from or to pageable host memory" if pageable else ""
        notes.append(f"copies between host and device take {100 * copying / busy:.0f} % of the device's time{how}")
    return tuple(notes)
