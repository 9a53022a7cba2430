"""Searches for patches: one for each finding that has none yet, or of which a reviewer wants another attempt."""

from __future__ import annotations

from pathlib import Path

from intelliperf.history.records import Choice
from intelliperf.nightly import readings
from intelliperf.nightly.course import Course, SearchBudget
from intelliperf.nightly.ledger import Ledger
from intelliperf.nightly.outcome import PatchOutcome
from intelliperf.nightly.rejudging import patch_file
from intelliperf.nightly.tasks import Task, TaskEnd, TaskState
from intelliperf.nightly.tonight import DECIDED, Tonight
from intelliperf.processes.storage import write_atomically
from intelliperf.project.journal import to_json
from intelliperf.project.reviews import Reviews
from intelliperf.records import Ending, Report, Review
from intelliperf.report.files import read

_SAID = {
    Choice.REJECT: "rejected",
    Choice.RETRY: "another attempt wanted",
    Choice.COMMENT: "commented",
}


def begin_searches(night: Tonight, course: Course) -> None:
    if not night.ways.search or course.checkout is None:
        return
    wanted = course.searches(_done(night, course), night.ways.least_gain)
    reviews = _reviews(night, course) if wanted else None
    ledgers = (night.ledger, course.ledger)
    for left, (found, stop) in zip(range(len(wanted), 0, -1), wanted, strict=True):
        budget = _share(night, ledgers, left)
        task = course.search_task(found, stop, night.ways.directory, night.ways.retries, budget, reviews)
        for ledger in ledgers:
            ledger.set_aside(task.id, budget.usd, budget.tokens)
        night.submit(task, course)


def _done(night: Tonight, course: Course) -> set[tuple[str, str]]:
    """(symbol, formula) of what needs no search: it was searched on these very sources, or has a patch that stands.

    A reviewer who asks for another attempt opens it again, until a search has taken place since.
    """
    searched = night.history.searched(course.name, course.search_fingerprint)
    done = set(searched)
    for standing in DECIDED:
        for patch in night.history.patches(standing, course.name, diffs=False):
            done.add((patch.symbol, patch.formula))
    for asked in night.history.spoken(course.name):
        key = (asked.patch.symbol, asked.patch.formula)
        if asked.latest and asked.decision.choice is Choice.RETRY and searched.get(key, "") <= asked.decision.at:
            done.discard(key)
    return done


def _share(night: Tonight, ledgers: tuple[Ledger, Ledger], left: int) -> SearchBudget:
    """Of the next of `left` searches of a target."""
    waiting = sum(other.target.model is not None for other in night.courses.values() if other.step != "done")
    shares = [ledger.share(left + (waiting if ledger is night.ledger else 0)) for ledger in ledgers]
    usd = min((share[0] for share in shares if share[0] is not None), default=None)
    tokens = min((share[1] for share in shares if share[1] is not None), default=None)
    return SearchBudget(usd, tokens, min(ledger.wall_left_s() for ledger in ledgers) / 60)


def _reviews(night: Tonight, course: Course) -> Path | None:
    """What reviewers said of the target's patches, as a file for its searches; None where nobody said anything."""
    said = [
        Review(
            kernel=item.patch.kernel,
            symbol=item.patch.symbol,
            formula=item.patch.formula,
            said=_SAID[item.decision.choice],
            refuses=item.decision.choice is not Choice.COMMENT,
            words=item.decision.reason,
            identity=item.patch.identity,
            diff=item.patch.diff,
        )
        for item in night.history.spoken(course.name)
        if item.decision.choice in _SAID
    ]
    if not said:
        return None
    path = night.ways.directory / "reviews" / f"{course.name}.json"
    write_atomically(path, to_json(Reviews(tuple(said))))
    return path


def searched(night: Tonight, task: Task, end: TaskEnd, course: Course) -> None:
    """A search ended: what it found is kept, and judged at every other place."""
    if end.document is None:
        if end.state is not TaskState.STOPPED:
            course.problems.append(f"{task.formula} at {task.place}: {end.problem}")
        return
    report = read(end.run)
    night.history.keep_candidates(readings.tried_in(report, course.name, end.run, night.number))
    _keep_found(night, report, task, end, course)
    ending = report.ending.value
    if report.ending not in (Ending.BUDGET_EXHAUSTED, Ending.UNCONFIRMED):
        # last: a night that ends in between looks at this search again
        key = (course.search_fingerprint, task.subject, task.formula, ending, str(end.run))
        night.history.keep_search(course.name, *key)


def _keep_found(night: Tonight, report: Report, task: Task, end: TaskEnd, course: Course) -> None:
    found = readings.patch_of(report, course.name, course.revision.commit, end.run, night.number)
    if found is None or report.ending is Ending.UNCONFIRMED:
        night.tell(f"{task.place}: {task.formula}: {report.ending.value}")
        return
    patch, new = night.history.keep_patch(found)
    new = new or patch.night == night.number
    if patch.standing not in DECIDED:
        night.tell(f"{course.name}: the {task.formula} patch found is patch {patch.id}, {patch.standing.value}")
        return
    night.tell(f"{task.place}: {task.formula}: patch {patch.id}{'' if new else ', known'}")
    night.patches[patch.id or 0] = PatchOutcome(patch, new, ())
    night.keep_judgement(
        readings.judgement_of(report, patch.id or 0, task.place, course.revision.commit, night.number, end.run)
    )
    file = patch_file(night, patch)
    for stop in course.surveyed():
        if stop.place != task.place:
            night.submit(course.judge_task(patch, file, stop, night.ways.directory, night.ways.retries), course)
