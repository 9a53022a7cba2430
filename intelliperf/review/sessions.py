"""Who may look and decide: a token that works once, passwords of a file, sessions, and proof that a form is ours."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import UsageError

_LIFETIME_S = 12 * 3600.0
_MOST_SESSIONS = 200
_SCRYPT = {"n": 2**14, "r": 8, "p": 1}  # RFC 7914's parameters for interactive logins
_SALT_BYTES = 16


@dataclass(frozen=True)
class Session:
    key: str
    reviewer: str
    csrf: str
    ends: float  # on the monotonic clock


class Sessions:
    """Those of one server, in memory: they end with it."""

    def __init__(self, reviewer: str, passwords: Mapping[str, str] | None = None) -> None:
        self._token: str | None = None if passwords is not None else secrets.token_urlsafe(32)
        self._reviewer = reviewer
        self._passwords = passwords
        self._open: dict[str, Session] = {}
        self._lock = threading.Lock()

    @property
    def token(self) -> str | None:
        """None with passwords, or once it was used."""
        return self._token

    @property
    def by_password(self) -> bool:
        return self._passwords is not None

    def redeem(self, token: str) -> Session | None:
        with self._lock:
            if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
                return None
            self._token = None
            return self._begin(self._reviewer)

    def log_in(self, name: str, password: str) -> Session | None:
        if self._passwords is None:
            return None
        kept = self._passwords.get(name) or hashed("")  # as slow for a name that does not exist
        if not _matches(password, kept) or name not in self._passwords:
            return None
        with self._lock:
            return self._begin(name)

    def find(self, key: str) -> Session | None:
        with self._lock:
            session = self._open.get(key)
            if session is not None and session.ends < time.monotonic():
                del self._open[key]
                return None
            return session

    def _begin(self, reviewer: str) -> Session:
        ends = time.monotonic() + _LIFETIME_S
        session = Session(secrets.token_urlsafe(32), reviewer, secrets.token_urlsafe(32), ends)
        while len(self._open) >= _MOST_SESSIONS:
            del self._open[min(self._open.values(), key=lambda s: s.ends).key]
        self._open[session.key] = session
        return session


def same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def hashed(password: str) -> str:
    """ "scrypt:SALT:HASH" as a password file holds it."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return f"scrypt:{salt.hex()}:{hashlib.scrypt(password.encode(), salt=salt, **_SCRYPT).hex()}"


def _matches(password: str, kept: str) -> bool:
    _scheme, salt, expected = kept.split(":")
    made = hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), **_SCRYPT).hex()
    return hmac.compare_digest(made, expected)


def read_passwords(path: Path) -> dict[str, str]:
    """Reviewer → hash, of lines "NAME:scrypt:SALT:HASH".

    Raises `UsageError` where other users may read the file, or a line is malformed.
    """
    try:
        mode, text = path.stat().st_mode, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--password-file {path}: {getattr(error, 'strerror', None) or error}") from error
    if mode & 0o077:
        raise UsageError(f"--password-file {path}: others may read it; chmod 600 {path}")
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, kept = line.strip().partition(":")
        scheme, _, rest = kept.partition(":")
        salt, _, digest = rest.partition(":")
        try:
            good = bool(name) and scheme == "scrypt" and bytes.fromhex(salt) and len(bytes.fromhex(digest)) == 64
        except ValueError:
            good = False
        if not good:
            raise UsageError(f"--password-file {path}, line {number}: want NAME:scrypt:SALT:HASH (--hash-password)")
        found[name] = kept
    if not found:
        raise UsageError(
            f"--password-file {path} names nobody: add a line with `intelliperf review --hash-password NAME`"
        )
    return found
