"""From options to records: the application, its project and how it is built."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

from intelliperf.cli.options import Options
from intelliperf.errors import UsageError
from intelliperf.records import SHELL, STOP_AFTER, STOP_STATUS, TOLERATE, Application, Launcher

_EMULATORS = frozenset({"rocjitsu", "mirage", "gfx90a-run"})  # launchers that put a GPU of software below a program


def application_of(options: Options) -> tuple[Application, str]:
    """The application and, in words, where its build command comes from."""
    from intelliperf.project.recipes import build_recipe

    check_pattern(options)
    if not options.command:
        raise UsageError(
            "no program given: put it after --, as in: intelliperf -- ./app ARGS, "
            'or in intelliperf.toml: command = ["./app", "ARGS"]'
        )
    if not options.command[0]:
        raise UsageError("the program's name is empty: put it after --, as in: intelliperf -- ./app ARGS")
    typed = options.typed_in or _working_directory()
    project = (options.project_directory or typed).resolve()
    if not project.is_dir():
        raise UsageError(f"no such project directory: {project}")
    if project == Path("/"):
        raise UsageError("the whole file system is not a project: name the program's own directory with -p")
    launcher = launcher_of(options.launcher, options.emulated_launcher, typed)
    inside = project in (typed, *typed.parents)
    directory, command = (typed, options.command) if inside else (project, _moved(options.command, typed, project))
    program = command[0]
    if notebook := next((word for word in command[:2] if word.endswith(".ipynb")), None):
        raise UsageError(f"{notebook} is a notebook: `jupyter nbconvert --to script {notebook}` makes a program of it")
    _check_program(program, directory, bool(options.build_command))
    if "/" in program and os.access(directory / program, os.X_OK) and _is_plain_script(directory / program):
        command = ("/bin/sh", *command)
    if options.build_command:
        if not all(text.strip() for text in options.build_command):
            raise UsageError("an empty --build-command")
        commands: tuple[tuple[str, ...], ...] = tuple((*SHELL, text) for text in options.build_command)
        reason = "given"
    else:
        recipe = build_recipe(program, project, directory)
        commands, reason = recipe.commands, recipe.reason
    return Application(
        command, project, directory, commands, _runtime_options(options), launcher, options.expect_exit
    ), reason


def _runtime_options(options: Options) -> tuple[tuple[str, str], ...]:
    """What the emulator's runtime reads of the options."""
    found: list[tuple[str, str]] = [(TOLERATE, "1")] if options.tolerate else []
    if options.stop_after_launches is not None:
        found += [(STOP_AFTER, str(options.stop_after_launches)), (STOP_STATUS, str(options.expect_exit))]
        found += [("PYTHONUNBUFFERED", "1")]  # an interpreter that is ended writes nothing more
    return tuple(found)


def launcher_of(given: str | None, emulates: bool, typed: Path) -> Launcher:
    """Its program gets its full path, for it runs in scratch copies. Raises `UsageError`."""
    if given is None:
        if emulates:
            raise UsageError("--emulated-launcher needs --launcher")
        return Launcher()
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise UsageError(f"--launcher {given!r} is not a command: {error}") from error
    if not words:
        raise UsageError("an empty --launcher")
    found = typed / words[0] if "/" in words[0] else Path(shutil.which(words[0]) or "")
    if not found.name or not os.access(found, os.X_OK):
        raise UsageError(f"--launcher: no program {words[0]}")
    return Launcher((str(found), *words[1:]), emulates or found.name in _EMULATORS)


def _working_directory() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current directory is gone; change to one that exists") from error


def _moved(command: tuple[str, ...], typed: Path, project: Path) -> tuple[str, ...]:
    """A command typed outside the project runs in it: what it names where it was typed gets its full path."""
    program, *arguments = command
    if "/" in program and not _exists(project / program):
        named = Path(os.path.normpath(typed / program))
        program = str(named) if project in named.parents or _exists(named) else program
    return program, *(
        str(Path(os.path.normpath(typed / argument)))
        if argument and _exists(typed / argument) and not _exists(project / argument)
        else argument
        for argument in arguments
    )


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # a name too long or with a NUL: no path at all
        return False


def _check_program(program: str, directory: Path, is_built: bool) -> None:
    """A program that exists must be executable, unless a build command is given, which is expected to make it."""
    path = directory / program
    if "/" not in program:
        if shutil.which(program) is None:
            raise UsageError(f"no program {program} on PATH; one that lies here, or is built here, is ./{program}")
        return
    if path.is_dir():
        raise UsageError(f"{program} is a directory, not a program")
    if not is_built and _exists(path) and not os.access(path, os.X_OK):
        raise UsageError(f"{program} is not executable; try chmod +x")


def _is_plain_script(path: Path) -> bool:
    """Commands in a file without "#!", as benchmark suites have them: shells run these, the kernel does not."""
    if not _exists(path) or not path.is_file() or not os.access(path, os.R_OK):
        return False
    with path.open("rb") as file:
        start = file.read(512)
    return bool(start.strip()) and not start.startswith((b"#!", b"\x7fELF")) and b"\0" not in start


def check_pattern(options: Options) -> None:
    """Raises `UsageError` where --kernel is not a regular expression."""
    try:
        re.compile(options.kernel or "")
    except re.error as error:
        raise UsageError(f"--kernel {options.kernel!r} is not a regular expression: {error}") from error


def run_root(options: Options, project: Path) -> Path:
    """Where run directories go: inside the project unless told otherwise."""
    return (options.run_root or project / ".intelliperf" / "runs").resolve()
