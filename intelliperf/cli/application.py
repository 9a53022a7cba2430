"""From options to records: the application, its project and how it is built."""

from __future__ import annotations

import os
from pathlib import Path

from intelliperf.cli.options import Options
from intelliperf.errors import UsageError
from intelliperf.records import Application


def application_of(options: Options) -> tuple[Application, str]:
    """The application and, in words, where its build command comes from."""
    from intelliperf.discover import build_recipe

    if not options.command:
        raise UsageError("no program given: put it after --, as in: intelliperf -- ./app ARGS")
    directory = Path.cwd()
    project = (options.project_directory or directory).resolve()
    if not project.is_dir():
        raise UsageError(f"no such project directory: {project}")
    if options.build_command:
        commands: tuple[tuple[str, ...], ...] = tuple(("/bin/sh", "-c", command) for command in options.build_command)
        reason = "given"
    else:
        program = options.command[0]
        recipe = build_recipe(program, project, directory)
        commands, reason = recipe.commands, recipe.reason
    _check_program(options.command[0], directory)
    running = directory if project in (directory, *directory.parents) else project
    return Application(options.command, project, running, commands), reason


def _check_program(program: str, directory: Path) -> None:
    """A program that exists must be executable; one that does not is expected from the build."""
    path = directory / program
    if "/" in program and path.is_dir():
        raise UsageError(f"{program} is a directory, not a program")
    if "/" in program and path.exists() and not os.access(path, os.X_OK):
        raise UsageError(f"{program} is not executable; try chmod +x")


def run_root(options: Options, project: Path) -> Path:
    """Where run directories go: inside the project unless told otherwise."""
    return (options.run_root or project / ".intelliperf" / "runs").resolve()
