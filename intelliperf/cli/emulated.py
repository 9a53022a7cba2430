"""The emulator's gates for sources whose time is measured on a GPU.

The same project is built once more for the emulator. Orders of lanes and blocks, races, other numbers and algebra need
no hardware, and hardware has none of them. What is judged there is the whole application, by a smaller command where
`--judge-run` gives one, or, where a run takes long, the dispatches that were recorded on the GPU.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from intelliperf.cli.options import Options
from intelliperf.errors import (
    ApplicationFailed,
    BuildFailed,
    NotReplayable,
    ProtocolError,
    StorageFull,
    ToolchainError,
    UsageError,
)
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
from intelliperf.sentences import EMULATOR

if TYPE_CHECKING:
    from intelliperf.recordings.contents import Recording
    from intelliperf.validation.judge import Judge
    from intelliperf.validation.replaygate import Launches
    from intelliperf.validation.trial import BuildFailure, Examined, Settings, Steps

_PATIENCE_S = 120.0  # for a run of a command that was chosen for hardware
_HINT = "; a smaller command may do: --judge-run 'COMMAND'"
_THERE = "; on the emulator: "  # between the two parts of a proof
_ALL_GATES = f"{EMULATED}all gates"
_RECORDED = f"{EMULATED}recorded dispatches"


@dataclasses.dataclass(frozen=True)
class _Replays:
    """The launches of one kernel as they were recorded on the GPU, ready for the emulator."""

    plan: Path
    chosen: tuple[int, ...]  # of the recorded dispatches
    profile: KernelProfile
    told: str  # how the original's replay agrees with the recording


class EmulatedGates:
    """Keeps the original's build and calibration for all candidates of a run.

    `places`: the run's directory, and that of its scratch copies.
    """

    def __init__(
        self,
        options: Options,
        sandbox: Sandbox,
        settings: Settings,
        places: tuple[Path, Path],
        architecture: str,
        steps: Callable[[], Steps] | None = None,
    ) -> None:
        from intelliperf.emulator.backend import EmulatorBackend
        from intelliperf.validation.trial import Steps

        self._options = options
        self._sandbox = sandbox
        timeout_s = options.run_timeout if options.judge_run else min(options.run_timeout, _PATIENCE_S)
        self._settings = dataclasses.replace(settings, run_deadline_s=timeout_s, unit_tests=())
        directory, work = places
        self._root = work / "emulated"
        self._backend = EmulatorBackend(
            directory / "device" / "emulated", options.target or _chip_of(architecture), sandbox
        )
        self._steps = steps or Steps
        self._judges: dict[str, Judge] = {}  # by kernel: what one learns of the original is of one kernel
        self._original: Version | None = None
        self._launched: tuple[KernelProfile, ...] | None = None
        self._unusable = ""  # why the original does not run here
        self._replays: dict[Path, _Replays | NotReplayable] = {}  # by recording

    def joined(self, verdict: Verdict, candidate: Candidate, finding: Finding, baseline: Version) -> Verdict:
        """The verdict of the hardware with what the emulator says of the same sources; a refusal there decides."""
        try:
            return self._joined(verdict, candidate, finding, baseline)
        except (ApplicationFailed, BuildFailed, ProtocolError, ToolchainError, UsageError) as error:
            hint = "" if self._options.judge_run else _HINT
            return without(verdict, f"{error}{hint}")

    def on_recordings(
        self, verdict: Verdict, candidate: Candidate, finding: Finding, baseline: Version, launches: Launches
    ) -> Verdict:
        """As `joined`, of the dispatches that were recorded on the GPU; no host code of the application runs."""
        try:
            return self._on_recordings(verdict, candidate, finding, baseline, launches)
        except (
            ApplicationFailed,
            BuildFailed,
            NotReplayable,
            ProtocolError,
            StorageFull,
            ToolchainError,
            UsageError,
        ) as error:
            return without(verdict, f"recorded dispatches: {error}{_HINT}")

    def _on_recordings(
        self, verdict: Verdict, candidate: Candidate, finding: Finding, baseline: Version, launches: Launches
    ) -> Verdict:
        from intelliperf.recordings.image import reshaped

        original = self._built_original(baseline.workspace.original)
        replays = self._replays_of(original.application, launches.recording, finding.profile.kernel)
        plan = reshaped(replays.plan, [launches.shapes[number] for number in replays.chosen])
        examined = self._examined(
            candidate,
            finding,
            replays.profile,
            baseline,
            self._backend.replayed(original.application, replays.plan),
            plan,
        )
        note = Check(_RECORDED, CheckStatus.PASSED, replays.told, device=EMULATOR)
        return _with(verdict, examined, (note,))

    def _replays_of(self, original: Application, path: Path, kernel: Kernel) -> _Replays:
        """Raises the same `NotReplayable` again."""
        if path not in self._replays:
            try:
                self._replays[path] = self._made_ready(original, path, kernel)
            except NotReplayable as error:
                self._replays[path] = error
        found = self._replays[path]
        if isinstance(found, NotReplayable):
            raise found
        return found

    def _made_ready(self, original: Application, path: Path, kernel: Kernel) -> _Replays:
        from intelliperf.emulator.backend import REPLAYED
        from intelliperf.recordings.file import RecordingFile
        from intelliperf.recordings.image import make_ready
        from intelliperf.recordings.transplant import one_of_each_shape, transplanted
        from intelliperf.validation.runs.agreement import agreement
        from intelliperf.validation.runs.lockstep import Setting

        with RecordingFile(path) as source:
            chosen = one_of_each_shape(source.recording)
            recording = transplanted(source, REPLAYED, chosen)
            plan = make_ready(source, self._root / "replays" / path.stem, recording)
            replayed = self._backend.replayed(original, plan)
            profiled = self._backend.profile(replayed, self._settings.run_deadline_s)
            profile = _namesake(kernel, profiled.kernels)
            if profile is None:
                raise NotReplayable(f"the recording launches no kernel {kernel.name} there")
            setting = Setting(
                self._backend, profile.kernel, self._sandbox, self._root / "logs", self._settings.run_deadline_s
            )
            agreed = agreement(setting, replayed, source, recording)
        return _Replays(plan, chosen, profile, f"{_counted(source.recording, chosen)}; {agreed.describe()}")

    def _examined(
        self,
        candidate: Candidate,
        finding: Finding,
        kernel: KernelProfile,
        baseline: Version,
        reference: Application,
        plan: Path | None = None,
    ) -> Examined:
        """`plan`: the candidate's launches, where recorded ones are judged."""
        from intelliperf.validation.judge import Judge
        from intelliperf.validation.trial import BuildFailure, Case

        builder = self._builder(baseline.workspace.original)
        edits = builder.stacked(baseline, candidate)
        settings = dataclasses.replace(self._settings, also_run=()) if plan else self._settings
        key = f"{kernel.kernel.symbol}{' replayed' if plan else ''}"
        judge = self._judges.setdefault(key, Judge(self._backend, self._sandbox, settings))

        def built() -> Application | BuildFailure:
            made = self._built(builder, edits)
            return made if isinstance(made, BuildFailure) or plan is None else self._backend.replayed(made, plan)

        return judge.examine(
            Case(
                candidate=candidate,
                finding=dataclasses.replace(finding, profile=kernel),
                reference=reference,
                baseline=reference,
                sources={edit.path: baseline.workspace.text(edit.path) for edit in candidate.edits},
                allowed=(),
                build=built,
                logs=self._root / "logs",
                reading=None,
                standing=baseline.declares,
                steps=self._steps(),
            ),
            replayed=plan is not None,
        )

    def _joined(self, verdict: Verdict, candidate: Candidate, finding: Finding, baseline: Version) -> Verdict:
        version, kernels = self._reference(baseline.workspace.original)
        kernel = _namesake(finding.profile.kernel, kernels)
        if kernel is None:
            return without(verdict, f"the command launches no kernel {finding.profile.kernel.name} there")
        return _with(verdict, self._examined(candidate, finding, kernel, baseline, version.application))

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
        version = self._built_original(original)
        if self._launched is None:
            with self._said_again():
                self._launched = self._backend.profile(version.application, self._settings.run_deadline_s).kernels
        return version, self._launched

    def _built_original(self, original: Application) -> Version:
        """Raises the same again."""
        if self._original is None:
            with self._said_again():
                version, built = self._builder(original).build(self._root / "reference", (), self._root / "logs")
                if not built.ok:
                    raise BuildFailed(f"the original does not build for it: {built.errors[0]}")
                self._original = version
        return self._original

    @contextmanager
    def _said_again(self) -> Iterator[None]:
        if self._unusable:
            raise ApplicationFailed(self._unusable)
        try:
            yield
        except (ApplicationFailed, BuildFailed, ProtocolError, ToolchainError) as error:
            self._unusable = str(error).replace(str(self._root), "")
            raise


def _with(verdict: Verdict, examined: Examined, notes: tuple[Check, ...] = ()) -> Verdict:
    checks = tuple(dataclasses.replace(check, name=f"{EMULATED}{check.name}") for check in examined.checks)
    if examined.rejection is not None:
        return dataclasses.replace(
            verdict,
            outcome=examined.rejection.outcome,
            detail=f"on the emulator: {examined.rejection.detail}",
            checks=(*verdict.checks, *notes, *checks),
            strength=None,
            proof="",
        )
    proof = f"{verdict.proof}{_THERE}{examined.proof}"
    return dataclasses.replace(verdict, checks=(*verdict.checks, *notes, *checks), proof=proof)


def _counted(recording: Recording, chosen: tuple[int, ...]) -> str:
    kept = len(recording.dispatches)
    which = recording.describe() if len(chosen) == kept else f"the first of each shape of {recording.describe()}"
    return f"{which}, with the data of the GPU's run"


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
    check = Check(_ALL_GATES, CheckStatus.NOT_RUN, " ".join(why.split()))
    return dataclasses.replace(verdict, checks=(*verdict.checks, check))


def gathered(verdict: Verdict, accepted: Mapping[str, Verdict]) -> Verdict:
    """The verdict on all accepted changes, with what the emulator said of each on its recorded dispatches.

    `accepted`: by the name of their kernel.
    """
    lacking: dict[str, list[str]] = {}
    for name, one in accepted.items():
        for check in one.checks:
            if check.name == _ALL_GATES:
                lacking.setdefault(check.detail, []).append(name)
    if lacking:
        return without(verdict, "; ".join(f"{', '.join(names)}: {why}" for why, names in lacking.items()))
    told = f"each accepted change by itself, on the dispatches recorded of {', '.join(accepted)}"
    proven = "; ".join(f"{name}: {one.proof.partition(_THERE)[2]}" for name, one in accepted.items())
    return dataclasses.replace(
        verdict,
        checks=(*verdict.checks, Check(_RECORDED, CheckStatus.PASSED, told, device=EMULATOR)),
        proof=f"{verdict.proof}{_THERE}{proven}",
    )
