"""Patches as a night knows them: one identity wherever their lines move, and whether a tree takes or holds them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from intelliperf.processes.process import output_of

_GIT_DEADLINE_S = 60.0


def identity(diff: str) -> str:
    """Hash of the files and of the lines removed and added, without their numbers and surroundings."""
    kept = []
    for line in diff.splitlines():
        if line.startswith("+++ "):
            kept.append(line.partition("\t")[0])
        elif line[:1] in ("+", "-") and not line.startswith("--- "):
            kept.append(line.rstrip())
    return hashlib.sha256("\n".join(kept).encode("utf-8", "surrogateescape")).hexdigest()


def applies(patch: Path, project: Path) -> bool:
    return _check(["--check", str(patch)], project)


def is_merged(patch: Path, project: Path) -> bool:
    """Does the tree already hold what the patch adds?"""
    return _check(["--check", "--reverse", str(patch)], project)


def _check(words: list[str], project: Path) -> bool:
    alone = {"GIT_CEILING_DIRECTORIES": str(project.parent), "GIT_DIR": str(project / ".no-repository")}
    return output_of(["git", "apply", *words], _GIT_DEADLINE_S, alone, project)[0].ok
