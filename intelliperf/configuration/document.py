"""A TOML file, and the line on which a value stands: what a message about it begins with."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from intelliperf.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LIMIT_BYTES = 4 << 20


def load(path: Path) -> tuple[dict[str, Any], str]:
    """The file's content and its text. Raises `UsageError`, which names the line of a syntax error."""
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            raise UsageError(f"{path} has more than {_LIMIT_BYTES >> 20} MiB: that is not a configuration")
        text = path.read_bytes().decode("utf-8")
        return tomllib.loads(text), text
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    except FileNotFoundError as error:
        raise UsageError(f"no such file: {path}") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error


def line_of(text: str, where: Sequence[str | int]) -> int | None:
    """The line, from 1, on which the value at `where` begins (keys and list positions); None where it is not there.

    The shortest beginning of the file that is valid TOML and holds the value ends with it, so that no second parser
    of TOML is needed. Quadratic in the file's length, and asked only for a message.
    """
    lines = text.splitlines()
    begin = 0
    for end in range(1, len(lines) + 1):
        try:
            content = tomllib.loads("\n".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue  # in the middle of a value
        if _holds(content, where):
            return 1 + next(
                (n for n in range(begin, end) if lines[n].strip() and not lines[n].lstrip().startswith("#")), end - 1
            )
        begin = end
    return None


def place_of(path: Path, text: str, where: Sequence[str | int]) -> str:
    """`FILE:LINE`, of the innermost part of `where` that the file holds."""
    for length in range(len(where), 0, -1):
        line = line_of(text, where[:length])
        if line is not None:
            return f"{path}:{line}"
    return str(path)


def _holds(content: Any, where: Sequence[str | int]) -> bool:
    for key in where:
        try:
            content = content[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
