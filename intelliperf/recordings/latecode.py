"""A version of a program whose device code is compiled as it runs: its launches in place of the recorded ones.

One JSON file holds the shapes of the recorded dispatches and the code that each of them launches, by its digest.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.processes.storage import storage_errors
from intelliperf.recordings.image import Shape

_BESIDE = (".general", ".constants")  # a code object: what replaces it where its launch is altered


def kept_files(shapes: Sequence[Shape], code: Path) -> list[Path]:
    """What a version kept in the directory `code` of all that these launches take."""
    found = [code / shape.code for shape in shapes if shape.code]
    beside = [path.with_name(path.name + suffix) for path in found for suffix in _BESIDE]
    told = [path for path in beside if path.is_file()]
    for path in told:
        found += [code / name for name in _named(path)]
    return sorted({*found, *told})


def _named(told: Path) -> list[str]:
    """Digests of the code that replaces some other; each record ends with its seal."""
    known = json.loads(told.read_text())
    return [known[0]] if told.suffix == _BESIDE[0] else [str(other) for _, other, _ in known[:-1]]


def pack(shapes: Sequence[Shape], code: Path) -> bytes:
    """Raises `OSError` where something was not kept."""
    files = {path.name: base64.b64encode(path.read_bytes()).decode() for path in kept_files(shapes, code)}
    listed = [[shape.grid, shape.block, shape.dynamic_lds, shape.code] for shape in shapes]
    return json.dumps({"shapes": listed, "code": files}).encode()


def unpack(program: Path, code: Path) -> tuple[Shape, ...]:
    """Its files into the directory `code`. Raises `ProtocolError` where the file is none of these."""
    try:
        known = json.loads(program.read_bytes())
        files = {Path(name).name: base64.b64decode(text) for name, text in known["code"].items()}
        shapes = tuple(Shape(tuple(grid), tuple(block), lds, kept) for grid, block, lds, kept in known["shapes"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(f"{program} holds no version of a program that compiles as it runs ({error})") from error
    with storage_errors(code):
        code.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (code / name).write_bytes(content)
    return shapes
