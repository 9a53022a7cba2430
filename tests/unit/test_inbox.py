"""The list of patches keeps up with the database while its server runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from intelliperf.history.opening import open_history  # noqa: E402
from intelliperf.history.records import Choice, Judgement, Patch, Standing, WatchedPlace  # noqa: E402
from intelliperf.history.store import History  # noqa: E402
from intelliperf.project.codec import encode  # noqa: E402
from intelliperf.records import Check, CheckStatus, Measurement, Provenance, Scope  # noqa: E402
from intelliperf.review.inbox import Inbox  # noqa: E402

WEAK = Check("tolerance", CheckStatus.PASSED, "out: rtol 0.5")


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    opened = open_history(str(tmp_path / "history.db"))
    yield opened
    opened.close()


def proposed(history: History, number: int) -> int:
    made = Patch("one", f"{number:064d}", "memoryAccess", "_Z1k", "k", "rule r", "why", "", None, "/gone")
    return history.keep_patch(made)[0].id or 0


def judged(history: History, patch: int, ratio: float, night: int, workload: str = "small", *checks: Check) -> None:
    gain = Measurement(Scope.APPLICATION, ratio, 1.0, ratio, ratio, ratio, Provenance.MEASURED, 5)
    place = WatchedPlace("one", workload, "cuda")
    shown = tuple(encode(check) for check in checks)
    at = f"2026-01-0{night}T00:00:00Z"
    history.keep_judgement(Judgement(patch, None, place, None, "ACCEPTED", "", shown, (encode(gain),), (), at))


def gains(inbox: Inbox) -> list[tuple[int, str]]:
    return [(one.id, one.gain.split()[0]) for one in inbox.entries(Standing.OPEN)]


def test_the_last_verdict_of_each_place_counts_and_the_worst_place_of_them(history: History) -> None:
    first, second = proposed(history, 1), proposed(history, 2)
    judged(history, first, 5.0, 1)
    judged(history, first, 2.0, 2)
    judged(history, second, 4.0, 1)
    judged(history, second, 3.0, 1, "large")
    assert gains(Inbox(history)) == [(second, "3.00×"), (first, "2.00×")]


def test_what_a_night_or_a_reviewer_does_meanwhile_is_seen(history: History) -> None:
    first, second = proposed(history, 1), proposed(history, 2)
    judged(history, first, 2.0, 1)
    inbox = Inbox(history)
    assert gains(inbox) == [(first, "2.00×"), (second, "not")]
    judged(history, second, 3.0, 1)
    judged(history, first, 4.0, 2, "small", WEAK)
    assert gains(inbox) == [(first, "4.00×"), (second, "3.00×")]
    assert "tolerance: out: rtol 0.5" in inbox.entries(Standing.OPEN)[0].risks
    history.decide(first, "ann", Choice.REJECT, "too clever", 0)
    assert gains(inbox) == [(second, "3.00×")]


def test_a_patch_without_a_verdict_says_so(history: History) -> None:
    proposed(history, 1)
    (one,) = Inbox(history).entries(Standing.OPEN)
    assert (one.gain, one.risks) == ("not known", ("never judged",))
