"""One night: every target goes its course, as workers are free; the history hears of each step as it ends.

One failed target never ends the night. A full disk, a dead database, a spent budget or Ctrl-C ends it early and in
order; `--resume` then continues from the tasks whose ends are in the night's directory.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Sequence

from intelliperf import __version__
from intelliperf.errors import HistoryUnavailable, IntelliPerfError, StorageFull
from intelliperf.history.records import Cost, NightState
from intelliperf.history.store import History, now
from intelliperf.nightly import readings, rejudging, searching, slower
from intelliperf.nightly.course import Course
from intelliperf.nightly.looking import look
from intelliperf.nightly.outcome import (
    SCHEMA_VERSION,
    NightReport,
    PatchOutcome,
    PlaceOutcome,
    Spent,
    Step,
    TargetOutcome,
)
from intelliperf.nightly.plan import Target
from intelliperf.nightly.pools import Pool
from intelliperf.nightly.tasks import MARK, STOP, Kind, Task, TaskEnd, TaskState
from intelliperf.nightly.tonight import Tonight
from intelliperf.nightly.tonight import Ways as Ways
from intelliperf.processes.storage import refuse_full_disk, write_atomically
from intelliperf.project.journal import Journal
from intelliperf.records import Usage
from intelliperf.report.files import read

_WAIT_S = 0.5


class NightEnds(Exception):
    """A budget of the whole night is spent: what runs is stopped, what waits is skipped."""


class NightRun:
    """The loop over what workers return."""

    def __init__(self, ways: Ways, targets: Sequence[Target], history: History, pool: Pool, journal: Journal) -> None:
        self._night = Tonight(ways, targets, history, pool, journal)
        self._started_at = now()
        self._reason = ""

    def run(self) -> NightReport:
        """To the end, or to the end of a budget. Raises what ends it otherwise, after what runs has been stopped."""
        night = self._night
        night.number = self._begin()
        write_atomically(night.ways.directory / MARK, f"{night.number}\n".encode())
        (night.ways.directory / STOP).unlink(missing_ok=True)
        night.ledger.begin()
        try:
            look(night)
            for course in night.courses.values():
                self._advance(course)
            while night.running:
                self._step()
            state = NightState.DONE
        except NightEnds as end:
            self._reason, state = str(end), NightState.BUDGET
            self._stop()
        except BaseException:
            self._stop()
            with contextlib.suppress(HistoryUnavailable):
                night.history.end_night(night.number, NightState.INTERRUPTED, None)
            raise
        report = self._report(state)
        night.history.end_night(night.number, state, report.exit_status)
        return report

    def _begin(self) -> int:
        """The number of the night, the same for a resumed one, unless its database was lost or is another one."""
        night = self._night
        directory = str(night.ways.directory)

        def begin() -> int:
            return night.history.begin_night(socket.gethostname(), __version__, directory)

        number = night.journal.stage("night", int, begin)
        known = night.history.night(number)
        if known is not None and known.directory == directory:
            return number
        night.tell(f"{night.history.url} does not know this night: it begins anew there")
        return night.journal.stage_anew("night", begin())

    def _stop(self) -> None:
        """Leave nothing running. What was not begun is found again by a resumed night."""
        (self._night.ways.directory / STOP).touch()
        self._night.pool.close()
        for course in self._night.courses.values():
            for stop in course.stops.values():
                if stop.outcome is None:
                    reason = self._reason or "interrupted"
                    stop.outcome = PlaceOutcome(stop.place, Step.SKIPPED, reason, (), 0.0, (), "")

    def _step(self) -> None:
        night = self._night
        reason = night.ledger.spent()
        if reason:
            raise NightEnds(reason)
        end = night.pool.next(_WAIT_S)
        if end is None:
            return
        night.running.discard(end.id)
        task = night.tasks[end.id]
        course = night.courses[task.target]
        course.waiting.discard(end.id)
        if end.state in (TaskState.FAILED, TaskState.LOST):
            refuse_full_disk(night.ways.directory)
        usage = _keep_cost(night, task, end)
        for ledger in (night.ledger, course.ledger):
            ledger.settle(task.id, usage, end.seconds)
        night.journal.event("task", id=end.id, state=end.state, seconds=round(end.seconds, 3), problem=end.problem)
        try:
            _ENDINGS[task.kind](night, task, end, course)
        except (IntelliPerfError, OSError) as error:
            if isinstance(error, (HistoryUnavailable, StorageFull)):
                raise
            course.problems.append(f"{task.id}: {error}")
        self._advance(course)

    def _advance(self, course: Course) -> None:
        """The next step of a target that waits for nothing."""
        while not course.waiting and course.step != "done":
            reason = course.ledger.spent()
            if reason:
                _skip_rest(self._night, course, reason)
                return
            begin, course.step = _STEPS[course.step]
            begin(self._night, course)

    def _report(self, state: NightState) -> NightReport:
        night = self._night
        return NightReport(
            schema_version=SCHEMA_VERSION,
            tool_version=__version__,
            night=night.number,
            host=os.uname().nodename,
            state=state,
            started_at=self._started_at,
            ended_at=now(),
            pool=night.pool.shown,
            database=night.history.url,
            reason=self._reason,
            spent=Spent(
                usd=round(night.ledger.usd, 6),
                tokens=night.ledger.tokens,
                device_minutes=round(night.ledger.device_s / 60, 3),
                minutes=round(night.ledger.wall_s() / 60, 3),
            ),
            targets=tuple(_outcome(course) for _, course in sorted(night.courses.items())),
            patches=tuple(_ordered(night.patches[number]) for number in sorted(night.patches)),
            regressions=tuple(sorted(night.regressions, key=lambda r: (str(r.place), r.symbol))),
            notes=tuple(night.notes),
        )


def _begin_surveys(night: Tonight, course: Course) -> None:
    for stop in course.stops.values():
        if stop.outcome is None:
            night.submit(course.survey_task(stop, night.ways.directory, night.ways.retries), course)


def _surveyed(night: Tonight, task: Task, end: TaskEnd, course: Course) -> None:
    stop = course.stops[task.place]
    if end.document is None:
        step = Step.SKIPPED if end.state is TaskState.STOPPED else Step.FAILED
        night.tell(f"{task.place}: {end.problem}")
        night.leave(course, stop, step, end.problem, end.seconds)
        return
    stop.survey = readings.survey_of(readings.read_seen(end.document), course.project)
    visit = night.leave(course, stop, Step.SURVEYED, "", end.seconds, str(end.run))
    night.tell(f"{task.place}: surveyed{_because(stop.changed)}")
    for comparison in slower.find_slower(night, course, stop, visit):
        night.submit(comparison, course)


def _skip_rest(night: Tonight, course: Course, reason: str) -> None:
    course.step = "done"
    night.tell(f"{course.name}: {reason}")
    for stop in course.stops.values():
        if stop.outcome is None:
            night.leave(course, stop, Step.SKIPPED, reason)


def _keep_cost(night: Tonight, task: Task, end: TaskEnd) -> Usage:
    usage = read(end.run).usage if task.kind is Kind.SEARCH and end.document is not None else Usage()
    tokens = usage.input_tokens, usage.output_tokens
    seconds = round(end.seconds, 3)  # a task holds its device as long as it runs
    night.history.keep_cost(Cost(night.number, task.target, task.id, *tokens, usage.usd, seconds, seconds))
    return usage


# A course's step: what begins it, and the step after it.
_STEPS: dict[str, tuple[Callable[[Tonight, Course], None], str]] = {
    "survey": (_begin_surveys, "judge"),
    "judge": (rejudging.begin_judging, "search"),
    "search": (searching.begin_searches, "done"),
}
_ENDINGS: dict[Kind, Callable[[Tonight, Task, TaskEnd, Course], None]] = {
    Kind.SURVEY: _surveyed,
    Kind.JUDGE: rejudging.judged,
    Kind.SEARCH: searching.searched,
    Kind.COMPARE: slower.settle,
}


def _ordered(item: PatchOutcome) -> PatchOutcome:
    """Whichever task ended first, the report is the same."""
    return PatchOutcome(item.patch, item.new, tuple(sorted(item.judgements, key=lambda j: str(j.place))))


def _because(changed: Sequence[str]) -> str:
    return f" ({', '.join(changed)} changed)" if changed else ""


def _outcome(course: Course) -> TargetOutcome:
    return TargetOutcome(
        name=course.name,
        owners=course.target.owners,
        commit=course.revision.commit,
        dirty=course.revision.dirty,
        project=str(course.project),
        places=tuple(stop.outcome for _, stop in sorted(course.stops.items(), key=lambda i: str(i[0])) if stop.outcome),
        problems=tuple(course.problems),
    )
