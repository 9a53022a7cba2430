"""Known patches against the new head: merged, no longer applicable, or judged again at every place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from intelliperf.history.records import Judgement, Patch, Standing, WatchedPlace
from intelliperf.history.store import now
from intelliperf.nightly import patches, readings
from intelliperf.nightly.course import Course
from intelliperf.nightly.outcome import PatchOutcome
from intelliperf.nightly.tasks import Task, TaskEnd, TaskState
from intelliperf.nightly.tonight import DECIDED, Tonight
from intelliperf.processes.storage import write_atomically
from intelliperf.report.files import read


def begin_judging(night: Tonight, course: Course) -> None:
    """An unchanged target's patches were judged when it changed."""
    if not course.has_changes() or course.checkout is None:
        return
    for standing in DECIDED:
        for patch in night.history.patches(standing, course.name):
            _judge_again(night, course, patch)


def _judge_again(night: Tonight, course: Course, patch: Patch) -> None:
    file = patch_file(night, patch)
    if patches.is_merged(file, course.project):
        _settle(night, patch, Standing.MERGED, f"patch {patch.id} of {course.name} is merged")
        return
    night.patches[patch.id or 0] = PatchOutcome(patch, False, ())
    if not patches.applies(file, course.project):
        stop = next(iter(course.stops.values()))
        night.keep_judgement(_not_applied(night, patch, stop.place, course))
        _settle(night, patch, Standing.STALE, f"patch {patch.id} of {course.name} no longer applies")
        return
    for stop in course.surveyed():
        night.submit(course.judge_task(patch, file, stop, night.ways.directory, night.ways.retries), course)


def _not_applied(night: Tonight, patch: Patch, place: WatchedPlace, course: Course) -> Judgement:
    detail = "the patch no longer applies to the target's head"
    number, commit = patch.id or 0, course.revision.commit
    return Judgement(number, night.number, place, commit, "DOES_NOT_APPLY", detail, (), (), (), now())


def _settle(night: Tonight, patch: Patch, standing: Standing, text: str) -> None:
    number = patch.id or 0
    night.history.set_standing(number, standing)
    known = night.patches.get(number)
    if known is not None:
        night.patches[number] = replace(known, patch=replace(known.patch, standing=standing))
    night.tell(text)


def patch_file(night: Tonight, patch: Patch) -> Path:
    """Written to the night's directory, for the tasks that judge it."""
    path = night.ways.directory / "patches" / f"{patch.identity[:16]}.diff"
    write_atomically(path, patch.diff.encode("utf-8", "surrogateescape"))
    return path


def judged(night: Tonight, task: Task, end: TaskEnd, course: Course) -> None:
    """A judge's task ended: a patch that is no longer right and faster is stale."""
    number = int(task.subject)
    if end.document is None:
        if end.state is not TaskState.STOPPED:
            course.problems.append(f"patch {number} could not be judged at {task.place}: {end.problem}")
        return
    report = read(end.run)
    night.keep_judgement(
        readings.judgement_of(report, number, task.place, course.revision.commit, night.number, end.run)
    )
    known = night.patches[number]
    said = known.judgements[-1]
    if not said.accepted:
        text = f"patch {number} of {course.name}: {said.outcome} at {task.place}: {said.detail}"
        _settle(night, known.patch, Standing.STALE, text)
