"""A parser of option tables.

Options are declared as data. A parser of our own starts ten times as fast as those with converters and styles, and
every run waits for it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.errors import UsageError

Value = str | int | float | bool | Path | None | tuple[str, ...]
_HELP = ("-h", "--help")
_HELP_COLUMN, _WIDTH = 34, 100


@dataclass(frozen=True)
class Option:
    """`field` is the name of its value, `kind` what that is; a bool is a flag, a tuple may be given repeatedly."""

    field: str
    names: tuple[str, ...]
    help: str = ""
    kind: type[str] | type[int] | type[float] | type[bool] | type[Path] | type[tuple[str, ...]] = str
    default: Value = None
    minimum: float | None = None

    @property
    def name(self) -> str:
        return max(self.names, key=len)


@dataclass(frozen=True)
class Argument:
    """What a command takes beside its options: a path."""

    name: str
    help: str
    required: bool = False


@dataclass(frozen=True)
class Command:
    """One command: `run` gets the values by field, and returns the exit status."""

    name: str
    summary: str
    run: Callable[[dict[str, Any]], int]
    options: tuple[Option, ...] = ()
    argument: Argument | None = None


@dataclass(frozen=True)
class CommandLine:
    """`given` holds the values that were typed, `positional` what is neither option nor value."""

    given: Mapping[Option, Value]
    positional: tuple[str, ...]
    help: bool = False


def read(arguments: Sequence[str], options: Sequence[Option], stop_at_positional: bool = False) -> CommandLine:
    """Raises `UsageError` for what none of `options` allows. With `stop_at_positional`, all after it is left alone."""
    by_name = {name: option for option in options for name in option.names}
    given: dict[Option, Value] = {}
    positional: list[str] = []
    left = iter(arguments)
    for argument in left:
        if not argument.startswith("-") or argument == "-":
            positional.append(argument)
            if stop_at_positional:
                positional.extend(left)
            continue
        for name, value in _split(argument, by_name):
            if name in _HELP:
                return CommandLine(given, (), help=True)
            option = _named(name, by_name)
            if option.kind is bool:
                if value is not None:
                    raise UsageError(f"Option {name!r} does not take a value.")
                given[option] = True
                continue
            text = next(left, None) if value is None else value
            if text is None:
                raise UsageError(f"Option {name!r} requires an argument.")
            converted = convert(option, text)
            before = given.get(option)
            many = isinstance(before, tuple) and isinstance(converted, tuple)
            given[option] = (*before, *converted) if many else converted  # type: ignore[misc]
    return CommandLine(given, tuple(positional))


def _split(argument: str, by_name: Mapping[str, Option]) -> Iterator[tuple[str, str | None]]:
    """The options in one argument, each with the value that is written into it: `--top-n=3`, `-k3`, `-lv`."""
    if argument.startswith("--"):
        name, equals, value = argument.partition("=")
        yield name.replace("_", "-"), value if equals else None
        return
    letters = argument[1:]
    while letters:
        name, letters = f"-{letters[0]}", letters[1:]
        option = by_name.get(name)
        if option is not None and option.kind is not bool and letters:
            yield name, letters.removeprefix("=")
            return
        yield name, None


def _named(name: str, by_name: Mapping[str, Option]) -> Option:
    if name in by_name:
        return by_name[name]
    raise UsageError(f"No such option: {name}{_nearest(name, [*by_name, *_HELP])}")


def convert(option: Option, value: object) -> Value:
    """`value`, a text or what a configuration file holds, as what the option wants. Raises `UsageError`."""
    if option.kind is tuple:
        return (value,) if isinstance(value, str) else tuple(map(str, value)) if isinstance(value, list) else ()
    if option.kind in (int, float):
        return _number(option, value)
    if option.kind is bool and not isinstance(value, bool):
        raise _invalid(option, value, "is neither true nor false")
    if option.kind in (str, Path) and not isinstance(value, str):
        raise _invalid(option, value, "is not a text")
    return Path(value) if option.kind is Path else value  # type: ignore[arg-type, return-value]


def _number(option: Option, value: object) -> Value:
    whole = option.kind is int
    try:
        if isinstance(value, bool) or not isinstance(value, (str, int) if whole else (str, int, float)):
            raise ValueError
        number = int(value) if whole else float(value)
    except ValueError:
        raise _invalid(option, value, f"is not {'an integer' if whole else 'a number'}") from None
    if option.minimum is not None and not number >= option.minimum:
        raise _invalid(option, value, f"is not greater than or equal to {option.minimum:g}")
    return number


def _invalid(option: Option, value: object, reason: str) -> UsageError:
    return UsageError(f"Invalid value for {option.name!r}: {str(value)!r} {reason}.")


def find_command(name: str, commands: Sequence[Command]) -> Command:
    for command in commands:
        if command.name == name:
            return command
    nearest = _nearest(name, [command.name for command in commands])
    raise UsageError(f"No such command {name!r}{nearest} (the program goes after --)")


def _nearest(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def path_argument(command: Command, positional: Sequence[str]) -> Path | None:
    """What is typed for the command's argument. Raises `UsageError` for too little or too much."""
    wanted = command.argument
    if len(positional) > (wanted is not None):
        raise UsageError(f"Got unexpected extra argument(s) ({' '.join(positional[wanted is not None :])})")
    if wanted is not None and wanted.required and not positional:
        raise UsageError(f"Missing argument {wanted.name!r}.")
    return Path(positional[0]) if positional else None


def help_text(usage: str, command: Command, commands: Sequence[Command] = ()) -> str:
    """What --help prints."""
    width = min(_WIDTH, shutil.get_terminal_size((80, 24)).columns - 2)
    lines = [f"Usage: {usage}", ""]
    for paragraph in command.summary.split("\n\n"):
        lines += [*_wrapped(paragraph, width, "  "), ""]
    if command.argument is not None:
        lines += ["Arguments:", *_row(f"{command.argument.name} <path>", command.argument.help, width), ""]
    lines.append("Options:")
    for option in command.options:
        lines += _row(f"{', '.join(option.names)}{_placeholder(option)}", _explained(option), width)
    lines += _row(", ".join(_HELP), "Show this message and exit.", width)
    if commands:
        lines += ["", "Commands:"]
        longest = max(len(one.name) for one in commands)
        lines += [line for one in commands for line in _row(one.name, one.summary, width, longest + 4)]
    return "\n".join(lines)


def _placeholder(option: Option) -> str:
    if option.kind is bool:
        return ""
    return " <text>" if option.kind in (str, tuple) else f" <{option.kind.__name__.lower()}>"


def _explained(option: Option) -> str:
    limits = [f"default: {option.default}"] if option.default not in (None, False, ()) else []
    limits += [f"x>={option.minimum:g}"] if option.minimum is not None else []
    return f"{option.help}  [{'; '.join(limits)}]".strip() if limits else option.help


def _row(left: str, right: str, width: int, column: int = _HELP_COLUMN) -> list[str]:
    indent = " " * column
    lines = _wrapped(right, width, indent)
    if not lines or len(left) + 4 > column:
        return [f"  {left}", *lines]
    return [f"  {left}".ljust(column) + lines[0][column:], *lines[1:]]


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, max(width, len(indent) + 20), initial_indent=indent, subsequent_indent=indent)
