"""Child processes: deadlines, output limits, group kills, clear words."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from intelliperf.errors import UsageError
from intelliperf.processes.endings import last_output
from intelliperf.processes.process import Child, Completed, clean_environment, run
from intelliperf.processes.secrets import mask_logs


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_output_goes_to_files_and_the_status_is_told(tmp_path: Path) -> None:
    done = run(
        python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), tmp_path, 20, tmp_path, "x"
    )
    assert (done.exit_status, done.describe()) == (3, "exit status 3")
    assert done.tail("stdout") == "out\n"
    assert done.tail() == "err\n"


def test_a_directory_that_may_not_be_entered_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the program, which is as it should be."""

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("intelliperf.processes.process.subprocess.Popen", refused)
    monkeypatch.setattr("intelliperf.processes.process.os.access", lambda path, _mode: path != tmp_path)
    with pytest.raises(UsageError, match=f"in {tmp_path}: the directory may not be entered"):
        run(python(""), tmp_path, 20, tmp_path / "logs", "x")


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


_CROWDED = """
import os, time
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
others = [os.fork() for _ in range(3)]
while time.process_time() < 0.25:
    pass
if 0 in others:
    os._exit(0)
"""


def test_time_without_a_free_processor_counts_only_for_the_impatient(tmp_path: Path) -> None:
    def ended(label: str, argv: list[str], patience: float) -> Completed:
        with Child(argv, tmp_path, {}, tmp_path, label) as child:
            return child.wait(0.5, patience=patience)

    crowded = [sys.executable, "-c", _CROWDED]
    assert ended("impatient", crowded, 1.0).timed_out
    assert ended("patient", crowded, 40.0).ok
    hanging = ended("hanging", ["/bin/sleep", "60"], 40.0)
    assert hanging.timed_out and hanging.seconds < 20.0


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
            with contextlib.suppress(ChildProcessError):  # it comes to us, who may have asked for orphans
                os.waitpid(-group, os.WNOHANG)
            os.killpg(group, 0)
            time.sleep(0.02)


def test_a_child_that_ends_well_is_left_alone_by_its_guard(tmp_path: Path) -> None:
    done = run(python("import os, sys; sys.exit(os.getpgid(0) != os.getpid())"), tmp_path, 20, tmp_path, "x")
    assert done.ok


SECRETS = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN", "HUGGINGFACE_HUB_TOKEN",
    "NPM_TOKEN", "PYPI_PASSWORD", "DOCKER_AUTH_CONFIG", "SSH_AUTH_SOCK", "SSH_ASKPASS", "DATABASE_URL", "PGPASSWORD",
    "MYSQL_PWD", "SLACK_WEBHOOK", "STRIPE_SK", "KUBECONFIG", "VAULT_ADDR", "NETRC", "SENTRY_DSN", "WANDB_API_KEY",
    "CI_JOB_JWT", "LICENSE", "MY_PRIVATE_THING", "GITHUB_PAT",
)  # fmt: skip


def test_of_thirty_secrets_a_build_or_the_original_program_sees_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, "s3cret-value")
    monkeypatch.setenv("HARMLESS_NAME", "ghp_" + "a" * 36)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:password@proxy:3128")
    monkeypatch.setenv("CXXFLAGS", "-O2")
    left = clean_environment({"A": "b"})
    assert not {*SECRETS, "HARMLESS_NAME"} & left.keys()
    assert (left["A"], left["CXXFLAGS"]) == ("b", "-O2") and {"PATH", "HTTPS_PROXY"} <= left.keys()
    monkeypatch.setenv("INTELLIPERF_PASS_ENV", "HF_TOKEN,GITHUB_PAT")
    assert {*SECRETS} & clean_environment({}).keys() == {"HF_TOKEN", "GITHUB_PAT"}


def test_a_secret_that_a_program_prints_is_blanked_in_messages(tmp_path: Path) -> None:
    done = run(python("print('no such key: sk-" + "a" * 30 + "')"), tmp_path, 20, tmp_path, "x")
    assert last_output(done) == "; last output: no such key: [REDACTED]"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_programs_own_words_come_before_those_of_its_launcher(stream: str, tmp_path: Path) -> None:
    line = "-" * 74
    boxes = f"{line}\nPrimary job terminated normally, but\n1 process did not.\n{line}\n{line}\nmpirun: 3\n{line}"
    script = f"import sys; print('sum 7 of 8', file=sys.{stream}); print({boxes!r}, file=sys.stderr)"
    done = run(python(script), tmp_path, 20, tmp_path, "x")
    assert last_output(done) == "; last output: sum 7 of 8 | Primary job terminated normally, but"


def test_what_leaves_its_process_group_is_ended_with_the_child(tmp_path: Path) -> None:
    long = f"300.{os.getpid()}"  # nobody else sleeps as long
    script = f"setsid sleep {long}1 & setsid sh -c 'sleep {long}2 & exec sleep {long}3' & sleep 0.3"
    done = run(["/bin/sh", "-c", script], tmp_path, 20, tmp_path, "x")
    assert done.ok
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if f"sleep\0{long}".encode() in _read(path)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_compiler_that_crashes_leaves_its_report_in_the_logs(tmp_path: Path) -> None:
    show = python("import os; print(os.environ['CLANG_CRASH_DIAGNOSTICS_DIR'])")
    assert run(show, tmp_path, 20, tmp_path / "logs", "x").tail("stdout").strip() == str(tmp_path / "logs")


def test_a_missing_program_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such program"):
        run(["./nothing-here"], tmp_path, 5, tmp_path, "x")


def test_secrets_are_blanked_in_logs_that_stay_and_other_logs_keep_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SITE_TOKEN", "swordfish-42")
    monkeypatch.setenv("INTELLIPERF_PASS_ENV", "SITE_TOKEN")
    leaking, plain = tmp_path / "attempts" / "build-0.stderr", tmp_path / "run.stdout"
    leaking.parent.mkdir()
    leaking.write_bytes(b"\xff begins\nfetching with swordfish-42 and ghp_" + b"a" * 36 + b"\nends")
    plain.write_bytes(b"\x00\xfe 4711 \r\n")
    before = plain.stat().st_ino
    mask_logs(tmp_path)
    assert leaking.read_bytes() == b"\xff begins\nfetching with [REDACTED] and [REDACTED]\nends"
    assert (plain.read_bytes(), plain.stat().st_ino) == (b"\x00\xfe 4711 \r\n", before)
    assert sorted(path.name for path in tmp_path.rglob("*.masked")) == []
