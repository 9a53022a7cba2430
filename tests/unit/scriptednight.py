"""A night whose tasks are played: each writes what a real one would, from a file of the project, and runs nothing."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reported import accepted_report
from rewrite_task import device, evidence, finding

from intelliperf import __version__
from intelliperf.history.opening import open_history
from intelliperf.history.records import Found
from intelliperf.history.store import History
from intelliperf.nightly.night import NightRun, Ways
from intelliperf.nightly.outcome import NightReport, Step
from intelliperf.nightly.plan import Device, Limits, Target
from intelliperf.nightly.survey import SCHEMA_VERSION, SURVEY, Seen
from intelliperf.nightly.tasks import Kind, Task, TaskEnd, TaskState
from intelliperf.project.journal import Journal, to_json
from intelliperf.protocols import Timing
from intelliperf.records import Measurement, Outcome, Provenance, Report, Scope, Usage, Verdict

SOURCE = "kernel.hip"
SLOW = "//1000\n// slow\n"  # with a finding
UNLIMITED = Limits()
Player = Callable[[Task], "TaskEnd | None"]  # None: as usual


class ScriptedPool:
    """Does each task at once. `script` may answer for it instead."""

    shown = "a script"

    def __init__(self, script: Player = lambda task: None, provenance: Provenance = Provenance.MODELLED) -> None:
        self.done: list[Task] = []
        self._ends: list[TaskEnd] = []
        self._script = script
        self._provenance = provenance

    def submit(self, task: Task) -> None:
        self.done.append(task)
        self._ends.append(self._script(task) or self._played(task))

    def next(self, timeout_s: float) -> TaskEnd | None:
        return self._ends.pop(0) if self._ends else None

    def close(self) -> None:
        self._ends.clear()

    def kinds(self) -> list[str]:
        return [task.kind.value for task in self.done]

    def _played(self, task: Task) -> TaskEnd:
        run = task.directory / "runs" / "1"
        text = (task.project / SOURCE).read_text()
        name, content = {
            Kind.SURVEY: lambda: (SURVEY, seen(task, text, self._provenance)),
            Kind.SEARCH: lambda: ("report.json", found_by(task, text)),
            Kind.JUDGE: lambda: ("report.json", accepted_report(task.project, SOURCE, text, text + "// faster\n")),
            Kind.COMPARE: lambda: ("timing.json", Timing((ratio(1 / 1.05),))),
        }[task.kind]()
        run.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes(to_json(content))
        return TaskEnd(task.id, TaskState.DONE, "", 0, 1.0, run / name)


def found_by(task: Task, text: str) -> Report:
    """The report of a search for the task's own formula."""
    report = accepted_report(task.project, SOURCE, text, text + "// faster\n")
    assert report.finding is not None
    return dataclasses.replace(report, finding=dataclasses.replace(report.finding, formula=task.formula))


def refused(task: Task) -> TaskEnd:
    """A judge's task that found the patch wrong."""
    report = accepted_report(task.project, SOURCE, "a\n", "b\n")
    wrong = dataclasses.replace(
        report.attempts[1], index=1, verdict=Verdict(Outcome.WRONG_OUTPUT, "out[3]"), usage=Usage()
    )
    run = task.directory / "runs" / "1"
    run.mkdir(parents=True)
    (run / "report.json").write_bytes(
        to_json(dataclasses.replace(report, attempts=(wrong,), accepted=None, measurements=(), patch=""))
    )
    return TaskEnd(task.id, TaskState.DONE, "", 3, 1.0, run / "report.json")


def ratio(value: float) -> Measurement:
    return Measurement(Scope.KERNEL, 1.0, 1 / value, value, value * 0.99, value * 1.01, Provenance.MEASURED, 9)


def seen(task: Task, text: str, provenance: Provenance) -> Seen:
    """The first line of the source is the kernel's time in ns; findings: one if the text has the word "slow"."""
    time = float(text.splitlines()[0].removeprefix("//"))
    profile = dataclasses.replace(finding().profile, device_time_ns=(time,), dispatches=1, time_provenance=provenance)
    shown = finding()
    found = Found(
        formula="memoryAccess",
        symbol=profile.kernel.symbol,
        kernel=profile.kernel.name,
        sentence=shown.sentence,
        severity=0.5,
        metric=shown.metric,
        value=shown.value,
        ideal=shown.ideal,
        gain_ceiling=2.0,
        lines=((SOURCE, 2),),
    )
    return Seen(
        schema_version=SCHEMA_VERSION,
        tool_version=__version__,
        application=accepted_report(task.project, SOURCE, "a\n", "b\n").application,
        backend="emulator",
        device=device(),
        device_time_ns=time,
        profiles=(profile,),
        lines=(evidence(task.project / SOURCE),),
        findings=(found,) if "slow" in text else (),
        notes=(),
    )


class Place:
    """A directory with one project, a history, and nights."""

    def __init__(self, root: Path, name: str = "one") -> None:
        self.root = root
        self.name = name
        self.project = root / name
        self.project.mkdir()
        self.write("//1000\n// fine\n")

    def write(self, text: str) -> None:
        (self.project / SOURCE).write_text(text)

    def target(self, **changes: Any) -> Target:
        made = Target(
            name=self.name,
            directory=self.project,
            repository=None,
            ref=None,
            path=None,
            build=("make",),
            commands=(("small", ("./app", "1")),),
            environment=(),
            inputs=(),
            formulas=("memoryAccess",),
            devices=(Device("emulator", "mi300x"),),
            unit_tests=None,
            owners=("ann",),
            limits=Limits(),
        )
        return dataclasses.replace(made, **changes)

    def history(self) -> History:
        return open_history(str(self.root / "history.db"))

    def night(
        self, pool: ScriptedPool, *targets: Target, limits: Limits = UNLIMITED, history: History | None = None,
        directory: Path | None = None, search: bool = True,
    ) -> NightReport:  # fmt: skip
        kept = history or self.history()
        try:
            with Journal(directory) if directory else Journal.create(self.root / "nights", "night") as journal:
                ways = Ways(journal.directory, self.root / "sources", limits, search=search)
                return NightRun(ways, targets or (self.target(),), kept, pool, journal).run()
        finally:
            if history is None:
                kept.close()


def steps(report: NightReport) -> list[Step]:
    return [outcome.step for target in report.targets for outcome in target.places]


def git(place: Place, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *identity, *words], cwd=place.project, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(place: Place, text: str, subject: str) -> str:
    place.write(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", subject)
    return git(place, "rev-parse", "HEAD")
