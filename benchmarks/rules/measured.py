"""What patches of rules gain on the NVIDIA GPU of this machine, of the planted programs that are CUDA.

    python benchmarks/rules/measured.py [--keep DIR] [--jobs N] [PROGRAM ...]

Each planted program is improved as by `intelliperf -- ./app` on the emulator, without a model. Then the original, the
patched and the expert's program are built by nvcc, and Nsight Compute times all launches of each in `RUNS` processes.
`measured.json` keeps the medians of their sums, and `MEASURED.md` is made from it.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from planted import EVEN, HERE, Planted, outcome, planted, results
from run import improved

KEPT, TABLE = HERE / "measured.json", HERE / "MEASURED.md"
RUNS = 3
METRIC = "gpu__time_duration.sum"
PROFILE = ("ncu", "--metrics", METRIC, "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="directory for the runs; default: a temporary one")
    parser.add_argument("--jobs", type=int, default=1, help="programs improved at a time")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    chosen = [one for one in planted() if one.file.endswith(".cu")]
    if options.programs:
        chosen = [one for one in chosen if one.name in options.programs]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        root = options.keep or Path(scratch)
        for one, row in zip(chosen, pool.map(lambda one: tried(one, root), chosen), strict=True):
            keep(one.name, row | times(one, root) if "failed" not in row else row)


def tried(one: Planted, root: Path) -> dict[str, Any]:
    """What the rules came to; the three programs are built."""
    try:
        report = improved(one.file, one.text, root / one.name, (), one.headers, one.arguments)
    except SystemExit as failed:  # no report: what the tool said stands in its place
        return {"failed": str(failed)[-2000:]}
    build(one, root / one.name / "original")
    build(replace(one, text=one.expert), root / one.name / "expert")
    if report["patch"]:
        build(one, root / one.name / "patched", report["patch"])
    return outcome(report)


def build(one: Planted, directory: Path, patch: str = "") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for file, content in {one.file: one.text, **one.headers}.items():
        (directory / file).write_text(content)
    if patch:
        subprocess.run(["patch", "-p1", "-s"], cwd=directory, input=patch, text=True, check=True)
    subprocess.run(["nvcc", "-O2", "-arch=native", one.file, "-o", "app"], cwd=directory, check=True)


def times(one: Planted, root: Path) -> dict[str, Any]:
    told = {version: microseconds(root / one.name / version, one) for version in ("original", "expert", "patched")}
    return {"device": device(), **{f"{version}_us": us for version, us in told.items()}}


def microseconds(directory: Path, one: Planted) -> float | None:
    """Of all launches; None: there is no such version."""
    if not (directory / "app").is_file():
        return None
    return round(statistics.median(launches(directory, one) for _ in range(RUNS)) / 1e3, 2)


def launches(directory: Path, one: Planted) -> float:
    """Nanoseconds of all launches of one process."""
    command = (*PROFILE, "base", "./app", *one.arguments)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
    text = "\n".join(line for line in done.stdout.splitlines() if line.startswith('"'))
    rows = list(csv.DictReader(io.StringIO(text)))
    return sum(float(row["Metric Value"].replace(",", "")) for row in rows if row["Metric Name"] == METRIC)


def device() -> str:
    query = ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def keep(name: str, row: dict[str, Any]) -> None:
    kept = json.loads(KEPT.read_text()) if KEPT.is_file() else {}
    kept = dict(sorted({**kept, name: row}.items()))
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    TABLE.write_text(table(kept, results()))
    print(name, json.dumps(row), flush=True)


def table(kept: Mapping[str, Any], modelled: Mapping[str, Any]) -> str:
    rows = {name: row for name, row in kept.items() if "failed" not in row}
    gains = [gain(row) for row in rows.values() if row["patched_us"]]
    shares = [share(row) for row in rows.values() if expert(row) > EVEN]
    lines = [
        "# Planted programs by rules alone, measured",
        "",
        f"Made by `measured.py` from `measured.json`, on {', '.join({row['device'] for row in rows.values()})}.",
        "*Modelled* is what the emulator said, as H100, when it accepted the patch; *share* the logarithm of the",
        "rules' gain by that of the expert's, 0 where nothing is accepted.",
        "",
        f"- accepted: {len(gains)} of {len(kept)}",
    ]
    if gains:
        lines.append(f"- geometric mean of accepted gains: {math.exp(sum(map(math.log, gains)) / len(gains)):.2f}")
    if shares:
        lines.append(f"- share of what experts gain (mean): {sum(shares) / len(shares):.0%}")
    lines += [
        "",
        "| program | before, µs | rules | measured | modelled | expert, measured | expert, modelled | share |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [line(name, row, modelled.get(name)) for name, row in kept.items()]
    return "\n".join(lines) + "\n"


def line(name: str, row: Any, modelled: Any) -> str:
    if "failed" in row:
        return f"| {name} | – | no result | – | – | – | – | – |"
    cells = (
        name,
        f"{row['original_us']:g}",
        ", ".join(row["rules"]) or "–",
        f"{gain(row):.2f}" if row["patched_us"] else "–",
        f"{row['gain']:.2f}" if row["gain"] else "–",
        f"{expert(row):.2f}",
        f"{modelled['before_us'] / modelled['expert_us']:.2f}" if modelled else "–",
        f"{share(row):.0%}",
    )
    return f"| {' | '.join(cells)} |"


def gain(row: Any) -> float:
    return float(row["original_us"] / row["patched_us"]) if row["patched_us"] else 1.0


def expert(row: Any) -> float:
    return float(row["original_us"] / row["expert_us"])


def share(row: Any) -> float:
    return math.log(gain(row)) / math.log(expert(row)) if expert(row) > EVEN else 0.0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(HERE.parents[1]))
    sys.exit(main())
