"""Run directories: written before acted upon, found again after a kill."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from pathlib import Path

import pytest
from test_codec import accepted_attempt

from intelliperf.cli.improve import scratch
from intelliperf.cli.options import Options
from intelliperf.errors import StorageFull, UsageError
from intelliperf.processes.storage import storage_errors
from intelliperf.project.journal import SCRATCH, Journal, lasting_place
from intelliperf.records import Kernel
from intelliperf.search.building import STARTED


def test_a_stage_is_computed_once_over_two_processes_of_a_run(tmp_path: Path) -> None:
    calls = []

    def compute() -> Kernel:
        calls.append(1)
        return Kernel("_Z1kv", "k()")

    for _ in range(2):
        with Journal(tmp_path / "run") as journal:
            assert journal.stage("kernel", Kernel, compute) == Kernel("_Z1kv", "k()")
    assert calls == [1]


def test_attempts_and_exchanges_are_found_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "run") as journal:
        journal.keep_attempt(accepted_attempt())
        journal.keep_exchange("abc", {"reply": "text"})
    with Journal(tmp_path / "run") as journal:
        assert journal.attempt(1) == accepted_attempt()
        assert journal.attempt(2) is None
        assert journal.exchange("abc") == {"reply": "text"}
        assert journal.exchange("abd") is None


def test_what_ends_a_run_early_tells_what_was_accepted(tmp_path: Path) -> None:
    heard: list[dict[str, object]] = []
    options = Options(command=("./app",))
    with Journal(tmp_path / "run", heard.append) as journal:
        for name in ("run.json", STARTED):
            journal.write(name, b"")
        journal.keep_attempt(accepted_attempt())
        journal.attempt_directory(2)
        journal.write("attempts/003/attempt.json", b"cut off")
        with pytest.raises(StorageFull), scratch(options, journal):
            raise StorageFull("no space left")
    assert str(heard[-1]["text"]).startswith("1 accepted candidate is kept; to resume: intelliperf resume")


def test_two_runs_in_one_second_get_two_directories(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "x") as first, Journal.create(tmp_path, "x") as second:
        assert first.directory != second.directory


def test_a_run_in_use_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path / "run"), pytest.raises(UsageError, match="in use"):
        Journal(tmp_path / "run")


def test_events_reach_the_listener_and_the_file(tmp_path: Path) -> None:
    heard: list[dict[str, object]] = []
    with Journal(tmp_path / "run", heard.append) as journal:
        journal.event("stage", stage="build", state="begin")
    (line,) = (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    assert json.loads(line) == heard[0]


def test_a_full_disk_is_named_with_the_remedy(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.fail("this platform has no /dev/full")
    with Journal(tmp_path / "run") as journal:
        journal._events.close()
        journal._events = Path("/dev/full").open("a")  # noqa: SIM115
        with pytest.raises(StorageFull, match="no space left"):
            journal.event("note", text="x")
        with pytest.raises(OSError, match="No space"):
            journal._events.close()


def test_a_read_only_place_is_named_with_the_option_that_names_another(tmp_path: Path) -> None:
    said = r"cannot write .*: Read-only.*; name another directory with --run-root"
    with pytest.raises(StorageFull, match=said), storage_errors(tmp_path):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_scratch_copies_lie_where_those_of_the_run_before_lay(tmp_path: Path) -> None:
    with lasting_place(begun(tmp_path, "first")) as first, lasting_place(begun(tmp_path, "beside it")) as beside:
        assert first != beside
        (first / "left").write_text("")
    with lasting_place(begun(tmp_path, "second")) as second:
        assert second == first and not list(second.iterdir())
    assert not (tmp_path / SCRATCH).exists()
    with contextlib.suppress(UsageError), lasting_place(begun(tmp_path, "refused")):
        raise UsageError("no such patch")
    assert not (tmp_path / SCRATCH).exists()


def test_a_resumed_run_gets_its_own_place_or_none(tmp_path: Path) -> None:
    run = begun(tmp_path, "resumed")
    with lasting_place(begun(tmp_path, "first")), lasting_place(run) as had:
        pass
    (run / "stages").mkdir()
    with lasting_place(run) as again:
        assert again == had
    taken = pytest.raises(UsageError, match="which another run has now")
    with lasting_place(begun(tmp_path, "a")), lasting_place(begun(tmp_path, "b")), taken, lasting_place(run):
        pass


def begun(root: Path, name: str) -> Path:
    (root / name).mkdir()
    return root / name
