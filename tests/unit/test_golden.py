"""What the product says, word for word: files below `golden/` that a reviewer reads as a user would.

`python tests/unit/test_golden.py` writes them anew after a change of words; the difference is what to review.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reported import accepted_report, healthy_report, refused_report

from intelliperf.cli import main
from intelliperf.project.journal import RUNS
from intelliperf.report.summary import summary
from intelliperf.report.terminal import closing

GOLDEN = Path(__file__).parent / "golden"
WRONG = GOLDEN / "wrong_command_lines.txt"
BEFORE = "__global__ void k(int* n) {\n  atomicAdd(n, 1);\n}\n"
AFTER = "__global__ void k(int* n) {\n  if (threadIdx.x == 0) atomicAdd(n, blockDim.x);\n}\n"
PROJECT = Path("/projects/sums")
RUN = PROJECT / RUNS / "20260101-000000-atomicContention"


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Commands of a transcript, each with what is shown below it."""
    for block in text.split("$ intelliperf")[1:]:
        command, _, shown = block.partition("\n")
        yield command.strip(), shown.strip() + "\n"


def typed(command: str, project: Path) -> str:
    """Everything that a command line prints, in 80 columns, and its exit status."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        status = main(shlex.split(command))
    return f"{out.getvalue().replace(str(project), 'PROJECT')}[{status}]\n"


@contextlib.contextmanager
def project_directory(place: Path) -> Iterator[Path]:
    (place / "app.hip").write_text("#include <hip/hip_runtime.h>\nint main() {}\n")
    back, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(place)
    os.environ["COLUMNS"] = "80"
    try:
        yield place
    finally:
        os.chdir(back)
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns


@pytest.mark.parametrize(("command", "shown"), list(sessions(WRONG.read_text())))
def test_a_wrong_command_line_is_answered_word_for_word(tmp_path: Path, command: str, shown: str) -> None:
    with project_directory(tmp_path) as project:
        assert typed(command, project) == shown
        assert not list(RUNS.glob("*")), "a run that never began leaves nothing"


def _accepted() -> str:
    return closing(accepted_report(PROJECT, "sum.hip", BEFORE, AFTER), RUN)


REPORTS: dict[str, Callable[[], str]] = {
    "accepted.txt": _accepted,
    "accepted.md": lambda: summary(accepted_report(PROJECT, "sum.hip", BEFORE, AFTER)),
    "refused.txt": lambda: closing(refused_report(PROJECT, "sum.hip", BEFORE, AFTER), RUN),
    "refused.md": lambda: summary(refused_report(PROJECT, "sum.hip", BEFORE, AFTER)),
    "healthy.txt": lambda: closing(healthy_report(PROJECT), RUN),
    "healthy.md": lambda: summary(healthy_report(PROJECT)),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_reads_word_for_word(name: str) -> None:
    assert REPORTS[name]() == (GOLDEN / name).read_text()


if __name__ == "__main__":
    for name, made in REPORTS.items():
        (GOLDEN / name).write_text(made())
    with tempfile.TemporaryDirectory() as place, project_directory(Path(place)) as project:
        shown = [f"$ intelliperf {command}\n{typed(command, project)}" for command, _ in sessions(WRONG.read_text())]
    WRONG.write_text("\n".join(shown))
    sys.exit()
