"""`intelliperf.toml`: option values by their long names, as defaults of the command line.

Read here without the schema, whose library takes a quarter of a second to load; the rules are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from intelliperf.errors import UsageError

FILE_NAME = "intelliperf.toml"
_COMMANDS = ("diagnose", "emulate", "survey", "compare", "bisect", "check", "verify")
_LISTS = ("build_command", "pass_env")
_OTHER_NAMES = {"json": "json_events"}
_TABLES = frozenset({"nightly", "targets"})  # of a night, which checks them


def defaults(arguments: list[str]) -> dict[str, Any]:
    """A default map for the option parser, from the project directory's file. What is wrong is named with its line."""
    path = _project(arguments) / FILE_NAME
    if not path.is_file():
        return {}
    from dataclasses import fields

    from intelliperf.cli.options import Options
    from intelliperf.configuration.document import load, place_of

    content, text = load(path)
    known = {field.name for field in fields(Options)} - {"command", "diagnose_only", "project_directory"}
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key in _TABLES:
            continue
        where = place_of(path, text, [key])
        name = _OTHER_NAMES.get(key, key.replace("-", "_"))
        if name not in known:
            raise UsageError(f"{where}: unknown key {key!r}; known are {', '.join(sorted(known))}")
        if isinstance(value, (dict, list)) and name not in _LISTS:
            raise UsageError(f"{where}: {key} is one value, not a {'table' if isinstance(value, dict) else 'list'}")
        if name in _LISTS:
            value = [value] if isinstance(value, str) else value
            if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
                raise UsageError(f"{where}: {name} is a text or a list of texts")
        values[name] = value
    values.setdefault("build_command", [])
    return {**values, **{command: dict(values) for command in _COMMANDS}}


def _project(arguments: list[str]) -> Path:
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in ("-p", "--project-directory"):
            following = arguments[position + 1] if position + 1 < len(arguments) else "."
            return Path(value if equals else following)
    return Path()
