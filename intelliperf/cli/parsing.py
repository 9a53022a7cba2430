"""Options that need no conversion do not wait for typer's converter.

typer converts every value by pydantic, also defaults, and importing pydantic takes a quarter of a second of every
run. A default, a text where a text is wanted, or nothing at all is right as it is; all others, and all complaints
about values, are typer's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer


def command_of(app: typer.Typer) -> Any:
    """The parser of `app`, with its subcommands."""
    command = typer.main.get_command(app)
    _lighten(command)
    return command


def _lighten(command: Any) -> None:
    for parameter in command.params:
        if not parameter.required:
            parameter.process_value = _light(parameter)
    make_help_option = command.get_help_option  # not among the parameters

    def light_help_option(context: Any) -> Any:
        option = make_help_option(context)
        if option is not None:
            option.process_value = _light(option)
        return option

    command.get_help_option = light_help_option
    for inner in getattr(command, "commands", {}).values():
        _lighten(inner)


def _light(parameter: Any) -> Callable[[Any, Any], Any]:
    convert = type(parameter).process_value.__get__(parameter)
    annotation = getattr(parameter, "type_descriptor", None) and parameter.type_descriptor.annotation

    def is_right(value: Any) -> bool:
        if value is None or (value is parameter.default and isinstance(annotation, type)):
            return True
        if annotation == list[str]:
            return isinstance(value, (list, tuple)) and all(type(item) is str for item in value)
        return annotation is str and type(value) is str

    def process(context: Any, value: Any) -> Any:
        if not is_right(value):
            return convert(context, value)
        right = list(value) if isinstance(value, tuple) else value
        return right if parameter.callback is None else parameter.callback(context, parameter, right)

    return process
