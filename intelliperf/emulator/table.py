"""The per-line table of `intelliperf emulate -- ./app`: for terminals, wide and narrow, pipes and programs.

One block per kernel, by device time: what the model says of the whole, then the lines by cost. All
counts are per dispatch; figures from sampled blocks carry their 95 % half-width.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from intelliperf.errors import SourceNotFound
from intelliperf.protocols import ApplicationProfile, Backend
from intelliperf.records import (
    AccessKind,
    Application,
    Device,
    KernelProfile,
    MemorySpace,
    Metric,
    Quantity,
    SourceEvidence,
)
from intelliperf.sentences import duration, percent

_ATOMICS = (AccessKind.ATOMIC, AccessKind.REDUCTION)
_LEAST_LINE = 28  # columns of a terminal, for a place and its source
_UNBOUNDED = 1000  # columns: as wide as a table may get
_BAD_RATIO = 1.5  # where a figure is shown as bad: half as much again as its ideal


@dataclass(frozen=True)
class KernelLines:
    """A kernel with its lines, or with the reason why it has none."""

    profile: KernelProfile
    lines: tuple[SourceEvidence, ...]
    problem: str = ""


@dataclass(frozen=True)
class Emulation:
    """All that the table shows."""

    device: Device
    application: ApplicationProfile
    kernels: tuple[KernelLines, ...]


def emulate(backend: Backend, application: Application, deadline_s: float, top_n: int) -> Emulation:
    """Run the application once and gather its `top_n` kernels with their lines."""
    profile = backend.profile(application, deadline_s)
    kernels = []
    for kernel in backend.quantities(application, profile.kernels[:top_n], deadline_s):
        try:
            lines = backend.lines(application, kernel.kernel, deadline_s)
            shown = tuple(line for line in lines if line.access is not AccessKind.KERNEL)  # the header has it
            kernels.append(KernelLines(_noted(kernel, backend.line_notes()), shown))
        except SourceNotFound as error:
            kernels.append(KernelLines(kernel, (), str(error)))
    return Emulation(backend.probe(), profile, tuple(kernels))


def _noted(profile: KernelProfile, notes: Sequence[str]) -> KernelProfile:
    return replace(profile, notes=(*profile.notes, *notes)) if notes else profile


# ---- figures ------------------------------------------------------------------------------------


def _value(evidence: SourceEvidence, metric: Metric) -> float | None:
    quantity = evidence.quantities.get(metric)
    return quantity.value if quantity is not None else None


def _per(evidence: SourceEvidence, metric: Metric, requests: Metric) -> float | None:
    value, count = _value(evidence, metric), _value(evidence, requests)
    return value / count if value is not None and count else None


def _count(quantity: Quantity | None) -> str:
    if quantity is None:
        return ""
    error = f" ± {percent(quantity.error / quantity.value)}" if quantity.error and quantity.value else ""
    return f"{quantity.value:,.0f}{error}"


def _against_ideal(evidence: SourceEvidence, needed: Metric, ideal: Metric, requests: Metric) -> str:
    actual, best = _per(evidence, needed, requests), _per(evidence, ideal, requests)
    if actual is None or best is None:
        return ""
    mark = " !" if actual > _BAD_RATIO * best else ""
    return f"{_short(actual)} ({_short(best)}){mark}"


def _short(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def _requests(evidence: SourceEvidence) -> str:
    counted = {
        MemorySpace.SHARED: Metric.LDS_REQUESTS,
        MemorySpace.LOCAL: Metric.LOCAL_REQUESTS,
        MemorySpace.CONSTANT: Metric.CONSTANT_REQUESTS,
    }
    return _count(evidence.quantities.get(counted.get(evidence.space, Metric.REQUESTS)))


def _lanes(evidence: SourceEvidence) -> str:
    ratio = _value(evidence, Metric.ACTIVE_LANE_RATIO)
    return "" if ratio is None else percent(ratio)


def _same_address(evidence: SourceEvidence) -> str:
    if evidence.access not in _ATOMICS:
        return ""
    lanes = _per(evidence, Metric.ATOMIC_SERIALIZATION, Metric.ATOMIC_REQUESTS)
    if lanes is None:
        return ""
    share = _value(evidence, Metric.ATOMIC_HOTTEST_SHARE)
    hottest = f", hottest {percent(share)}" if share else ""
    return f"{_short(lanes)} (1){hottest}{' !' if lanes > _BAD_RATIO else ''}"


def _hits(evidence: SourceEvidence) -> str:
    ratios = [_value(evidence, metric) for metric in (Metric.L1_HIT_RATIO, Metric.L2_HIT_RATIO)]
    if evidence.space is MemorySpace.SHARED or all(ratio is None for ratio in ratios):
        return ""
    return "/".join("-" if ratio is None else percent(ratio) for ratio in ratios)


def _access(evidence: SourceEvidence) -> str:
    width = f" {evidence.element_bytes}B" if evidence.element_bytes else ""
    if evidence.access in (AccessKind.BARRIER, AccessKind.COLLECTIVE, AccessKind.CODE):
        return evidence.operation or evidence.access.value
    return f"{evidence.space.value} {evidence.access.value}{width}"


def _cost(evidence: SourceEvidence) -> str:
    share = _value(evidence, Metric.TIME_SHARE)
    return "" if share is None else percent(share)


def _sectors(evidence: SourceEvidence) -> str:
    return _against_ideal(evidence, Metric.SECTORS, Metric.SECTORS_IDEAL, Metric.REQUESTS)


def _lines(evidence: SourceEvidence) -> str:
    return _against_ideal(evidence, Metric.LINES_128B, Metric.LINES_128B_IDEAL, Metric.REQUESTS)


def _phases(evidence: SourceEvidence) -> str:
    return _against_ideal(evidence, Metric.LDS_PHASES, Metric.LDS_PHASES_IDEAL, Metric.LDS_REQUESTS)


def _addresses(evidence: SourceEvidence) -> str:
    return _against_ideal(evidence, Metric.CONSTANT_ADDRESSES, Metric.CONSTANT_REQUESTS, Metric.CONSTANT_REQUESTS)


COLUMNS: tuple[tuple[str, Callable[[SourceEvidence], str]], ...] = (
    ("time", _cost),
    ("access", _access),
    ("requests", _requests),
    ("lanes", _lanes),
    ("sectors/req (ideal)", _sectors),
    ("lines/req (ideal)", _lines),
    ("LDS cycles/req (ideal)", _phases),
    ("constant addresses/req (ideal)", _addresses),
    ("lanes on one address", _same_address),
    ("L1/L2 hits", _hits),
)


def used_columns(lines: Sequence[SourceEvidence]) -> list[tuple[str, Callable[[SourceEvidence], str]]]:
    """Columns in which at least one line has a figure."""
    return [(title, figure) for title, figure in COLUMNS if any(figure(line) for line in lines)]


# ---- headers ------------------------------------------------------------------------------------


def application_header(emulation: Emulation) -> str:
    device, profile = emulation.device, emulation.application
    return (
        f"modelled for {device.name} ({device.architecture}, waves of {device.wave_size}) on the emulator: "
        f"{duration(profile.device_time_ns)} of device time, copies included; counts are exact unless marked ± "
        "or said to be estimates"
    )


def kernel_header(kernel: KernelLines) -> str:
    """One line: share, dispatches, modelled time, occupancy, registers."""
    profile = kernel.profile
    parts = [
        f"{percent(profile.share)} of device time",
        f"{profile.dispatches} dispatch{'es' * (profile.dispatches > 1)}",
    ]
    if Metric.DEVICE_TIME_NS in profile.quantities:
        parts.append(f"{duration(profile.quantity(Metric.DEVICE_TIME_NS).value)} each")
    geometry = profile.geometries[0]
    parts.append(f"grid {_triple(geometry.grid)} block {_triple(geometry.block)}")
    if len(profile.geometries) > 1:
        parts[-1] += f" and {len(profile.geometries) - 1} more"
    for metric, label in (
        (Metric.VGPRS, "registers"),
        (Metric.SPILLED_REGISTERS, "spilled"),
        (Metric.LDS_BYTES, "B of LDS"),
    ):
        if metric in profile.quantities and (metric is Metric.VGPRS or profile.quantity(metric).value):
            parts.append(f"{profile.quantity(metric).value:.0f} {label}")
    if Metric.OCCUPANCY_RATIO in profile.quantities:
        parts.append(f"occupancy {percent(profile.quantity(Metric.OCCUPANCY_RATIO).value)}")
    return ", ".join(parts)


def _triple(size: tuple[int, int, int]) -> str:
    used = [str(size[0]), *(str(extent) for extent in size[1:] if extent != 1)]
    return "x".join(used if size[2] == 1 or len(used) == 3 else [str(extent) for extent in size])


def place(evidence: SourceEvidence, project: Path) -> str:
    file = evidence.file.relative_to(project) if evidence.file.is_relative_to(project) else Path(evidence.file.name)
    return f"{file}:{evidence.line}:{evidence.column}"


# ---- the four forms -----------------------------------------------------------------------------


def terminal_lines(emulation: Emulation, project: Path, console: Console) -> RenderableType:
    """For a terminal: a table where it has room for one, else two lines per access."""
    parts: list[RenderableType] = [Text(application_header(emulation), style="dim")]
    for kernel in emulation.kernels:
        parts.append(Text(f"\n{kernel.profile.kernel.name}", style="bold"))
        parts.append(Text(kernel_header(kernel)))
        parts.extend(Text(f"note: {note}", style="dim") for note in kernel.profile.notes)
        if kernel.problem:
            parts.append(Text(kernel.problem, style="yellow"))
            continue
        table = _table(kernel.lines, project)
        fits = console.measure(table, options=console.options.update(width=_UNBOUNDED)).minimum <= console.width
        parts += [table] if fits else _pairs(kernel.lines, project)
    parts.extend(Text(f"note: {note}", style="dim") for note in emulation.application.notes)
    return Group(*parts)


def _table(lines: Sequence[SourceEvidence], project: Path) -> Table:
    columns = used_columns(lines)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("line", overflow="fold", min_width=_LEAST_LINE)
    for title, figure in columns:
        widest = max(len(word) for word in (*title.split(), *map(figure, lines)))
        heading = "\n".join(textwrap.wrap(title, widest, break_long_words=False))
        table.add_column(heading, justify="left" if title == "access" else "right", min_width=widest)
    for line in lines:
        where = Text(f"{place(line, project)}\n{line.text}")
        for words in (line.shared_with, line.unsure):
            where.append(f"\n({words})" if words else "", style="dim")
        table.add_row(where, *(Text(cell, _style(cell)) for cell in (figure(line) for _, figure in columns)))
    return table


def _pairs(lines: Sequence[SourceEvidence], project: Path) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for line in lines:
        parts.append(Text(_where(line, project), "bold"))
        figures = Text(", ").join(Text(figure, _style(figure)) for figure in _figures(line))
        parts.append(Padding(figures, (0, 0, 0, 4)))
    return parts


def _style(figure: str) -> str:
    return "bold red" if figure.endswith("!") else ""


def _where(line: SourceEvidence, project: Path) -> str:
    merged = "".join(f" ({words})" for words in (line.shared_with, line.unsure) if words)
    return f"{place(line, project)}{merged}: {line.text}"


def _figures(line: SourceEvidence) -> list[str]:
    """The columns in which it has one, each with its title."""
    figures = [(title, figure(line)) for title, figure in COLUMNS]
    return [text if title == "access" else f"{title} {text}" for title, text in figures if text]


def plain_text(emulation: Emulation, project: Path) -> str:
    """For a pipe: two lines per access, nothing cut off."""
    lines = [application_header(emulation)]
    for kernel in emulation.kernels:
        lines += ["", kernel.profile.kernel.name, f"  {kernel_header(kernel)}"]
        lines += [f"  note: {note}" for note in kernel.profile.notes]
        if kernel.problem:
            lines.append(f"  {kernel.problem}")
        for line in kernel.lines:
            lines += [f"  {_where(line, project)}", f"      {', '.join(_figures(line))}"]
    lines += [f"note: {note}" for note in emulation.application.notes]
    return "\n".join(lines)


def json_object(emulation: Emulation) -> dict[str, object]:
    """For programs: every quantity with its provenance, by our metric names."""
    return {
        "schema": 1,
        "device": {
            "name": emulation.device.name,
            "architecture": emulation.device.architecture,
            "wave_size": emulation.device.wave_size,
            "emulated": emulation.device.emulated,
        },
        "device_time_ns": emulation.application.device_time_ns,
        "notes": list(emulation.application.notes),
        "kernels": [_kernel_object(kernel) for kernel in emulation.kernels],
    }


def _kernel_object(kernel: KernelLines) -> dict[str, object]:
    profile = kernel.profile
    return {
        "symbol": profile.kernel.symbol,
        "name": profile.kernel.name,
        "dispatches": profile.dispatches,
        "share": profile.share,
        "quantities": _quantities_object(profile.quantities),
        "notes": list(profile.notes),
        "problem": kernel.problem or None,
        "lines": [
            {
                "file": str(line.file),
                "line": line.line,
                "column": line.column,
                "text": line.text,
                "access": line.access.value,
                "space": line.space.value,
                "operation": line.operation,
                "element_bytes": line.element_bytes,
                "shared_with": line.shared_with,
                "unsure": line.unsure,
                "chain": [f"{frame.file}:{frame.line}:{frame.column}:{frame.function}" for frame in line.chain],
                "quantities": _quantities_object(line.quantities),
            }
            for line in kernel.lines
        ],
    }


def _quantities_object(quantities: Mapping[Metric, Quantity]) -> dict[str, object]:
    return {
        metric.value: {"value": quantity.value, "provenance": quantity.provenance.value, "error": quantity.error}
        for metric, quantity in quantities.items()
    }


def print_emulation(emulation: Emulation, project: Path, console: Console) -> None:
    """The lines as a terminal shows them, or as text for a pipe."""
    if console.is_terminal:
        console.print(terminal_lines(emulation, project, console))
    else:
        console.file.write(plain_text(emulation, project) + "\n")
