"""One server until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from intelliperf.errors import UsageError
from intelliperf.history.store import History
from intelliperf.review.server import Reviewing, application
from intelliperf.review.sessions import Sessions

_MOST_CONNECTIONS = 64


@dataclass(frozen=True)
class Listening:
    host: str
    port: int  # 0: any free one
    certificate: Path | None = None
    key: Path | None = None


def serve(
    history: History,
    where: Listening,
    reviewer: str,
    passwords: Mapping[str, str] | None,
    tell: Callable[[str], None],
) -> None:
    """Tells the address first. Raises `UsageError` where the address or the certificate cannot be used."""
    family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((where.host, where.port))
        except OSError as error:
            raise UsageError(f"--listen {where.host}:{where.port}: {error.strerror or error}") from error
        port = listener.getsockname()[1]
        secure = where.certificate is not None
        sessions = Sessions(reviewer, passwords)
        hosts = _hosts(where.host, port) if passwords is None else ()
        config = uvicorn.Config(
            application(Reviewing(history, sessions, hosts, secure)),
            log_level="warning",
            access_log=False,  # would log the token
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            ssl_certfile=where.certificate,
            ssl_keyfile=where.key,
            timeout_graceful_shutdown=5,
        )
        try:
            config.load()
        except OSError as error:
            raise UsageError(f"--tls-cert {where.certificate}: {error}") from error
        shown = f"[{where.host}]" if family == socket.AF_INET6 else where.host
        path = f"/login?token={sessions.token}" if sessions.token else "/"
        tell(f"http{'s' if secure else ''}://{shown}:{port}{path}")
        uvicorn.Server(config).run(sockets=[listener])


def _hosts(host: str, port: int) -> tuple[str, ...]:
    names = {host, "localhost", "127.0.0.1", "[::1]"}
    return tuple(f"{name}:{port}" for name in names)
