"""How an application ended, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.errors import ApplicationFailed
from intelliperf.processes.endings import check_ended_well
from intelliperf.processes.process import Completed
from intelliperf.records import Application

TRACEBACK = """noise
Traceback (most recent call last):
  File "{project}/app.py", line 7, in <module>
    main()
  File "/usr/lib/python3/library.py", line 99, in run
    raise CompilationError
library.CompilationError: at 3:20:
    tl.store(a, nothing)
                ^
NameError('nothing is not defined')
"""


def test_an_exception_is_told_with_the_programs_own_line_and_the_scripts_name(tmp_path: Path) -> None:
    said = tmp_path / "stderr"
    said.write_text(TRACEBACK.format(project=tmp_path))
    application = Application(("/usr/bin/python3", "app.py"), tmp_path, tmp_path)
    ended = Completed(application.argv, 1, None, False, False, 1.0, said, said)
    with pytest.raises(ApplicationFailed) as failure:
        check_ended_well(ended, application, "on the emulator")
    told = str(failure.value)
    assert told.startswith("app.py fails on the emulator with exit status 1")
    assert "last output: app.py:7: library.CompilationError: at 3:20:" in told
    assert told.endswith("NameError('nothing is not defined')")
    assert "noise" not in told and "library.py" not in told


KERNEL = "intelliperf: kernel wide failed: an illegal memory access was encountered"
PYTEST = """
    def test_row():
>       assert wide(4) == 2
E       ZeroDivisionError: integer division or modulo by zero

app/rows.py:131: ZeroDivisionError
=============================== warnings summary ===============================
-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html
FAILED app/test_rows.py::test_row - ZeroD...
"""


def ending(project: Path, out: str, err: str) -> str:
    said = project / "stdout", project / "stderr"
    for path, text in zip(said, (out, err), strict=True):
        path.write_text(text)
    application = Application(("python3", "app.py"), project, project)
    with pytest.raises(ApplicationFailed) as failure:
        check_ended_well(Completed(application.argv, 1, None, False, False, 1.0, *said), application, "here")
    return str(failure.value)


def test_what_failed_in_a_test_is_told_with_its_place_and_not_what_pytest_prints_behind_it(tmp_path: Path) -> None:
    told = ending(tmp_path, PYTEST, "a warning\n")
    assert told.endswith("last output: app/rows.py:131: ZeroDivisionError: integer division or modulo by zero")


def test_the_kernel_that_failed_is_told_before_the_exception_that_came_of_it(tmp_path: Path) -> None:
    told = ending(tmp_path, "", f"{KERNEL}\n{TRACEBACK.format(project=tmp_path)}")
    assert f"last output: {KERNEL} | app.py:7: library.CompilationError" in told


@pytest.mark.parametrize("command", [("pytest", "-k", "x"), ("python", "-m", "pytest"), ("/env/bin/pytest",)])
def test_what_a_status_of_pytest_means_is_said_in_place_of_an_option(tmp_path: Path, command: tuple[str, ...]) -> None:
    said = tmp_path / "stderr"
    said.write_text("")
    application = Application(command, tmp_path, tmp_path)
    for status, told in ((5, "found no tests"), (2, "was interrupted"), (1, "--expect-exit 1")):
        ended = Completed(application.argv, status, None, False, False, 1.0, said, said)
        with pytest.raises(ApplicationFailed, match=told):
            check_ended_well(ended, application, "on the emulator")
