"""Versions of the project, each built in a scratch copy of its own."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.processes.storage import storage_errors
from intelliperf.project.buildprogress import BuildProgress
from intelliperf.project.scratch import COMPILE_LOG, Built, Workspace, read_text
from intelliperf.project.versions import (
    ORIGINALS_TUNED,
    TUNED,
    Version,
    compile_arguments,
    compilers_used,
    libraries_used,
    remarks,
)
from intelliperf.protocols import Builds
from intelliperf.records import Application, Candidate, FileEdit, content_hash

_MOST_PROGRAMS = 3  # that are named where the one that was asked for is missing
_MOST_FUNCTIONS = 3  # of libraries, named where a program has no kernel of its own
_LIBRARY_FUNCTION = re.compile(
    rb"(?<=\0)(?:(?:cublas|cufft|cusparse|hipblas|hipfft|curand|hiprand)[A-Z]|roc(?:blas|rand)_)\w+(?=\0)"
)
_RUN_TIME_COMPILER = re.compile(rb"(?<=\0)(?:nv|hip)rtcCompileProgram(?=\0)")
_HOUSEKEEPING = re.compile(r"(?i)create|destroy|(?:set|get)_?[a-z]|version")


@dataclass(frozen=True)
class Builder:
    """`while_building` is called before each build, in which this process is idle.

    `original`: the tree of the version whose autotuners' choices all others get, once there is one. `show` and `note`
    get what a build that takes long has done so far, see `BuildProgress`.
    """

    application: Application
    backend: Builds
    deadline_s: float
    while_building: Callable[[], None]
    original: Path | None = None
    show: Callable[[str], None] = lambda text: None
    note: Callable[[str], None] = lambda text: None

    def build(self, root: Path, edits: tuple[FileEdit, ...], logs: Path) -> tuple[Version, Built]:
        """The project with the edits, in a fresh copy below `root`.

        Raises `UsageError` where the project is no longer what the edits were made for.
        """
        Workspace(self.application, root).remove()
        workspace = Workspace.create(self.application, root)
        try:
            workspace.apply(edits)
        except (ValueError, FileNotFoundError) as error:
            raise UsageError(f"the project was changed during the run: {error}") from error
        self._hand_on_choices(workspace)
        log = root / COMPILE_LOG
        environment = {**self.backend.build_environment(), "INTELLIPERF_COMPILE_LOG": str(log)}
        self.while_building()
        progress = BuildProgress(self.application.build_commands, log, logs, self.show, self.note)
        built = workspace.build(environment, self.deadline_s, logs, progress.look)
        logged = compile_arguments(log, workspace), libraries_used(log), compilers_used(log), remarks(log)
        state = Version(workspace, edits, *logged)
        program = self.application.command[0]
        if built.ok and "/" in program and not (state.application.directory / state.application.command[0]).exists():
            made = _programs(state.application.directory)
            hint = f"; it makes {' and '.join(made)}" if made else ""
            built = dataclasses.replace(built, ok=False, errors=(f"the build works but makes no {program}{hint}",))
        return state, built

    def _hand_on_choices(self, workspace: Workspace) -> None:
        if self.original is not None and (self.original / TUNED).is_file():
            with storage_errors(workspace.tree):
                given = workspace.tree / ORIGINALS_TUNED
                given.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.original / TUNED, given)

    def stacked(self, best: Version, candidate: Candidate) -> tuple[FileEdit, ...]:
        """The candidate's edits on top of the accepted ones, expressed against the original."""
        texts = {edit.path: edit for edit in best.edits}
        originals = self.originals(candidate.edits)
        for edit in candidate.edits:
            before = texts[edit.path].text if edit.path in texts else originals[edit.path]
            if content_hash(before) != edit.base_hash:
                raise UsageError(f"the project was changed during the run: {edit.path} is another text now")
            texts[edit.path] = FileEdit(edit.path, content_hash(originals[edit.path]), edit.text)
        return tuple(texts[path] for path in sorted(texts))

    def originals(self, edits: Sequence[FileEdit]) -> dict[str, str]:
        """The user's own texts by path, of the files that are edited."""
        return {edit.path: read_text(self.application.project / edit.path) for edit in edits}


def built_program(version: Version) -> Path | None:
    """The file that the command runs, where it names one by its path."""
    named = version.application.command[0]
    program = version.application.directory / named
    return program if "/" in named and program.is_file() else None


def library_functions(program: Path) -> tuple[str, ...]:
    """A few functions of GPU libraries that the program's symbols name, those that compute before the others."""
    found = sorted({name.decode() for name in _LIBRARY_FUNCTION.findall(program.read_bytes())})
    work = [name for name in found if not _HOUSEKEEPING.search(name)] or found
    return tuple(work[:_MOST_FUNCTIONS])


def translates_itself(program: Path) -> bool:
    """Does the program hand device code to NVRTC or hipRTC as it runs?"""
    return _RUN_TIME_COMPILER.search(program.read_bytes()) is not None


def _programs(directory: Path) -> list[str]:
    """As they would be called from there: up to three programs that a linker made, the newest first."""
    found = [path for path in (*directory.glob("*"), *directory.glob("*/*")) if _is_program(path)]
    newest = sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path))[:_MOST_PROGRAMS]
    return [f"./{path.relative_to(directory)}" for path in newest]


def _is_program(path: Path) -> bool:
    if ".so" in path.name or not path.is_file() or not os.access(path, os.X_OK):
        return False
    with path.open("rb") as content:
        return content.read(4) == b"\x7fELF"
