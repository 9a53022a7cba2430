"""A morning in a real browser: patches read, rejected, commented on, verified again and accepted by clicks and keys."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")
sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

import chromium  # noqa: E402
from reviewed import AFTER, BEFORE, git, make_history, make_project, make_run, with_runs  # noqa: E402

from intelliperf.history.opening import open_history  # noqa: E402
from intelliperf.history.records import Choice, Standing  # noqa: E402
from intelliperf.history.store import History  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.chromium]
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium.browser() as started:
        yield started


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.fixture
def history(tmp_path: Path, project: Path) -> Iterator[History]:
    made = make_history(tmp_path, make_run(tmp_path, project))
    with_runs(made, tmp_path, project, 3)
    made.close()
    opened = open_history(str(tmp_path / "history.db"))
    yield opened
    opened.close()


@pytest.fixture
def address(tmp_path: Path, project: Path, history: History) -> Iterator[str]:
    """Of the command itself, as a person would start it: with its token."""
    words = [sys.executable, "-m", "intelliperf", "review", "--database", str(tmp_path / "history.db")]
    with subprocess.Popen(words, cwd=project, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        yield served.stdout.readline().strip()
        served.terminate()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES["wide"], strict=True)))
    opened = context.new_page()
    opened.asked = []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.goto(address)
    yield opened
    context.close()


def decide(page: Any, button: str, reason: str = "") -> None:
    page.get_by_label("Reason or comment").fill(reason)
    page.get_by_role("button", name=button).click()
    page.wait_for_load_state()


def test_a_morning_of_decisions(page: Any, history: History, project: Path) -> None:
    page.get_by_role("link", name="tally").first.click()
    assert "What is left to you" in page.content() and "not checked" in page.content()
    decide(page, "Comment", "<b>why</b> two steps?")
    assert "<b>why</b> two steps?" in page.locator("ol.log").inner_text()
    decide(page, "Ask for another attempt", "without shared memory")
    decide(page, "Accept: commit to a new branch")
    assert "accepted" in page.locator("p.standing").inner_text()
    (branch,) = git(project, "branch", "--list", "intelliperf/*", "--format=%(refname:short)").splitlines()
    assert git(project, "show", f"{branch}:app/k.hip") == AFTER.strip()
    assert (project / "k.hip").read_text() == BEFORE and git(project, "status", "--porcelain") == ""
    choices = [decision.choice for decision in history.decisions(1)]
    assert choices == [Choice.COMMENT, Choice.RETRY, Choice.ACCEPT]
    page.goto(page.url.replace("/patch/1", "/patch/2"))
    decide(page, "Reject", "needs 64 lanes")
    assert history.patch(2).standing is Standing.REJECTED and history.decisions(2)[-1].reason == "needs 64 lanes"
    page.goto(page.url.replace("/patch/2", "/patch/3"))
    decide(page, "Accept: write to the project's files")
    assert "c1" in (project / "k.hip").read_text()
    host = page.url.partition("/patch")[0]
    assert page.asked and all(url.startswith(host) for url in page.asked), "no other host is asked for anything"


def test_a_rejection_without_a_reason_is_refused_and_can_be_repeated(page: Any, history: History) -> None:
    page.goto(page.url + "patch/1")
    decide(page, "Reject")
    assert "needs text" in page.content() and history.decisions(1) == ()
    page.go_back()
    decide(page, "Reject", "too clever")
    assert history.patch(1).standing is Standing.REJECTED


def test_the_inbox_is_worked_through_by_keys_alone(page: Any, history: History) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    assert page.locator("input[name=patch]:checked").count() == 2
    page.get_by_label("Reason, which later searches hear").fill("not this week")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert sum(history.patch(number).standing is Standing.REJECTED for number in (1, 2, 3, 4)) == 2
    page.keyboard.press("/")
    page.keyboard.type("tally")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=tally**")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/patch/**")


def test_a_patch_is_verified_again_by_a_click(page: Any, history: History) -> None:
    page.goto(page.url + "patch/1")
    decide(page, "Verify again now")
    page.get_by_text("could not be verified").wait_for(timeout=60_000)  # the project has no program
    assert history.decisions(1)[-1].choice is Choice.VERIFY and history.patch(1).standing is Standing.OPEN


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_every_text_has_the_contrast_of_wcag_aa_and_nothing_is_wider_than_the_screen(
    browser: Any, address: str, tmp_path: Path, scheme: str, size: str
) -> None:
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(address)
    home = page.url
    for path in ("", "patch/1", "patch/2", "log"):
        page.goto(home + path)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        texts = page.evaluate(chromium.CONTRASTS)
        assert len(texts) > (5 if path == "log" else 20)
        assert [text for text in texts if text["ratio"] < text["needs"]] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        unnamed = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea, svg')]"
        unnamed += ".filter((one) => !one.labels?.length && !one.getAttribute('aria-label')).length"
        assert page.evaluate(unnamed) == 0, "a control or drawing without a name"
    context.close()
