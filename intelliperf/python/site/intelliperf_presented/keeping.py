"""Code objects and what was said of them, kept by their digest, so that a replay needs neither program nor compiler."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

_DIGEST_BYTES = 16
_GENERAL = ".general"
_CONSTANTS = ".constants"


def keep(name: str, image: bytes, described: dict[str, object]) -> str:
    """The digest under which `load` finds it; empty where nothing is kept. `name`: the kernel's symbol."""
    directory = os.environ.get("INTELLIPERF_KEPT_CODE")
    if not directory:
        return ""
    head = json.dumps({"name": name, "described": described}, sort_keys=True).encode()
    content = head + b"\n" + image
    digest = _digest(content)
    _write(directory, digest, content)
    return digest


def keep_general(digest: str, general: str, lds: int) -> None:
    """`general`: the digest of the same kernel without what is known of its numbers; with so much dynamic LDS."""
    if digest and general:
        told = [general, lds, _seal(digest, general, lds)]
        _write(os.environ["INTELLIPERF_KEPT_CODE"], digest + _GENERAL, json.dumps(told).encode())


def keep_others(digest: str, others: Sequence[tuple[str, str, int]]) -> None:
    """The same kernel with other constants: how they differ, the digest of each, its dynamic LDS."""
    if digest and others:
        told = [*others, _digest(json.dumps([digest, *others]).encode())]
        _write(os.environ["INTELLIPERF_KEPT_CODE"], digest + _CONSTANTS, json.dumps(told).encode())


def load(digest: str) -> tuple[str, bytes, dict[str, Any]]:
    """The kernel's symbol, its image and its description. Raises `OSError`, and `ValueError` for what was changed."""
    content = _read(digest)
    if _digest(content) != digest:
        raise ValueError(f"kept code {digest} was changed")
    head, _, image = content.partition(b"\n")
    known = json.loads(head)
    return known["name"], image, known["described"]


def general_of(digest: str) -> tuple[str, int] | None:
    """What `keep_general` was told. Raises `OSError`, and `ValueError` for what was changed."""
    try:
        general, lds, seal = json.loads(_read(digest + _GENERAL))
    except FileNotFoundError:
        return None
    if seal != _seal(digest, general, lds):
        raise ValueError(f"what is kept beside code {digest} was changed")
    return str(general), int(lds)


def others_of(digest: str) -> list[tuple[str, str, int]]:
    """What `keep_others` was told. Raises `OSError`, and `ValueError` for what was changed."""
    try:
        *others, seal = json.loads(_read(digest + _CONSTANTS))
    except FileNotFoundError:
        return []
    if seal != _digest(json.dumps([digest, *others]).encode()):
        raise ValueError(f"what is kept beside code {digest} was changed")
    return [(str(how), str(other), int(lds)) for how, other, lds in others]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def _seal(special: str, general: object, lds: object) -> str:
    return _digest(json.dumps([special, general, lds]).encode())


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
