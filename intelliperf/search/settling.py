"""The end of a search: all accepted changes together before the whole application, and what is left of them."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from intelliperf.project.journal import Journal
from intelliperf.project.merging import restacked
from intelliperf.project.scratch import Built
from intelliperf.project.versions import Version
from intelliperf.records import (
    Attempt,
    Candidate,
    Declaration,
    FileEdit,
    Outcome,
    Verdict,
    content_hash,
)
from intelliperf.search.agenda import Target
from intelliperf.search.observer import Recordings


@dataclass(frozen=True)
class Settled:
    """`changed`: by index the attempts that are not what they were: refused, or made upon other changes than before."""

    best: Version | None  # None where nothing is left
    verdict: Verdict | None
    changed: Mapping[int, Attempt]
    unbuilt: str = ""  # why what is left could not be judged again


class _CutOff(Exception):
    """A build that something else than the sources ended."""

    def __init__(self, version: Version, attempts: Sequence[Attempt], why: str) -> None:
        super().__init__(why)
        self.version, self.attempts = version, attempts


@dataclass(frozen=True)
class Settling:
    """`build` makes a version of edits against the original's texts, in a scratch copy of that name."""

    journal: Journal
    recordings: Recordings
    originals: Callable[[Sequence[FileEdit]], dict[str, str]]
    build: Callable[[tuple[FileEdit, ...], str], tuple[Version, Built]]

    def settle(
        self, reference: Version, best: Version, attempts: Sequence[Attempt], targets: Sequence[Target]
    ) -> Settled:
        """Judged once, unless that refuses: then again without what it names, until it accepts or nothing is left."""
        changed: dict[int, Attempt] = {}
        kept, version = [attempt for attempt in attempts if attempt.accepted], best
        for round_ in itertools.count(1):
            if not kept:
                break
            verdict = self._judged(reference, version, kept, targets, round_)
            if verdict.accepted:
                return Settled(version, verdict, changed | {attempt.index: attempt for attempt in kept})
            self.journal.event("note", text=f"on the whole application: {verdict.outcome.value}: {verdict.detail}")
            blamed = _blamed(kept, verdict)
            told = f"on the whole application: {verdict.detail}"
            changed[blamed.index] = _withdrawn(blamed, verdict.outcome, told)
            try:
                kept, version = self._without(kept, [a for a in kept if a is not blamed], changed, version)
            except _CutOff as cut:
                return Settled(cut.version, None, changed | {a.index: a for a in cut.attempts}, str(cut))
        return Settled(None, None, changed)

    def _judged(
        self, reference: Version, version: Version, kept: Sequence[Attempt], targets: Sequence[Target], round_: int
    ) -> Verdict:
        wanted = {(attempt.kernel, attempt.formula) for attempt in kept}
        findings = [
            target.finding
            for target in targets
            if (target.finding.profile.kernel.name, target.finding.formula) in wanted
        ]
        told = "all accepted changes together"
        candidate = Candidate(version.edits, told, kept[-1].origin, version.declares)
        logs = self.journal.directory / "whole" / f"{round_:02d}"
        logs.mkdir(parents=True, exist_ok=True)

        def judge() -> Verdict:
            return self.recordings.judge_whole(candidate, findings, reference, version, logs)

        return self.journal.stage(f"whole-{round_:02d}", Verdict, judge)

    def _without(
        self, made: Sequence[Attempt], kept: list[Attempt], changed: dict[int, Attempt], version: Version
    ) -> tuple[list[Attempt], Version]:
        """The kept changes without the others that they were made upon; what does not merge or build goes, too."""
        while kept:
            originals = self.originals([edit for a in made if a.candidate for edit in a.candidate.edits])
            stack = restacked(originals, made, kept)
            for lost in stack.lost:
                why = "it changes the same lines as a change that the whole application refuses"
                changed[lost.index] = _withdrawn(lost, Outcome.FORBIDDEN_EDIT, why)
            if not stack.attempts:
                break
            paths = sorted(path for path, text in stack.texts.items() if text != originals[path])
            edits = tuple(FileEdit(path, content_hash(originals[path]), stack.texts[path]) for path in paths)
            version, built = self.build(edits, f"whole-{len(changed):02d}")
            declares = Declaration()
            for attempt in stack.attempts:
                declares = declares.joined(attempt.candidate.declares) if attempt.candidate else declares
            version = dataclasses.replace(version, declares=declares)
            if built.ok:
                return list(stack.attempts), version
            if built.cut_off:
                how = built.complaint() if built.completed.timed_out else built.errors[0]
                why = f"the build without the change that it refuses was cut off: {how}"
                raise _CutOff(version, stack.attempts, why)
            why = f"it does not build without a change that the whole application refuses: {built.errors[0]}"
            last = stack.attempts[-1].index
            kept = [attempt for attempt in kept if attempt not in stack.lost]
            changed[last] = _withdrawn(kept[-1], Outcome.BUILD_FAILED, why)
            kept = kept[:-1]
        return [], version


def met_recordings_alone(attempts: Iterable[Attempt]) -> bool:
    return any(a.verdict is not None and a.verdict.on_recordings for a in attempts if a.accepted)


def _blamed(kept: Sequence[Attempt], verdict: Verdict) -> Attempt:
    """The newest whose kernel the refusal names, else the newest; of those that met recorded dispatches alone first."""
    newest = list(reversed(kept))
    alone = [a for a in newest if a.verdict is not None and a.verdict.on_recordings] or newest
    named = [a for a in alone if a.kernel and a.kernel.partition("(")[0].split("::")[-1] in verdict.detail]
    return (named or alone)[0]


def _withdrawn(attempt: Attempt, outcome: Outcome, detail: str) -> Attempt:
    if attempt.verdict is None:
        raise ValueError("an accepted attempt has a verdict")
    verdict = dataclasses.replace(attempt.verdict, outcome=outcome, detail=detail, strength=None, proof="")
    return dataclasses.replace(attempt, verdict=verdict)
