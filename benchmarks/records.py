# ruff: noqa: E402  the tests' modules lie elsewhere
"""What recording accesses on AMD hardware costs: machine code and executed instructions, with and without records.

Counts are those of the software gfx90a (tests/gfx90a), which both programs run on; times of any card do not follow.
Prints the rows of the table in RESULTS.md.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "gfx90a"))

from instruments import code_objects
from recorded_on_device import ALL, equal, executed


def code_bytes(binary: Path, scratch: Path) -> int:
    """Of the machine code for the GPU, all kernels."""
    scratch.mkdir()
    sizes = []
    for path in code_objects(binary, scratch):
        with path.open("rb") as file:
            sizes.append(ELFFile(file).get_section_by_name(".text").data_size)
    return sum(sizes)


def main() -> None:
    print("| program | lines, all equal | accesses of waves | machine code | instructions | of them per access |")
    print("|---|---|---|---|---|---|")
    for program in ALL:
        with tempfile.TemporaryDirectory(prefix="records-") as name:
            scratch = Path(name)
            built = program.twice(scratch)
            lines = equal(built)
            dispatches = built.recorded().dispatches
            records = sum(figures["executions"] for one in dispatches for figures in one.figures)
            size = code_bytes(built.recording, scratch / "with") / code_bytes(built.plain, scratch / "without")
            plain = executed(built.device_counts(built.plain))
            again = executed(built.device_counts(built.recording)) / 2  # it was run by `equal`, too
        print(
            f"| {program.name} | {len(lines)} | {records:,.0f} | {size:.2f} × | {again / plain:.2f} × | "
            f"{(again - plain) / records:.0f} |",
            flush=True,
        )


main()
