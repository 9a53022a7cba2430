"""Makes the reduced recordings of this directory out of the vendor's files: fewer columns, the same cells.

    python tests/data/rocprof/reduce.py DIRECTORY_OF_THE_ORIGINALS

`counters.json` holds the names of `counter_defs.yaml` by architecture and block; the wide tables lose the
single instances ("TCC_HIT[3]") and the repeated bookkeeping of each pass; the long table keeps the same counters.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
ARCHITECTURES = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx11", "gfx1100", "gfx1101", "gfx1200", "gfx1201")
GPUS = ("MI100", "MI200", "MI300A_A1", "MI300X_A1", "MI350")
_NAMES = ("Kernel", "Dispatch", "GPU", "Grid", "Workgroup", "LDS", "Scratch", "Arch", "Accum", "SGPR", "Start", "End")
_COUNTERS = re.compile(r"(SQ|SQC|TA|TCP|TCC|GRBM)_[A-Z0-9_]+(_sum)?$")
_BOOKKEEPING = re.compile(rf"({'|'.join(_NAMES)})[A-Za-z_]*$")


def counters_by_block(text: str) -> dict[str, dict[str, list[str]]]:
    """The file's layout is one: a list of counters, each with definitions per list of architectures."""
    found: dict[str, dict[str, set[str]]] = {name: {} for name in ARCHITECTURES}
    for entry in re.split(r"\n  - name: ", text)[1:]:
        name = entry.split("\n", 1)[0].strip()
        for definition in re.split(r"\n    - architectures:", entry)[1:]:
            block = re.search(r"\n      block: (\S+)", definition)
            for architecture in re.findall(r"\n      - (\S+)", definition):
                if architecture in found:
                    found[architecture].setdefault(block[1] if block else "derived", set()).add(name)
    return {name: {block: sorted(names) for block, names in blocks.items()} for name, blocks in found.items()}


def keep(column: str) -> bool:
    return bool(_COUNTERS.match(column) or _BOOKKEEPING.match(column))


def reduce_wide(source: Path, target: Path) -> None:
    with source.open(newline="") as text:
        header, *lines = csv.reader(text)
    chosen = [position for position, name in enumerate(header) if keep(name)]
    with target.open("w", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([line[position] for position in chosen] for line in (header, *lines))


def reduce_long(source: Path, target: Path) -> None:
    with source.open(newline="") as text:
        header, *lines = csv.reader(text)
    name = header.index("Counter_Name")
    with target.open("w", newline="") as text:
        csv.writer(text, lineterminator="\n").writerows([header, *(line for line in lines if keep(line[name]))])


def schema_paths(node: dict[str, object], path: str = "") -> set[str]:
    """Dotted paths of all properties; lists are seen through."""
    found: set[str] = set()
    properties, items = node.get("properties"), node.get("items")
    if isinstance(properties, dict):
        for name, inner in properties.items():
            found |= {f"{path}{name}"} | schema_paths(inner, f"{path}{name}.")
    if isinstance(items, dict):
        found |= schema_paths(items, path)
    return found


def main(originals: Path) -> None:
    known = counters_by_block((originals / "counter_defs.yaml").read_text())
    (HERE / "counters.json").write_text(json.dumps(known, indent=0, sort_keys=True) + "\n")
    paths = schema_paths(json.loads((originals / "rocprofv3-schema.json").read_text()))
    (HERE / "json_schema_paths.txt").write_text("".join(f"{path}\n" for path in sorted(paths)))
    for gpu in GPUS:
        reduce_wide(originals / f"vcopy_{gpu}.csv", HERE / f"vcopy_{gpu}.csv")
    reduce_long(originals / "vcopy_MI300X_long.csv", HERE / "vcopy_MI300X_long.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
