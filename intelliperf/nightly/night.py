"""One night: every target goes its course, as workers are free; the history hears of each step as it ends.

One failed target never ends the night. What does end it early (a full disk, a dead database, a spent budget, Ctrl-C)
leaves the tasks that ended in the night's directory, from which `--resume` continues.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from intelliperf import __version__
from intelliperf.errors import HistoryUnavailable, IntelliPerfError, StorageFull
from intelliperf.frozen import record
from intelliperf.history.records import (
    Cost,
    Found,
    Judgement,
    NightState,
    Patch,
    Place,
    Regression,
    Standing,
    VisitState,
)
from intelliperf.history.store import History, now
from intelliperf.nightly import patches, readings
from intelliperf.nightly.checkout import StatCache, checkout, input_hashes
from intelliperf.nightly.course import Course, Stop
from intelliperf.nightly.fingerprint import parts_of
from intelliperf.nightly.ledger import Ledger
from intelliperf.nightly.outcome import (
    SCHEMA_VERSION,
    NightReport,
    PatchOutcome,
    PlaceOutcome,
    Spent,
    Step,
    TargetOutcome,
)
from intelliperf.nightly.plan import Limits, Target
from intelliperf.nightly.pools import Pool
from intelliperf.nightly.regressions import Suspect
from intelliperf.nightly.slower import Comparison, find_slower
from intelliperf.nightly.tasks import MARK, STOP, Kind, State, Task, TaskEnd
from intelliperf.processes.storage import refuse_full_disk, write_atomically
from intelliperf.project.journal import Journal
from intelliperf.records import Report, Usage
from intelliperf.report.files import read

_WAIT_S = 0.5
_CHECKOUTS_AT_ONCE = 8
_DECIDED = (Standing.OPEN, Standing.ACCEPTED)


@record(frozen=True)
class Ways:
    """How the night is run. `least_gain`: findings below this ceiling get no search."""

    directory: Path  # of this night
    sources: Path  # where repositories are cloned to
    limits: Limits
    retries: int = 2
    least_gain: float = 1.05
    smallest_regression: float = 0.02
    search: bool = True


class NightEnds(Exception):
    """A budget of the whole night is spent: what runs is stopped, what waits is skipped."""


class NightRun:
    """The mutable side of one night."""

    def __init__(self, ways: Ways, targets: Sequence[Target], history: History, pool: Pool, journal: Journal) -> None:
        self.ways = ways
        self.history = history
        self.pool = pool
        self.journal = journal
        self.ledger = Ledger(ways.limits)
        self.courses = {target.name: Course(target, Ledger(target.limits)) for target in targets}
        self.tasks: dict[str, Task] = {}
        self.running: set[str] = set()
        self.patches: dict[int, PatchOutcome] = {}
        self.suspects: dict[str, Suspect] = {}  # by the comparison that settles them
        self.regressions: list[Regression] = []
        self.notes: list[str] = []
        self.number = 0
        self.started_at = now()
        self.reason = ""
        self._stat_cache = StatCache(ways.sources / "hashes.json")

    def run(self) -> NightReport:
        """To the end, or to the end of a budget. Raises what ends it otherwise, after what runs has been stopped."""
        directory = self.ways.directory
        self.number = self._begin()
        write_atomically(directory / MARK, f"{self.number}\n".encode())
        (directory / STOP).unlink(missing_ok=True)
        self.ledger.begin()
        try:
            self._look()
            for course in self.courses.values():
                self._advance(course)
            while self.running:
                self._step()
            state = NightState.DONE if not self.reason else NightState.BUDGET
        except NightEnds as end:
            self.reason, state = str(end), NightState.BUDGET
            self._stop()
        except BaseException:
            self._stop()
            with contextlib.suppress(HistoryUnavailable):
                self.history.end_night(self.number, NightState.INTERRUPTED, None)
            raise
        report = self._report(state)
        self.history.end_night(self.number, state, report.exit_status)
        return report

    def _begin(self) -> int:
        """The number of the night, the same for a resumed one."""

        def begin() -> int:
            return self.history.begin_night(socket.gethostname(), __version__, str(self.ways.directory))

        return self.journal.stage("night", int, begin)

    def _stop(self) -> None:
        """Leave nothing running. What was not begun is found again by a resumed night."""
        (self.ways.directory / STOP).touch()
        self.pool.close()
        for course in self.courses.values():
            for stop in course.stops.values():
                if stop.outcome is None:
                    stop.outcome = PlaceOutcome(stop.place, Step.SKIPPED, self.reason or "interrupted", (), 0.0, (), "")

    # ---- what is there, and what changed ------------------------------------------------------------

    def _look(self) -> None:
        """Check every target out and compare it with what the history saw."""
        with ThreadPoolExecutor(_CHECKOUTS_AT_ONCE) as threads:
            for course, problem in zip(
                self.courses.values(), threads.map(self._check_out, self.courses.values()), strict=True
            ):
                self.history.keep_target(course.name, course.target.owners)
                if problem:
                    self._failed(course, problem)
                else:
                    self._compare_with_history(course)
        self._stat_cache.save()

    def _check_out(self, course: Course) -> str:
        """Also the parts of its fingerprints. Returns what is wrong: one target may not end the night."""
        target = course.target
        try:
            course.checkout = checkout(target, self.ways.sources, self._stat_cache)
            for workload, command in target.commands:
                inputs = input_hashes(target, course.project, command, self._stat_cache)
                for device in target.devices:
                    place = Place(target.name, workload, str(device))
                    parts = parts_of(target, workload, device, course.checkout, inputs)
                    course.stops[place] = Stop(place, parts)
        except (IntelliPerfError, OSError, UnicodeError) as error:
            for place in places_of(target):
                course.stops[place] = Stop(place, {})
            return str(error)
        return ""

    def _failed(self, course: Course, problem: str) -> None:
        course.problems.append(problem)
        self.tell(f"{course.name}: {problem}")
        course.step = "done"
        for stop in course.stops.values():
            self._leave(course, stop, Step.FAILED, problem)

    def _compare_with_history(self, course: Course) -> None:
        for stop in course.stops.values():
            stop.same = self.history.latest_visit(stop.place, stop.fingerprint)
            if stop.same is None:
                stop.earlier = self.history.latest_visit(stop.place)
            elif stop.same.night == self.number:  # a resumed night has surveyed it already
                stop.same = None
                stop.earlier = self.history.latest_visit(stop.place, before=self.number)
            else:
                stop.survey = self.history.survey(stop.same.id or 0)
                self._leave(course, stop, Step.UNCHANGED, "")

    def _leave(self, course: Course, stop: Stop, step: Step, problem: str, seconds: float = 0.0, run: str = "") -> int:
        """Close the place for tonight, in the history too. Returns the visit's number."""
        new: tuple[Found, ...] = ()
        if step is Step.SURVEYED and stop.survey is not None:
            known = self.history.survey(stop.earlier.id).findings if stop.earlier and stop.earlier.id else ()
            shown = {(found.symbol, found.formula) for found in known}
            new = tuple(found for found in stop.survey.findings if (found.symbol, found.formula) not in shown)
        stop.outcome = PlaceOutcome(stop.place, step, problem, stop.changed, round(seconds, 3), new, run)
        state = VisitState(step.value)
        visit = course.visit(stop, self.number, state, problem, seconds, run, now())
        return self.history.keep_visit(visit, stop.survey if step is Step.SURVEYED else None)

    # ---- the loop -----------------------------------------------------------------------------------

    def _step(self) -> None:
        reason = self.ledger.spent()
        if reason:
            raise NightEnds(reason)
        end = self.pool.next(_WAIT_S)
        if end is None:
            return
        self.running.discard(end.id)
        task = self.tasks[end.id]
        course = self.courses[task.target]
        course.waiting.discard(end.id)
        if end.state in (State.FAILED, State.LOST):
            refuse_full_disk(self.ways.directory)
        usage = self._keep_cost(task, end)
        for ledger in (self.ledger, course.ledger):
            ledger.settle(task.id, usage, end.seconds)
        self.journal.event("task", id=end.id, state=end.state, seconds=round(end.seconds, 3), problem=end.problem)
        try:
            self._ENDINGS[task.kind](self, task, end, course)
        except (IntelliPerfError, OSError) as error:
            if isinstance(error, (HistoryUnavailable, StorageFull)):
                raise
            course.problems.append(f"{task.id}: {error}")
        self._advance(course)

    def _submit(self, task: Task, course: Course) -> None:
        course.ledger.begin()
        self.tasks[task.id] = task
        self.running.add(task.id)
        course.waiting.add(task.id)
        self.journal.event("task", id=task.id, state="submitted")
        self.pool.submit(task)

    def _advance(self, course: Course) -> None:
        """The next step of a target that waits for nothing."""
        while not course.waiting and course.step != "done":
            reason = course.ledger.spent()
            if reason:
                self._skip_rest(course, reason)
                return
            self._STEPS[course.step](self, course)

    def _skip_rest(self, course: Course, reason: str) -> None:
        course.step = "done"
        self.tell(f"{course.name}: {reason}")
        for stop in course.stops.values():
            if stop.outcome is None:
                self._leave(course, stop, Step.SKIPPED, reason)

    def _begin_surveys(self, course: Course) -> None:
        course.step = "judge"
        for stop in course.stops.values():
            if stop.outcome is None:
                self._submit(course.survey_task(stop, self.ways.directory, self.ways.retries), course)

    def _survey_ended(self, task: Task, end: TaskEnd, course: Course) -> None:
        stop = course.stops[task.place]
        if end.document is None:
            step = Step.SKIPPED if end.state is State.STOPPED else Step.FAILED
            self.tell(f"{task.place}: {end.problem}")
            self._leave(course, stop, step, end.problem, end.seconds)
            return
        seen = readings.read_seen(end.document)
        stop.survey = readings.survey_of(seen, course.project)
        visit = self._leave(course, stop, Step.SURVEYED, "", end.seconds, str(end.run))
        self.tell(f"{task.place}: surveyed{_because(stop.changed)}")
        for comparison in find_slower(self, course, stop, visit):
            self._submit(comparison.task, course)

    # ---- patches ------------------------------------------------------------------------------------

    def _begin_judging(self, course: Course) -> None:
        """Known patches against the new head; an unchanged target's were judged when it changed."""
        course.step = "search"
        if not course.has_changes() or course.checkout is None:
            return
        for standing in _DECIDED:
            for patch in self.history.patches(standing, course.name):
                self._judge_again(course, patch)

    def _judge_again(self, course: Course, patch: Patch) -> None:
        file = self._patch_file(patch)
        if patches.is_merged(file, course.project):
            self._settle(patch, Standing.MERGED, f"patch {patch.id} of {course.name} is merged")
            return
        self.patches[patch.id or 0] = PatchOutcome(patch, False, ())
        if not patches.applies(file, course.project):
            stop = next(iter(course.stops.values()))
            self._keep_judgement(self._not_applied(patch, stop.place, course))
            self._settle(patch, Standing.STALE, f"patch {patch.id} of {course.name} no longer applies")
            return
        for stop in course.surveyed():
            self._submit(course.judge_task(patch, file, stop, self.ways.directory, self.ways.retries), course)

    def _not_applied(self, patch: Patch, place: Place, course: Course) -> Judgement:
        detail = "the patch no longer applies to the target's head"
        number, commit = patch.id or 0, course.revision.commit
        return Judgement(number, self.number, place, commit, "DOES_NOT_APPLY", detail, (), (), (), now())

    def _settle(self, patch: Patch, standing: Standing, text: str) -> None:
        self.history.set_standing(patch.id or 0, standing)
        self.tell(text)

    def _patch_file(self, patch: Patch) -> Path:
        path = self.ways.directory / "patches" / f"{patch.identity[:16]}.diff"
        write_atomically(path, patch.diff.encode("utf-8", "surrogateescape"))
        return path

    def _judged(self, task: Task, end: TaskEnd, course: Course) -> None:
        number = int(task.subject)
        if end.document is None:
            if end.state is not State.STOPPED:
                course.problems.append(f"patch {number} could not be judged at {task.place}: {end.problem}")
            return
        report = read(end.run)
        self._keep_judgement(
            readings.judgement_of(report, number, task.place, course.revision.commit, self.number, end.run)
        )
        known = self.patches[number]
        if not known.judgements[-1].accepted:
            said = known.judgements[-1]
            text = f"patch {number} of {course.name}: {said.outcome} at {task.place}: {said.detail}"
            self._settle(known.patch, Standing.STALE, text)

    def _keep_judgement(self, judgement: Judgement) -> None:
        self.history.keep_judgement(judgement)
        known = self.patches[judgement.patch]
        self.patches[judgement.patch] = PatchOutcome(known.patch, known.new, (*known.judgements, judgement))

    def _begin_searches(self, course: Course) -> None:
        course.step = "done"
        if not self.ways.search or course.checkout is None:
            return
        done = set(self.history.searched(course.name, course.search_fingerprint))
        for standing in _DECIDED:
            done |= {(patch.symbol, patch.formula) for patch in self.history.patches(standing, course.name)}
        wanted = course.searches(done, self.ways.least_gain)
        for left, (found, stop) in zip(range(len(wanted), 0, -1), wanted, strict=True):
            waiting = sum(other.target.model is not None for other in self.courses.values() if other.step != "done")
            shares = [
                ledger.share(left + (waiting if ledger is self.ledger else 0)) for ledger in self._ledgers(course)
            ]
            usd = min((share[0] for share in shares if share[0] is not None), default=None)
            tokens = min((share[1] for share in shares if share[1] is not None), default=None)
            minutes = min(ledger.wall_left_s() for ledger in self._ledgers(course)) / 60
            task = course.search_task(found, stop, self.ways.directory, self.ways.retries, usd, tokens, minutes)
            for ledger in self._ledgers(course):
                ledger.set_aside(task.id, usd, tokens)
            self._submit(task, course)

    def _ledgers(self, course: Course) -> tuple[Ledger, Ledger]:
        return self.ledger, course.ledger

    def _searched(self, task: Task, end: TaskEnd, course: Course) -> None:
        if end.document is None:
            if end.state is not State.STOPPED:
                course.problems.append(f"{task.formula} at {task.place}: {end.problem}")
            return
        report = read(end.run)
        self._keep_found(report, task, end, course)
        ending = report.ending.value
        if ending != "budget exhausted":  # last: a night that ends in between looks at this search again
            key = (course.search_fingerprint, task.subject, task.formula, ending, str(end.run))
            self.history.keep_search(course.name, *key)

    def _keep_found(self, report: Report, task: Task, end: TaskEnd, course: Course) -> None:
        found = readings.patch_of(report, course.name, course.revision.commit, end.run, self.number)
        if found is None:
            self.tell(f"{task.place}: {task.formula}: {report.ending.value}")
            return
        patch, new = self.history.keep_patch(found)
        new = new or patch.night == self.number
        if patch.standing not in _DECIDED:
            self.tell(f"{course.name}: the {task.formula} patch found is patch {patch.id}, {patch.standing.value}")
            return
        self.tell(f"{task.place}: {task.formula}: patch {patch.id}{'' if new else ', known'}")
        self.patches[patch.id or 0] = PatchOutcome(patch, new, ())
        self._keep_judgement(
            readings.judgement_of(report, patch.id or 0, task.place, course.revision.commit, self.number, end.run)
        )
        file = self._patch_file(patch)
        for stop in course.surveyed():
            if stop.place != task.place:
                self._submit(course.judge_task(patch, file, stop, self.ways.directory, self.ways.retries), course)

    # ---- regressions --------------------------------------------------------------------------------

    def keep_regression(self, regression: Regression) -> None:
        self.history.keep_regression(regression)
        self.regressions.append(regression)
        self.tell(f"slower: {regression.place}: {regression.sentence}")

    def _compared(self, task: Task, end: TaskEnd, course: Course) -> None:
        Comparison.settle(self, course, task, end)

    # ---- words --------------------------------------------------------------------------------------

    def _keep_cost(self, task: Task, end: TaskEnd) -> Usage:
        usage = Usage()
        if task.kind is Kind.SEARCH and end.document is not None:
            usage = read(end.run).usage
        device_s = end.seconds
        cost = Cost(
            self.number,
            task.target,
            task.id,
            usage.input_tokens,
            usage.output_tokens,
            usage.usd,
            round(end.seconds, 3),
            round(device_s, 3),
        )
        self.history.keep_cost(cost)
        return usage

    def tell(self, text: str) -> None:
        self.notes.append(text)
        self.journal.event("note", text=text)

    def _report(self, state: NightState) -> NightReport:
        return NightReport(
            schema_version=SCHEMA_VERSION,
            tool_version=__version__,
            night=self.number,
            host=os.uname().nodename,
            state=state,
            started_at=self.started_at,
            ended_at=now(),
            pool=self.pool.shown,
            database=self.history.url,
            reason=self.reason,
            spent=Spent(
                usd=round(self.ledger.usd, 6),
                tokens=self.ledger.tokens,
                device_minutes=round(self.ledger.device_s / 60, 3),
                minutes=round(self.ledger.wall_s() / 60, 3),
            ),
            targets=tuple(_outcome(course) for _, course in sorted(self.courses.items())),
            patches=tuple(_ordered(self.patches[number]) for number in sorted(self.patches)),
            regressions=tuple(sorted(self.regressions, key=lambda r: (str(r.place), r.symbol))),
            notes=tuple(self.notes),
        )

    _STEPS = {"survey": _begin_surveys, "judge": _begin_judging, "search": _begin_searches}
    _ENDINGS: dict[Kind, Callable[[NightRun, Task, TaskEnd, Course], None]] = {
        Kind.SURVEY: _survey_ended,
        Kind.JUDGE: _judged,
        Kind.SEARCH: _searched,
        Kind.COMPARE: _compared,
    }


def _ordered(item: PatchOutcome) -> PatchOutcome:
    """Whichever task ended first, the report is the same."""
    return PatchOutcome(item.patch, item.new, tuple(sorted(item.judgements, key=lambda j: str(j.place))))


def places_of(target: Target) -> list[Place]:
    return [Place(target.name, workload, str(device)) for workload, _ in target.commands for device in target.devices]


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
