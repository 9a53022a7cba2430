"""Programs for the rocprofv3 stand-in: they write the counts that the software gfx90a would have written."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from intelliperf.records import Application

STANDIN = Path(__file__).parents[1] / "rocprofv3" / "rocprofv3"
COPY = "_Z4copyPdPKd"
TILE = "_Z4tilePf"
WAVES = 256


def instruction(text: str, **more: Any) -> dict[str, Any]:
    return {"pc": 0, "address": 0, "text": text, "executions": WAVES, "lanes": WAVES * 64, **more}


def dispatch(number: int, kernel: str | None, instructions: Sequence[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        **{"version": 1, "dispatch": number, "queue": 0, "kernel": kernel, "grid": [16384, 1, 1]},
        **{"workgroup": [256, 1, 1], "group_segment_bytes": 0, "private_segment_bytes": 0},
        **{"vgprs": 8, "agprs": 0, "sgprs": 16, "start_ns": 1000 + 10000 * number, "end_ns": 6000 + 10000 * number},
        **{"waves": WAVES, "instructions": list(instructions), **more},
    }


def copy(number: int, lines_per_store: int = 8) -> dict[str, Any]:
    """Doubles, a wave's 512 bytes in eight lines; or scattered over more."""
    moved = {"space": "global", "bytes": 8, "lines_ideal": 8 * WAVES}
    return dispatch(
        number,
        COPY,
        [
            instruction("v_add_u32_e32 v0, s6, v0"),
            instruction("global_load_dwordx2 v[2:3], v[2:3], off", kind="load", lines=8 * WAVES, **moved),
            instruction(
                "global_store_dwordx2 v[0:1], v[2:3], off", kind="store", lines=lines_per_store * WAVES, **moved
            ),
        ],
    )


def tile(number: int) -> dict[str, Any]:
    """A column of a tile: 32 LDS cycles where two would do. Twice the time of the copy."""
    return dispatch(
        number,
        TILE,
        [
            instruction(
                "ds_read_b32 v1, v0",
                space="lds",
                kind="load",
                bytes=4,
                lds_cycles=64 * WAVES,
                lds_cycles_ideal=2 * WAVES,
            ),
            instruction("s_waitcnt lgkmcnt(0)"),
        ],
        end_ns=11000 + 10000 * number,
        group_segment_bytes=4096,
    )


def application(directory: Path, dispatches: Sequence[dict[str, Any]], body: str = "") -> Application:
    """A program that writes these and then does `body`, in which `lines` are what it will write."""
    counts = directory / "counts.json"
    counts.write_text(json.dumps(list(dispatches)))
    program = directory / "app.py"
    program.write_text(
        "import json, os, pathlib, sys\n"
        f"lines = json.loads(pathlib.Path({str(counts)!r}).read_text())\n"
        f"{body}\n"
        "place = os.environ.get('GFX90A_COUNTS')\n"
        "if place:\n"
        "    text = ''.join(json.dumps(line) + '\\n' for line in lines)\n"
        "    (pathlib.Path(place) / f'{os.getpid()}.jsonl').write_text(text)\n"
    )
    return Application((sys.executable, "-S", str(program), "an argument with spaces"), directory, directory)
