"""What all steps of a night share: how it is run, what it knows, and where it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.history.records import Found, Judgement, Regression, Standing, VisitState
from intelliperf.history.store import History, now
from intelliperf.nightly.course import Course, Stop
from intelliperf.nightly.ledger import Ledger
from intelliperf.nightly.outcome import PatchOutcome, PlaceOutcome, Step
from intelliperf.nightly.plan import Limits, Target
from intelliperf.nightly.pools import Pool
from intelliperf.nightly.regressions import Suspect
from intelliperf.nightly.tasks import Task
from intelliperf.project.journal import Journal

DECIDED = (Standing.OPEN, Standing.ACCEPTED)  # patches that a night judges again and searches for no more


@dataclass(frozen=True)
class Ways:
    """How the night is run. `least_gain`: findings below this ceiling get no search."""

    directory: Path  # of this night
    sources: Path  # where repositories are cloned to
    limits: Limits
    retries: int = 2
    least_gain: float = 1.05
    smallest_regression: float = 0.02
    search: bool = True


class Tonight:
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

    def tell(self, text: str) -> None:
        self.notes.append(text)
        self.journal.event("note", text=text)

    def submit(self, task: Task, course: Course) -> None:
        course.ledger.begin()
        self.tasks[task.id] = task
        self.running.add(task.id)
        course.waiting.add(task.id)
        self.journal.event("task", id=task.id, state="submitted")
        self.pool.submit(task)

    def leave(self, course: Course, stop: Stop, step: Step, problem: str, seconds: float = 0.0, run: str = "") -> int:
        """Close the place for tonight, in the history too. Returns the visit's number."""
        new: tuple[Found, ...] = ()
        if step is Step.SURVEYED and stop.survey is not None:
            known = self.history.survey(stop.earlier.id).findings if stop.earlier and stop.earlier.id else ()
            shown = {(found.symbol, found.formula) for found in known}
            new = tuple(found for found in stop.survey.findings if (found.symbol, found.formula) not in shown)
        stop.outcome = PlaceOutcome(stop.place, step, problem, stop.changed, round(seconds, 3), new, run)
        visit = course.visit(stop, self.number, VisitState(step.value), problem, seconds, run, now())
        return self.history.keep_visit(visit, stop.survey if step is Step.SURVEYED else None)

    def keep_judgement(self, judgement: Judgement) -> None:
        self.history.keep_judgement(judgement)
        known = self.patches[judgement.patch]
        self.patches[judgement.patch] = PatchOutcome(known.patch, known.new, (*known.judgements, judgement))

    def keep_regression(self, regression: Regression) -> None:
        self.history.keep_regression(regression)
        self.regressions.append(regression)
        self.tell(f"slower: {regression.place}: {regression.sentence}")
