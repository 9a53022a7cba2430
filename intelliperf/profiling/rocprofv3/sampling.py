"""PC samples and thread-trace statistics, per source line.

Lines come from the debug information of the code object: without -g the comment column is empty and so are they.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3.csvfiles import symbol_of
from intelliperf.profiling.rocprofv3.recordings import PcSample, TracedInstruction
from intelliperf.profiling.rocprofv3.tables import Row, Table, rows

_STALL = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
_TAKEN = "Sample_Timestamp"
_INLINED_INTO = " -> "
_LABEL = ";"


@dataclass(frozen=True)
class LineSamples:
    """The samples on one line. `stalls` counts those that waited, by reason; empty for host trap."""

    file: str
    line: int
    samples: int
    stalls: Mapping[str, int]
    lanes: int = 0  # active ones, over all samples


@dataclass(frozen=True)
class LineCycles:
    """What the traced waves spent on one line; `stalls` are cycles in which an instruction waited, by its text."""

    file: str
    line: int
    hits: int
    cycles: int
    stalls: Mapping[str, int]

    @property
    def stall_cycles(self) -> int:
        return sum(self.stalls.values())


def parse_pc_samples(text: str, source: str, kernels: Mapping[int, str] | None = None) -> tuple[PcSample, ...]:
    """Either kind of sampling; the stochastic one has the columns of stalls. `kernels`: symbols by dispatch number."""
    known: dict[tuple[str, ...], PcSample] = {}  # samples are many, and most differ in nothing but the moment
    found = []
    table = Table(text, source)
    taken = table.header.index(_TAKEN) if _TAKEN in table.header else None
    moment, taken_ns = "", None
    for line, cells in table:
        if taken is not None and cells[taken] != moment:
            moment = cells[taken]
            taken_ns = table.row(line, cells).integer(_TAKEN) if moment else None
        key = tuple(cells) if taken is None else (*cells[:taken], *cells[taken + 1 :])
        alike = known.get(key)
        if alike is None or alike.taken_ns != taken_ns:
            alike = known[key] = _at(alike or _sample(table.row(line, cells), kernels or {}), taken_ns)
        found.append(alike)
    return tuple(found)


def _at(sample: PcSample, taken_ns: int | None) -> PcSample:
    """`dataclasses.replace` takes five times as long, which is most of the time of a large file."""
    return PcSample(
        sample.instruction,
        sample.file,
        sample.line,
        sample.dispatch,
        sample.lanes,
        sample.issued,
        sample.stall,
        sample.chain,
        sample.symbol,
        taken_ns,
    )


def _sample(row: Row, kernels: Mapping[int, str]) -> PcSample:
    chain = places(row.text("Instruction_Comment"))
    file, line = chain[0] if chain else (None, None)
    issued = _truth(row) if row.has("Wave_Issued_Instruction") else None
    dispatch = row.integer("Dispatch_Id")
    return PcSample(
        instruction=row.text("Instruction"),
        file=file,
        line=line,
        dispatch=dispatch,
        lanes=row.integer("Exec_Mask").bit_count(),
        issued=issued,
        stall=row.text("Stall_Reason").removeprefix(_STALL).lower() if issued is False else None,
        chain=chain,
        symbol=kernels.get(dispatch),
    )


def _truth(row: Row) -> bool:
    value = row.integer("Wave_Issued_Instruction")
    if value not in (0, 1):
        raise ProtocolError(f"{row.source}, line {row.line}: Wave_Issued_Instruction is {value}")
    return value == 1


def place(comment: str) -> tuple[str | None, int | None]:
    """ "a.h:7 -> b.cpp:12" is in a.h, inlined into b.cpp: the innermost place; (None, None) for an empty comment."""
    innermost = comment.partition(_INLINED_INTO)[0].strip()
    file, _, line = innermost.rpartition(":")
    return (file, int(line)) if file and line.isdigit() else (None, None)


@lru_cache(maxsize=4096)  # samples are many, instructions few
def places(comment: str) -> tuple[tuple[str, int], ...]:
    """The whole inline chain, innermost first; what is not a place is left out."""
    found = (place(one) for one in comment.split(_INLINED_INTO))
    return tuple((file, line) for file, line in found if file is not None and line is not None)


def by_line(samples: Iterable[PcSample], inside: Callable[[str], bool] = lambda file: True) -> tuple[LineSamples, ...]:
    """Lines with most samples first; a sample counts for the innermost place in a file that is `inside`, if any."""
    counts: dict[tuple[str, int], int] = {}
    lanes: dict[tuple[str, int], int] = {}
    stalls: dict[tuple[str, int], dict[str, int]] = {}
    kept = tuple(samples)
    times = Counter(map(id, kept))  # most samples are one object with others of their moment
    for sample in {id(one): one for one in kept}.values():
        at = next((place for place in sample.chain if inside(place[0])), None)
        if at is None:
            continue
        alike = times[id(sample)]
        counts[at] = counts.get(at, 0) + alike
        lanes[at] = lanes.get(at, 0) + alike * sample.lanes
        reasons = stalls.setdefault(at, {})
        if sample.stall is not None:
            reasons[sample.stall] = reasons.get(sample.stall, 0) + alike
    ordered = sorted(counts, key=lambda at: (-counts[at], at))
    return tuple(LineSamples(*at, counts[at], stalls[at], lanes[at]) for at in ordered)


def parse_thread_trace(text: str, source: str) -> tuple[TracedInstruction, ...]:
    """The decoder's statistics (`stats_*.csv`): the instructions of every function, in order, behind its label.

    A label is a row whose instruction is a comment with the function's mangled name.
    """
    found = []
    symbol: str | None = None
    for row in rows(text, source):
        instruction = row.text("Instruction")
        if instruction.startswith(_LABEL):
            symbol = symbol_of(instruction.removeprefix(_LABEL).strip())
            continue
        chain = places(row.text("Source"))
        file, line = chain[0] if chain else (None, None)
        found.append(
            TracedInstruction(
                instruction=instruction,
                address=_address(row),
                file=file,
                line=line,
                hits=row.integer("Hitcount"),
                latency_cycles=row.integer("Latency"),
                stall_cycles=row.integer("Stall"),
                idle_cycles=row.integer("Idle"),
                chain=chain,
                symbol=symbol,
            )
        )
    return tuple(found)


def _address(row: Row) -> int:
    text = row.text("Vaddr")
    try:
        return int(text, 0)
    except ValueError as error:
        raise ProtocolError(f"{row.source}, line {row.line}: Vaddr is not a number: {text!r}") from error


def cycles_by_line(
    instructions: Iterable[TracedInstruction], inside: Callable[[str], bool] = lambda file: True
) -> tuple[LineCycles, ...]:
    """Lines with most cycles first; an instruction counts for its innermost place in a file that is `inside`."""
    hits: dict[tuple[str, int], int] = {}
    cycles: dict[tuple[str, int], int] = {}
    stalls: dict[tuple[str, int], dict[str, int]] = {}
    for one in instructions:
        at = next((place for place in one.chain if inside(place[0])), None)
        if at is None:
            continue
        hits[at] = hits.get(at, 0) + one.hits
        cycles[at] = cycles.get(at, 0) + one.cycles
        reasons = stalls.setdefault(at, {})
        if one.stall_cycles:
            reasons[one.instruction] = reasons.get(one.instruction, 0) + one.stall_cycles
    ordered = sorted(cycles, key=lambda at: (-cycles[at], at))
    return tuple(LineCycles(*at, hits[at], cycles[at], stalls[at]) for at in ordered)
