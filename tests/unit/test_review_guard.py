"""The review page: whom and what it refuses."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("sqlalchemy")
from reviewpages import csrf, site  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402

from intelliperf.errors import UsageError  # noqa: E402
from intelliperf.history.store import History  # noqa: E402
from intelliperf.review.guard import MOST_BODY_BYTES  # noqa: E402
from intelliperf.review.server import Reviewing, application  # noqa: E402
from intelliperf.review.sessions import Sessions, hashed, read_passwords  # noqa: E402

pytest_plugins = ["reviewfixtures"]


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
