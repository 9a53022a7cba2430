"""The tasks of a night, each one `intelliperf` command in a directory of its own."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from intelliperf.errors import IntelliPerfError, UsageError
from intelliperf.history.records import WatchedPlace
from intelliperf.nightly.errand import Ended, Errand, run_errand
from intelliperf.nightly.plan import Target
from intelliperf.nightly.survey import SURVEY
from intelliperf.processes.storage import write_atomically
from intelliperf.project.codec import decode, encode
from intelliperf.project.journal import read_json, to_json

MARK = "night"  # a file of the night's directory: a worker that does not see it shares no file system with us
STOP = "stop"  # another: the night ends, and what runs shall end, too
_END = "end.json"
_STOP_POLL_S = 0.5


class Kind(str, Enum):
    SURVEY = "survey"
    SEARCH = "search"
    JUDGE = "judge"
    COMPARE = "compare"


_DOCUMENTS = {Kind.SURVEY: SURVEY, Kind.SEARCH: "report.json", Kind.JUDGE: "report.json", Kind.COMPARE: "timing.json"}


@dataclass(frozen=True)
class Task:
    """`words` follow `intelliperf`. `id` is unique in its night, and the name of its directory."""

    id: str
    kind: Kind
    target: str
    place: WatchedPlace
    words: tuple[str, ...]
    project: Path
    night: Path  # the night's directory
    deadline_s: float
    environment: tuple[tuple[str, str], ...] = ()
    on_gpu: bool = False
    keys: bool = False
    retries: int = 2
    subject: str = ""  # the kernel's symbol of a search, a patch's number of a judgement
    formula: str = ""

    @property
    def directory(self) -> Path:
        return self.night / "tasks" / self.id


class TaskState(str, Enum):
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # again and again
    STOPPED = "stopped"  # the night ended first


@dataclass(frozen=True)
class TaskEnd:
    """How a task ended. `document` is what it wrote, in its run directory, where it is done."""

    id: str
    state: TaskState
    problem: str
    exit_status: int | None
    seconds: float
    document: Path | None
    losses: int = 0

    @property
    def run(self) -> Path:
        """The run directory."""
        return self.document.parent if self.document is not None else Path()


def perform(task: Task, environment: dict[str, str] | None = None) -> TaskEnd:
    """Do the task, here and now; what an earlier, lost worker did of it is taken up. Raises nothing but interrupts."""
    started = time.monotonic()
    if not (task.night / MARK).exists():
        problem = f"{task.night} is not there on this machine: give --nights a directory that all nodes share"
        return TaskEnd(task.id, TaskState.FAILED, problem, None, 0.0, None)
    try:
        kept = kept_end(task)
        end = kept or _performed(task, environment or {}, started)
        if kept is None and end.state is not TaskState.STOPPED:
            write_atomically(task.directory / _END, to_json(end))
    except (IntelliPerfError, OSError) as error:
        return TaskEnd(task.id, TaskState.FAILED, str(error), None, time.monotonic() - started, None)
    return end


def kept_end(task: Task) -> TaskEnd | None:
    """How it ended for an earlier process of this night, if what it wrote is still there."""
    path = task.directory / _END
    if not path.is_file():
        return None
    with contextlib.suppress(IntelliPerfError):  # damaged: it is done again
        end = decode(TaskEnd, read_json(path))
        if end.state is TaskState.FAILED or (end.document is not None and end.document.is_file()):
            return end
    return None


def _performed(task: Task, environment: dict[str, str], started: float) -> TaskEnd:
    losses = 0
    while True:
        end = run_errand(_errand(task, environment), task.directory, cancelled=_stop_of(task))
        if end.lost and losses < task.retries:
            losses += 1
            continue
        return _ended(task, end, time.monotonic() - started, losses)


def _ended(task: Task, end: Ended, seconds: float, losses: int) -> TaskEnd:
    document = _document(task)
    if end.exit_status in (0, 3) and document is not None:
        return TaskEnd(task.id, TaskState.DONE, "", end.exit_status, seconds, document, losses)
    state = (
        TaskState.STOPPED
        if end.cancelled or end.exit_status == 130
        else TaskState.LOST
        if end.lost
        else TaskState.FAILED
    )
    return TaskEnd(task.id, state, end.complaint, end.exit_status, seconds, None, losses)


def _errand(task: Task, environment: dict[str, str]) -> Errand:
    added = tuple(sorted({**dict(task.environment), **environment}.items()))
    begun = _interrupted(task)
    words = ("resume", str(begun)) if begun is not None else task.words
    return Errand(words, task.project, task.deadline_s, added, task.keys)


def _interrupted(task: Task) -> Path | None:
    """The run directory of a search that was lost in the middle: nothing that it finished is done again."""
    if task.kind is not Kind.SEARCH:
        return None
    runs = sorted(path.parent for path in (task.directory / "runs").glob("*/run.json"))
    return runs[-1] if runs and not (runs[-1] / "report.json").exists() else None


def _document(task: Task) -> Path | None:
    found = sorted((task.directory / "runs").glob(f"*/{_DOCUMENTS[task.kind]}"))
    return found[-1] if found else None


def _stop_of(task: Task) -> Callable[[], bool]:
    looked = [0.0]
    mark = task.night / STOP

    def stop() -> bool:
        if time.monotonic() - looked[0] < _STOP_POLL_S:
            return False
        looked[0] = time.monotonic()
        return mark.exists()

    return stop


def common_words(target: Target, place: WatchedPlace, project: Path, runs: Path) -> list[str]:
    """The options that say what is run and where, for any of our commands."""
    backend, _, chip = place.device.partition(":")
    words = ["--backend", backend, "--project-directory", str(project), "--run-root", str(runs)]
    words += ["--expect-exit", str(target.expect_exit), "--top-n", str(target.top_n), "--json"]
    words += ["--run-timeout", f"{target.run_timeout_s:g}", "--build-timeout", f"{target.build_timeout_s:g}"]
    for option, value in (("--target", chip), ("--launcher", target.launcher)):
        words += [option, value] if value else []
    for command in target.build:
        words += ["--build-command", command]
    return words


def command_words(target: Target, place: WatchedPlace) -> list[str]:
    return ["--", *dict(target.commands)[place.workload]]


def spelled(task: Task) -> dict[str, object]:
    """For another machine."""
    return dict(encode(task))


def read_task(value: dict[str, object]) -> Task:
    try:
        return decode(Task, value)
    except IntelliPerfError as error:
        raise UsageError(f"not a task of this intelliperf: {error}") from error
