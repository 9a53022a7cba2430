"""A patch with all that the database and its run's directory know of it."""

from __future__ import annotations

from pathlib import Path

from intelliperf.errors import IntelliPerfError
from intelliperf.history.records import Patch
from intelliperf.history.store import History
from intelliperf.records import Report
from intelliperf.report.files import read
from intelliperf.report.html import Content
from intelliperf.review.views import content


def shown_patch(history: History, patch: Patch) -> Content:
    judgements = history.judgements(patch.id or 0)
    report, missing = report_of(patch)
    counted = report is not None and report.lines_before
    visit = history.latest_visit(judgements[-1].place) if judgements and not counted else None
    survey = history.survey(visit.id or 0) if visit is not None else None
    tried = history.candidates(patch.directory) if report is None else ()
    return content(patch, judgements, report, survey, missing, tried)


def report_of(patch: Patch) -> tuple[Report | None, str]:
    """Of the run that found it, or why there is none."""
    try:
        return read(Path(patch.directory)), ""
    except (IntelliPerfError, OSError, ValueError) as error:
        return None, f"the run's report cannot be read: {error}"
