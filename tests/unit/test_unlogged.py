"""A compilation of which nothing is known: why is said, and not that the build compiled nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.dropins import compilelog
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import Completed
from intelliperf.project.builder import translates_itself
from intelliperf.search.building import nothing_compiled


def test_the_reason_of_a_compilation_that_could_not_be_logged_reaches_the_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def missing() -> None:
        raise ToolchainError("no compiler runs here")

    monkeypatch.setattr(compilelog, "find_toolchain", missing)
    compilelog.log_or_say_why_not("nvcc", ["-c", "one.cu"])
    assert capsys.readouterr().err == ""
    monkeypatch.setenv(compilelog.LOG, str(tmp_path / "log"))
    compilelog.log_or_say_why_not("nvcc", ["-c", "one.cu"])
    said = tmp_path / "stderr"
    said.write_text(f"warning: unused\n{capsys.readouterr().err}")
    built = Completed((), 0, None, False, False, 1.0, said, said)
    assert nothing_compiled(built) == "of what the build compiled nothing is known: no compiler runs here"
    said.write_text("warning: unused\n")
    assert nothing_compiled(built).startswith("the build compiled no GPU source")


@pytest.mark.parametrize(("function", "does"), [(b"nvrtcCompileProgram", True), (b"nvrtcVersion", False)])
def test_a_program_without_device_code_may_compile_it_as_it_runs(tmp_path: Path, function: bytes, does: bool) -> None:
    (tmp_path / "app").write_bytes(b"\x7fELF\0" + function + b"\0")
    assert translates_itself(tmp_path / "app") is does
