"""The action's scripts, with stand-ins for `gh` and `intelliperf` that record what they were asked."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "intelliperf"


def stand_in(place: Path, name: str, script: str) -> None:
    place.mkdir(exist_ok=True)
    (place / name).write_text(f"#!/bin/bash\n{script}\n")
    (place / name).chmod(0o755)


def run(script: str, place: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", **variables}
    return subprocess.run([ACTION / script], cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("known", "expected"), [("", "POST"), ("77", "PATCH")])
def test_the_comment_is_updated_and_not_repeated(tmp_path: Path, known: str, expected: str) -> None:
    log = (
        f'if [[ "$*" == *--jq* ]]; then echo "{known}"; exit; fi\n'
        f'echo "$*" >>{tmp_path}/calls; last="${{@: -1:1}}"; cat "${{last#body=@}}" >{tmp_path}/body'
    )
    stand_in(tmp_path / "bin", "gh", log)
    (tmp_path / "summary.md").write_text("verdict for @somebody\n" + "x" * 90_000)
    done = run("comment.sh", tmp_path, REPOSITORY="o/r", NUMBER="5", SUMMARY=str(tmp_path / "summary.md"))
    assert done.returncode == 0, done.stderr
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert f"-X {expected}" in call and ("comments/77" in call) == bool(known)
    body = (tmp_path / "body").read_text()
    assert body.startswith("<!-- intelliperf verify -->\n") and "@somebody" not in body and len(body) < 65_536


def verify(tmp_path: Path, script: str, command: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    stand_in(tmp_path / "bin", "intelliperf", script)
    settings = {"MODE": "verify", "COMMAND": command, "BUILD": "", "PROJECT": ".", "BASE": "abc", "TARGET": "mi300x"}
    files = {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "out"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "sum"),
    }
    return run("run.sh", tmp_path, **settings, **files, FILE=""), tmp_path / "out"


def test_a_verdict_is_handed_on_and_a_command_is_one_word(tmp_path: Path) -> None:
    run_directory = tmp_path / "intelliperf-runs" / "a"
    script = (
        f"printf '%s\\n' \"$@\" >{tmp_path}/words; mkdir -p {run_directory}; cd {run_directory}\n"
        "echo verdict >summary.md; touch report.json report.html; exit 3"
    )
    done, out = verify(tmp_path, script, "./app 'a b'; $(touch owned)")
    assert done.returncode == 0, done.stderr
    assert "status=3\n" in out.read_text() and (tmp_path / "sum").read_text() == "verdict\n"
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:2] == ["verify", "abc..HEAD"] and words[-1] == "./app 'a b'; $(touch owned)"
    assert not (tmp_path / "owned").exists()


def test_without_a_verdict_nothing_is_claimed(tmp_path: Path) -> None:
    done, out = verify(tmp_path, "echo 'error: does not build' >&2; exit 1", "./app")
    assert done.returncode == 0 and "status=1\n" in out.read_text()
    summary = (tmp_path / "sum").read_text()
    assert "no verdict" in summary and "does not build" in summary and "accepted" not in summary


def test_workflows_pin_actions_and_put_no_input_into_a_script() -> None:
    for path in (*(ROOT / "docs" / "ci").glob("*.yml"), ACTION / "action.yml"):
        text = path.read_text()
        for used in re.findall(r"uses: ([^\s]+)", text):
            assert re.search(r"@[0-9a-f]{40}$|@COMMIT$", used), f"{path.name}: {used}"
        assert not re.search(r"run:.*\$\{\{", text), path.name
        assert "pull_request_target:" not in text
