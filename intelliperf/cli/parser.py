"""From functions to a command line: each annotated parameter is an option or an argument.

On argparse, which every Python has and which loads in a tenth of the time that larger parsers take.
"""

from __future__ import annotations

import argparse
import shutil
import typing
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any, NoReturn

from intelliperf.errors import UsageError

_WIDTH = 100  # columns of the help text, at most


class Option:
    """In an annotation: the spellings of an option, what it is for, and its least value."""

    def __init__(self, *flags: str, help: str = "", least: float | None = None) -> None:
        self.flags = flags
        self.help = help
        self.least = least


class Argument(Option):
    """In an annotation: a word without a name. Optional where the parameter has a default."""


class _Answered(Exception):
    """The help text was asked for and shown."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message[:1].upper() + message[1:])

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise _Answered


class Commands:
    """The main function, called when no command is named, and the commands beside it."""

    def __init__(self, name: str, description: str) -> None:
        self._name = name
        self._description = description
        self._functions: dict[str, Callable[..., int]] = {}

    def main(self, function: Callable[..., int]) -> Callable[..., int]:
        self._functions[""] = function
        return function

    def command(self, function: Callable[..., int]) -> Callable[..., int]:
        """Named like the function."""
        self._functions[function.__name__] = function
        return function

    def run(self, arguments: list[str], program: tuple[str, ...], defaults: Mapping[str, Any]) -> int:
        """The function's status; `program` is given to functions that have it as their first parameter.

        Raises `UsageError` for what cannot be understood. `defaults` are used where a function knows their names.
        """
        before, name, after = self._at_command(arguments)
        if name and name not in self._functions:
            raise UsageError(f"No such command {name!r} (the program goes after --)")
        if name and before and not {"-h", "--help"}.intersection(before):
            option = _spelled_out(before[0], self._options(""))
            raise UsageError(f"{option} goes after the command: intelliperf {name} {option} …")
        function = self._functions[name]
        wanted = signature(function).parameters
        try:
            given = self._parse(name, before + after if name else arguments, defaults)
        except _Answered:
            return 0
        return function(program, **given) if "program" in wanted else function(**given)

    def _at_command(self, arguments: list[str]) -> tuple[list[str], str, list[str]]:
        """What stands before the command, its name, empty if none is there, and what stands behind it."""
        takes_value = {flag for _, option, kind in self._options("") for flag in option.flags if kind is not bool}
        skip = False
        for position, word in enumerate(arguments):
            if not skip and not word.startswith("-"):
                return arguments[:position], word, arguments[position + 1 :]
            skip = not skip and word in takes_value
        return arguments, "", []

    def _options(self, name: str) -> list[tuple[Parameter, Option, Any]]:
        function = self._functions[name]
        kinds = typing.get_type_hints(function, include_extras=True)
        found = []
        for parameter in signature(function).parameters.values():
            if parameter.name != "program":
                kind, option = _annotated(kinds[parameter.name])
                found.append((parameter, option, _element(kind)))
        return found

    def _parse(self, name: str, arguments: list[str], defaults: Mapping[str, Any]) -> dict[str, Any]:
        options = self._options(name)
        parser = self._parser(name)
        for parameter, option, kind in options:
            _declare(parser, parameter, option, kind)
        values = vars(parser.parse_args(arguments))
        known = {parameter.name: (option, kind) for parameter, option, kind in options}
        kept = {key: _checked(value, *known[key]) for key, value in defaults.items() if key in known}
        return {**{p.name: p.default for p, _, _ in options}, **kept, **values}

    def _parser(self, name: str) -> argparse.ArgumentParser:
        function = self._functions[name]
        width = min(_WIDTH, shutil.get_terminal_size().columns)
        return _Parser(
            prog=f"{self._name} {name}".strip(),
            usage=None if name else f"{self._name} [options] -- PROGRAM [ARGUMENTS]",
            description=(function.__doc__ if name else self._description),
            epilog=None if name else self._command_list(),
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=34, width=width),
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
        )

    def _command_list(self) -> str:
        named = {name: function for name, function in self._functions.items() if name}
        lines = [f"  {name:12} {(function.__doc__ or '').splitlines()[0]}" for name, function in named.items()]
        return "\n".join(["commands:", *lines])


def _annotated(hint: Any) -> tuple[Any, Option]:
    if not hasattr(hint, "__metadata__"):  # Python 3.10 takes a default of None for an `Optional` around it all
        hint = next(part for part in typing.get_args(hint) if hasattr(part, "__metadata__"))
    kind, option = typing.get_args(hint)
    return kind, option


def _element(kind: Any) -> Any:
    """`Path` of `Path | None`, `list` of `list[str] | None`."""
    chosen = [part for part in typing.get_args(kind) if part is not type(None)] or [kind]
    return typing.get_origin(chosen[0]) or chosen[0]


def _declare(parser: argparse.ArgumentParser, parameter: Parameter, option: Option, kind: Any) -> None:
    described = option.help.replace("%", "%%")
    if isinstance(option, Argument):
        if parameter.default is Parameter.empty:
            parser.add_argument(parameter.name, type=kind, help=described)
        else:
            parser.add_argument(parameter.name, nargs="?", default=parameter.default, type=kind, help=described)
    elif kind is bool:
        parser.add_argument(*option.flags, dest=parameter.name, action="store_true", help=described)
    else:
        action = "append" if kind is list else "store"
        parser.add_argument(
            *option.flags, dest=parameter.name, action=action, type=_reader(option, kind), help=described
        )


def _reader(option: Option, kind: Any) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        return _checked(text, option, kind)

    return read


def _checked(value: Any, option: Option, kind: Any) -> Any:
    """A value of the command line or of the configuration file. Raises `UsageError`."""
    name = max(option.flags, key=len, default="")
    if kind is list:
        return value
    if kind is bool:
        if isinstance(value, bool):
            return value
        raise UsageError(f"Invalid value for '{name}': {value!r} is neither true nor false")
    try:
        made = kind(str(value))
    except ValueError as error:
        raise UsageError(f"Invalid value for '{name}': {value!r} is no {_WORDS.get(kind, kind.__name__)}") from error
    if option.least is not None and not made >= option.least:
        raise UsageError(f"Invalid value for '{name}': {value} is not greater than or equal to {option.least:g}")
    return made


_WORDS = {int: "whole number", float: "number"}


def _spelled_out(word: str, options: Iterable[tuple[Parameter, Option, Any]]) -> str:
    """The long spelling of an option."""
    flag = word.partition("=")[0]
    return next((max(option.flags, key=len) for _, option, _ in options if flag in option.flags), flag)
