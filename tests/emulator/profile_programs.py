"""Builds and profiles small programs through the emulator backend, for tests that compare figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.processes.process import run
from intelliperf.project.scratch import COMPILE_LOG
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import Application, KernelProfile, SourceEvidence

BUILD_DEADLINE_S = 900.0  # the first build on a machine also builds the runtime
RUN_DEADLINE_S = 120.0
# Small enough to be traced whole.
WHOLE = (("INTELLIPERF_TRACE_EVENTS", "100000000"), ("INTELLIPERF_TRACE_LAUNCHES", "1000"))


@dataclass(frozen=True)
class Program:
    """A built program with the backend that profiles it."""

    backend: EmulatorBackend
    application: Application

    def profile(self) -> ApplicationProfile:
        return self.backend.profile(self.application, RUN_DEADLINE_S)

    def kernel(self, name: str) -> KernelProfile:
        """The kernel of that display name, template arguments included."""
        kernels = {kernel.kernel.name: kernel for kernel in self.profile().kernels}
        assert name in kernels, f"no {name} among {sorted(kernels)}"
        return kernels[name]

    def lines(self, name: str) -> tuple[SourceEvidence, ...]:
        return self.backend.lines(self.application, self.kernel(name).kernel, RUN_DEADLINE_S)


def build(
    directory: Path, commands: Sequence[Sequence[str]], program: Sequence[str], target: str | None = None
) -> Program:
    """Build in `directory` with our compilers first on PATH, as a run of the product does."""
    backend = EmulatorBackend(directory.parent / f"{directory.name}-records", target)
    environment = dict(backend.build_environment())
    if directory.parent.name == "root":  # a scratch copy's mirror
        environment["INTELLIPERF_COMPILE_LOG"] = str(directory.parents[1] / COMPILE_LOG)
    for number, command in enumerate(commands):
        done = run(command, directory, BUILD_DEADLINE_S, directory.parent / "logs", f"build-{number}", environment)
        assert done.ok, done.tail()
    application = Application(tuple(program), directory, directory, environment=WHOLE)
    return Program(backend, application)
