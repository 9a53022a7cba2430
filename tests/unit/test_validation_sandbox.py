"""The sandbox takes away what it says it takes away, and says so where it cannot."""

from __future__ import annotations

import marshal
import sys
from pathlib import Path

import pytest

from intelliperf.processes import confine
from intelliperf.processes.process import output_of
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.records import CheckStatus

CONFINE = Path(confine.__file__)


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


@pytest.mark.namespaces
def test_only_the_named_directory_can_be_written(sandbox, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    script = f"open({str(tmp_path / 'own' / 'f')!r}, 'w').write('x')\nopen({str(elsewhere / 'f')!r}, 'w').write('x')"
    inside(sandbox, tmp_path / "own", script)
    assert (tmp_path / "own" / "f").exists()
    assert not (elsewhere / "f").exists()


@pytest.mark.namespaces
def test_there_is_no_network(sandbox, tmp_path):
    script = "import socket; print(sorted(name for _, name in socket.if_nameindex()))"
    _, out, _ = inside(sandbox, tmp_path / "own", script)
    assert out.strip() == "['lo']"


@pytest.mark.namespaces
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


@pytest.mark.namespaces
def test_a_program_inside_may_talk_to_itself_but_to_nobody_else(sandbox, tmp_path):
    script = (
        "import socket\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname(), 3)\n"
        "assert [name for _, name in socket.if_nameindex()] == ['lo']\nprint('heard')"
    )
    done, out, err = inside(sandbox, tmp_path / "own", script)
    assert done.ok, err
    assert out.strip() == "heard"


SECRETS = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN", "HUGGINGFACE_HUB_TOKEN",
    "NPM_TOKEN", "PYPI_PASSWORD", "DOCKER_AUTH_CONFIG", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DATABASE_URL", "PGPASSWORD",
    "MYSQL_PWD", "SLACK_WEBHOOK", "STRIPE_SK", "KUBECONFIG", "VAULT_ADDR", "NETRC", "SENTRY_DSN", "WANDB_API_KEY",
    "CI_JOB_JWT", "LICENSE", "MY_PRIVATE_THING", "CUDA_LICENSE_KEY",
)  # fmt: skip


def test_of_thirty_secrets_in_the_environment_a_confined_program_sees_none(monkeypatch, sandbox, tmp_path):
    for name in SECRETS:
        monkeypatch.setenv(name, "s3cret-value")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("DATA_SET", "small")
    script = (
        "import os; print(sorted(n for n, v in os.environ.items() if v == 's3cret-value')); print(dict(os.environ))"
    )
    done, out, _ = inside(sandbox, tmp_path / "own", script)
    assert done.ok and out.splitlines()[0] == "[]"
    assert "'OMP_NUM_THREADS': '2'" in out and "DATA_SET" not in out
    passing = Sandbox.probe(tmp_path / "probe", ["DATA_SET"])
    _, out, _ = inside(passing, tmp_path / "own", script)
    assert "'DATA_SET': 'small'" in out


@pytest.mark.namespaces
def test_files_with_keys_and_what_hides_in_the_home_directory_look_empty(monkeypatch, sandbox, tmp_path):
    home, own = tmp_path / "home", tmp_path / "home" / "project" / "own"
    (home / ".ssh").mkdir(parents=True)
    own.mkdir(parents=True)
    for path in (home / ".ssh" / "id", home / ".netrc", home / "project" / ".env", own / ".env", home / "data"):
        path.write_text("s3cret-value")
    monkeypatch.setenv("HOME", str(home))
    script = (
        "import pathlib\n"
        f"home = pathlib.Path({str(home)!r})\n"
        "print([str(p.relative_to(home)) for p in sorted(home.rglob('*')) if p.is_file() and p.read_text()])\n"
    )
    _, out, _ = inside(sandbox, own, script)
    assert out.strip() == "['data']"


@pytest.mark.namespaces
def test_no_process_is_traced_and_no_mount_undone(sandbox, tmp_path):
    script = (
        "import ctypes, os, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "pid = os.fork()\n"
        "if pid == 0: time.sleep(5)\n"
        "print(libc.ptrace(16, pid, 0, 0), ctypes.get_errno())\n"
        "print(libc.mount(b'none', b'/', None, ctypes.c_ulong(32), None), libc.umount2(b'/proc', 2))\n"
        "os.kill(pid, 9)\n"
    )
    _, out, _ = inside(sandbox, tmp_path / "own", script)
    assert out.split()[:2] == ["-1", "1"]
    assert out.split()[2:] == ["-1", "-1"]


def confined(tmp_path: Path, script: str, **limits: object):
    spec = {"writable": [str(tmp_path)], **limits}
    argv = [sys.executable, "-I", "-S", str(CONFINE), marshal.dumps(spec).hex(), sys.executable, "-S", "-c", script]
    return output_of(argv, 30.0)


GREEDY = {
    "most_processes": (
        8,
        "import threading, time\nfor _ in range(20): threading.Thread(target=time.sleep, args=(20,)).start()",
        "processes",
    ),
    "most_bytes": (64 << 20, "import time; a = b'x' * (200 << 20); time.sleep(20)", "memory"),
    "most_disk_bytes": (
        32 << 20,
        "import time; f = open('{}/big', 'wb', 0); f.write(b'x' * (100 << 20)); time.sleep(20)",
        "disk",
    ),
}


@pytest.mark.parametrize("namespaces", [pytest.param(True, marks=pytest.mark.namespaces), False])
@pytest.mark.parametrize("limit", GREEDY)
def test_a_command_that_takes_too_much_is_ended_and_told(tmp_path, limit, namespaces):
    most, script, told = GREEDY[limit]
    done, _, err = confined(tmp_path, script.format(tmp_path), namespaces=namespaces, **{limit: most})
    assert done.signal_name == "SIGKILL"
    assert "ended: it used more than" in err and told in err


def test_without_namespaces_stragglers_die_all_the_same(tmp_path):
    script = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(1)\n"
        f"        open({str(tmp_path / 'late')!r}, 'w').write('x')\n"
        "    os._exit(0)\n"
        "time.sleep(0.2)\n"
    )
    done, _, _ = confined(tmp_path, script, namespaces=False)
    assert done.ok
    output_of(["sleep", "1.3"], 5.0)
    assert not (tmp_path / "late").exists()
