"""Whole runs cut short: Ctrl-C in a terminal, kill -9 and resume, and what they leave behind."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from intelliperf.project.journal import SCRATCH

ROOT = Path(__file__).parents[2]
DEADLINE_S = 300.0
ARGUMENTS = ("-f", "atomicContention", "-b", "make app-cuda", "--", "./app-cuda", "16384")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    directory = tmp_path / "reduction"
    shutil.copytree(ROOT / "examples" / "reduction", directory, ignore=shutil.ignore_patterns(".intelliperf"))
    yield directory


def argv(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "intelliperf", *arguments]


def marked(mark: str) -> list[str]:
    """Command lines of the living processes that carry the mark in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def events(project: Path) -> list[dict[str, object]]:
    (path,) = project.glob(".intelliperf/runs/*/events.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]


def reached(project: Path, stage: str) -> Callable[[], bool]:
    return lambda: (
        any(project.glob(".intelliperf/runs/*/events.jsonl"))
        and any(event.get("stage") == stage for event in events(project))
    )


def resumed(project: Path) -> dict[str, object]:
    done = subprocess.run(argv("resume"), cwd=project, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    (run,) = project.glob(".intelliperf/runs/*")
    assert not (run.parent / SCRATCH).exists() and not list(run.glob("sandbox-*")), "leftovers"
    report: dict[str, object] = json.loads((run / "report.json").read_text())
    return report


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_leaves_no_child_a_good_terminal_and_a_run_to_resume(project: Path) -> None:
    mark = f"INTERRUPTED_RUN={project}"
    pid, terminal = pty.fork()
    if pid == 0:
        name, _, value = mark.partition("=")
        os.chdir(project)
        os.execve(sys.executable, argv(*ARGUMENTS), {**os.environ, name: value, "TERM": "xterm"})
    said = bytearray()

    def reads(condition: Callable[[], bool]) -> bool:
        os.set_blocking(terminal, False)
        with contextlib.suppress(OSError):  # nothing to read yet, or the other end is closed
            while more := os.read(terminal, 65536):
                said.extend(more)
        return condition()

    assert wait_until(lambda: reads(lambda: len(marked(mark)) > 1 and reached(project, "build")()))
    os.write(terminal, b"\x03")
    states: list[int] = []

    def ended() -> bool:
        ended_pid, status = os.waitpid(pid, os.WNOHANG)
        if ended_pid:
            states.append(os.waitstatus_to_exitcode(status))
        return bool(ended_pid)

    assert wait_until(lambda: reads(ended))
    reads(lambda: True)
    os.close(terminal)
    assert states == [130], said.decode()
    assert wait_until(lambda: not marked(mark)), marked(mark)
    assert said.rfind(b"\x1b[?25h") > said.rfind(b"\x1b[?25l"), "the cursor is hidden"
    assert b"interrupted" in said and b"intelliperf resume" in said
    assert "interrupted" in [event.get("text") for event in events(project)]
    assert resumed(project)["ending"] == "improved"


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["profile", "validate"])
def test_a_run_killed_outright_leaves_no_process_and_ends_as_if_it_had_not_been(project: Path, stage: str) -> None:
    place = project.parent / "temporary"  # nobody clears up behind SIGKILL
    place.mkdir()
    mark = f"KILLED_RUN={project}"
    name, _, value = mark.partition("=")
    killed = subprocess.Popen(
        argv(*ARGUMENTS),
        cwd=project,
        env={**os.environ, name: value, "TMPDIR": str(place)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert wait_until(lambda: killed.poll() is not None or reached(project, stage)())
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert wait_until(lambda: not marked(mark)), marked(mark)
    report = resumed(project)
    assert (report["ending"], report["accepted"]) == ("improved", 1)
    again = subprocess.run(argv("resume"), cwd=project, capture_output=True, text=True, timeout=DEADLINE_S)
    assert again.returncode == 2 and "no interrupted run" in again.stderr
