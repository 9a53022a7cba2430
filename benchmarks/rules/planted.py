"""Thirty-six planted programs in a set that was frozen before any rule was tried on them.

    python benchmarks/rules/planted.py [--keep DIR] [PROGRAM ...]

Twenty are in `planted/`: a file has the planted kernel, an expert's and what both share, cut apart by lines that begin
with `////`. Sixteen are pairs of the hardware corpus, of which only the variant in question is launched. Each is
improved as by `intelliperf -- ./app` on the emulator without a model; the tool sees no expert's version but where the
corpus has both kernels in one file. `planted.json` keeps the first outcome of each program, which is not written
again, and the last; `PLANTED.md` is made from it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run import device_ns, gained, improved, outcome_of, told

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "hardware"
RESULTS, TABLE = HERE / "planted.json", HERE / "PLANTED.md"
INCLUDE = re.compile(r'#include "(\w+\.h)"')
EVEN = 1.05  # an expert who gains less has nothing to share

OWN: Mapping[str, str] = {
    "rms_norm_half.hip": "rows in place",
    "row_moments.cu": "rows, object",
    "cumsum_rows.hip": "scan of rows",
    "lds_scan.cu": "scan by one thread",
    "dot_double.cu": "global atomics",
    "peak_u64.hip": "global atomics",
    "shared_energy.hip": "atomics in LDS",
    "block_max.hip": "divergent reduction",
    "one_thread_totals.hip": "one thread",
    "bf16_bias.cu": "run per thread, bf16",
    "complex_gain.hip": "rows in place, class",
    "float4_similarity.cu": "rows, float4",
    "rotary.cu": "repeated functions",
    "pow_doubles.hip": "repeated functions",
    "small_matvec.cu": "small matrices",
    "inverse3.cu": "small matrices",
    "embedding_bag.cu": "gather",
    "csr_spmv.hip": "sparse rows",
    "points_aos.cu": "records",
    "few_threads.hip": "tiny grid",
}


@dataclass(frozen=True)
class Pair:
    """Of a family of the corpus: the planted variant, the expert's, and the arguments."""

    family: str
    planted: str
    expert: str
    arguments: tuple[int, ...]
    shape: str

    @property
    def name(self) -> str:
        return f"{self.family}-{self.planted}"


PAIRS = (
    Pair("corpus/transpose", "writes_apart", "tile_padded", (3072,), "transposition"),
    Pair("corpus/columns", "thread_per_column", "strips", (3584, 1024), "columns"),
    Pair("corpus/reduce", "atomic_each", "shuffled", (1 << 16,), "global atomics"),
    Pair("corpus/histogram", "global", "lds", (1 << 19, 64), "histogram"),
    Pair("corpus/gemm", "columns_first", "tiled", (384,), "product"),
    Pair("corpus/stencil", "plane_down", "plane_across", (2048,), "stencil"),
    Pair("corpus/layout", "records", "by_fours", (2816 << 10,), "records"),
    Pair("corpus/softmax", "thread_per_row", "block_per_row", (1024, 640), "softmax"),
    Pair("corpus/launch", "one_block", "one_each", (160 << 10,), "tiny grid"),
    Pair("corpus/matvec", "thread_per_row", "warp_per_row", (1280,), "rows"),
    Pair("corpus/lds", "by_columns", "by_columns_padded", (528, 256), "bank conflicts"),
    Pair("corpus/unequal", "one_long", "one_long_shared_out", (4096,), "unequal work"),
    Pair("corpus/nbody", "direct", "tiled", (1152,), "all pairs"),
    Pair("fresh/layernorm", "thread_per_row", "kept_by_warp", (512,), "rows, two passes"),
    Pair("fresh/montecarlo", "atomic_per_hit", "atomic_per_block", (72 << 10, 64), "global atomics"),
    Pair("fresh/heat", "along_depth", "along_rows", (160,), "stencil"),
)


@dataclass(frozen=True)
class Planted:
    name: str
    shape: str
    file: str
    text: str
    expert: str
    headers: Mapping[str, str]
    arguments: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="directory for the runs; default: a temporary one")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    chosen = [one for one in planted() if not options.programs or one.name in options.programs]
    with tempfile.TemporaryDirectory() as scratch:
        for one in chosen:
            known = results().get(one.name, {})
            row = judged(one, options.keep or Path(scratch), known.get("expert_us"))
            kept = {**results(), one.name: merged(known, row)}
            RESULTS.write_text(json.dumps({name: kept[name] for name in sorted(kept)}, indent=1) + "\n")
            TABLE.write_text(table({name: kept[name] for name in kept if "first" in kept[name]}))
            print(one.name, json.dumps(row["now"], indent=1), flush=True)


def results() -> dict[str, Any]:
    return dict(json.loads(RESULTS.read_text())) if RESULTS.is_file() else {}


def planted() -> list[Planted]:
    programs = [own(name, shape) for name, shape in OWN.items()]
    return programs + [of_corpus(pair) for pair in PAIRS]


def own(name: str, shape: str) -> Planted:
    text = (HERE / "planted" / name).read_text()
    return Planted(
        Path(name).stem, shape, name, part(text, "planted"), part(text, "expert"), headers_of(text, HERE / "planted")
    )


def part(text: str, wanted: str) -> str:
    """The lines of `text` that belong to the planted or to the expert's version."""
    section, lines = "both", []
    for line in text.splitlines(keepends=True):
        if line.startswith("////"):
            section = line.removeprefix("////").strip()
        elif section in (wanted, "both"):
            lines.append(line)
    return "".join(lines)


def of_corpus(pair: Pair) -> Planted:
    text = (CORPUS / f"{pair.family}.cu").read_text()
    header = (CORPUS / "corpus" / "corpus.h").read_text()
    name = pair.name.split("/")[1]
    return Planted(
        name,
        pair.shape,
        f"{name.replace('-', '_')}.cu",
        only(text, pair.planted),
        only(text, pair.expert),
        {"corpus.h": header},
        tuple(map(str, pair.arguments)),
    )


def only(text: str, variant: str) -> str:
    """A program of the corpus that launches one of its variants."""
    lines = [line for line in text.splitlines(keepends=True) if ".variant(" not in line or f'"{variant}"' in line]
    assert sum(".variant(" in line for line in lines) == 1, variant
    return "".join(lines).replace("../corpus/", "")


def headers_of(text: str, directory: Path) -> dict[str, str]:
    """Those of the directory that the text includes, and that these include."""
    direct = {found[1]: (directory / found[1]).read_text() for found in INCLUDE.finditer(text)}
    return {name: other for header in direct.values() for name, other in headers_of(header, directory).items()} | direct


def judged(one: Planted, root: Path, expert_us: float | None) -> dict[str, Any]:
    """The expert's version is run where its time is not known yet."""
    report = improved(one.file, one.text, root / one.name, (), one.headers, one.arguments)
    if expert_us is None:
        options = ("-f", "diagnoseOnly")
        twin = improved(one.file, one.expert, root / f"{one.name}-expert", options, one.headers, one.arguments)
        expert_us = round(device_ns(twin["profiles"]) / 1e3, 2)
    return {
        "shape": one.shape,
        "device": report["device"]["name"],
        "before_us": round(device_ns(report["profiles"]) / 1e3, 1),
        "expert_us": expert_us,
        "now": outcome(report),
    }


def outcome(report: Any) -> dict[str, Any]:
    """What a run came to: the rules whose candidates were accepted, and the kernel's gain, or why there is none."""
    accepted = [attempt["candidate"]["origin"]["name"] for attempt in report["attempts"] if _accepted(attempt)]
    if accepted:
        return {"rules": accepted, "gain": round(gained(report), 2)}
    return {"rules": [], "gain": None, "why": list(told(report))}


def _accepted(attempt: Any) -> bool:
    return outcome_of(attempt) == "ACCEPTED"


def merged(kept: Mapping[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """The first outcome stays what it was."""
    return {**row, "first": kept.get("first", row["now"])}


def _expert(row: Any) -> float:
    return float(row["before_us"] / row["expert_us"])


def table(kept: Mapping[str, Any]) -> str:
    head = [
        "# Planted programs of a frozen set, by rules alone",
        "",
        "Made by `planted.py` from `planted.json`. Gains are modelled and of the planted kernel's time; the device is",
        "an emulated H100 for CUDA and MI300X for HIP. *First* is what came of the program before any rule was changed",
        "after the set had been written; a program that had a patch then is not run again. *Share*: the logarithm of",
        "the rules' gain now by that of the expert's, 0 where nothing is accepted.",
        "",
        "| figure | first | now |",
        "|---|---|---|",
    ]
    rows = [
        f"| {name} | {row['shape']} | {row['before_us']:g} | {_gain(row['first'])} | {_gain(row['now'])} | "
        f"{', '.join(row['now']['rules']) or '–'} | {_expert(row):.2f} | {_share(row['now'], _expert(row))} |"
        for name, row in sorted(kept.items())
    ]
    columns = (
        "| program | shape | before, µs | first | now | rules | expert | share |\n|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([*head, *figures(list(kept.values())), "", columns, *rows]) + "\n"


def figures(rows: Sequence[Any]) -> list[str]:
    columns = [[(row[when]["gain"], _expert(row)) for row in rows] for when in ("first", "now")]
    accepted = [[gain for gain, _ in column if gain is not None] for column in columns]
    shares = [
        [math.log(gain or 1.0) / math.log(expert) for gain, expert in column if expert > EVEN] for column in columns
    ]
    texts = {
        "accepted": [f"{len(gains)} of {len(rows)} ({len(gains) / len(rows):.0%})" for gains in accepted],
        "geometric mean of accepted gains": [
            f"{math.exp(sum(map(math.log, gains)) / len(gains)):.2f}" if gains else "–" for gains in accepted
        ],
        "share of what experts gain (mean)": [f"{sum(part) / len(part):.0%}" if part else "–" for part in shares],
    }
    return [f"| {name} | {first} | {now} |" for name, (first, now) in texts.items()]


def _gain(told: Any) -> str:
    return "–" if told["gain"] is None else f"{told['gain']:.2f}"


def _share(told: Any, expert: float) -> str:
    return f"{math.log(told['gain'] or 1.0) / math.log(expert):.0%}" if expert > EVEN else "–"


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(HERE.parents[1]))
    sys.exit(main())
