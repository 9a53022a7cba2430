"""The review page: what it shows of patches."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")
from reviewpages import add_patch, gain  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from intelliperf.history.store import History  # noqa: E402
from intelliperf.project.journal import Journal, to_json  # noqa: E402
from intelliperf.records import AccessKind, Check, CheckStatus, Provenance, SourceEvidence  # noqa: E402
from intelliperf.records.metrics import Metric, Quantity  # noqa: E402
from intelliperf.report.files import read, write  # noqa: E402
from intelliperf.report.plaintext import visible  # noqa: E402
from intelliperf.report.sidebyside import MOST_ROWS, side_by_side  # noqa: E402
from intelliperf.review.pages import exported  # noqa: E402

pytest_plugins = ["reviewfixtures"]


def test_the_inbox_has_measured_gains_before_larger_modelled_ones(history: History, client: TestClient) -> None:
    small = add_patch(history, 1, gain(1.05, Provenance.MEASURED))
    large = add_patch(history, 2, gain(1.5, Provenance.MEASURED))
    page = client.get("/").text
    order = [int(number) for number in re.findall(r'class="open" href="/patch/(\d+)"', page)]
    assert order == [large, small, 1]
    assert "the gain is modelled, not measured on hardware" in page
    assert "not checked: unit tests: no command" in page


def test_the_inbox_filters_and_searches(history: History, client: TestClient) -> None:
    add_patch(history, 1, gain(1.5, Provenance.MEASURED), "needle_kernel")
    assert "1 patch," in client.get("/?q=needle").text
    assert "0 patches," in client.get("/?q=needle&provenance=modelled").text
    assert "0 patches," in client.get("/?standing=rejected").text
    assert client.get("/?standing=nonsense").status_code == 400
    assert client.get("/?page=-1").status_code == 400


def test_a_patch_shows_its_gates_gains_risks_and_command(client: TestClient) -> None:
    page = client.get("/patch/1").text
    for text in ("unit tests", "not run", "2.00× (1.95 to 2.05) modelled", "intelliperf verify", "int c = 1 &lt; 2;"):
        assert text in page, text
    assert "fewer &lt;atomics&gt; &amp; |bars|" in page


def test_every_accepted_step_tells_its_own_tolerance(history: History, client: TestClient, run: Path) -> None:
    """The verdict on a patch of several steps holds the gates of the last one alone."""
    report = read(run)
    first = report.attempts[-1]
    assert first.verdict is not None
    loose = Check("tolerance", CheckStatus.PASSED, "out: rtol 0.25, atol 0")
    step = replace(first, index=4, verdict=replace(first.verdict, checks=(loose,)))
    attempts = (*report.attempts[:-1], step, replace(first, index=5))
    (run / "report.json").write_bytes(to_json(replace(report, attempts=attempts, accepted=5)))
    assert "<li>tolerance: out: rtol 0.25, atol 0</li>" in client.get("/patch/1").text


def test_lines_show_their_share_of_the_traffic_before_and_after(client: TestClient, run: Path) -> None:
    report = read(run)
    (item,) = report.evidence
    (run / "report.json").write_bytes(to_json(replace(report, evidence=(replace(item, line=2),))))
    label = r'aria-label="[\d,]+ [^"]*, {} of {}"'
    before = rf'class="heat"><svg[^>]*{label.format("100 %", "all")}.*?</svg></td><td class="no">2</td>'
    assert re.search(before, client.get("/patch/1").text)
    fewer = {metric: replace(q, value=q.value / 4) for metric, q in item.quantities.items()}
    counted = {"lines_before": (replace(item, line=2),), "lines_after": (replace(item, line=2, quantities=fewer),)}
    (run / "report.json").write_bytes(to_json(replace(report, **counted)))
    moved = label.format("25 %", "all before")
    after = rf'class="heat after"><svg[^>]*{moved}.*?width="12.0".*?</svg></td><td class="no">2</td>'
    page = client.get("/patch/1").text
    assert re.search(before, page) and re.search(after, page)
    (run / "report.json").write_bytes(to_json(replace(report, lines_after=counted["lines_after"])))
    assert "100 % of all, none before" in client.get("/patch/1").text


def test_samples_of_waiting_warps_have_the_scale_of_their_own_run(client: TestClient, run: Path) -> None:
    """Twice as many samples of the new version may be a faster clock of the profiler, and are no more waiting."""
    report = read(run)
    (item,) = report.evidence

    def waiting(samples: float) -> tuple[SourceEvidence, ...]:
        count = Quantity(samples, Provenance.MEASURED)
        return (replace(item, line=2, access=AccessKind.CODE, quantities={Metric.WAITING_SAMPLES: count}),)

    counted = {"lines_before": waiting(100), "lines_after": waiting(200)}
    (run / "report.json").write_bytes(to_json(replace(report, **counted)))
    page = client.get("/patch/1").text
    assert "100 samples of warps that wait, 100 % of all" in page
    assert "200 samples of warps that wait, 100 % of all after" in page


def test_markup_and_control_characters_in_a_patch_are_shown_not_obeyed(history: History, client: TestClient) -> None:
    evil = "<script>alert(1)</script>\x1b[31m\u202e\udc80"
    diff = f"--- a/k\n+++ b/k\n@@ -1 +1 @@\n-{evil}\n+{evil}\n"
    number = add_patch(history, 7, gain(2.0, Provenance.MEASURED), "k<img src=x>", diff)
    page = client.get(f"/patch/{number}").text
    assert "<script>alert" not in page and "<img" not in page and "\x1b" not in page and "\u202e" not in page
    assert "⟨U+001B⟩" in page and "⟨U+202E⟩" in page and "⟨byte 80⟩" in page
    saved = client.get(f"/patch/{number}.diff")
    assert saved.content == diff.encode("utf-8", "surrogateescape")
    assert saved.headers["content-disposition"].startswith("attachment")


def test_a_patch_of_five_megabytes_is_folded(history: History, client: TestClient) -> None:
    lines = 60_000
    body = "".join(f"+{'<x>' * 28}\n" for _ in range(lines))
    diff = f"--- a/k\n+++ b/k\n@@ -0,0 +1,{lines} @@\n{body}"
    number = add_patch(history, 8, gain(2.0, Provenance.MEASURED), "k", diff)
    page = client.get(f"/patch/{number}")
    assert len(diff) > 5_000_000 and len(page.content) < 500_000
    assert "more lines of the patch are not shown" in page.text
    wide = side_by_side("--- a/k\n+++ b/k\n@@ -1 +1 @@\n-" + "x" * 5_000_000 + "\n+y\n", {})
    assert len(wide.rows[2].before.text if wide.rows[2].before else "") < 1_000


def test_a_diff_pairs_its_lines_and_counts_what_it_leaves_out() -> None:
    diff = "--- a/k\n+++ b/k\n@@ -3,4 +3,4 @@\n same\n--- old\n-gone\n+++ new\n last\n"
    shown = side_by_side(diff, {})
    assert (shown.added, shown.removed, shown.left_out) == (1, 2, 0)
    pairs = [(r.before and r.before.number, r.after and r.after.number) for r in shown.rows if not r.heading]
    assert pairs == [(3, 3), (4, 4), (5, None), (6, 5)]
    long = "--- a/k\n+++ b/k\n@@ -1,9 +1,9 @@\n" + " x\n" * 3_000
    cut = side_by_side(long, {})
    assert len(cut.rows) <= MOST_ROWS and cut.left_out == 3_003 - 1 - len(cut.rows)


def test_an_exported_page_is_the_run_s_own_report_and_needs_nothing_else(run: Path, tmp_path: Path) -> None:
    with Journal(tmp_path / "again") as journal:
        write(read(run), journal)
    page = exported(run)
    assert page == (tmp_path / "again" / "report.html").read_text()
    assert "<script" not in page and "<form" not in page and "<link" not in page
    assert not re.search(r'(?:src|href)="', page)
    assert "int c = 1 &lt; 2;" in page and "<style>" in page


def test_hidden_characters_have_names() -> None:
    assert visible("a\tb\x00\u200b") == "a\tb⟨U+0000⟩⟨U+200B⟩"
    assert visible("x" * 10, 4) == "xxxx … (6 more characters)"


def test_a_patch_whose_run_is_gone_is_shown_from_the_database(history: History, client: TestClient, run: Path) -> None:
    (run / "report.json").write_text('{"schema_version": 1')
    page = client.get("/patch/1")
    assert page.status_code == 200 and "report cannot be read" in page.text and "unit tests" in page.text
    attempts = page.text.partition("<h2>Attempts</h2>")[2]
    assert attempts.index("DECLINED") < attempts.index("WRONG_OUTPUT") < attempts.index("ACCEPTED")
