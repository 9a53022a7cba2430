"""A night's look at what became slower: the suspects, the comparison that settles them, and what lies in between."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from intelliperf.errors import IntelliPerfError
from intelliperf.history.records import Regression
from intelliperf.nightly.checkout import commits_between, files_between, work_tree
from intelliperf.nightly.course import Course, Stop
from intelliperf.nightly.regressions import Suspect, changed_lines, segment_of, suspect
from intelliperf.nightly.tasks import Task, TaskEnd
from intelliperf.nightly.tonight import Tonight
from intelliperf.project.codec import decode
from intelliperf.project.journal import read_json
from intelliperf.protocols import Timing
from intelliperf.records import Scope


def settle(night: Tonight, task: Task, end: TaskEnd, course: Course) -> None:
    """A regression where the whole interval of the ratio lies beyond half of what is worth a word; without a
    comparison, where the history alone was certain.
    """
    found = night.suspects.pop(task.id)
    if end.document is None:
        if found.settled:
            night.keep_regression(regression_of(night, course, found))
        else:
            night.tell(f"{found.place}: {found.sentence}, suspected; it could not be compared: {end.problem}")
        return
    timing = decode(Timing, read_json(end.document))
    (kernel,) = (m for m in timing.measurements if m.scope is Scope.KERNEL)
    shown = f"{1 / kernel.ratio:.3f}× the time ({1 / kernel.high:.3f} to {1 / kernel.low:.3f}) side by side"
    if kernel.high * (1 + night.ways.smallest_regression / 2) < 1:
        night.keep_regression(regression_of(night, course, found, f"; {shown}"))
    else:
        night.tell(f"{found.place}: {found.sentence}, suspected and refuted: {shown}")


def find_slower(night: Tonight, course: Course, stop: Stop, visit: int) -> Iterator[Task]:
    """Keeps what is settled; yields the comparisons of the two versions that settle the rest."""
    here = night.history.regressions(place=stop.place)
    for kernel in stop.survey.kernels if stop.survey else ():
        points = night.history.series(stop.place, kernel.symbol)
        if not points or points[-1].visit != visit:
            continue
        segment = segment_of(points, [r.bad for r in here if r.symbol == kernel.symbol and r.bad != visit])
        found = suspect(stop.place, kernel.name, kernel.symbol, segment, night.ways.smallest_regression)
        if found is None:
            continue
        comparison = None if found.kind.value != "time" else _comparison(night, course, stop, found)
        if comparison is not None:
            yield comparison
        elif found.settled:
            night.keep_regression(regression_of(night, course, found))
        else:
            night.tell(f"{found.place}: {found.sentence}, suspected; the version before cannot be built to compare")


def _comparison(night: Tonight, course: Course, stop: Stop, found: Suspect) -> Task | None:
    """None where the good version is not available: no commit, or a tree with changes of its own."""
    checkout = course.checkout
    if checkout is None or checkout.repository is None or found.good.commit in (None, course.revision.commit):
        return None
    commit = found.good.commit or ""
    with contextlib.suppress(IntelliPerfError):
        tree = work_tree(checkout.repository, commit, night.ways.sources / f"{course.name}-{commit[:12]}")
        good = tree / checkout.project.relative_to(checkout.repository)
        if good.is_dir():
            task = course.compare_task(found.symbol, good, stop, night.ways.directory, night.ways.retries)
            night.suspects[task.id] = found
            return task
    return None


def regression_of(night: Tonight, course: Course, found: Suspect, more: str = "") -> Regression:
    """With the commits in between and the lines whose counters rose."""
    good = night.history.visit(found.good.visit)
    bad = night.history.visit(found.bad.visit)
    checkout = course.checkout
    commits: tuple[str, ...] = ()
    if checkout is not None and checkout.repository is not None:
        commits = commits_between(checkout.repository, found.good.commit, found.bad.commit, checkout.project)
    if not commits:
        parts = [name for name in bad.parts if good.parts.get(name) != bad.parts[name] and name != "sources"]
        files = files_between(good.revision.manifest, bad.revision.manifest)
        commits = (*(f"{name} changed" for name in parts), *(f"{name} differs" for name in files[:50]))
    return Regression(
        place=found.place,
        symbol=found.symbol,
        kernel=found.kernel,
        kind=found.kind,
        before=found.before,
        after=found.after,
        metric=found.metric,
        sentence=found.sentence + more,
        good=found.good.visit,
        bad=found.bad.visit,
        good_commit=found.good.commit,
        bad_commit=found.bad.commit,
        commits=commits,
        lines=changed_lines(
            night.history.survey(found.good.visit).lines, night.history.survey(found.bad.visit).lines, found.symbol
        ),
        night=night.number,
    )
