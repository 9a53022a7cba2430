"""Child processes: deadlines, output limits, group kills, clear words."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from intelliperf.errors import UsageError
from intelliperf.processes.process import Child, clean_environment, run


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_goes_to_files_and_the_status_is_told(tmp_path: Path) -> None:
    done = run(
        python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), tmp_path, 20, tmp_path, "x"
    )
    assert (done.exit_status, done.describe()) == (3, "exit status 3")
    assert done.tail("stdout") == "out\n"
    assert done.tail() == "err\n"


def test_a_signal_is_named(tmp_path: Path) -> None:
    done = run(python("import os; os.kill(os.getpid(), 11)"), tmp_path, 20, tmp_path, "x")
    assert done.describe() == "killed by SIGSEGV"
    assert done.exit_status is None


def test_a_hanging_child_and_its_children_end_at_the_deadline(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); print(p.pid, flush=True); time.sleep(60)"
    )
    started = time.monotonic()
    done = run(python(code), tmp_path, 1.0, tmp_path, "x")
    assert done.timed_out and time.monotonic() - started < 10
    grandchild = int(done.tail("stdout"))
    for _ in range(50):
        status = Path(f"/proc/{grandchild}/stat")
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the grandchild is alive")


def test_a_child_that_writes_without_end_is_stopped(tmp_path: Path) -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    with Child(python(code), tmp_path, {}, tmp_path, "x") as child:
        done = child.wait(30, output_limit=1 << 20)
    assert done.output_exceeded and "wrote more than" in done.describe()


def test_leaving_the_context_kills_the_child(tmp_path: Path) -> None:
    with Child(python("import time; time.sleep(60)"), tmp_path, {}, tmp_path, "x") as child:
        pid = child.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_childs_group_ends_with_us_even_if_we_are_killed_outright(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys, time; from intelliperf.processes.process import Child\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "child = Child(['/bin/sh', '-c', 'sleep 60 & sleep 61'], here, {}, here, 'x')\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([*python(code), str(tmp_path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    group = int(parent.stdout.readline())
    os.killpg(group, 0)
    parent.kill()
    parent.communicate()
    until = time.monotonic() + 20
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(group, 0)
            time.sleep(0.02)


def test_a_child_that_ends_well_is_left_alone_by_its_guard(tmp_path: Path) -> None:
    done = run(python("import os, sys; sys.exit(os.getpgid(0) != os.getpid())"), tmp_path, 20, tmp_path, "x")
    assert done.ok


def test_keys_never_reach_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "OPENAI_API_KEY" not in clean_environment({"A": "b"})


def test_a_missing_program_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such program"):
        run(["./nothing-here"], tmp_path, 5, tmp_path, "x")
