"""The compiler drop-ins in this process, for tests of what programs do: no interpreter is started for each compile."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from intelliperf.emulator.compiler.cache import file_hash
from intelliperf.emulator.compiler.device import FACTS
from intelliperf.emulator.driver import main
from intelliperf.emulator.shims.redirect import DROP_INS_VARIABLE

# Nobody asks what a kernel of such a program costs on the real target, which its compiler would be asked for.
WITHOUT_FACTS: Mapping[str, str] = {FACTS: "0"}


@dataclass(frozen=True)
class Compiled:
    """How the compiler ended, and what it said."""

    status: int
    said: str


def compile_here(
    compiler: str, *words: str, directory: Path, environment: Mapping[str, str] = WITHOUT_FACTS
) -> Compiled:
    """As `compiler words…` in `directory`; of `environment`, which may be a build's, what the drop-ins read."""
    file_hash.cache_clear()  # a process compiles once elsewhere, and no file changes meanwhile
    said = io.StringIO()
    with _surroundings(directory, environment), contextlib.redirect_stderr(said):
        status = main([compiler, *words])
    return Compiled(status, said.getvalue())


def build_here(compiler: str, *words: str, directory: Path, environment: Mapping[str, str] = WITHOUT_FACTS) -> None:
    """As `compile_here`, of what must compile."""
    done = compile_here(compiler, *words, directory=directory, environment=environment)
    assert done.status == 0, done.said


@contextlib.contextmanager
def _surroundings(directory: Path, environment: Mapping[str, str]) -> Iterator[None]:
    place, variables = Path.cwd(), dict(os.environ)
    read = {name: value for name, value in environment.items() if name.startswith("INTELLIPERF_")}
    os.environ.update({name: value for name, value in read.items() if name != DROP_INS_VARIABLE})
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(place)
        os.environ.clear()
        os.environ.update(variables)
