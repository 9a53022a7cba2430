"""The emulator's gates for sources whose time is measured on a GPU.

The same project is built once more for the emulator and runs there, by a smaller command where `--judge-run` gives
one: orders of lanes and blocks, races, other numbers and algebra need no hardware, and hardware has none of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from intelliperf.cli.options import Options
from intelliperf.errors import ApplicationFailed, BuildFailed, ProtocolError, ToolchainError, UsageError
from intelliperf.processes.sandbox import Sandbox
from intelliperf.project.builder import Builder
from intelliperf.project.kernelnames import unqualified
from intelliperf.project.versions import Version
from intelliperf.records import (
    EMULATED,
    SHELL,
    Application,
    Candidate,
    Check,
    CheckStatus,
    FileEdit,
    Finding,
    Kernel,
    KernelProfile,
    Launcher,
    Verdict,
)

if TYPE_CHECKING:
    from intelliperf.validation.judge import Judge
    from intelliperf.validation.trial import BuildFailure, Settings

_PATIENCE_S = 120.0  # for a run of a command that was chosen for hardware
_HINT = "; a smaller command may do: --judge-run 'COMMAND'"


class EmulatedGates:
    """Keeps the original's build and calibration for all candidates of a run. `directory` is the run's own."""

    def __init__(
        self,
        options: Options,
        sandbox: Sandbox,
        settings: Settings,
        directory: Path,
        architecture: str,
        begun: Callable[[str, int, int], None] = lambda name, number, gates: None,
    ) -> None:
        from intelliperf.emulator.backend import EmulatorBackend

        self._options = options
        self._sandbox = sandbox
        timeout_s = options.run_timeout if options.judge_run else min(options.run_timeout, _PATIENCE_S)
        self._settings = dataclasses.replace(settings, run_deadline_s=timeout_s, unit_tests=())
        self._root = directory / "work" / "emulated"
        self._backend = EmulatorBackend(
            directory / "device" / "emulated", options.target or _chip_of(architecture), sandbox
        )
        self._begun = begun
        self._judges: dict[str, Judge] = {}  # by kernel: what one learns of the original is of one kernel
        self._original: tuple[Version, tuple[KernelProfile, ...]] | None = None
        self._unusable = ""  # why the original does not run here

    def joined(self, verdict: Verdict, candidate: Candidate, finding: Finding, baseline: Version) -> Verdict:
        """The verdict of the hardware with what the emulator says of the same sources; a refusal there decides."""
        try:
            return self._joined(verdict, candidate, finding, baseline)
        except (ApplicationFailed, BuildFailed, ProtocolError, ToolchainError, UsageError) as error:
            hint = "" if self._options.judge_run else _HINT
            return without(verdict, f"{error}{hint}")

    def _joined(self, verdict: Verdict, candidate: Candidate, finding: Finding, baseline: Version) -> Verdict:
        from intelliperf.validation.judge import Judge
        from intelliperf.validation.trial import Case

        version, kernels = self._reference(baseline.workspace.original)
        kernel = _namesake(finding.profile.kernel, kernels)
        if kernel is None:
            return without(verdict, f"the command launches no kernel {finding.profile.kernel.name} there")
        builder = self._builder(baseline.workspace.original)
        edits = builder.stacked(baseline, candidate)
        judge = self._judges.setdefault(kernel.kernel.symbol, Judge(self._backend, self._sandbox, self._settings))
        examined = judge.examine(
            Case(
                candidate=candidate,
                finding=dataclasses.replace(finding, profile=kernel),
                reference=version.application,
                baseline=version.application,
                sources={},
                allowed=(),
                build=lambda: self._built(builder, edits),
                logs=self._root / "logs",
                reading=None,
                standing=baseline.declares,
                begun=lambda name, number, gates: self._begun(f"{EMULATED}{name}", number, gates),
            )
        )
        checks = tuple(dataclasses.replace(check, name=f"{EMULATED}{check.name}") for check in examined.checks)
        if examined.rejection is not None:
            told = f"on the emulator: {examined.rejection.detail}"
            return dataclasses.replace(
                verdict,
                outcome=examined.rejection.outcome,
                detail=told,
                checks=(*verdict.checks, *checks),
                strength=None,
                proof="",
            )
        proof = f"{verdict.proof}; on the emulator: {examined.proof}"
        return dataclasses.replace(verdict, checks=(*verdict.checks, *checks), proof=proof)

    def _builder(self, original: Application) -> Builder:
        command = (*SHELL, self._options.judge_run) if self._options.judge_run else original.command
        application = dataclasses.replace(original, command=command, launcher=Launcher())
        return Builder(application, self._backend, self._options.build_timeout, lambda: None)

    def _built(self, builder: Builder, edits: tuple[FileEdit, ...]) -> Application | BuildFailure:
        from intelliperf.validation.trial import BuildFailure

        version, built = builder.build(self._root / "candidate", edits, self._root / "logs")
        return version.application if built.ok else BuildFailure(built.errors, built.completed.timed_out)

    def _reference(self, original: Application) -> tuple[Version, tuple[KernelProfile, ...]]:
        """The original as it is built for the emulator, and what it launches there. Raises the same again."""
        if self._unusable:
            raise ApplicationFailed(self._unusable)
        if self._original is None:
            try:
                version, built = self._builder(original).build(self._root / "reference", (), self._root / "logs")
                if not built.ok:
                    raise BuildFailed(f"the original does not build for it: {built.errors[0]}")
                profile = self._backend.profile(version.application, self._settings.run_deadline_s)
            except (ApplicationFailed, BuildFailed, ProtocolError, ToolchainError) as error:
                self._unusable = str(error).replace(str(self._root), "")
                raise
            self._original = version, profile.kernels
        return self._original


def _chip_of(architecture: str) -> str | None:
    """A chip of this architecture that the emulator models; None where there is none, for the language's default."""
    from intelliperf.devices import models

    return next((name for name in models.target_names() if models.record(name).architecture == architecture), None)


def _namesake(kernel: Kernel, known: tuple[KernelProfile, ...]) -> KernelProfile | None:
    """The emulator's profile of the kernel, by its symbol, else by its only name."""
    symbol = kernel.symbol.removesuffix(".kd")
    same = [profile for profile in known if profile.kernel.symbol == symbol]
    named = [profile for profile in known if unqualified(profile.kernel.name) == unqualified(kernel.name)]
    return same[0] if same else named[0] if len(named) == 1 else None


def without(verdict: Verdict, why: str) -> Verdict:
    """The verdict, with the reason why the emulator says nothing to it."""
    check = Check(f"{EMULATED}all gates", CheckStatus.NOT_RUN, " ".join(why.split()))
    return dataclasses.replace(verdict, checks=(*verdict.checks, check))
