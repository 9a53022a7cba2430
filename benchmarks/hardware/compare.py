"""The emulator against hardware: times, gains and lines of the corpus, by half and by family.

    python benchmarks/hardware/compare.py [fresh] [EMULATOR.json [DEVICE.json]]

Prints Markdown; with "fresh" of the families that are in no half. A gain is that of a pair of kernels as if the one
were a patch of the other.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from families import CALIBRATION, FAMILIES, FRESH, FRESH_FAMILIES, TEST, Family

from intelliperf.emulator import modelerror, timing

HERE = Path(__file__).parent
REPORT = HERE / "CORPUS.md"
DEVICE, EMULATOR = HERE / "h200.json", HERE / "h200-emulated.json"
FRESH_DEVICE, FRESH_EMULATOR = HERE / "fresh-h200.json", HERE / "fresh-emulated.json"
NEAR, FAR = math.log(1.5), math.log(3)
Key = tuple[str, tuple[int, ...], str]  # family, size, variant
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Gain:
    """Of `expert` over `naive`; modelled with its interval."""

    naive: Key
    expert: Key
    measured: float
    modelled: float
    low: float
    high: float

    @property
    def covered(self) -> bool:
        return self.low <= self.measured <= self.high


@dataclass
class Lines:
    """Figures of lines that hardware and the emulator both have, or one of them."""

    lines: int = 0
    equal: int = 0
    figures: int = 0
    told_exact: int = 0
    told_exact_wrongly: int = 0
    moved: int = 0  # figures told as exact that are hardware's in sum with those of another line of the statement
    bounded: int = 0
    estimated: int = 0
    estimated_wrongly: int = 0
    out_of_bounds: int = 0
    different: list[str] = field(default_factory=list)


def keyed(path: Path) -> dict[Key, Row]:
    rows = json.loads(path.read_text())["kernels"]
    return {(row["family"], tuple(row["size"]), row["variant"]): row for row in rows}


def pairs(families: Mapping[str, Family] = FAMILIES) -> Iterator[tuple[Key, Key]]:
    for family in families.values():
        for size in family.sizes:
            for naive, expert in family.pairs:
                yield (family.name, size, naive), (family.name, size, expert)


def times(device: Mapping[Key, Row], emulated: Mapping[Key, Row]) -> dict[Key, float]:
    """Logarithms of modelled to measured times, with emptied caches."""
    return {key: math.log(row["time_ns"] / device[key]["cold"][0]) for key, row in emulated.items() if key in device}


def gains(
    device: Mapping[Key, Row],
    emulated: Mapping[Key, Row],
    target: str,
    families: Mapping[str, Family] = FAMILIES,
) -> list[Gain]:
    found = []
    for naive, expert in pairs(families):
        if not {naive, expert} <= device.keys() & emulated.keys():
            continue
        measured = device[naive]["cold"][0] / device[expert]["cold"][0]
        before, after = ([emulated[key]["time_parts"]] for key in (naive, expert))
        spread = modelerror.spread(before, after, modelerror.of_target(target))
        modelled = emulated[naive]["time_ns"] / emulated[expert]["time_ns"]
        rest = math.log1p(timing.RESOLUTION)
        low, high = (
            modelled * math.exp(side) for side in (-math.hypot(spread.below, rest), math.hypot(spread.above, rest))
        )
        found.append(Gain(naive, expert, measured, modelled, low, high))
    return found


def warm(device: Mapping[Key, Row], emulated: Mapping[Key, Row]) -> tuple[dict[Key, Row], dict[Key, Row]]:
    """As if what was measured and modelled with the inputs still in the L2 were of emptied caches."""
    return (
        {key: {**row, "cold": row["warm"]} for key, row in device.items()},
        {key: {**row, **row["warm"]} for key, row in emulated.items() if "warm" in row},
    )


def lines(device: Mapping[Key, Row], emulated: Mapping[Key, Row]) -> dict[str, Lines]:
    """By family, of the sizes that Nsight Compute was asked about."""
    found: dict[str, Lines] = {}
    for key, row in emulated.items():
        counted = device.get(key, {}).get("ncu")
        if not counted or "lines" not in row:
            continue
        true, said = by_line(counted["lines"]), by_line(row["lines"])
        if "any REDG" not in true:  # recordings of 2026-11-22 have none of them
            said.pop("any REDG", None)
        compare_lines(key, true, where_inlined(said, true), found.setdefault(key[0], Lines()))
    return found


def where_inlined(said: Mapping[str, Row], true: Mapping[str, Row]) -> dict[str, Row]:
    """With accesses at the line that they were inlined to where hardware has them there and not where they stand."""
    found = dict(said)
    for place in [place for place in said if place not in true]:
        instruction = place.rpartition(" ")[2]
        for outer in said[place].get("inlined_to", ()):
            if f"{outer} {instruction}" in true and f"{outer} {instruction}" not in found:
                found[f"{outer} {instruction}"] = found.pop(place)
                break
    return found


def by_line(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Private memory is left out. Atomics that were inlined from a CUDA header have no line of their own there."""
    found: dict[str, dict[str, Any]] = {}
    for place, figures in rows.items():
        line, _, instruction = place.rpartition(" ")
        if instruction in ("LDL", "STL"):
            continue
        if instruction in ("RED", "ATOMG", "ATOM", "ATOMS", "REDG"):
            line = "any"
            instruction = {"RED": "REDG", "ATOM": "ATOMG"}.get(instruction, instruction)
        row = found.setdefault(f"{line} {instruction}", {})
        for name in ("sectors", "sectors_ideal", "wavefronts", "wavefronts_ideal"):
            if name in figures:
                row[name] = added(row.get(name), figures[name])
        for name in ("inlined_to", "unsure", "shared_with") if row else ():
            if name in figures:
                row[name] = figures[name]
    return {place: figures for place, figures in found.items() if figures}


def added(before: Any, figure: Any) -> Any:
    if before is None:
        return figure
    return [a + b for a, b in zip(before, figure, strict=True)] if isinstance(figure, list) else before + figure


def compare_lines(key: Key, true: Mapping[str, Row], said: Mapping[str, Row], into: Lines) -> None:
    for place in sorted(true.keys() | said.keys()):
        into.lines += 1
        wrong = []
        for name, truth in true.get(place, {}).items():
            value, error = said.get(place, {}).get(name, (None, 0.0))
            right = value is not None and abs(value - truth) < 0.5
            wrong += [] if right else [f"{name} {'nothing' if value is None else f'{value:.0f}'} for {truth:.0f}"]
            into.figures += 1
            if value is not None and not error and said[place].get("unsure"):
                into.estimated += 1
                into.estimated_wrongly += not right
            elif value is not None and not error:
                into.told_exact += 1
                elsewhere = not right and in_sum(place, true, said)
                into.told_exact_wrongly += not right and not elsewhere
                into.moved += elsewhere
            elif value is not None:
                into.bounded += 1
                into.out_of_bounds += abs(value - truth) > error
        if place not in true:
            wrong.append("not on hardware")
        into.equal += not wrong
        if wrong:
            into.different.append(f"{key[0]} {key[2]} {place}: {', '.join(wrong)}. {cause(place, true, said)}")


FIGURES = ("sectors", "sectors_ideal", "wavefronts", "wavefronts_ideal")


def cause(place: str, true: Mapping[str, Row], said: Mapping[str, Row]) -> str:
    """Why a line differs, from what the emulator says of it and from the other lines of the kernel."""
    instruction = place.rpartition(" ")[2]
    if (
        instruction == "LDS"
        and place not in said
        and "compare-and-swap" in str(said.get("any ATOMS", {}).get("unsure"))
    ):
        return "the loads of the compare-and-swap loop that stands for the line's atomic"
    words = [str(said[place]["unsure"])] if said.get(place, {}).get("unsure") else []
    near = nearest(place, true, said)
    if in_sum(place, true, said):
        words.append(f"the same figures in sum at {' and '.join(near)}, which are one statement or loop")
    elif near and said.get(place, {}).get("shared_with"):
        words.append(f"merged accesses ({said[place]['shared_with']}), which the two compilers give to different lines")
    return "; ".join(words) or UNEXPLAINED


def in_sum(place: str, true: Mapping[str, Row], said: Mapping[str, Row]) -> bool:
    near = nearest(place, true, said)
    return bool(near) and sums(near, true) == sums(near, said)


UNEXPLAINED = "Not explained"


def nearest(place: str, true: Mapping[str, Row], said: Mapping[str, Row]) -> list[str]:
    """The lines of the same instruction whose figures differ, the one at `place` among them; empty if there is none."""
    instruction = place.rpartition(" ")[2]
    lines = [one for one in sorted(true.keys() | said.keys()) if one.rpartition(" ")[2] == instruction]
    differ = [one for one in lines if values(true.get(one, {})) != values(said.get(one, {}))]
    return differ if len(differ) > 1 else []


def values(row: Row) -> list[float]:
    figures = (row.get(name, 0.0) for name in FIGURES)
    return [round(figure[0] if isinstance(figure, list) else figure) for figure in figures]


def sums(places: Sequence[str], rows: Mapping[str, Row]) -> list[float]:
    return [sum(column) for column in zip(*(values(rows.get(place, {})) for place in places), strict=True)]


def share(values: Sequence[bool]) -> str:
    return f"{sum(values)} of {len(values)} ({100 * sum(values) / len(values):.0f} %)" if values else "none"


def spread(errors: Iterable[float]) -> str:
    ordered = sorted(errors)
    return f"{math.exp(ordered[0]):.2f} to {math.exp(ordered[-1]):.2f}" if ordered else ""


def of(half: str, family: str) -> bool:
    return {**FAMILIES, **FRESH_FAMILIES}[family].half == half


def whole_table(
    timed: Mapping[Key, float],
    gained: Sequence[Gain],
    counted: Mapping[str, Lines],
    halves: Sequence[str] = (CALIBRATION, TEST),
) -> Iterator[str]:
    yield row("figure", [half if half == FRESH else f"{half} half" for half in halves])
    yield row("---", ["---"] * len(halves))
    errors = [[error for key, error in timed.items() if of(half, key[0])] for half in halves]
    ratios = [[gain for gain in gained if of(half, gain.naive[0])] for half in halves]
    off = [[math.log(gain.modelled / gain.measured) for gain in some] for some in ratios]
    summed = [total(some for name, some in counted.items() if of(half, name)) for half in halves]
    yield row("kernels", [str(len(some)) for some in errors])
    yield row("modelled / measured time within 1.5×", [share([abs(e) <= NEAR for e in some]) for some in errors])
    yield row("… beyond 3×", [str(sum(abs(e) > FAR for e in some)) for some in errors])
    yield row("… spread", [spread(some) for some in errors])
    yield row("pairs: modelled / measured gain within 1.5×", [share([abs(e) <= NEAR for e in some]) for some in off])
    yield row("… beyond 3×", [str(sum(abs(e) > FAR for e in some)) for some in off])
    yield row("… spread", [spread(some) for some in off])
    yield row(
        "… measured gain inside the printed interval", [share([gain.covered for gain in some]) for some in ratios]
    )
    yield row("… width of the interval, middle: high / low", [width(some) for some in ratios])
    yield row("lines whose figures are Nsight Compute's", [f"{some.equal} of {some.lines}" for some in summed])
    told = [f"{some.told_exact_wrongly} of {some.told_exact}" for some in summed]
    yield row("figures told as exact that are not", told)
    yield row("… the same in sum with the next line of the statement or loop", [str(some.moved) for some in summed])
    told = [f"{some.estimated_wrongly} of {some.estimated}" for some in summed]
    yield row("figures told as estimates or bounds, with the cause, that differ", told)
    unexplained = [str(sum(text.endswith(UNEXPLAINED) for text in some.different)) for some in summed]
    yield row("lines that differ and are not explained", unexplained)
    yield row("figures with ± whose truth is outside", [f"{some.out_of_bounds} of {some.bounded}" for some in summed])


def warm_rows(
    timed: Mapping[Key, float], gained: Sequence[Gain], halves: Sequence[str] = (CALIBRATION, TEST)
) -> Iterator[str]:
    errors = [[error for key, error in timed.items() if of(half, key[0])] for half in halves]
    ratios = [[gain for gain in gained if of(half, gain.naive[0])] for half in halves]
    off = [[math.log(gain.modelled / gain.measured) for gain in some] for some in ratios]
    yield row("with warm caches: time within 1.5×", [share([abs(e) <= NEAR for e in some]) for some in errors])
    yield row("… beyond 3×", [str(sum(abs(e) > FAR for e in some)) for some in errors])
    yield row("… gain within 1.5×", [share([abs(e) <= NEAR for e in some]) for some in off])
    yield row("… measured gain inside the interval", [share([gain.covered for gain in some]) for some in ratios])


def width(gained: Sequence[Gain]) -> str:
    widths = sorted(gain.high / gain.low for gain in gained)
    return f"{widths[len(widths) // 2]:.2f}" if widths else ""


SUMMED = (
    "lines", "equal", "figures", "told_exact", "told_exact_wrongly", "moved", "estimated", "estimated_wrongly",
    "bounded", "out_of_bounds",
)  # fmt: skip


def total(some: Iterable[Lines]) -> Lines:
    result = Lines()
    for one in some:
        for name in SUMMED:
            setattr(result, name, getattr(result, name) + getattr(one, name))
        result.different += one.different
    return result


def row(name: str, cells: Iterable[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def family_table(timed: Mapping[Key, float], gained: Sequence[Gain], counted: Mapping[str, Lines]) -> Iterator[str]:
    yield "| family | half | times within 1.5× | spread | gains within 1.5× | spread | inside | lines equal |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, family in {**FAMILIES, **FRESH_FAMILIES}.items():
        if not any(key[0] == name for key in timed):
            continue
        errors = [error for key, error in timed.items() if key[0] == name]
        some = [gain for gain in gained if gain.naive[0] == name]
        off = [math.log(gain.modelled / gain.measured) for gain in some]
        seen = counted.get(name, Lines())
        near = [f"{sum(abs(e) <= NEAR for e in logs)} of {len(logs)}" for logs in (errors, off)]
        inside = f"{sum(gain.covered for gain in some)} of {len(some)}"
        yield row(
            name, [family.half, near[0], spread(errors), near[1], spread(off), inside, f"{seen.equal} of {seen.lines}"]
        )


def pair_table(gained: Sequence[Gain]) -> Iterator[str]:
    yield "| pair | size | measured | modelled | interval |"
    yield "|---|---|---|---|---|"
    for gain in gained:
        name = f"{gain.naive[0]}: `{gain.naive[2]}` → `{gain.expert[2]}`"
        mark = "" if gain.covered else ", outside"
        told = f"{gain.low:.3g} to {gain.high:.3g}{mark}"
        yield row(name, [" ".join(map(str, gain.naive[1])), f"{gain.measured:.3g}", f"{gain.modelled:.3g}", told])


def report(emulator: Path, device_path: Path) -> str:
    """In Markdown; what differs is last."""
    device, emulated = keyed(device_path), keyed(emulator)
    target = json.loads(emulator.read_text())["target"]
    timed, gained, counted = times(device, emulated), gains(device, emulated, target), lines(device, emulated)
    again = warm(device, emulated)
    warmed = warm_rows(times(*again), gains(*again, target))
    whole_rows = (*whole_table(timed, gained, counted), *warmed)
    tables = (whole_rows, family_table(timed, gained, counted), pair_table(gained))
    whole, families, each = ("\n".join(table) for table in tables)
    provenance = json.loads(device_path.read_text())["provenance"]
    told = f"{provenance['device']}, driver {provenance['driver']}, {provenance['nvcc']}, {provenance['date']}"
    different = "\n".join(f"- {text}" for name in counted for text in counted[name].different)
    return (
        f"# The corpus: the emulator's model against hardware\n\nWritten by `calibrate.py`. {told}.\n\n{whole}\n\n"
        f"## By family\n\n{families}\n\n## Pairs\n\n{each}\n\n## Lines that differ\n\n{different}\n"
    )


def fresh_report(emulator: Path, device_path: Path) -> str:
    device, emulated = keyed(device_path), keyed(emulator)
    target = json.loads(emulator.read_text())["target"]
    timed, counted = times(device, emulated), lines(device, emulated)
    gained = gains(device, emulated, target, FRESH_FAMILIES)
    again = warm(device, emulated)
    warmed = warm_rows(times(*again), gains(*again, target, FRESH_FAMILIES), [FRESH])
    whole_rows = (*whole_table(timed, gained, counted, [FRESH]), *warmed)
    tables = (whole_rows, family_table(timed, gained, counted), pair_table(gained))
    different = [f"- {text}" for name in counted for text in counted[name].different]
    return "\n\n".join("\n".join(part) for part in (*tables, different))


def main() -> None:
    words = sys.argv[1:]
    if words[:1] == [FRESH]:
        paths = [Path(text) for text in words[1:]]
        print(fresh_report(paths[0] if paths else FRESH_EMULATOR, paths[1] if len(paths) > 1 else FRESH_DEVICE))
        return
    paths = [Path(text) for text in words]
    print(report(paths[0] if paths else EMULATOR, paths[1] if len(paths) > 1 else DEVICE))


if __name__ == "__main__":
    main()
