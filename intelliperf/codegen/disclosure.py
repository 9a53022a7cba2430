"""What may leave the machine, and how it is fenced off from our own words.

Sources and logs are shown to a model line by line: obvious secrets are blanked, bytes that are not
UTF-8 are replaced, machine paths are made relative. A shown line keeps its place, so that an edit
of the shown text can be carried over to the real one. This is a net under the user, not a proof
that nothing confidential is sent: the kernel's source itself is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from intelliperf.processes.secrets import REDACTED, without_secrets

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def split_lines(text: str) -> list[str]:
    """The lines with their own endings; only LF ends a line, as compilers and git see it."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def bare(line: str) -> str:
    """The line without its LF or CRLF."""
    return line.removesuffix("\n").removesuffix("\r")


def shown_lines(text: str) -> list[str]:
    """Each line of `text` as it may be shown, without its ending: same number, same order."""
    shown = []
    in_key = False
    for line in split_lines(text):
        content = bare(line)
        if _KEY_BEGIN.search(content):
            in_key = True
        shown.append(REDACTED if in_key else _shown(content))
        if _KEY_END.search(content):
            in_key = False
    return shown


def _shown(line: str) -> str:
    valid = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return without_secrets(valid)


def shown_text(text: str, roots: Iterable[Path] = ()) -> str:
    """Program output, compiler messages or a diff as it may be shown; `roots` are made relative."""
    shown = "\n".join(shown_lines(text))
    for root in roots:
        shown = shown.replace(f"{root}/", "").replace(str(root), ".")
    return _CONTROL.sub("", shown)


def printable(text: str) -> str:
    """Foreign words without control characters: nothing that a terminal would obey."""
    return _CONTROL.sub("", text)


def fenced(kind: str, content: str, **attributes: str | int) -> str:
    """`content` between tags that it cannot close: their name is derived from its own hash."""
    salt = 0
    while True:
        name = hashlib.sha256(f"{salt}:{content}".encode()).hexdigest()[:10]
        if name not in content:
            break
        salt += 1
    described = "".join(f' {key}="{value}"' for key, value in {"kind": kind, **attributes}.items())
    return f"<data-{name}{described}>\n{content}\n</data-{name}>"
