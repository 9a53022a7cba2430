"""Code objects and what was said of them, kept by their digest, so that a replay needs neither program nor compiler."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

_DIGEST_BYTES = 16
_GENERAL = ".general"


def keep(name: str, image: bytes, described: dict[str, object]) -> str:
    """The digest under which `load` finds it; empty where nothing is kept. `name`: the kernel's symbol."""
    directory = os.environ.get("INTELLIPERF_KEPT_CODE")
    if not directory:
        return ""
    head = json.dumps({"name": name, "described": described}, sort_keys=True).encode()
    content = head + b"\n" + image
    digest = hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()
    _write(directory, digest, content)
    return digest


def keep_general(digest: str, general: str, lds: int) -> None:
    """`general`: the digest of the same kernel without what is known of its numbers; with so much dynamic LDS."""
    if digest and general:
        _write(os.environ["INTELLIPERF_KEPT_CODE"], digest + _GENERAL, json.dumps([general, lds]).encode())


def load(digest: str) -> tuple[str, bytes, dict[str, Any]]:
    """The kernel's symbol, its image and its description. Raises `OSError` and `ValueError`."""
    head, _, image = _read(digest).partition(b"\n")
    known = json.loads(head)
    return known["name"], image, known["described"]


def general_of(digest: str) -> tuple[str, int] | None:
    """What `keep_general` was told."""
    try:
        general, lds = json.loads(_read(digest + _GENERAL))
    except FileNotFoundError:
        return None
    return str(general), int(lds)


def _read(name: str) -> bytes:
    with open(os.path.join(os.environ["INTELLIPERF_KEPT_CODE"], name), "rb") as file:
        return file.read()


def _write(directory: str, name: str, content: bytes) -> None:
    path = os.path.join(directory, name)
    if os.path.exists(path):
        return
    os.makedirs(directory, exist_ok=True)
    made = f"{path}.{os.getpid()}"
    with open(made, "wb") as file:
        file.write(content)
    os.replace(made, path)
