"""Which targets there are: the file's tables with what they are `like` filled in, as records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.configuration.document import place_of
from intelliperf.configuration.schema import Budget, DeviceChoice, NightFile
from intelliperf.configuration.schema import Target as Table
from intelliperf.devices.models import resolve
from intelliperf.errors import UsageError
from intelliperf.formulas import BOTTLENECKS, find_formula


@dataclass(frozen=True)
class Device:
    backend: str
    target: str | None

    def __str__(self) -> str:
        return f"{self.backend}:{self.target}" if self.target else self.backend


@dataclass(frozen=True)
class Limits:
    """None where there is no limit."""

    usd: float | None = None
    tokens: int | None = None
    device_minutes: float | None = None
    minutes: float | None = None


@dataclass(frozen=True)
class Target:
    """One program, complete."""

    name: str
    directory: Path | None
    repository: str | None
    ref: str | None
    path: str | None
    build: tuple[str, ...]
    commands: tuple[tuple[str, tuple[str, ...]], ...]
    environment: tuple[tuple[str, str], ...]
    inputs: tuple[str, ...]
    formulas: tuple[str, ...]
    devices: tuple[Device, ...]
    unit_tests: str | None
    owners: tuple[str, ...]
    limits: Limits
    expect_exit: int = 0
    launcher: str | None = None
    top_n: int = 10
    num_attempts: int = 10
    model: str | None = None
    provider: str | None = None
    api_base: str | None = None
    price: str | None = None
    build_timeout_s: float = 900.0
    run_timeout_s: float = 300.0


def limits_of(budget: Budget) -> Limits:
    return Limits(budget.usd, budget.tokens, budget.device_minutes, budget.minutes)


def targets_of(file: NightFile, path: Path, text: str, only: Sequence[str] = ()) -> tuple[Target, ...]:
    """The targets of the file, or those named in `only`. Raises `UsageError` with a line."""
    if not file.targets:
        raise UsageError(f"{path} has no targets: add a table such as [targets.NAME] with a directory and commands")
    for name in only:
        if name not in file.targets:
            raise UsageError(f"{path} has no target {name!r}; choose one of: {', '.join(file.targets)}")
    chosen = [name for name in file.targets if not only or name in only]
    made = [_target(name, *_filled(name, file, path, text), path, text) for name in chosen]
    # A table that others are like, and that says not what to run, is their pattern.
    patterns = {table.like for table in file.targets.values() if table.like}
    for name, target in zip(chosen, made, strict=True):
        if target is None and (name not in patterns or name in only):
            where = place_of(path, text, ["targets", name])
            raise UsageError(f"{where}: target {name} has no commands: add commands = {{ NAME = ['./app', 'ARG'] }}")
    return tuple(target for target in made if target is not None)


def _filled(name: str, file: NightFile, path: Path, text: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The table's own values over those of the one that it is like, and by key which table each comes from."""
    chain = [name]
    values: dict[str, Any] = {}
    written: dict[str, str] = {}
    while True:
        table: Table = file.targets[chain[-1]]
        own = {key: value for key, value in table if value is not None}
        values = {**own, **values}
        written = {**dict.fromkeys(own, chain[-1]), **written}
        if table.like is None:
            return values, written
        like = ["targets", chain[-1], "like"]
        if table.like not in file.targets:
            where = place_of(path, text, like)  # takes long: for a message only
            raise UsageError(f"{where}: target {chain[-1]} is like {table.like!r}, which is not a target")
        if table.like in chain:
            where = place_of(path, text, like)
            raise UsageError(f"{where}: targets are like each other in a circle: {' → '.join([*chain, table.like])}")
        chain.append(table.like)


def _target(name: str, values: dict[str, Any], written: dict[str, str], path: Path, text: str) -> Target | None:
    def wrong(problem: str, key: str | None = None) -> UsageError:
        where = ["targets", written[key], key] if key else ["targets", name]
        return UsageError(f"{place_of(path, text, where)}: target {name}: {problem}")

    commands = values.get("commands")
    if not commands:
        return None
    directory, repository = values.get("directory"), values.get("repository")
    if (directory is None) == (repository is None):
        raise wrong("give either a directory or a repository")
    if directory is not None and ("ref" in values or "path" in values):
        raise wrong("ref and path belong to a repository", "ref" if "ref" in values else "path")
    for command_name, command in commands.items():
        if not command[0]:
            raise wrong(f"the command {command_name} has an empty program", "commands")
    try:
        formulas = _formulas(values.get("formulas", ["all"]))
    except UsageError as error:
        raise wrong(str(error), "formulas") from error
    devices: Sequence[DeviceChoice] = values.get("devices", [DeviceChoice()])
    try:
        for item in devices:
            if item.target is not None and item.backend in ("auto", "emulator"):
                resolve(item.target)
    except UsageError as error:
        raise wrong(str(error), "devices") from error
    plain = ("expect_exit", "launcher", "top_n", "num_attempts", "model", "provider", "api_base", "price")
    timeouts = {f"{key}_s": values[key] for key in ("build_timeout", "run_timeout") if key in values}
    return Target(
        name=name,
        directory=None if directory is None else (path.parent / directory).resolve(),
        repository=None if repository is None else _repository(repository, path.parent),
        ref=values.get("ref"),
        path=values.get("path"),
        build=tuple(values.get("build", ())),
        commands=tuple((key, tuple(words)) for key, words in commands.items()),
        environment=tuple(sorted(values.get("environment", {}).items())),
        inputs=tuple(values.get("inputs", ())),
        formulas=formulas,
        devices=tuple(dict.fromkeys(Device(item.backend, item.target) for item in devices)),
        unit_tests=values.get("unit_tests"),
        owners=tuple(values.get("owners", ())),
        limits=limits_of(values.get("budget", Budget())),
        **{key: values[key] for key in plain if key in values},
        **timeouts,
    )


def _repository(given: str, beside: Path) -> str:
    """Paths are relative to the file, as those of directories. What has a colon before its first slash is, as for git,
    on another host.
    """
    return given if ":" in given.partition("/")[0] else str((beside / given).resolve())


def _formulas(names: Sequence[str]) -> tuple[str, ...]:
    if "all" in names:
        return tuple(formula.name for formula in BOTTLENECKS)
    return tuple(dict.fromkeys(find_formula(name).name for name in names))
