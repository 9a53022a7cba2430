"""The sandbox takes away what it says it takes away, and says so where it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from intelliperf.processes.process import output_of
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.records import CheckStatus


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox.probe(tmp_path / "probe")


def inside(sandbox: Sandbox, own: Path, script: str, deadline_s: float = 20.0):
    own.mkdir(exist_ok=True)
    return output_of(sandbox.wrap([sys.executable, "-S", "-c", script], [own]), deadline_s)


def test_the_probe_leaves_nothing_behind(tmp_path):
    assert Sandbox.probe(tmp_path / "probe").available in (True, False)
    assert list((tmp_path / "probe").iterdir()) == []


def test_an_unavailable_sandbox_is_told_and_runs_commands_as_they_are(tmp_path):
    assert UNCONFINED.wrap(["a", "b c"], [tmp_path]) == ("a", "b c")
    assert UNCONFINED.check().status is CheckStatus.NOT_RUN
    assert UNCONFINED.check().detail


def test_only_the_named_directory_can_be_written(sandbox, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = f"open({str(tmp_path / 'own' / 'f')!r}, 'w').write('x')\nopen({str(elsewhere / 'f')!r}, 'w').write('x')"
    inside(sandbox, tmp_path / "own", script)
    assert (tmp_path / "own" / "f").exists()
    assert not sandbox.available or not (elsewhere / "f").exists()


def test_there_is_no_network(sandbox, tmp_path):
    script = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    _, out, _ = inside(sandbox, tmp_path / "own", script)
    assert not sandbox.available or out.strip() == "['lo']"


def test_other_processes_are_out_of_sight_and_stragglers_die(sandbox, tmp_path):
    own = tmp_path / "own"
    script = (
        "import os, sys, time\n"
        "print(len([p for p in os.listdir('/proc') if p.isdigit()]), flush=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(1.5)\n"
        f"    open({str(own / 'late')!r}, 'w').write('x')\n"
    )
    _, out, _ = inside(sandbox, own, script)
    if sandbox.available:
        assert int(out) <= 3
        output_of(["sleep", "2"], 5.0)
        assert not (own / "late").exists()


ENDS = [
    ("import sys; sys.exit(7)", "exit status 7"),
    ("import os; os.abort()", "killed by SIGABRT"),
    ("import sys; sys.exit(139)", "exit status 139"),
]


@pytest.mark.parametrize(("script", "told"), ENDS)
def test_a_confined_command_ends_as_it_would_have_ended(sandbox, tmp_path, script, told):
    done, _, _ = inside(sandbox, tmp_path / "own", script)
    assert done.describe() == told


def test_a_confined_command_that_hangs_is_stopped(sandbox, tmp_path):
    done, _, _ = inside(sandbox, tmp_path / "own", "import time; time.sleep(60)", 0.5)
    assert done.timed_out


def test_a_program_inside_may_talk_to_itself_but_to_nobody_else(sandbox, tmp_path):
    script = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 3)\n"
        "assert [name for _, name in socket.if_nameindex()] == ['lo'] or SANDBOXED\nprint('heard')"
    ).replace("SANDBOXED", str(not sandbox.available))
    done, out, err = inside(sandbox, tmp_path / "own", script)
    assert done.ok, err
    assert out.strip() == "heard"
