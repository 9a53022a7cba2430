"""What the README and the tutorial show is what happens: their sessions are typed and compared, line by line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def sessions(page: Path) -> list[tuple[str, list[str]]]:
    """Commands of the page's console blocks with the lines shown below each; `…` stands for anything."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def _matches(shown: list[str], printed: str) -> bool:
    parts = [r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in shown]
    return re.fullmatch("".join(parts), printed) is not None


def replay(page: str, tmp_path: Path, count: int | None = None) -> None:
    shutil.copytree(ROOT / "examples" / "reduction", tmp_path / "examples" / "reduction")
    environment = {**os.environ, "NO_COLOR": "1"}
    place = tmp_path
    for command, shown in sessions(ROOT / page)[:count]:
        if command.startswith("cd "):
            place = place / command[3:]
            continue
        done = subprocess.run(
            command, shell=True, cwd=place, env=environment, capture_output=True, text=True, timeout=300
        )
        printed = done.stderr + done.stdout
        assert done.returncode == 0, f"{command}: {printed}"
        assert _matches(shown or ["…"], printed), f"{page} shows otherwise: {command}\n{printed}"


@pytest.mark.slow
def test_the_diagnosis_of_the_readme_is_what_is_printed(tmp_path: Path) -> None:
    replay("README.md", tmp_path, count=2)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_a_session_that_is_shown_is_what_happens(tmp_path: Path, page: str) -> None:
    replay(page, tmp_path)


def test_a_session_that_shows_something_else_is_noticed() -> None:
    assert _matches(["…", "a 1 …", "end"], "x\ny\na 1 2 3\nend\n")
    for printed in ("a 2\nend\n", "a 1 \n", "a 1 \nend\nmore\n"):
        assert not _matches(["…", "a 1 …", "end"], printed)
