"""One target's way through a night: surveyed where it changed, its patches judged again, then new ones searched for."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf import __version__
from intelliperf.history.records import Found, Patch, Revision, Survey, Visit, VisitState, WatchedPlace
from intelliperf.nightly.checkout import Checkout
from intelliperf.nightly.fingerprint import fingerprint, search_fingerprint
from intelliperf.nightly.ledger import Ledger
from intelliperf.nightly.outcome import PlaceOutcome, Step
from intelliperf.nightly.plan import Target
from intelliperf.nightly.tasks import Kind, Task, command_words, common_words

_OWN_SECONDS = 60.0  # for what a command does beside its builds and runs
_ID = 12


@dataclass(frozen=True)
class SearchBudget:
    """Of one search; None and an infinite `minutes` mean no limit."""

    usd: float | None
    tokens: int | None
    minutes: float


@dataclass
class Stop:
    """One place on the way."""

    place: WatchedPlace
    parts: Mapping[str, str]
    earlier: Visit | None = None  # of another fingerprint
    same: Visit | None = None  # of the same one
    survey: Survey | None = None
    outcome: PlaceOutcome | None = None

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.parts)

    @property
    def changed(self) -> tuple[str, ...]:
        if self.earlier is None:
            return ()
        before = self.earlier.parts
        return tuple(name for name in self.parts if before.get(name) != self.parts[name])


@dataclass
class Course:
    """The mutable side of one target in one night."""

    target: Target
    ledger: Ledger
    checkout: Checkout | None = None
    stops: dict[WatchedPlace, Stop] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    waiting: set[str] = field(default_factory=set)  # tasks of the present step that have not ended
    step: str = "survey"

    @property
    def name(self) -> str:
        return self.target.name

    @property
    def revision(self) -> Revision:
        return self.checkout.revision if self.checkout else Revision(None, False, {})

    @property
    def project(self) -> Path:
        return self.checkout.project if self.checkout else Path()

    @property
    def search_fingerprint(self) -> str:
        """Of the first place's parts: those that differ between places do not enter."""
        return search_fingerprint(next(iter(self.stops.values())).parts, self.target)

    def surveyed(self) -> list[Stop]:
        """The stops whose kernels are known, from tonight or an unchanged visit."""
        return [stop for stop in self.stops.values() if stop.survey is not None]

    def has_changes(self) -> bool:
        return any(stop.outcome is not None and stop.outcome.step is Step.SURVEYED for stop in self.stops.values())

    def searches(self, done: Iterable[tuple[str, str]], least_gain: float) -> list[tuple[Found, Stop]]:
        """Findings that want a search, each at the place where it could gain most, best first."""
        best: dict[tuple[str, str], tuple[Found, Stop]] = {}
        known = set(done)
        for stop in self.surveyed():
            for found in stop.survey.findings if stop.survey else ():
                key = (found.symbol, found.formula)
                wanted = found.formula in self.target.formulas and found.gain_ceiling >= least_gain
                if wanted and key not in known and (key not in best or found.gain_ceiling > best[key][0].gain_ceiling):
                    best[key] = (found, stop)
        return sorted(best.values(), key=lambda item: -item[0].gain_ceiling)

    # ---- tasks ------------------------------------------------------------------------------------

    def survey_task(self, stop: Stop, night: Path, retries: int) -> Task:
        return self._task(Kind.SURVEY, stop, night, retries, ("survey",), runs=8)

    def search_task(
        self,
        found: Found,
        stop: Stop,
        night: Path,
        retries: int,
        budget: SearchBudget,
        reviews: Path | None = None,
    ) -> Task:
        usd, tokens, minutes = budget.usd, budget.tokens, budget.minutes
        target = self.target
        words = ["--formula", found.formula, "--kernel", found.symbol, "--num-attempts", str(target.num_attempts)]
        if minutes != float("inf"):
            words += ["--budget-minutes", f"{max(minutes, 0.1):.2f}"]
        if target.model:
            words += ["--model", target.model]
            words += ["--budget-usd", f"{usd:.6f}"] if usd is not None else []
            words += ["--budget-tokens", str(tokens)] if tokens is not None else []
        for option, value in (
            ("--provider", target.provider if target.model else None),
            ("--api-base", target.api_base if target.model else None),
            ("--price", target.price if target.model else None),
            ("--unittest-command", target.unit_tests),
            ("--reviews", str(reviews) if reviews else None),
        ):
            words += [option, value] if value else []
        subject = f"{found.formula}-{found.symbol}"
        deadline = minutes * 60 + 600 if minutes != float("inf") else None
        task = self._task(Kind.SEARCH, stop, night, retries, words, runs=400, name=subject, deadline_s=deadline)
        return _with(task, subject=found.symbol, formula=found.formula)

    def judge_task(self, patch: Patch, file: Path, stop: Stop, night: Path, retries: int) -> Task:
        words = ["verify", str(file)]
        words += ["--unittest-command", self.target.unit_tests] if self.target.unit_tests else []
        task = self._task(Kind.JUDGE, stop, night, retries, words, runs=60, name=patch.identity[:_ID])
        return _with(task, subject=str(patch.id), formula=patch.formula)

    def compare_task(self, symbol: str, good: Path, stop: Stop, night: Path, retries: int) -> Task:
        words = ["compare", "--against", str(good), "--kernel", symbol]
        return _with(self._task(Kind.COMPARE, stop, night, retries, words, runs=200, name=symbol), subject=symbol)

    def _task(
        self,
        kind: Kind,
        stop: Stop,
        night: Path,
        retries: int,
        words: Iterable[str],
        *,
        runs: int,
        name: str = "",
        deadline_s: float | None = None,
    ) -> Task:
        """`runs`: how many runs of the program it may take at most, for its deadline."""
        target, place = self.target, stop.place
        label = _safe(f"{kind.value}-{target.name}-{place.workload}-{place.device}", name, stop.fingerprint)
        options = common_words(target, place, self.project, night / "tasks" / label / "runs")
        return Task(
            id=label,
            kind=kind,
            target=target.name,
            place=place,
            words=(*words, *options, *command_words(target, place)),
            project=self.project,
            night=night,
            deadline_s=deadline_s or _OWN_SECONDS + 2 * target.build_timeout_s + runs * target.run_timeout_s,
            environment=target.environment,
            on_gpu=place.device.partition(":")[0] != "emulator",
            keys=kind is Kind.SEARCH and target.model is not None,
            retries=retries,
        )

    def visit(
        self, stop: Stop, night: int, state: VisitState, problem: str, seconds: float, directory: str, at: str
    ) -> Visit:
        return Visit(
            night=night,
            place=stop.place,
            state=state,
            fingerprint=stop.fingerprint,
            parts=stop.parts,
            revision=self.revision,
            tool_version=__version__,
            at=at,
            seconds=seconds,
            directory=directory,
            problem=problem,
            same_as=stop.same.id if stop.same is not None and state is VisitState.UNCHANGED else None,
        )


def _safe(*words: str) -> str:
    """A name for a directory: distinct wherever the words are, and short enough for any file system."""
    label, name, _ = words
    digest = hashlib.sha256(repr(words).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    plain = "".join(c if c.isalnum() or c in "._-" else "_" for c in f"{label}-{name}" if c.isascii())
    return f"{plain[:120].rstrip('-')}-{digest}"


def _with(task: Task, **changes: str) -> Task:
    return dataclasses.replace(task, **changes)  # type: ignore[arg-type]
