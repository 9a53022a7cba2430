"""What every request passes before any page: its host, its size, its session; and the headers of every response."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY_BYTES = 64 * 1024
FORM = "intelliperf.form"  # in a request's scope: name and value of each field
_MOST_FIELDS = 2_000
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # "no-referrer" would make browsers send "Origin: null" with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, application: ASGIApp, hosts: Collection[str], secure: bool) -> None:
        self._application = application
        self._hosts = frozenset(hosts)  # with their port; empty where any may be meant
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if self._secure:
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        refusal = await self._refusal(scope, receive)
        await (refusal or self._application)(scope, receive, protected)

    async def _refusal(self, scope: Scope, receive: Receive) -> PlainTextResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts and host not in self._hosts:  # a name that somebody else pointed here: DNS rebinding
            return PlainTextResponse("this host is not served here", 421)
        if scope["method"] in ("GET", "HEAD"):
            return None
        if scope["method"] != "POST":
            return PlainTextResponse("method not allowed", 405)
        origin = f"{'https' if self._secure else 'http'}://{host}"
        if headers.get("origin", origin) != origin or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return PlainTextResponse("a form of another site", 403)
        if headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
            return PlainTextResponse("not a form", 415)
        return await _read_form(scope, receive, headers)


async def _read_form(scope: Scope, receive: Receive, headers: Headers) -> PlainTextResponse | None:
    too_large = PlainTextResponse("the request is too large", 413)
    declared = headers.get("content-length", "0")
    if not declared.isascii() or not declared.isdigit() or int(declared) > MOST_BODY_BYTES:
        return too_large
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":  # the browser went
            return PlainTextResponse("the request was not sent to its end", 400)
        body += message.get("body", b"")
        if len(body) > MOST_BODY_BYTES:
            return too_large
        more = message.get("more_body", False)
    try:
        text = body.decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
    except ValueError:
        return PlainTextResponse("not a form", 400)
    scope[FORM] = fields
    return None
