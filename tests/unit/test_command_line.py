"""The command line as a user meets it: one clear line and the right status, whatever is typed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from intelliperf.cli import main
from intelliperf.cli.app import COMMANDS, application
from intelliperf.cli.options import Options
from intelliperf.cli.runs import is_resumable, write_in_place
from intelliperf.errors import UsageError
from intelliperf.project.journal import RUNS
from intelliperf.records import Ending


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "app.hip").write_text("#include <hip/hip_runtime.h>\nint main() {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def complaint(capsys: pytest.CaptureFixture[str], status: int, *arguments: str) -> str:
    """The one line on standard error of a command line that ends with `status`."""
    assert main(arguments) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("intelliperf: error: ")
    return line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("formula = ", "Invalid value"),
        ("colour = 1", "unknown key 'colour'; known are also_run,"),
        ("[formula]\nname = 'x'", "formula is one value, not a table"),
        ("build_command = 3", "build_command is a text or a list of texts"),
        ("pass_env = 3", "pass_env is a text or a list of texts"),
        ("top_n = 'many'", "Invalid value for '--top-n'"),
        ("formula = 'none'", "unknown formula 'none'"),
    ],
)
def test_a_wrong_configuration_file_is_named(
    project: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    (project / "intelliperf.toml").write_text(text)
    assert words in complaint(capsys, 2, "--", "./app")
    assert main(["--help"]) == 0


def test_with_json_an_error_is_an_event_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "-f", "nothing", "--", "./app"]) == 2
    (event,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (event["event"], event["exit_status"]) == ("error", 2)
    (project / "intelliperf.toml").write_text("json = true\nformula = 'nothing'\n")
    assert main(["--", "./app"]) == 2
    assert json.loads(capsys.readouterr().out)["event"] == "error"


def saved_run(project: Path, **changes: object) -> Path:
    run = project / RUNS / "20260101-000000-diagnoseOnly"
    run.mkdir(parents=True)
    options = {"command": ["./app"], "build_command": []}
    saved: dict[str, object] = {"version": "0.1.0", "options": options, "directory": str(project)}
    from intelliperf import __version__

    (run / "run.json").write_text(json.dumps({**saved, "version": __version__, **changes}))
    return run


def test_a_run_of_another_version_or_a_damaged_one_is_not_resumed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = saved_run(project, version="0.0.1")
    assert "was started by intelliperf 0.0.1" in complaint(capsys, 2, "resume")
    (run / "run.json").write_text("{")
    assert "is not JSON" in complaint(capsys, 1, "resume")
    (run / "run.json").write_text("[]")
    assert "is damaged" in complaint(capsys, 1, "resume")


def test_a_run_whose_directory_is_gone_is_not_resumed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved_run(project, directory=str(project / "gone"))
    assert "No such file or directory" in complaint(capsys, 2, "resume")


def test_a_report_of_another_schema_is_refused_by_number(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = saved_run(project)
    (run / "report.json").write_text('{"schema_version": 99}')
    assert "has schema version 99, this intelliperf reads 1" in complaint(capsys, 1, "apply")
    (run / "report.json").write_text('{"schema_version": 1, "ending": "improved"}')
    assert "is damaged" in complaint(capsys, 1, "apply")


@pytest.mark.parametrize("interpreter", [(sys.executable,), ()])
def test_a_notebook_is_refused_with_what_makes_a_program_of_it(tmp_path: Path, interpreter: tuple[str, ...]) -> None:
    from intelliperf.cli.application import application_of

    (tmp_path / "app.ipynb").write_text("{}")
    with pytest.raises(UsageError, match="nbconvert --to script app.ipynb"):
        application_of(Options(command=(*interpreter, "app.ipynb"), project_directory=tmp_path))


def test_a_command_typed_elsewhere_is_found_in_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from intelliperf.cli.application import application_of
    from intelliperf.cli.options import Options

    inner = project / "inner"
    inner.mkdir()
    (inner / "Makefile").touch()
    (project / "data.txt").touch()
    options = Options(command=("inner/app", "data.txt", "plain", ""), project_directory=Path("inner"))
    application, _ = application_of(options)
    assert application.command == (str(inner / "app"), str(project / "data.txt"), "plain", "")
    assert application.directory == inner
    assert application_of(Options(command=("./app",), project_directory=inner))[0].command == ("./app",)


def test_a_file_that_the_given_build_command_replaces_need_not_be_executable(project: Path) -> None:
    from intelliperf.cli.application import application_of
    from intelliperf.cli.options import Options

    (project / "app").write_text("notes of an older build\n")
    options = Options(command=("./app",), project_directory=project, build_command=("make",))
    assert application_of(options)[0].command == ("./app",)
    with pytest.raises(UsageError, match="not executable"):
        application_of(Options(command=("./app",), project_directory=project))


def test_a_script_without_its_interpreter_runs_in_a_shell(project: Path) -> None:
    from intelliperf.cli.application import application_of
    from intelliperf.cli.options import Options

    (project / "Makefile").touch()
    starts = {"run": b"./app -n 4\n", "started": b"#!/bin/bash\n./app\n", "app": b"\x7fELF\2\1\1\0", "empty": b""}
    for name, content in starts.items():
        (project / name).write_bytes(content)
        (project / name).chmod(0o755)
        options = Options(command=(f"./{name}", "x"), project_directory=project)
        command = application_of(options)[0].command
        assert (command[0] == "/bin/sh") is (name == "run")
        assert command[-1] == "x" and command[-2].endswith(name)


def test_help_is_quick_and_loads_neither_models_nor_vendors(tmp_path: Path) -> None:
    code = (
        "import sys, intelliperf.cli.app as app; app.invoke(['--help']);"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & set(sys.argv[1:])))"
    )
    heavy = ("dspy", "litellm", "openai", "anthropic", "numpy", "pydantic", "hip", "tree_sitter", "ziglang")
    done = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]"
    before = os.times()
    subprocess.run([sys.executable, "-m", "intelliperf", "--help"], capture_output=True, check=True, timeout=60)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert spent < 0.6, "twice the goal of 0.3 s, for slow machines"


def test_a_closed_pipe_ends_quietly(project: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    argv = [sys.executable, "-m", "intelliperf", "formulas"]
    done = subprocess.run(argv, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_terminal_of_few_abilities_and_an_old_encoding_get_plain_text(project: Path) -> None:
    (project / RUNS / "x").mkdir(parents=True)
    (project / RUNS / "x" / "run.json").touch()
    (project / RUNS / "x" / "report.json").touch()
    (project / RUNS / "x" / "summary.md").write_text("3.2× faster → done\n", "utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "NO_COLOR": "1", "TERM": "dumb"}
    argv = [sys.executable, "-m", "intelliperf", "report"]
    done = subprocess.run(argv, cwd=project, env=environment, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.fullmatch(rb"3\.2\\xd7 faster \\u2192 done\n", done.stdout)


def test_apply_writes_once_keeps_modes_and_line_endings_and_refuses_changed_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from reported import accepted_report

    source = tmp_path / "a.hip"
    source.write_bytes(b"one\r\ntwo\r\n")
    source.chmod(0o444)
    report = accepted_report(tmp_path, "a.hip", "one\r\ntwo\r\n", "one\r\n2\r\n")
    assert write_in_place(report) == ("a.hip",)
    assert source.read_bytes() == b"one\r\n2\r\n"
    assert source.stat().st_mode & 0o777 == 0o444
    assert write_in_place(report) == ()
    source.chmod(0o644)
    source.write_text("mine")
    with pytest.raises(UsageError, match="was changed since run"):
        write_in_place(report)
    source.unlink()
    with pytest.raises(UsageError, match="is gone"):
        write_in_place(report)


def test_an_impatient_second_interrupt_changes_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time, intelliperf.cli as cli, intelliperf.cli.app as app\n"
        "def slow(arguments):\n"
        "    try: print('ready', flush=True); time.sleep(60)\n"
        "    finally: print('cleaning', flush=True); time.sleep(0.5); print('clean', flush=True)\n"
        "app.invoke = slow\nsys.argv = ['intelliperf']\ncli.main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(2)
        assert child.stdout.readline() == "cleaning\n"
        child.send_signal(2)
        child.send_signal(15)
        assert child.stdout.read() == "clean\n"
        assert child.wait(30) == 130
        assert child.stderr.read() == "intelliperf: interrupted\n"


def test_options_that_need_no_conversion_load_no_converter() -> None:
    code = "import sys, intelliperf.cli.app as app; app.invoke(['formulas']); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "False"


def test_only_the_commands_that_may_be_meant_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    def made(*words: str) -> set[str]:
        return {command.callback.__name__ for command in application(words).registered_commands if command.callback}

    assert made("-f", "bankConflict") == set()
    assert made("-f", "x", "apply") == {"apply"}
    for words in (("--help",), ("diagnos",), ()):
        assert len(made(*words)) == len(COMMANDS)
    assert main(["diagnos", "--", "./app"]) == 2
    assert "Did you mean 'diagnose'?" in capsys.readouterr().err


def finished_run(project: Path, name: str, accepted: bool) -> Path:
    from reported import accepted_report

    from intelliperf.project.journal import to_json

    run = project / RUNS / name
    run.mkdir(parents=True)
    report = accepted_report(project, "a.hip", "one\n", "two\n")
    if not accepted:
        report = dataclasses.replace(report, accepted=None, patch="")
    (run / "run.json").write_text("{}")
    (run / "report.json").write_bytes(to_json(report))
    if accepted:
        (run / "patch.diff").write_text(report.patch)
    return run


def test_apply_names_the_run_that_has_a_patch(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "a.hip").write_text("one\n")
    finished_run(project, "20260101-000000-all", accepted=True)
    finished_run(project, "20260102-000000-all", accepted=False)
    assert complaint(capsys, 2, "apply").endswith(
        "20260101-000000-all has a patch: intelliperf apply 20260101-000000-all"
    )
    assert "did you mean 20260101-000000-all?" in complaint(capsys, 2, "apply", "20260101-0000-all")
    assert main(["apply", "20260101-000000-all"]) == 0
    assert (project / "a.hip").read_text() == "two\n"


def test_apply_leaves_a_patch_that_the_whole_application_did_not_confirm(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a.hip").write_text("one\n")
    run = finished_run(project, "20260101-000000-all", accepted=True)
    stored = json.loads((run / "report.json").read_text())
    (run / "report.json").write_text(json.dumps({**stored, "ending": Ending.UNCONFIRMED.value}))
    told = complaint(capsys, 2, "apply")
    assert "not confirmed by the whole application" in told and told.endswith(f"git apply {run / 'patch.diff'}")
    assert (project / "a.hip").read_text() == "one\n"


def test_runs_are_found_below_another_root_and_from_a_directory_of_the_project(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    finished_run(project, "20260101-000000-all", accepted=False)
    (project / RUNS / "20260101-000000-all" / "summary.md").write_text("seen\n")
    (project / "inner").mkdir()
    monkeypatch.chdir(project / "inner")
    assert main(["report"]) == 0 and capsys.readouterr().out == "seen\n"
    monkeypatch.chdir("/")
    assert "elsewhere, name its directory or --run-root" in complaint(capsys, 2, "report")
    assert main(["report", "--run-root", str(project / RUNS)]) == 0 and capsys.readouterr().out == "seen\n"


def test_resume_takes_what_was_cut_off_and_not_a_run_that_failed_at_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = saved_run(project)
    (run / "events.jsonl").write_text('{"event": "error", "text": "make: no rule", "exit_status": 1}\n')
    assert "no interrupted run below" in complaint(capsys, 2, "resume")
    (run / "events.jsonl").write_text('{"event": "error", "text": "interrupted", "exit_status": 130}\n')
    assert is_resumable(run)
    (run / "events.jsonl").write_text('{"event": "error", "text": "no space", "exit_status": 1}\n')
    (run / "stages").mkdir()
    (run / "stages" / "profile.json").touch()
    assert is_resumable(run)
    (run / "survey.json").touch()
    assert not is_resumable(run), "a survey is finished and has no report"


def test_the_file_of_a_directory_above_names_the_program_and_its_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from intelliperf.cli import improve

    (project / "intelliperf.toml").write_text(
        "command = ['./app', '4']\nbuild-command = 'make'\nrun_deadline = 7.0\nrun_root = 'out'\n"
    )
    seen: list[Options] = []
    monkeypatch.setattr(improve, "improve_application", lambda options: seen.append(options) or 0)
    (project / "inner").mkdir()
    monkeypatch.chdir(project / "inner")
    assert main([]) == 0
    (options,) = seen
    assert (options.command, options.build_command) == (("./app", "4"), ("make",))
    assert options.project_directory == options.typed_in == project.resolve()
    assert (options.run_timeout, options.run_root) == (7.0, project.resolve() / "out")
    assert main(["--build-deadline=8", "diagnose", "--", "./other"]) == 2, "options go after the command"
    assert main(["diagnose", "--run-deadline=8", "--", "./other"]) == 0
    assert (seen[1].command, seen[1].typed_in, seen[1].run_timeout) == (("./other",), None, 8.0)


def test_a_bad_file_spares_what_does_not_read_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "intelliperf.toml").write_text("formual = 'all'\n")
    for words in (["--version"], ["formulas"], ["--help"], ["completion", "zsh"]):
        assert main(words) == 0
    assert "unknown key 'formual'; did you mean formula?" in complaint(capsys, 2, "--", "./app")


@pytest.mark.parametrize(
    ("shell", "environment", "expected"),
    [
        ("bash", {"COMP_WORDS": "intelliperf diag", "COMP_CWORD": "1"}, "diagnose"),
        ("bash", {"COMP_WORDS": "intelliperf diagnose --target h1", "COMP_CWORD": "3"}, "h100"),
        ("bash", {"COMP_WORDS": "intelliperf --formula bank", "COMP_CWORD": "2"}, "bankConflict"),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "intelliperf che"}, '_arguments \'*: :(("check"'),
        ("fish", {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": "intelliperf che"}, "check"),
    ],
)
def test_a_shell_completes_commands_and_values(
    project: Path, shell: str, environment: dict[str, str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["completion", shell]) == 0
    assert "_INTELLIPERF_COMPLETE" in capsys.readouterr().out
    argv = [sys.executable, "-c", "import sys; sys.argv[0] = 'intelliperf'; import intelliperf.cli as c; c.main()"]
    asked = {**os.environ, "_INTELLIPERF_COMPLETE": f"complete_{shell}", **environment}
    done = subprocess.run(argv, env=asked, capture_output=True, text=True, timeout=60)
    assert expected in done.stdout, done.stderr


def test_the_self_test_of_the_doctor_counts_what_arithmetic_says(capsys: pytest.CaptureFixture[str]) -> None:
    from intelliperf.cli.doctor import Health, _self_test

    (seen,) = _self_test()
    assert seen.state is Health.GOOD, seen.detail
