"""`intelliperf.toml`: option values by their long names, as defaults of the command line, and the program to run.

Read here without the schema, whose library takes a quarter of a second to load; the rules are the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from intelliperf.cli.options import ALIASES, Options
from intelliperf.errors import UsageError

FILE_NAME = "intelliperf.toml"
NOT_IN_FILES = frozenset({"diagnose_only", "project_directory", "typed_in"})
_COMMANDS = ("diagnose", "emulate", "survey", "compare", "bisect", "check", "verify", "apply", "report", "resume")
_LISTS = ("build_command", "pass_env")
_PATHS = ("output_file", "replay", "run_root")
_OTHER_NAMES = {"json": "json_events"}
_TABLES = frozenset({"nightly", "targets"})  # of a night, which checks them


@dataclass(frozen=True)
class Configured:
    """What the file says: defaults by command for the option parser, and the program with its arguments.

    `directory` is the file's, where the program is meant; None without a file.
    """

    defaults: Mapping[str, Any]
    command: tuple[str, ...] = ()
    directory: Path | None = None


NOTHING = Configured({})


def configured(arguments: list[str]) -> Configured:
    """The file of the project directory, or of the nearest directory above. What is wrong is named with its line."""
    path = _file(arguments)
    if path is None:
        return NOTHING
    from intelliperf.configuration.document import load, place_of

    content, text = load(path)
    known = {field.name for field in fields(Options)} - NOT_IN_FILES
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in _TABLES:
            name = spelled(key)
            if name not in known:
                raise UsageError(f"{place_of(path, text, [key])}: unknown key {key!r}; {_meant(name, known)}")
            values[name] = _checked(name, value, f"{place_of(path, text, [key])}: {key}")
    directory = path.resolve().parent
    for name in _PATHS:
        if isinstance(values.get(name), str):
            values[name] = str(directory / values[name])
    command = tuple(values.pop("command", ()))
    values.setdefault("build_command", [])
    if _given_project(arguments) is None and directory != Path.cwd():
        values["project_directory"] = str(directory)
    return Configured({**values, **{name: dict(values) for name in _COMMANDS}}, command, directory)


def spelled(key: str) -> str:
    """The option's name for a key of the file."""
    name = key.replace("-", "_")
    return _OTHER_NAMES.get(name, ALIASES.get(name, name))


def upwards(start: Path) -> Iterator[Path]:
    """The directory and those above it, up to the top of its git repository.

    A directory above that belongs to another user ends the search: what a file in it says would be run.
    """
    for directory in (start, *start.parents):
        if directory != start and directory.stat().st_uid not in (os.getuid(), start.stat().st_uid):
            return
        yield directory
        if (directory / ".git").exists():
            return


def _checked(name: str, value: Any, where: str) -> Any:
    if name == "command":
        if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
            raise UsageError(f"{where} is a list of texts: the program, then its arguments")
        return value
    if name in _LISTS:
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise UsageError(f"{where} is a text or a list of texts")
        return value
    if isinstance(value, (dict, list)):
        raise UsageError(f"{where} is one value, not a {'table' if isinstance(value, dict) else 'list'}")
    return value


def _meant(name: str, known: set[str]) -> str:
    near = get_close_matches(name, sorted(known), 1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(known))}"


def _file(arguments: list[str]) -> Path | None:
    given = _given_project(arguments)
    try:
        directories = [given] if given is not None else upwards(Path.cwd())
        return next((path for path in (one / FILE_NAME for one in directories) if path.is_file()), None)
    except OSError:  # the current directory is gone, which the command says itself
        return None


def _given_project(arguments: list[str]) -> Path | None:
    for position, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in ("-p", "--project-directory"):
            following = arguments[position + 1] if position + 1 < len(arguments) else "."
            return Path(value if equals else following)
    return None
