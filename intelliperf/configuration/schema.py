"""The tables of a night in `intelliperf.toml`, and messages about them that name the line.

`cli.schema` adds the options of the command line and publishes both as one JSON Schema.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from intelliperf.configuration.document import place_of
from intelliperf.errors import UsageError

_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"  # also a directory's
Name = Annotated[str, Field(pattern=_NAME)]
Text = Annotated[str, Field(min_length=1)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Budget(_Table):
    """What may be spent; a limit that is not given does not exist."""

    usd: Annotated[float, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    device_minutes: (
        Annotated[float, Field(ge=0, description="tasks times the time that each holds its device")] | None
    ) = None
    minutes: (
        Annotated[float, Field(ge=0, description="wall clock, from the start of the night or of the target")] | None
    ) = None


class DeviceChoice(_Table):
    """One device that a target is run on."""

    backend: Literal["auto", "emulator", "cuda", "rocm"] = "auto"
    target: Annotated[Text | None, Field(description="the chip that the emulator models")] = None


class Target(_Table):
    """One program. Exactly one of `directory` and `repository`, here or in the target that it is `like`."""

    like: Annotated[Name | None, Field(description="another target, whose values stand where this one has none")] = None
    directory: Annotated[Text | None, Field(description="relative to this file")] = None
    repository: Annotated[Text | None, Field(description="what `git clone` takes; a path is relative to this file")] = (
        None
    )
    ref: Annotated[Text | None, Field(description="branch, tag or commit of the repository; default: its HEAD")] = None
    path: Annotated[Text | None, Field(description="the project's directory in the repository")] = None
    build: Annotated[list[Text] | None, Field(description="default: as the project's build files say")] = None
    commands: Annotated[
        dict[Name, Annotated[list[str], Field(min_length=1)]] | None,
        Field(description="name → program and arguments, one list each: the inputs that the program is run with"),
    ] = None
    environment: dict[str, str] | None = None
    inputs: Annotated[list[Text] | None, Field(description="files the commands read, as patterns")] = None
    formulas: Annotated[list[Text] | None, Field(min_length=1, description='names, or ["all"]')] = None
    devices: Annotated[list[DeviceChoice] | None, Field(min_length=1)] = None
    unit_tests: Text | None = None
    expect_exit: Annotated[int | None, Field(ge=0, le=255)] = None
    launcher: Text | None = None
    top_n: Annotated[int | None, Field(ge=1)] = None
    num_attempts: Annotated[int | None, Field(ge=0)] = None
    model: Text | None = None
    provider: Text | None = None
    api_base: Text | None = None
    price: Text | None = None
    build_timeout: Annotated[float | None, Field(gt=0, description="seconds")] = None
    run_timeout: Annotated[float | None, Field(gt=0, description="seconds")] = None
    owners: list[Text] | None = None
    budget: Budget | None = None


class Regressions(_Table):
    """When a kernel is called slower."""

    smallest: Annotated[float, Field(gt=0, description="relative: less is not worth a word")] = 0.02


class Nightly(_Table):
    """How a night is run."""

    database: Annotated[Text | None, Field(description="a URL, or an SQLite file relative to this file")] = None
    directory: Annotated[Text | None, Field(description="of the nights; default: .intelliperf/nights")] = None
    workers: Annotated[int | None, Field(ge=1)] = None
    retries: Annotated[int, Field(ge=0, le=10, description="of a task whose worker was lost")] = 2
    budget: Budget = Budget()
    regressions: Regressions = Regressions()
    least_gain: Annotated[float, Field(ge=1, description="findings below this ceiling get no search")] = 1.05


class NightFile(_Table):
    """The tables of a night; the options of the command line stand beside them in the same file."""

    nightly: Nightly = Nightly()
    targets: dict[Name, Target] = {}


FileModel = TypeVar("FileModel", bound=BaseModel)


def checked(model: type[FileModel], content: Mapping[str, Any], path: Path, text: str) -> FileModel:
    """The content as the model has it. Raises `UsageError` with the line of the first value that is wrong."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = [part for part in first["loc"] if part != "[key]"]
        name = ".".join(str(part) for part in where)
        if first["type"] == "extra_forbidden":
            raise UsageError(f"{place_of(path, text, where)}: unknown key {name}{_nearest(model, where)}") from error
        more = " (one list for each command: program, then arguments)" if "commands" in where else ""
        raise UsageError(f"{place_of(path, text, where)}: {name}: {_worded(first)}{more}") from error


def _worded(problem: Mapping[str, Any]) -> str:
    message = str(problem["msg"])
    given = problem["input"]
    shown = "" if isinstance(given, (dict, list)) else f", not {given!r:.60}"
    return f"{message[:1].lower()}{message[1:]}{shown}"


def _nearest(model: type[BaseModel], where: Sequence[str | int]) -> str:
    """A key of any table that is spelled much like it."""
    made = model.model_json_schema()
    known = {key for table in (made, *made.get("$defs", {}).values()) for key in table.get("properties", {})}
    close = difflib.get_close_matches(str(where[-1]), sorted(known), 1)
    return f"; did you mean {close[0]}?" if close else ""
