"""The application: inbox, one patch, decisions. Everything it knows comes from the database and run directories."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from intelliperf.errors import HistoryUnavailable, IntelliPerfError, UsageError
from intelliperf.history.records import Choice, Patch, Standing
from intelliperf.history.store import History
from intelliperf.report.html import Content, body
from intelliperf.report.plaintext import visible
from intelliperf.review import git, pages
from intelliperf.review.again import Rejudging
from intelliperf.review.guard import FORM, Guard
from intelliperf.review.inbox import Entry, Inbox
from intelliperf.review.sessions import Session, Sessions, same
from intelliperf.review.shown import report_of, shown_patch
from intelliperf.review.views import latest, pull_request

PAGE_SIZE = 50
_LONGEST_REASON = 4_000
_STATIC = {"page.css": "text/css", "style.css": "text/css", "review.js": "text/javascript"}
_COOKIE = "intelliperf_review"
_FAILED_LOGIN_S = 1.0


@dataclasses.dataclass(frozen=True)
class Reviewing:
    """What the pages work on. `hosts` are those that a browser may name, with their port."""

    history: History
    sessions: Sessions
    hosts: tuple[str, ...]
    secure: bool = False


def application(reviewing: Reviewing) -> ASGIApp:
    site = _Site(reviewing)
    routes = [
        Route("/", site.signed_in(site.inbox), methods=["GET"]),
        Route("/login", site.log_in, methods=["GET", "POST"]),
        Route("/static/{name}", _static, methods=["GET"]),
        Route("/log", site.signed_in(site.log), methods=["GET"]),
        Route("/bulk", site.signed_in(site.bulk), methods=["POST"]),
        Route("/patch/{number:int}", site.signed_in(site.patch), methods=["GET"]),
        Route("/patch/{number:int}/decide", site.signed_in(site.decide), methods=["POST"]),
        Route("/patch/{number:int}.diff", site.signed_in(site.diff), methods=["GET"]),
        Route("/patch/{number:int}/pull-request.md", site.signed_in(site.pull_request), methods=["GET"]),
    ]
    handlers = {HTTPException: _refused, UsageError: _failed, HistoryUnavailable: _failed}
    inner = Starlette(routes=routes, exception_handlers=handlers)  # type: ignore[arg-type]
    return Guard(inner, reviewing.hosts, reviewing.secure)


class _Site:
    def __init__(self, reviewing: Reviewing) -> None:
        self._again = Rejudging(reviewing.history)
        self._history = reviewing.history
        self._inbox = Inbox(reviewing.history)
        self._sessions = reviewing.sessions
        self._secure = reviewing.secure

    # ---- who ----------------------------------------------------------------------------------

    def signed_in(self, page: Callable[[Request, Session], Response]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            session = self._sessions.find(request.cookies.get(_COOKIE, ""))
            if session is None:
                if self._sessions.by_password and request.method == "GET":
                    return RedirectResponse("/login", 303)
                raise HTTPException(403, "open the address that `intelliperf review` printed; it works once")
            if request.method == "POST" and not same(dict(_form(request)).get("csrf", ""), session.csrf):
                raise HTTPException(403, "this form is not from this session; load the page again")
            return page(request, session)

        return answer

    def log_in(self, request: Request) -> Response:
        if not self._sessions.by_password:
            session = self._sessions.redeem(request.query_params.get("token", ""))
            if session is None:
                raise HTTPException(403, "this token was used or is wrong; start `intelliperf review` again")
        elif request.method == "GET":
            return HTMLResponse(pages.render("login.html", failed=False))
        else:
            fields = dict(_form(request))
            session = self._sessions.log_in(fields.get("name", ""), fields.get("password", ""))
            if session is None:
                time.sleep(_FAILED_LOGIN_S)  # in a worker thread: others are served meanwhile
                return HTMLResponse(pages.render("login.html", failed=True), 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(_COOKIE, session.key, httponly=True, samesite="strict", secure=self._secure, path="/")
        return answer

    # ---- what ---------------------------------------------------------------------------------

    def inbox(self, request: Request, session: Session) -> Response:
        chosen = request.query_params
        standing = _standing(chosen.get("standing", Standing.OPEN.value))
        query, target = chosen.get("q", "")[:200], chosen.get("target", "")[:200]
        entries = self._inbox.entries(standing)
        found = [one for one in entries if _fits(one, query, target, chosen.get("provenance", ""))]
        number = _number(chosen.get("page", "1"))
        values = {
            "entries": found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE],
            "found": len(found),
            "number": number,
            "last": max(1, -(-len(found) // PAGE_SIZE)),
            "earlier": str(request.url.include_query_params(page=number - 1).query),
            "later": str(request.url.include_query_params(page=number + 1).query),
            "targets": sorted({one.target for one in entries}),
            "standings": [s.value for s in Standing],
            "standing": standing.value if standing else "any",
            "q": query,
            "target": target,
            "provenance": chosen.get("provenance", ""),
        }
        return HTMLResponse(pages.render("inbox.html", session=session, **values))

    def patch(self, request: Request, session: Session) -> Response:
        patch, shown = self._shown(request)
        values = {
            "title": shown.title,
            "page": body(shown),
            "decisions": self._history.decisions(patch.id or 0),
            "again": self._again.known(patch.id or 0),
            "can_verify": shown.report is not None,
        }
        return HTMLResponse(pages.render("patch.html", session=session, patch=patch, **values))

    def log(self, request: Request, session: Session) -> Response:
        said = [(decision, visible(named, 200)) for decision, named in self._history.log()]
        return HTMLResponse(pages.render("log.html", session=session, said=said))

    def diff(self, request: Request, session: Session) -> Response:
        patch = self._patch(request)
        name = f"intelliperf-{patch.id}.diff"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        content = patch.diff.encode("utf-8", "surrogateescape")
        return Response(content, media_type="application/octet-stream", headers=headers)

    def pull_request(self, request: Request, session: Session) -> Response:
        patch, shown = self._shown(request)
        text = pull_request(patch, shown, self._history.decisions(patch.id or 0))
        return PlainTextResponse(text.encode("utf-8", "replace"))

    def _patch(self, request: Request) -> Patch:
        try:
            return self._history.patch(int(request.path_params["number"]))
        except (UsageError, OverflowError) as error:
            raise HTTPException(404, "there is no such patch") from error

    def _shown(self, request: Request) -> tuple[Patch, Content]:
        patch = self._patch(request)
        return patch, shown_patch(self._history, patch)

    # ---- decisions ----------------------------------------------------------------------------

    def decide(self, request: Request, session: Session) -> Response:
        patch = self._patch(request)
        fields = dict(_form(request))
        action = _ACTIONS.get(fields.get("action", ""))
        if action is None:
            raise HTTPException(400, "unknown action")
        reason = fields.get("reason", "").strip()[:_LONGEST_REASON]
        if action in (Choice.REJECT, Choice.COMMENT) and not reason:
            raise HTTPException(400, "a rejection or comment needs text: later searches and reviewers read it")
        seen = _number(fields.get("seen", ""), least=0)
        if action is Choice.VERIFY:
            self._verify(patch, session.reviewer, reason, seen)
        elif fields["action"] in ("branch", "apply"):
            self._accept(patch, session.reviewer, fields["action"], reason, seen)
        else:
            self._history.decide(patch.id or 0, session.reviewer, action, reason, seen)
        return RedirectResponse(f"/patch/{patch.id}", 303)

    def _verify(self, patch: Patch, reviewer: str, reason: str, seen: int) -> None:
        report, missing = report_of(patch)
        if report is None:
            raise UsageError(f"{missing}, so its program is not known; verify the patch by hand")
        self._history.decide(patch.id or 0, reviewer, Choice.VERIFY, reason, seen)
        self._again.begin(patch, report)

    def _accept(self, patch: Patch, reviewer: str, how: str, reason: str, seen: int) -> None:
        """Decided first: of two reviewers at once, only one writes to the repository. What fails is opened again."""
        report, missing = report_of(patch)
        if report is None:
            raise UsageError(f"{missing}, so its project is not known; download the patch and apply it by hand")
        project = report.application.project
        branch = f"intelliperf/{patch.id}-{patch.identity[:8]}"
        done = f"branch {branch} in {project}" if how == "branch" else f"applied to {project}"
        number = patch.id or 0
        self._history.decide(number, reviewer, Choice.ACCEPT, f"{done}. {reason}".strip(), seen)
        try:
            if how == "apply":
                git.apply_here(project, patch.diff)
            else:
                base = next((j.commit for j in reversed(latest(self._history.judgements(number))) if j.commit), None)
                git.make_branch(project, base or patch.base, patch.diff, _commit(patch, reviewer, branch))
        except (IntelliPerfError, OSError) as error:
            self._history.decide(number, reviewer, Choice.REOPEN, f"not done: {error}"[:_LONGEST_REASON], seen + 1)
            raise UsageError(f"the patch is open again: {error}") from error

    def bulk(self, request: Request, session: Session) -> Response:
        fields = _form(request)
        reason = dict(fields).get("reason", "").strip()[:_LONGEST_REASON]
        chosen = [value for name, value in fields if name == "patch"][: 2 * PAGE_SIZE]
        if not reason or not chosen:
            raise HTTPException(400, "choose patches and give a reason: later searches and reviewers read it")
        missed = []
        for value in chosen:
            number = _number(value)
            seen = self._history.decisions(number)
            if seen and seen[-1].choice in (Choice.ACCEPT, Choice.REJECT):
                missed.append(f"patch {number} was decided upon in the meantime")
                continue
            try:
                self._history.decide(number, session.reviewer, Choice.REJECT, reason, len(seen))
            except UsageError as error:
                missed.append(str(error))
        if missed:
            rejected = len(chosen) - len(missed)
            raise HTTPException(409, f"{rejected} rejected; not rejected: " + "; ".join(missed))
        return RedirectResponse("/", 303)


_ACTIONS = {
    "branch": Choice.ACCEPT,
    "apply": Choice.ACCEPT,
    "reject": Choice.REJECT,
    "comment": Choice.COMMENT,
    "retry": Choice.RETRY,
    "reopen": Choice.REOPEN,
    "verify": Choice.VERIFY,
}


def _commit(patch: Patch, reviewer: str, branch: str) -> git.Commit:
    trailers = (
        ("IntelliPerf-Run", Path(patch.directory).name),
        ("IntelliPerf-Patch", str(patch.id)),
        ("Reviewed-by", reviewer),
    )
    return git.Commit(branch, f"Speed up {patch.kernel}: {patch.formula}", patch.rationale, trailers)


def _form(request: Request) -> list[tuple[str, str]]:
    fields: list[tuple[str, str]] = request.scope.get(FORM, [])
    return fields


def _standing(value: str) -> Standing | None:
    if value == "any":
        return None
    try:
        return Standing(value)
    except ValueError as error:
        raise HTTPException(400, "unknown standing") from error


def _number(value: str, least: int = 1) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 9 or int(value) < least:
        raise HTTPException(400, "not a number")
    return int(value)


def _fits(one: Entry, query: str, target: str, provenance: str) -> bool:
    text = " ".join((one.target, one.kernel, one.formula, one.origin, *one.risks)).casefold()
    return (
        all(word in text for word in query.casefold().split())
        and target in ("", one.target)
        and provenance in ("", one.provenance)
    )


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404, "there is no such file")
    return Response(pages.static(name), media_type=_STATIC[name])


def _refused(_request: Request, error: HTTPException) -> Response:
    return HTMLResponse(pages.render("message.html", text=error.detail), error.status_code)


def _failed(_request: Request, error: IntelliPerfError) -> Response:
    status = 503 if isinstance(error, HistoryUnavailable) else 409
    return HTMLResponse(pages.render("message.html", text=str(error)), status)
