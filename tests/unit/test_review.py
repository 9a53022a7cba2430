"""The review page: what it shows, whom it refuses, what a decision does to the database and to a repository."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")
from reviewed import AFTER, BEFORE, git, make_history, make_project, make_run  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from intelliperf.errors import UsageError  # noqa: E402
from intelliperf.history.records import Choice, Judgement, Patch, Place, Standing  # noqa: E402
from intelliperf.history.store import History  # noqa: E402
from intelliperf.project.codec import encode  # noqa: E402
from intelliperf.project.journal import Journal, to_json  # noqa: E402
from intelliperf.records import Check, CheckStatus, Measurement, Provenance, Scope  # noqa: E402
from intelliperf.report.files import read, write  # noqa: E402
from intelliperf.report.plaintext import visible  # noqa: E402
from intelliperf.report.sidebyside import MOST_ROWS, side_by_side  # noqa: E402
from intelliperf.review.adding import add_run  # noqa: E402
from intelliperf.review.guard import MOST_BODY_BYTES  # noqa: E402
from intelliperf.review.pages import exported  # noqa: E402
from intelliperf.review.server import Reviewing, application  # noqa: E402
from intelliperf.review.sessions import Sessions, hashed, read_passwords  # noqa: E402

BASE = "http://127.0.0.1:8000"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.fixture
def run(tmp_path: Path, project: Path) -> Path:
    return make_run(tmp_path, project)


@pytest.fixture
def history(tmp_path: Path, run: Path) -> History:
    return make_history(tmp_path, run)


def site(history: History, sessions: Sessions) -> TestClient:
    hosts = ("127.0.0.1:8000",)
    return TestClient(application(Reviewing(history, sessions, hosts)), base_url=BASE, follow_redirects=False)


@pytest.fixture
def client(history: History) -> TestClient:
    sessions = Sessions("Ann")
    opened = site(history, sessions)
    assert opened.get(f"/login?token={sessions.token}").status_code == 303
    return opened


def csrf(client: TestClient, path: str = "/patch/1") -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def decide(client: TestClient, action: str, reason: str = "", seen: int = 0, path: str = "/patch/1/decide"):  # type: ignore[no-untyped-def]
    fields = {"csrf": csrf(client), "action": action, "reason": reason, "seen": str(seen)}
    return client.post(path, data=fields)


def add_patch(history: History, number: int, measurement: Measurement, kernel: str = "k", diff: str = "") -> int:
    patch, _new = history.keep_patch(
        Patch("many", f"{number:064d}", "memoryAccess", "_Z", kernel, "rule r", "why", diff, None, "/gone")
    )
    place = Place("many", "app", "cuda")
    measured = (encode(measurement),)
    history.keep_judgement(
        Judgement(patch.id or 0, None, place, None, "ACCEPTED", "right", (), measured, (), "2026-01-01T00:00:00Z")
    )
    return patch.id or 0


def gain(ratio: float, provenance: Provenance) -> Measurement:
    return Measurement(Scope.APPLICATION, 100 * ratio, 100, ratio, ratio * 0.98, ratio * 1.02, provenance, 5)


# ---- what it shows --------------------------------------------------------------------------------


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


# ---- whom it refuses ------------------------------------------------------------------------------


def test_a_token_works_once(history: History) -> None:
    sessions = Sessions("Ann")
    token = sessions.token
    assert site(history, sessions).get("/").status_code == 403
    assert site(history, sessions).get("/login?token=wrong").status_code == 403
    assert site(history, sessions).get(f"/login?token={token}").status_code == 303
    replayed = site(history, sessions).get(f"/login?token={token}")
    assert replayed.status_code == 403 and "set-cookie" not in replayed.headers


def test_every_answer_has_the_headers_that_keep_scripts_and_frames_out(client: TestClient) -> None:
    for path in ("/", "/patch/1", "/nothing", "/static/style.css", "/patch/1.diff"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    page = client.get("/patch/1").text
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=|<style", page)


def test_another_site_cannot_post(client: TestClient, history: History) -> None:
    fields = {"csrf": csrf(client), "action": "reject", "reason": "x", "seen": "0"}
    address = "/patch/1/decide"
    assert client.post(address, data=fields, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post(address, data=fields, headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert client.post(address, data={**fields, "csrf": "wrong"}).status_code == 403
    assert client.post(address, json=fields).status_code == 415
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert history.decisions(1) == ()


def test_oversized_and_broken_requests_are_refused(client: TestClient) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/bulk", content=b"a" * (MOST_BODY_BYTES + 1), headers=form).status_code == 413
    pieces = (b"a" * 4096 for _ in range(40))
    assert client.post("/bulk", content=pieces, headers=form).status_code == 413
    assert client.post("/bulk", content=b"\xff\xfe", headers=form).status_code == 400
    assert client.put("/bulk", content=b"").status_code == 405


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e%2fserver.py", "/static//etc/passwd", "/patch/0"]
)
def test_no_path_leads_out_of_the_static_files(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_huge_patch_number_is_no_error_of_the_server(client: TestClient) -> None:
    assert client.get("/patch/99999999999999999999999").status_code == 404


def test_reviewers_sign_in_with_the_passwords_of_a_private_file(history: History, tmp_path: Path) -> None:
    file = tmp_path / "passwords"
    file.write_text(f"# reviewers\nbob:{hashed('secret')}\n")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="chmod 600"):
        read_passwords(file)
    file.chmod(0o600)
    client = site(history, Sessions("Ann", read_passwords(file)))
    assert client.get("/").headers["location"] == "/login"
    assert client.post("/login", data={"name": "bob", "password": "secret"}).status_code == 303
    assert "bob" in client.get("/").text
    sessions = Sessions("Ann", read_passwords(file))
    assert sessions.log_in("bob", "wrong") is None and sessions.log_in("eve", "") is None


# ---- what a decision does -------------------------------------------------------------------------


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


# ---- judged again, now and here -------------------------------------------------------------------


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


def test_a_browser_that_closes_in_mid_decision_decides_nothing(history: History) -> None:
    sessions = Sessions("Ann")
    application_ = application(Reviewing(history, sessions, ()))
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return (
            {"type": "http.disconnect"}
            if sent_body.pop()
            else {"type": "http.request", "body": b"a", "more_body": True}
        )

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    sent_body = [True, False]  # a part of the form, then nobody is there any more
    headers = [(b"content-type", b"application/x-www-form-urlencoded"), (b"host", b"127.0.0.1")]
    scope = {"type": "http", "method": "POST", "path": "/patch/1/decide", "headers": headers, "query_string": b""}
    asyncio.run(application_(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 400 and history.decisions(1) == ()


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
