"""Programs made for a GPU's speed, ended early on request; and programs that read where they should not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from profile_programs import RUN_DEADLINE_S, build

from intelliperf.cli.check import EXIT_DEFECTS, check_application
from intelliperf.cli.options import CheckOptions
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.errors import ApplicationFailed
from intelliperf.records import STOP_AFTER, STOP_STATUS, TOLERATE, Application

SOURCE = Path(__file__).parent / "programs" / "long_and_astray.cu"
NEAR, FAR = 450_000, 40_000_000  # elements: beyond the guard, but within 2 MiB of an allocation; and beyond all


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Application:
    directory = tmp_path_factory.mktemp("long")
    shutil.copy(SOURCE, directory / "app.cu")
    return build(directory, [["nvcc", "-O2", "app.cu", "-o", "app"]], ["./app"]).application


def _with(program: Application, *environment: tuple[str, str], by: int = 0) -> Application:
    command = (*program.command, str(by)) if by else program.command
    return replace(program, command=command, environment=environment)


def test_a_run_that_is_ended_after_its_launches_is_profiled(program: Application, tmp_path: Path) -> None:
    stopped = replace(_with(program, (STOP_AFTER, "2"), (STOP_STATUS, "3")), exit_status=3)
    profile = EmulatorBackend(tmp_path).profile(stopped, RUN_DEADLINE_S)
    (kernel,) = profile.kernels
    assert kernel.kernel.name.startswith("fill") and kernel.dispatches == 2
    assert "ended after 2 launches, as --stop-after-launches asks" in profile.notes[0]
    (output,) = tmp_path.rglob("run.stdout")
    assert output.read_text() == "filled\n"


def test_a_program_with_fewer_launches_ends_by_itself(program: Application, tmp_path: Path) -> None:
    profile = EmulatorBackend(tmp_path).profile(_with(program, (STOP_AFTER, "9"), by=1), RUN_DEADLINE_S)
    assert sum(kernel.dispatches for kernel in profile.kernels) == 2
    assert not any("--stop-after-launches" in note for note in profile.notes)


def test_the_time_limit_names_the_launch_that_it_ended(
    program: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("intelliperf.emulator.awaiting._FIRST_TOLD_S", 0.5)
    with pytest.raises(ApplicationFailed, match=r"timed out .* kernel pairs.*, launch 3: [\d,]+ of 512 blocks in .*"):
        EmulatorBackend(tmp_path, tell=told.append).profile(program, 4.0)
    assert told and "--stop-after-launches 2" in told[-1]


def test_a_read_beside_an_allocation_ends_the_program_unless_it_is_tolerated(
    program: Application, tmp_path: Path
) -> None:
    with pytest.raises(ApplicationFailed, match=r"app\.cu:18 .*; --tolerate continues where a GPU would"):
        EmulatorBackend(tmp_path / "strict").profile(_with(program, by=NEAR), RUN_DEADLINE_S)
    profile = EmulatorBackend(tmp_path / "lax").profile(_with(program, (TOLERATE, "1"), by=NEAR), RUN_DEADLINE_S)
    assert {kernel.kernel.name.partition("(")[0] for kernel in profile.kernels} == {"fill", "shift"}
    assert any("out-of-bounds at app.cu:18" in note for note in profile.notes)


def test_a_read_that_no_gpu_would_let_pass_is_not_tolerated(program: Application, tmp_path: Path) -> None:
    with pytest.raises(ApplicationFailed, match="no GPU would have mapped"):
        EmulatorBackend(tmp_path).profile(_with(program, (TOLERATE, "1"), by=FAR), RUN_DEADLINE_S)


@pytest.mark.slow
def test_check_names_the_read_and_what_was_not_seen(
    program: Application, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(SOURCE, tmp_path / "app.cu")
    common = {"build_command": ("nvcc -O2 app.cu -o app",), "project_directory": tmp_path, "json_events": True}
    options = CheckOptions(("./app", str(NEAR)), **common, tolerate=True, stop_after_launches=2, seeds=0)  # type: ignore[arg-type]
    assert check_application(options) == EXIT_DEFECTS
    found = json.loads(capsys.readouterr().out)
    assert {defect["rule"] for defect in found["defects"]} == {"out-of-bounds"}
    assert any("after 2 launches, where --stop-after-launches ended it" in text for text in found["not_checked"])
