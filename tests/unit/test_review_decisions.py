"""The review page: what a decision does to the database and to a repository."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")
from reviewed import AFTER, BEFORE, git  # noqa: E402
from reviewpages import add_patch, csrf, decide, gain  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from intelliperf.history.records import Choice, Standing  # noqa: E402
from intelliperf.history.store import History  # noqa: E402
from intelliperf.records import Provenance  # noqa: E402
from intelliperf.review.adding import add_run  # noqa: E402

pytest_plugins = ["reviewfixtures"]


def test_accepting_makes_a_branch_and_leaves_the_work_tree_alone(
    history: History, client: TestClient, project: Path
) -> None:
    assert decide(client, "branch", "looks good").status_code == 303
    (branch,) = git(project, "branch", "--list", "intelliperf/*", "--format=%(refname:short)").splitlines()
    assert git(project, "show", f"{branch}:app/k.hip") == AFTER.strip()
    message = git(project, "log", "-1", "--format=%B", branch)
    assert "IntelliPerf-Run: 20260101-000000-atomicContention" in message and "Reviewed-by: Ann" in message
    assert git(project, "log", "-1", "--format=%an %s", branch).startswith("Ann Speed up ")
    assert (project / "k.hip").read_text() == BEFORE and git(project, "status", "--porcelain") == ""
    assert (
        git(project, "branch", "--show-current") == "main" and len(git(project, "worktree", "list").splitlines()) == 1
    )
    assert history.patch(1).standing is Standing.ACCEPTED


def test_only_apply_writes_to_the_project(history: History, client: TestClient, project: Path) -> None:
    assert decide(client, "apply").status_code == 303
    assert (project / "k.hip").read_text() == AFTER
    assert f"applied to {project}" in history.decisions(1)[-1].reason


@pytest.mark.parametrize("action", ["branch", "apply"])
def test_a_patch_that_does_not_apply_is_open_again(
    history: History, client: TestClient, project: Path, action: str
) -> None:
    (project / "k.hip").write_text("something else\n")
    git(project, "commit", "--quiet", "-am", "changed")
    answer = decide(client, action)
    assert answer.status_code == 409 and "does not apply" in answer.text
    assert [d.choice for d in history.decisions(1)] == [Choice.ACCEPT, Choice.REOPEN]
    assert history.patch(1).standing is Standing.OPEN
    assert git(project, "branch", "--list", "intelliperf/*") == ""
    assert (project / "k.hip").read_text() == "something else\n"


def test_of_two_reviewers_at_once_the_second_is_told(history: History, client: TestClient, project: Path) -> None:
    assert decide(client, "reject", "too risky", seen=0).status_code == 303
    second = decide(client, "branch", "ship it", seen=0)
    assert second.status_code == 409 and "in the meantime" in second.text
    assert [d.reason for d in history.decisions(1)] == ["too risky"]
    assert git(project, "branch", "--list", "intelliperf/*") == ""


def test_a_rejection_needs_a_reason_and_is_kept(history: History, client: TestClient) -> None:
    assert decide(client, "reject").status_code == 400
    assert decide(client, "nonsense", "x").status_code == 400
    assert decide(client, "comment", "<b>why?</b>").status_code == 303
    assert "&lt;b&gt;why?&lt;/b&gt;" in client.get("/patch/1").text
    assert history.patch(1).standing is Standing.OPEN


def test_the_log_has_every_decision_and_shows_its_words(history: History, client: TestClient) -> None:
    assert "Nothing yet." in client.get("/log").text
    other = add_patch(history, 1, gain(1.1, Provenance.MEASURED), "k<b>")
    decide(client, "comment", "<i>why?</i>")
    history.decide(other, "Bob", Choice.REJECT, "not now", 0)
    page = client.get("/log").text
    assert page.index("not now") < page.index("&lt;i&gt;why?&lt;/i&gt;"), "the latest first"
    assert "Bob</strong>: reject" in page and "k&lt;b&gt; in many" in page and f'href="/patch/{other}"' in page


def test_bulk_rejects_what_was_chosen_and_nothing_decided_before(history: History, client: TestClient) -> None:
    one, two, three = (add_patch(history, n, gain(1.1, Provenance.MEASURED)) for n in (1, 2, 3))
    history.decide(two, "Bob", Choice.ACCEPT, "", 0)
    token = csrf(client, "/")
    answer = client.post("/bulk", data={"csrf": token, "patch": [str(one), str(two)], "reason": "not now"})
    assert answer.status_code == 409 and "1 rejected" in answer.text
    standings = [history.patch(n).standing for n in (one, two, three)]
    assert standings == [Standing.REJECTED, Standing.ACCEPTED, Standing.OPEN]


def test_the_pull_request_text_says_what_was_not_checked(client: TestClient) -> None:
    text = client.get("/patch/1/pull-request.md")
    assert text.headers["content-type"].startswith("text/plain")
    assert "not checked: unit tests: no command" in text.text and "IntelliPerf-Patch: 1" in text.text


def test_a_run_is_added_once(history: History, run: Path) -> None:
    assert "known as patch 1" in add_run(history, run)
    assert len(history.judgements(1)) == 1


def wait_for(client: TestClient, number: int = 1) -> str:
    for _ in range(400):
        page = client.get(f"/patch/{number}").text
        if 'http-equiv="refresh"' not in page:
            return page
        time.sleep(0.02)
    raise AssertionError("it was not verified in time")


def stands_in(monkeypatch: pytest.MonkeyPatch, place: Path, script: str) -> None:
    """In place of the interpreter that runs `intelliperf`: what it was asked stands in the file `asked`."""
    made = place / "python"
    made.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{place}/asked\n{script}\n")
    made.chmod(0o755)
    monkeypatch.setattr("intelliperf.nightly.errand.sys.executable", str(made))


def test_a_patch_is_verified_again_on_this_machine_when_a_reviewer_asks(
    history: History, client: TestClient, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = json.dumps({"event": "note", "text": f"run directory: {run}"})
    stands_in(monkeypatch, tmp_path, f"echo '{told}'; sleep 0.3")
    assert decide(client, "verify", "after the driver's update").status_code == 303
    busy = decide(client, "verify", "", seen=1)
    assert busy.status_code == 409 and "wait for it" in busy.text
    page = wait_for(client)
    assert "Verified again" in page and ": ACCEPTED." in page
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[:3] == ["-m", "intelliperf", "verify"] and asked[asked.index("--") + 1] == "./app"
    assert len(history.judgements(1)) == 2 and history.patch(1).standing is Standing.OPEN
    assert [d.choice for d in history.decisions(1)][:1] == [Choice.VERIFY]


def test_a_verification_that_fails_says_why_and_changes_no_verdict(
    history: History, client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stands_in(monkeypatch, tmp_path, "echo 'intelliperf: error: the build failed' >&2; exit 1")
    assert decide(client, "verify").status_code == 303
    assert "could not be verified: the build failed" in wait_for(client)
    assert len(history.judgements(1)) == 1


def test_run_directories_that_are_gone_truncated_or_unreadable_leave_the_page_usable(
    client: TestClient, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = (run / "report.json").read_bytes()
    for cut in (b"", whole[:100], whole[: len(whole) // 2], b"\xff" + whole, b"[]"):
        (run / "report.json").write_bytes(cut)
        page = client.get("/patch/1")
        assert page.status_code == 200 and "report cannot be read" in page.text
    monkeypatch.setattr("intelliperf.review.shown.read", lambda _: (_ for _ in ()).throw(PermissionError(13, "denied")))
    assert "report cannot be read" in client.get("/patch/1").text  # another user's
    (run / "report.json").unlink()
    assert decide(client, "branch").status_code == 409
