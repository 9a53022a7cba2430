"""Does a tree take a patch, or hold it already?"""

from __future__ import annotations

from pathlib import Path

from intelliperf.processes.process import output_of

_GIT_DEADLINE_S = 60.0


def applies(patch: Path, project: Path) -> bool:
    return _check(["--check", str(patch)], project)


def is_merged(patch: Path, project: Path) -> bool:
    """Does the tree already hold what the patch adds?"""
    return _check(["--check", "--reverse", str(patch)], project)


def _check(words: list[str], project: Path) -> bool:
    alone = {"GIT_CEILING_DIRECTORIES": str(project.parent), "GIT_DIR": str(project / ".no-repository")}
    return output_of(["git", "apply", *words], _GIT_DEADLINE_S, alone, project)[0].ok
