"""Commands from the table of options, and a parser that starts quickly.

A command is a function of a record and, where it has any, of parameters of its own; its options are fields of the
record. Options that need no conversion do not wait for typer's converter: typer converts every value by pydantic, also
defaults, and importing pydantic takes a quarter of a second of every run. A default, a text where a text is wanted, or
nothing at all is right as it is; all others, and all complaints about values, are typer's.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def takes(
    record: Any,
    names: tuple[str, ...] = (),
    *,
    preset: Mapping[str, Any] | None = None,
    told: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., int | None]], Callable[..., None]]:
    """A typer command from a function of `record` that returns the exit status, or None to continue.

    `names`: the fields that are options, all of those with flags by default. `preset`: values of other fields, or
    defaults that differ from the record's. `told`: help that differs from the record's.
    """
    fields = {field.name: field for field in dataclasses.fields(record)}
    preset, told = preset or {}, told or {}

    def parameter(name: str, hint: Any) -> inspect.Parameter:
        kind, flags = get_args(hint)
        flags = _told(flags, told[name]) if name in told else flags
        default = preset.get(name, fields[name].default)
        if get_origin(kind) is tuple:
            kind, default = list[get_args(kind)[0]] | None, None  # type: ignore[misc]  # the parser's own collection
        return inspect.Parameter(name, _KINDS[1], annotation=Annotated[kind, flags], default=default)

    def decorate(function: Callable[..., int | None]) -> Callable[..., None]:
        hints = _hints(record)
        chosen = names or tuple(name for name, hint in hints.items() if get_origin(hint) is Annotated)
        _first, *own = inspect.signature(function, eval_str=True).parameters.values()
        wants_context = any(one.annotation is typer.Context for one in own)

        def command(context: typer.Context, **values: Any) -> None:
            filled = {name: _value(values.pop(name), fields[name].default) for name in chosen}
            if "command" in fields:
                filled.update(context.find_root().obj)
            if wants_context:
                values["context"] = context
            status = function(record(**{**preset, **filled}), **values)
            if status is not None:
                raise typer.Exit(status)

        made = [
            inspect.Parameter("context", _KINDS[0], annotation=typer.Context),
            *(one.replace(kind=_KINDS[1]) for one in own if one.annotation is not typer.Context),
            *(parameter(name, hints[name]) for name in chosen),
        ]
        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {one.name: one.annotation for one in made}
        command.__signature__ = inspect.Signature(made)  # type: ignore[attr-defined]
        return command

    return decorate


def as_typed(options: Any, leave: Collection[str] = ()) -> tuple[str, ...]:
    """The words that give a record's options again, by their long flags, but for defaults and those to `leave`."""
    words: list[str] = []
    record: Any = type(options)
    for field in dataclasses.fields(record):
        hint, value = _hints(record)[field.name], getattr(options, field.name)
        if get_origin(hint) is not Annotated or field.name in leave or value == field.default:
            continue
        info = get_args(hint)[1]  # typer takes the first flag for the default of an annotated option
        flag = next(word for word in (info.default, *info.param_decls) if str(word).startswith("--"))
        if isinstance(value, tuple):
            words += [word for one in value for word in (flag, str(one))]
        else:
            words += [flag] if value is True else [flag, str(value)]
    return tuple(words)


def _told(flags: Any, text: str) -> Any:
    changed = copy(flags)
    changed.help = text
    return changed


def _value(given: Any, default: Any) -> Any:
    """A list as the record's tuple; an empty one where nothing was given."""
    return tuple(given or ()) if isinstance(default, tuple) else given


@cache
def _hints(record: Any) -> dict[str, Any]:
    return get_type_hints(record, include_extras=True)


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
