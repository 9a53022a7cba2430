"""What the user runs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from intelliperf.errors import UsageError

SHELL = ("/bin/sh", "-c")  # what a command line given as one text is run by


# Variables that the emulator's runtime reads, part of an application's environment so that all of its runs have them.
STOP_AFTER, STOP_STATUS = "INTELLIPERF_STOP_AFTER", "INTELLIPERF_STOP_STATUS"
TOLERATE = "INTELLIPERF_TOLERATE"


class Executor(str, Enum):
    """What the emulator runs of device code: what it compiles itself, or the machine code for the GPU."""

    COMPILED = "compiled"
    MACHINE = "machine"


@dataclass(frozen=True)
class Launcher:
    """What stands before the application's command in every run: a job launcher or an emulator of a GPU."""

    words: tuple[str, ...] = ()
    emulates: bool = False  # the GPU below is not hardware, so nothing there is a measurement


@dataclass(frozen=True)
class Application:
    """What the user runs. `command` is never split or joined; `environment` is added to ours."""

    command: tuple[str, ...]
    project: Path
    directory: Path  # working directory of the run
    build_commands: tuple[tuple[str, ...], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    launcher: Launcher = Launcher()
    exit_status: int = 0  # what it ends with when all is well

    @property
    def argv(self) -> tuple[str, ...]:
        """What is started: the command behind its launcher."""
        return (*self.launcher.words, *self.command)

    @property
    def stop_after(self) -> int | None:
        """After how many of its launches it is ended, where the user has asked for that; emulator only."""
        return next((int(value) for name, value in self.environment if name == STOP_AFTER), None)

    @property
    def tolerates(self) -> bool:
        """Does it continue after bad accesses where a GPU would? Emulator only."""
        return any(name == TOLERATE for name, _ in self.environment)

    def __post_init__(self) -> None:
        if not self.command:
            raise UsageError("no program given: put it after --, as in: intelliperf -- ./app ARGS")
        if not self.project.is_absolute() or not self.directory.is_absolute():
            raise UsageError("an Application needs absolute paths")
        if not 0 <= self.exit_status < 256:
            raise UsageError(f"{self.exit_status} is not an exit status: these are 0 to 255")
