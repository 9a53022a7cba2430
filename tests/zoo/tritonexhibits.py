"""Triton programs of the zoo: `programs`, with changes as in `exhibits`. They need Triton alone: they start fast."""

from __future__ import annotations

import importlib.util
import shutil
from functools import cached_property
from pathlib import Path

from exhibits import DEADLINE_S, Exhibit

from intelliperf.emulator.native import runtime_library
from intelliperf.project.versions import JIT_DIRECTORY
from intelliperf.python.environment import presented
from intelliperf.records import Application, FileEdit
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.edits.targets import Touched, python_functions
from intelliperf.validation.judge import Judge
from intelliperf.validation.trial import BuildFailure, Settings

PROGRAMS = Path(__file__).parent / "triton" / "programs"
MEMORY = "arrays.py"
_FINDER = Path(__file__).resolve().parents[1] / "triton" / "interpreters.py"


def programs() -> list[str]:
    return sorted(path.name for path in PROGRAMS.glob("*.py") if path.name != MEMORY)


def interpreter() -> str:
    specification = importlib.util.spec_from_file_location("interpreters", _FINDER)
    assert specification is not None and specification.loader is not None
    finder = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(finder)
    found: str = finder.python_with("triton")
    return found


class TritonExhibit(Exhibit):
    @cached_property
    def _judge(self) -> Judge:
        """By whole runs: on recordings time comes first, and refuses what gains nothing before any gate has looked."""
        return Judge(self.backend, self._sandbox, Settings(DEADLINE_S, 5.0))

    @cached_property
    def _reading(self) -> Reading | None:
        return None

    def _touched(self, edit: FileEdit) -> Touched:
        return python_functions((edit,), {self.program: self.original})

    def _build(self, directory: Path, text: str, target: str = "") -> Application | BuildFailure:
        """Nothing is built; a version has its own, empty cache of compiled kernels."""
        if self._built.get(directory) != text:
            shutil.rmtree(directory, ignore_errors=True)
            (directory / JIT_DIRECTORY).mkdir(parents=True)
            (directory / self.program).write_text(text)
            shutil.copy(PROGRAMS / MEMORY, directory / MEMORY)
            self._built[directory] = text
        application = Application((interpreter(), self.program), directory, directory)
        return presented(application, target or None, runtime_library())
