"""The corpus on the emulator, traced whole: the figures that `on_device.py` has from a GPU, and what the model saw.

    python benchmarks/hardware/on_emulator.py OUTPUT.json [TARGET [whole|default [FAMILY …]]]

With "default" as a run of the product traces it, not whole. With families only theirs are replaced in OUTPUT.json;
"fresh" stands for all that are in no half.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from families import CORPUS, FAMILIES, FRESH, FRESH_FAMILIES, Family

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.lines import kernel_lines
from intelliperf.emulator.tracefiles import Trace
from intelliperf.emulator.tracing import Tracer
from intelliperf.errors import SourceNotFound
from intelliperf.processes.process import run
from intelliperf.records import AccessKind, Application, MemorySpace, Metric

Environment = tuple[tuple[str, str], ...]
WHOLE: Environment = (("INTELLIPERF_TRACE_EVENTS", "100000000000"), ("INTELLIPERF_TRACE_LAUNCHES", "1000"))
COLD: Environment = (("INTELLIPERF_EMPTY_L2", "1"),)
WARM: Environment = (("AGAIN", "1"),)  # each variant twice, of which the second counts
DEADLINE_S = 900.0


INSTRUCTIONS = {
    (AccessKind.LOAD, MemorySpace.GLOBAL): "LDG",
    (AccessKind.STORE, MemorySpace.GLOBAL): "STG",
    (AccessKind.REDUCTION, MemorySpace.GLOBAL): "RED",
    (AccessKind.ATOMIC, MemorySpace.GLOBAL): "ATOMG",
    (AccessKind.LOAD, MemorySpace.SHARED): "LDS",
    (AccessKind.STORE, MemorySpace.SHARED): "STS",
    (AccessKind.REDUCTION, MemorySpace.SHARED): "ATOMS",
    (AccessKind.ATOMIC, MemorySpace.SHARED): "ATOMS",
}
FIGURES = {
    "sectors": Metric.SECTORS,
    "sectors_ideal": Metric.SECTORS_IDEAL,
    "wavefronts": Metric.LDS_PHASES,
    "wavefronts_ideal": Metric.LDS_PHASES_IDEAL,
}
Row = dict[str, Any]


def build(family: Family, backend: EmulatorBackend, directory: Path) -> Path:
    program = directory / family.name
    argv = ["nvcc", "-std=c++20", "-O3", str(family.source), "-o", str(program)]
    done = run(argv, CORPUS, DEADLINE_S, directory / "logs", family.name, backend.build_environment())
    if not done.ok:
        raise SystemExit(f"{family.name}: {done.tail()}")
    return program


def both_states(
    family: Family, program: Path, size: tuple[int, ...], directory: Path, environment: Environment
) -> list[Row]:
    """With emptied caches; "warm" is after the same kernel, as on the device."""
    states = []
    for state in (COLD, WARM):
        states.append(traced(family, program, size, directory, (*environment, *state)))
        shutil.rmtree(directory / "traces")
    for row, warm in zip(*states, strict=True):
        row["warm"] = {name: warm[name] for name in ("time_ns", "time_parts")}
    return states[0]


def traced(
    family: Family, program: Path, size: tuple[int, ...], directory: Path, environment: Environment
) -> list[Row]:
    """One row per variant, in the order of their launches."""
    project = CORPUS.parent
    application = Application((str(program), *map(str, size)), project, project, environment=environment)
    run = Tracer(directory / "traces").trace(application, DEADLINE_S)
    assert run.ended is not None  # no run is adopted here
    variants = run.ended.stdout.read_text().split()
    launches = run.trace.launches[1::2] if environment[-1:] == WARM else run.trace.launches
    if len(launches) != len(variants):
        raise SystemExit(f"{program.name} {size}: {len(launches)} launches of {len(variants)} variants")
    symbols = Counter(launch.kernel for launch in launches)
    texts = [json.loads(line) for line in (run.trace.directory / "launches.jsonl").read_text().splitlines()]
    whole = {text["index"]: text for text in texts}
    rows = []
    for variant, launch in zip(variants, launches, strict=True):
        row: Row = {"family": program.name, "size": list(size), "variant": variant, **model_inputs(whole[launch.index])}
        if symbols[launch.kernel] == 1:  # lines are of all launches of a kernel together
            row["lines"] = lines(run.trace, launch.kernel, project)
        rows.append(row)
    return rows


def model_inputs(launch: Row) -> Row:
    kept = ("time_ns", "time_parts", "counts", "grid", "block", "resident_blocks", "blocks", "traced_blocks")
    also = ("dram_read_bytes", "dram_write_bytes", "atomic_lanes", "atomic_hottest_lanes")
    return {name: shortened(launch[name]) for name in (*kept, *also)}


def shortened(value: Any) -> Any:
    """Six digits of what is not a whole number."""
    if isinstance(value, dict):
        return {name: shortened(part) for name, part in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) and value % 1 else value


def lines(trace: Trace, symbol: str, project: Path) -> dict[str, Row]:
    """By place and machine instruction: each figure with the half-width of its error, 0 where it is exact, and the
    lines that the access was inlined to.

    Empty where no access has a line.
    """
    found: dict[str, Row] = {}
    try:
        known = kernel_lines(trace, symbol, project)
    except SourceNotFound:
        return found
    for evidence in known:
        instruction = INSTRUCTIONS.get((evidence.access, evidence.space))
        if instruction is None:
            continue
        row = found.setdefault(f"{evidence.file.name}:{evidence.line} {instruction}", {})
        callers = [f"{frame.file.name}:{frame.line}" for frame in evidence.chain]
        if callers[1:]:
            row["inlined_to"] = sorted({*row.get("inlined_to", ()), *callers[1:]})
        if evidence.unsure:
            row["unsure"] = "; ".join(dict.fromkeys([*filter(None, [row.get("unsure")]), evidence.unsure]))
        if evidence.shared_with:
            row["shared_with"] = evidence.shared_with
        for name, metric in FIGURES.items():
            if (name[0] == "s") == (evidence.space is MemorySpace.GLOBAL):
                quantity = evidence.quantity(metric)
                before = row.get(name, [0.0, 0.0])
                row[name] = [before[0] + quantity.value, before[1] + (quantity.error or 0.0)]
    return found


def collect(path: Path, target: str, environment: Environment, chosen: Sequence[str]) -> None:
    """Into `path`, whose rows of other families stay where only some are chosen."""
    rows: list[Row] = []
    if set(chosen) not in (set(FAMILIES), set(FRESH_FAMILIES)):
        rows = [row for row in json.loads(path.read_text())["kernels"] if row["family"] not in chosen]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        backend = EmulatorBackend(directory / "records", target)
        for family in ({**FAMILIES, **FRESH_FAMILIES}[name] for name in chosen):
            program = build(family, backend, directory)
            for size in family.sizes:
                rows += both_states(family, program, size, directory, environment)
                spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                print(f"{family.name} {size}: {spent:.0f} s so far", file=sys.stderr, flush=True)
            text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
            path.write_text(f'{{"target": "{target}", "kernels": [\n{text}\n]}}\n')


def main() -> None:
    target = sys.argv[2] if len(sys.argv) > 2 else "h200"
    environment = WHOLE if sys.argv[3:4] != ["default"] else ()
    chosen = list(FRESH_FAMILIES) if sys.argv[4:] == [FRESH] else sys.argv[4:]
    collect(Path(sys.argv[1]), target, environment, chosen or list(FAMILIES))


if __name__ == "__main__":
    main()
