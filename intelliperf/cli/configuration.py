"""`intelliperf.toml`: option values by their long names, as defaults of the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from intelliperf.errors import UsageError

FILE_NAME = "intelliperf.toml"
_COMMANDS = ("diagnose", "emulate", "survey", "compare", "bisect", "verify")
_OTHER_NAMES = {"json": "json_events"}


def defaults(arguments: list[str]) -> dict[str, Any]:
    """A default map for the option parser, from the project directory's file. Unknown keys are errors."""
    path = _project(arguments) / FILE_NAME
    if not path.is_file():
        return {}
    values = {_OTHER_NAMES.get(key, key.replace("-", "_")): value for key, value in _load(path).items()}
    from dataclasses import fields

    from intelliperf.cli.options import Options

    known = {field.name for field in fields(Options)} - {"command", "diagnose_only", "project_directory"}
    if unknown := sorted(set(values) - known):
        raise UsageError(f"{path}: unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
    for key, value in values.items():
        if isinstance(value, (dict, list)) and key != "build_command":
            raise UsageError(f"{path}: {key} is one value, not a {'table' if isinstance(value, dict) else 'list'}")
    commands = values.get("build_command", [])
    values["build_command"] = [commands] if isinstance(commands, str) else commands
    if not isinstance(commands, (str, list)) or not all(isinstance(text, str) for text in commands):
        raise UsageError(f"{path}: build_command is a text or a list of texts")
    return {**values, **{command: dict(values) for command in _COMMANDS}}


def _project(arguments: list[str]) -> Path:
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in ("-p", "--project-directory"):
            following = arguments[position + 1] if position + 1 < len(arguments) else "."
            return Path(value if equals else following)
    return Path()


def _load(path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    except PermissionError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
