"""What reviewers said of earlier patches, as a file that a search reads: the same change is not proposed twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import IntelliPerfError, UsageError
from intelliperf.project.codec import decode
from intelliperf.project.journal import read_json
from intelliperf.records import Review


@dataclass(frozen=True)
class Reviews:
    """The file, as JSON."""

    reviews: tuple[Review, ...] = ()


def read_reviews(path: Path) -> tuple[Review, ...]:
    """Raises `UsageError` where the file is none of these."""
    try:
        return decode(Reviews, read_json(path)).reviews
    except (IntelliPerfError, OSError) as error:
        raise UsageError(f"--reviews {path} is not a file of reviews: {error}") from error


def identity(diff: str) -> str:
    """Hash of the files and of the lines removed and added, without their numbers and surroundings."""
    kept = []
    for line in diff.splitlines():
        if line.startswith("+++ "):
            kept.append(line.partition("\t")[0])
        elif line[:1] in ("+", "-") and not line.startswith("--- "):
            kept.append(line.rstrip())
    return hashlib.sha256("\n".join(kept).encode("utf-8", "surrogateescape")).hexdigest()
