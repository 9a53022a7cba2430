"""What a program printed outlives the traces of its run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from intelliperf.cli.improve import keep_output
from intelliperf.cli.options import RunOptions
from intelliperf.cli.runs import print_report
from intelliperf.errors import UsageError


def logs(run: Path, place: str, printed: str, seconds: int) -> None:
    directory = run / "device" / place
    directory.mkdir(parents=True)
    for stream in ("stdout", "stderr"):
        log = directory / f"run.{stream}"
        log.write_text(f"{printed} on {stream}\n", encoding="utf-8")
        os.utime(log, (seconds, seconds))


def test_the_first_run_is_kept_and_printed_stream_by_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    logs(run, "traces/002", "candidate", 20)
    logs(run, "traces/001", "original", 10)
    keep_output(run)
    logs(run, "traces/000", "resumed", 5)
    keep_output(run)
    assert print_report(RunOptions(run=run), program_output=True) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("original on stdout\n", "original on stderr\n")


def test_a_run_without_output_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keep_output(tmp_path)  # nothing was run
    with pytest.raises(UsageError, match="no profiled run"):
        print_report(RunOptions(), program_output=True)
