"""Kernels that a compiler made from a model: which of the model's lines they come from, by its own word."""

from __future__ import annotations

import json
import os
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.project.versions import GENERATED_LOG
from intelliperf.sentences import NOT_TO_PATCH

_SHOWN = 6


def model_lines(project: Path) -> dict[str, tuple[str, ...]]:
    """file:line by kernel, relative to the project. Raises `ProtocolError` for other content."""
    found: dict[str, tuple[str, ...]] = {}
    log = project / GENERATED_LOG
    if not log.is_file():
        return found
    try:
        for text in log.read_text("utf-8", "surrogateescape").splitlines():
            entry = json.loads(text)
            found[str(entry["kernel"])] = tuple(os.path.relpath(str(line), project) for line in entry["lines"])
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"{log}: not a list of kernels: {error!r}") from error
    return found


def generated_note(lines: tuple[str, ...]) -> str:
    shown = ", ".join(lines[:_SHOWN]) + (f" and {len(lines) - _SHOWN} others" if len(lines) > _SHOWN else "")
    return (
        f"torch.compile made this kernel from {shown or 'lines that it does not name'}: "
        f"{NOT_TO_PATCH}; change those lines, or the options of the compiler"
    )
