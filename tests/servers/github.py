"""A local stand-in for the routes of GitHub's REST API that our action uses, and a record of what it was asked.

The real `gh` talks to it: the host github.localhost is the one that gh asks without TLS, and a proxy is where it is.
"""

from __future__ import annotations

import json
import re
import shutil
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]
TOKEN = "recorded-token"
LONGEST_COMMENT = 65_536


def missing() -> str | None:
    return None if shutil.which("gh") is not None else "needs GitHub's command line (apt-get install gh)"


@dataclass
class Repository:
    """What it holds, and every request as method, path and body."""

    comments: list[Json] = field(default_factory=list)
    checks: list[Json] = field(default_factory=list)
    sarifs: list[Json] = field(default_factory=list)
    pulls: list[Json] = field(default_factory=list)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)


class GitHub:
    """A context manager; `environment` makes gh ask this server."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(repository))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        proxy = f"http://127.0.0.1:{self._server.server_address[1]}"
        names = {"GH_HOST": "github.localhost", "GH_TOKEN": "", "GH_ENTERPRISE_TOKEN": TOKEN, "GH_PROMPT_DISABLED": "1"}
        return {**names, "GH_TOKEN": TOKEN, "http_proxy": proxy, "HTTP_PROXY": proxy, "no_proxy": "", "NO_PROXY": ""}

    def __enter__(self) -> GitHub:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def _handler(repository: Repository) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
            """Quiet: the requests are recorded."""

        def _answer(self) -> None:
            length = int(self.headers.get("content-length", "0"))
            body = json.loads(self.rfile.read(length)) if length else None
            url = urlsplit(self.path)
            repository.asked.append((self.command, url.path, body))
            status, answer = _respond(repository, self.command, url.path, parse_qs(url.query), body)
            if not self.headers.get("authorization", "").endswith(TOKEN):
                status, answer = 401, {"message": "Bad credentials"}
            payload = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json; charset=utf-8")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        do_GET = do_POST = do_PATCH = _answer

    return Handler


def _respond(repository: Repository, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
    _, owner, _, route = (path.removeprefix("/repos").split("/", 3) + [""] * 4)[:4]
    if method == "GET" and re.fullmatch(r"issues/\d+/comments", route):
        return 200, repository.comments
    if method == "POST" and re.fullmatch(r"issues/\d+/comments", route):
        return _commented(repository, body)
    if method == "PATCH" and (found := re.fullmatch(r"issues/comments/(\d+)", route)):
        (comment,) = (one for one in repository.comments if one["id"] == int(found[1]))
        comment["body"] = body["body"]
        return 200, comment
    if method == "GET" and route == "pulls":
        heads = {f"{owner}:{pull['head']['ref']}": pull for pull in repository.pulls}
        return 200, [pull for head, pull in heads.items() if head in query.get("head", [head])]
    if method == "POST" and route in ("check-runs", "code-scanning/sarifs", "pulls"):
        return _kept(repository, route, body)
    return 404, {"message": "Not Found"}


def _commented(repository: Repository, body: Json) -> tuple[int, Any]:
    if len(body["body"]) > LONGEST_COMMENT:
        return 422, {"message": "Validation Failed", "errors": [{"message": "body is too long"}]}
    number = len(repository.comments) + 1
    repository.comments.append({"id": number, "user": {"login": "github-actions[bot]", "type": "Bot"}, **body})
    return 201, repository.comments[-1]


def _kept(repository: Repository, route: str, body: Json) -> tuple[int, Any]:
    if route == "pulls":
        pull = {"number": len(repository.pulls) + 1, **body, "head": {"ref": body["head"]}}
        repository.pulls.append(pull)
        return 201, pull
    place = repository.checks if route == "check-runs" else repository.sarifs
    place.append(body)
    return (201 if route == "check-runs" else 202), {"id": len(place)}
