"""Judging a patch again, now and here, because a reviewer asked: `intelliperf verify` in the background."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import IntelliPerfError, UsageError
from intelliperf.history.records import Patch
from intelliperf.history.store import History
from intelliperf.nightly.errand import Errand, run_errand
from intelliperf.nightly.readings import judgement_of
from intelliperf.project.journal import RUNS
from intelliperf.records import Report
from intelliperf.report import reproduce
from intelliperf.report.files import read
from intelliperf.review.views import judgement_place

_DEADLINE_S = 3600.0


@dataclass(frozen=True)
class Again:
    """How far the latest one of a patch is. `told` is for people."""

    running: bool
    told: str


class Rejudging:
    """One at a time: they share this machine."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._lock = threading.Lock()
        self._known: dict[int, Again] = {}
        self._ended = threading.Event()

    def known(self, patch: int) -> Again | None:
        with self._lock:
            return self._known.get(patch)

    def begin(self, patch: Patch, report: Report) -> None:
        """Raises `UsageError` where one is running."""
        number = patch.id or 0
        with self._lock:
            if any(again.running for again in self._known.values()):
                raise UsageError("another patch is being verified on this machine; wait for it")
            self._known[number] = Again(True, "This patch is being verified. The page loads itself again.")
        threading.Thread(target=self._run, args=(number, patch, report), daemon=True).start()

    def close(self) -> None:
        """Stop what runs."""
        self._ended.set()

    def _run(self, number: int, patch: Patch, report: Report) -> None:
        try:
            told = self._judged(number, patch, report)
        except (IntelliPerfError, OSError) as error:
            told = f"The patch could not be verified: {error}"
        with self._lock:
            self._known[number] = Again(False, told)

    def _judged(self, number: int, patch: Patch, report: Report) -> str:
        project = report.application.project
        place = next((j.place for j in self._history.judgements(number)), judgement_place(report))
        with tempfile.TemporaryDirectory(prefix="intelliperf-review-") as name:
            scratch = Path(name)
            (scratch / "patch.diff").write_bytes(patch.diff.encode("utf-8", "surrogateescape"))
            found: list[Path] = []
            words = ("verify", str(scratch / "patch.diff"), *reproduce.options(report), "--json")
            where = ("--project-directory", str(project), "--run-root", str(project / RUNS))
            errand = Errand((*words, *where, "--", *report.application.command), project, _DEADLINE_S)
            ended = run_errand(
                errand, scratch, lambda event: found.extend(_run_directory(event)), cancelled=self._ended.is_set
            )
        if ended.exit_status not in (0, 3) or not found:
            return f"The patch could not be verified: {ended.complaint}"
        made = read(found[0])
        judged = judgement_of(made, number, place, None, None, found[0])
        self._history.keep_judgement(dataclasses.replace(judged, directory=str(found[0])))
        return f"Verified again in {ended.seconds:.0f} s: {judged.outcome}."


def _run_directory(event: object) -> list[Path]:
    text = str(event.get("text", "")) if isinstance(event, dict) else ""
    mark = "run directory: "
    return [Path(text.removeprefix(mark))] if text.startswith(mark) else []
