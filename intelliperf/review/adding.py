"""Runs made by hand, added to the database, as decisions need a place where they are kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from intelliperf.history.store import History
from intelliperf.nightly.readings import tried_in
from intelliperf.review.pages import of_run


def add_run(history: History, directory: Path) -> str:
    """Adds the run's patch and verdict; a run that is known already changes nothing. Returns what was done."""
    report, patch, judgement = of_run(directory)
    kept, _new = history.keep_patch(patch)
    number = kept.id or 0
    if any(j.directory == judgement.directory and j.at == judgement.at for j in history.judgements(number)):
        return f"{directory}: known as patch {number}"
    history.keep_candidates(tried_in(report, patch.target, Path(judgement.directory), None))
    history.keep_judgement(dataclasses.replace(judgement, patch=number))
    return f"{directory}: patch {number}"
