"""The versions of a run: the original, the best so far, and each candidate built upon the best."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from intelliperf.dropins.compilelog import UNLOGGED
from intelliperf.errors import BuildFailed, UsageError
from intelliperf.processes.process import Completed
from intelliperf.project.builder import Builder, built_program, library_functions, translates_itself
from intelliperf.project.journal import Journal
from intelliperf.project.recipes import is_python
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version, python_texts, sources
from intelliperf.protocols import Builds
from intelliperf.records import Application, Candidate, FileEdit, content_hash
from intelliperf.search.observer import RunSettings
from intelliperf.search.stages import Stages

STARTED = "started"  # a file of the run directory: the build has begun


@dataclass
class Versions:
    """Each is built in a scratch copy of its own. `while_building` is called before each build."""

    settings: RunSettings
    application: Application
    backend: Builds
    journal: Journal
    stages: Stages
    while_building: Callable[[], None] = lambda: None
    accepted: Version | None = None  # with all changes that were accepted
    _original: Version | None = None

    @property
    def original(self) -> Version:
        if self._original is None:
            raise RuntimeError("the original is not built yet")
        return self._original

    @property
    def best(self) -> Version:
        return self.accepted or self.original

    @property
    def builder(self) -> Builder:
        original = None if self._original is None else self._original.workspace.tree
        tell = self.journal.tell
        return Builder(
            self.application, self.backend, self.settings.build_deadline_s, self.while_building, original,
            show=lambda text: tell(text, "progress"), note=tell,
        )  # fmt: skip

    def build_original(self) -> Version:
        """Raises `BuildFailed`, and `UsageError` where a resumed run finds other sources than it began with."""
        self.journal.write(STARTED, b"")
        with self.stages.stage("build", commands=[list(c) for c in self.application.build_commands]):
            work = self.journal.work / "reference"
            version, built = self.builder.build(work, (), self.journal.directory / "build")
        if not built.completed.ok:
            raise BuildFailed(built.complaint())
        program = built_program(version)
        alone = program is not None and translates_itself(program)
        if not version.compile_arguments and not alone and not self._compiles_at_run_time():
            raise BuildFailed(nothing_compiled(built.completed, program))
        if not built.ok:
            raise BuildFailed(f"{built.errors[0]}: is the program's name right?")
        self._refuse_other_sources(version)
        for compiler in version.compilers:
            self.stages.note(f"compiler: {compiler}")
        for library in version.libraries:
            self.stages.note(f"library of headers: {library}")
        for remark in version.remarks:
            self.stages.note(remark)
        self._original = version
        return version

    def _compiles_at_run_time(self) -> bool:
        """A Python program's device code is known once it has run; a profile refuses one that launched no kernel."""
        return is_python(self.application.command[0], self.application.directory)

    def _refuse_other_sources(self, version: Version) -> None:
        """A resumed run continues with the sources that it began with, or not at all."""
        texts = sources(version, ())
        if self._compiles_at_run_time():
            texts |= python_texts(version)
        now = {path: content_hash(text) for path, text in texts.items()}
        before = self.journal.stage("sources", dict[str, str], lambda: now)
        changed = sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
        if changed:
            raise UsageError(f"{changed[0]} is not what it was when this run began: start a new run")

    def build_on_best(self, candidate: Candidate, index: int) -> tuple[Version, Built]:
        """The candidate on top of the best accepted version, with what both declare."""
        root = self.journal.work / f"{index:03d}"
        builder, best = self.builder, self.best
        version, built = builder.build(root, builder.stacked(best, candidate), self.journal.attempt_directory(index))
        return dataclasses.replace(version, declares=best.declares.joined(candidate.declares)), built

    def build_whole(self, edits: tuple[FileEdit, ...], name: str) -> tuple[Version, Built]:
        """Edits against the original's texts, in a scratch copy of that name."""
        return self.builder.build(self.journal.work / name, edits, self.journal.directory / "whole" / name)

    def discard(self, *versions: Version) -> None:
        """Their scratch copies, unless the user wants to keep them."""
        if not self.settings.keep_work:
            for version in versions:
                version.workspace.remove()


def nothing_compiled(built: Completed, program: Path | None = None) -> str:
    for line in built.tail().splitlines():
        if line.startswith(UNLOGGED):
            return f"of what the build compiled nothing is known: {line.removeprefix(UNLOGGED)}"
    called = library_functions(program) if program else ()
    if called:
        return f"the program has no kernel of its own to improve: libraries do its work ({', '.join(called)})"
    return (
        "the build compiled no GPU source with our hipcc, nvcc or clang++: does it call a compiler by its "
        "absolute path, or is everything up to date? Give the whole build with -b"
    )
