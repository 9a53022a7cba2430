"""The first step of a night: check every target out, and compare it with what the history saw."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from intelliperf.errors import IntelliPerfError
from intelliperf.history.records import WatchedPlace
from intelliperf.nightly.checkout import StatCache, checkout, input_hashes
from intelliperf.nightly.course import Course, Stop
from intelliperf.nightly.fingerprint import parts_of
from intelliperf.nightly.outcome import Step
from intelliperf.nightly.plan import Target
from intelliperf.nightly.tonight import Tonight

_CHECKOUTS_AT_ONCE = 8


def look(night: Tonight) -> None:
    """All targets; one that cannot be checked out fails alone."""
    cache = StatCache(night.ways.sources / "hashes.json")
    courses: Sequence[Course] = tuple(night.courses.values())
    with ThreadPoolExecutor(_CHECKOUTS_AT_ONCE) as threads:
        problems = threads.map(lambda course: _check_out(night, course, cache), courses)
        for course, problem in zip(courses, problems, strict=True):
            night.history.keep_target(course.name, course.target.owners)
            if problem:
                _failed(night, course, problem)
            else:
                _compare_with_history(night, course)
    cache.save()


def _check_out(night: Tonight, course: Course, cache: StatCache) -> str:
    """Also the parts of its fingerprints. Returns what is wrong: one target may not end the night."""
    target = course.target
    try:
        course.checkout = checkout(target, night.ways.sources, cache)
        for workload, command in target.commands:
            inputs = input_hashes(target, course.project, command, cache)
            for device in target.devices:
                place = WatchedPlace(target.name, workload, str(device))
                parts = parts_of(target, workload, device, course.checkout, inputs)
                course.stops[place] = Stop(place, parts)
    except (IntelliPerfError, OSError, UnicodeError) as error:
        for place in places_of(target):
            course.stops[place] = Stop(place, {})
        return str(error)
    return ""


def _failed(night: Tonight, course: Course, problem: str) -> None:
    course.problems.append(problem)
    night.tell(f"{course.name}: {problem}")
    course.step = "done"
    for stop in course.stops.values():
        night.leave(course, stop, Step.FAILED, problem)


def _compare_with_history(night: Tonight, course: Course) -> None:
    for stop in course.stops.values():
        stop.same = night.history.latest_visit(stop.place, stop.fingerprint)
        if stop.same is None:
            stop.earlier = night.history.latest_visit(stop.place)
        elif stop.same.night == night.number:  # a resumed night has surveyed it already
            stop.same = None
            stop.earlier = night.history.latest_visit(stop.place, before=night.number)
        else:
            stop.survey = night.history.survey(stop.same.id or 0)
            night.leave(course, stop, Step.UNCHANGED, "")


def places_of(target: Target) -> list[WatchedPlace]:
    return [
        WatchedPlace(target.name, workload, str(device)) for workload, _ in target.commands for device in target.devices
    ]
