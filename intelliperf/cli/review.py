"""`intelliperf review`: the page for people, and the page of one run as a file."""

from __future__ import annotations

import getpass
import ipaddress
import socket
from collections.abc import Sequence
from pathlib import Path

from intelliperf.cli.options import ReviewOptions, RunOptions
from intelliperf.errors import BackendUnavailable, UsageError
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import write_atomically

_EXTRA = "pip install 'intelliperf[review]'"
_DATABASE = Path(".intelliperf") / "history.db"
_GIT_DEADLINE_S = 10.0


def review_patches(options: ReviewOptions) -> int:
    """Until Ctrl-C; or writes one file."""
    try:
        if options.hash_password is not None:
            return _hash_password(options.hash_password)
        if options.export is not None:
            return _export(options.export, options.runs)
        return _serve(options) if options.accepted is None else _accepted(options.accepted, options)
    except ModuleNotFoundError as error:
        raise BackendUnavailable(f"{error}: {_EXTRA}") from error


def _hash_password(name: str) -> int:
    from intelliperf.review.sessions import hashed

    if not name or ":" in name or not name.isprintable():
        raise UsageError("--hash-password NAME: a name without colons")
    print(f"{name}:{hashed(getpass.getpass(f'Password of {name}: '))}")
    return 0


def _export(file: Path, runs: Sequence[Path]) -> int:
    from intelliperf.cli.runs import find_run
    from intelliperf.review.pages import exported

    if len(runs) > 1:
        raise UsageError("--export takes one run")
    write_atomically(file, exported(find_run(RunOptions(runs[0] if runs else None))).encode("utf-8"))
    print(f"written: {file}")
    return 0


def _accepted(directory: Path, options: ReviewOptions) -> int:
    from intelliperf.history.opening import open_history
    from intelliperf.history.records import Standing
    from intelliperf.review.shown import shown_patch
    from intelliperf.review.views import pull_request

    history = open_history(options.database or str(_DATABASE), read_only=True)
    try:
        for patch in reversed(history.patches(Standing.ACCEPTED)):
            name = f"{patch.id}-{patch.identity[:8]}"
            text = pull_request(patch, shown_patch(history, patch), history.decisions(patch.id or 0))
            write_atomically(directory / f"{name}.diff", patch.diff.encode("utf-8", "surrogateescape"))
            write_atomically(directory / f"{name}.md", text.encode("utf-8", "replace"))
            print(f"patch {patch.id} of {patch.target}: {directory / name}.diff")
    finally:
        history.close()
    return 0


def _serve(options: ReviewOptions) -> int:
    from intelliperf.history.opening import open_history
    from intelliperf.review.adding import add_run
    from intelliperf.review.serving import Listening, serve
    from intelliperf.review.sessions import read_passwords

    host, port = _address(options.listen)
    tls = (options.tls_cert, options.tls_key)
    if not _is_loopback(host) and (None in tls or options.password_file is None):
        raise UsageError(f"--listen {options.listen} is open to others: give --tls-cert, --tls-key and --password-file")
    if tls.count(None) == 1:
        raise UsageError("--tls-cert and --tls-key go together")
    passwords = read_passwords(options.password_file) if options.password_file is not None else None
    history = open_history(options.database or str(_DATABASE), anew=bool(options.runs))
    try:
        for run in options.runs:
            print(add_run(history, run))
        serve(history, Listening(host, port, *tls), _reviewer(), passwords, _tell)
    finally:
        history.close()
    return 0


def _tell(text: str) -> None:
    print(text, flush=True)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"--listen {text}: want HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reviewer() -> str:
    """As git knows the person who started this; else the login's name."""
    done, out, _err = output_of(["git", "config", "user.name"], _GIT_DEADLINE_S)
    if done.ok and out.strip():
        return out.strip()
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return socket.gethostname()
