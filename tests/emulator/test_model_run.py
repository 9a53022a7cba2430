"""A whole run with a model: wrong replies first, a busy provider, a kill -9 in between, an accepted patch."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from servers.provider_server import Conversation, ProviderServer

ROOT = Path(__file__).parents[2]
CONVERSATION = ROOT / "tests" / "servers" / "conversations" / "rowsums" / "conversation.json"
DEADLINE_S = 240.0


def intelliperf(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "intelliperf", *arguments]


def answered(project: Path) -> int:
    """How many replies are in the run's journal."""
    exchanges = project.glob(".intelliperf/runs/*/exchanges/*.json")
    return sum(1 for path in exchanges if json.loads(path.read_text())["reply"] is not None)


@pytest.mark.slow
def test_a_run_with_a_model_survives_kill_9_and_pays_for_no_reply_twice(tmp_path: Path) -> None:
    project = tmp_path / "rowsums"
    shutil.copytree(ROOT / "examples" / "rowsums", project, ignore=shutil.ignore_patterns(".intelliperf"))
    conversation = Conversation.read(CONVERSATION)
    conversation.replies.insert(2, {"status": 401, "message": "this key was revoked"})  # in the middle of the run
    environment = {**os.environ, "ANTHROPIC_API_KEY": "demo-key"}
    with ProviderServer(conversation) as server:
        model = ("-r", "anthropic", "-m", "demo-model", "--api-base", server.root, "--price", "3,15")
        argv = intelliperf(
            "-f",
            "memoryAccess",
            "--target",
            "a100",
            "--parallel",
            "1",
            "-b",
            "make",
            *model,
            "--",
            "./rowsums",
            "32768",
            "400",
        )
        with (
            (tmp_path / "log").open("wb") as log,
            # What is killed cleans nothing up.
            tempfile.TemporaryDirectory(prefix="killed-", ignore_cleanup_errors=True) as place,
        ):
            killed = subprocess.Popen(argv, cwd=project, env={**environment, "TMPDIR": place}, stdout=log, stderr=log)
            until = time.monotonic() + DEADLINE_S
            while killed.poll() is None and answered(project) < 2 and time.monotonic() < until:
                time.sleep(0.05)
            killed.send_signal(signal.SIGKILL)
            assert killed.wait() == -signal.SIGKILL, (tmp_path / "log").read_text()
        paused = subprocess.run(
            intelliperf("resume"), cwd=project, env=environment, capture_output=True, text=True, timeout=DEADLINE_S
        )
        assert paused.returncode == 1, paused.stdout + paused.stderr
        assert "the run is paused; to resume: intelliperf resume" in paused.stderr
        assert "this key was revoked" in paused.stderr
        resumed = subprocess.run(
            intelliperf("resume"), cwd=project, env=environment, capture_output=True, text=True, timeout=DEADLINE_S
        )
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    (run,) = project.glob(".intelliperf/runs/*")
    report = json.loads((run / "report.json").read_text())
    outcomes = [attempt["verdict"]["outcome"] for attempt in report["attempts"] if attempt["verdict"]]
    assert outcomes == ["WRONG_OUTPUT", "ACCEPTED"]  # a function that does not exist costs a repair, and no attempt
    assert report["usage"]["input_tokens"] > 0 and report["usage"]["usd"] > 0
    # Two replies before the kill, then the refused key, the refusal for rate, its repetition and the last one.
    assert [call.status for call in conversation.calls] == [200, 200, 401, 429, 200, 200]
    subprocess.run(["git", "apply", "--check", str(run / "patch.diff")], cwd=project, check=True, timeout=30)
    kept = "".join(path.read_text("utf-8", "replace") for path in run.rglob("*") if path.is_file())
    assert "demo-key" not in kept
