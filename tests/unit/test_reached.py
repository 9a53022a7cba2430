from __future__ import annotations

import dataclasses
from pathlib import Path

from intelliperf.interception.messages import Dispatch, Hello
from intelliperf.validation.runs.reached import Reached, changed_lines, unreached

BEFORE = "kernel() {\n  a();\n}\n"
AFTER = "kernel() {\n  if (n > 96) {\n    rare();\n  }\n  a();\n  b = n > 7 ? 1 : 2;\n}\n"


def _hello(tree: Path) -> Hello:
    file = str(tree / "app.hip")
    # three blocks and a choice: lines 2 and 5, line 3, line 6; the choice of line 6
    rows = ((0, 0, 2, 0, 5), (0, 0, 3), (0, 0, 6), (1, 0, 6))
    return Hello("emulator", "", 64, "shared", {}, {}, reach={1: ((file,), rows)})


def _dispatch(bits: int) -> Dispatch:
    made = Dispatch(0, 0, "k", (1, 1, 1), (1, 1, 1), 0, True, 0, (), ())
    return dataclasses.replace(made, reached={1: bytes([bits])})


def test_lines_that_no_run_executed_are_named_with_their_text(tmp_path: Path) -> None:
    reached = Reached()
    reached.listen(_hello(tmp_path), _dispatch(0b10101))
    found = unreached(reached, tmp_path, {"app.hip": (BEFORE, AFTER)})
    assert found is not None
    assert "no run executed: app.hip:3: `rare();`" in found.unseen
    assert "a condition, or part of one, that came out the same in all runs: app.hip:6" in found.unseen
    assert found.told == "3 of 4 lines of kernels were executed"


def test_what_another_run_executes_counts_as_well(tmp_path: Path) -> None:
    reached = Reached()
    reached.listen(_hello(tmp_path), _dispatch(0b10101))
    reached.listen(_hello(tmp_path), _dispatch(0b01111))
    found = unreached(reached, tmp_path, {"app.hip": (BEFORE, AFTER)})
    assert found is not None and found.unseen == ""


def test_lines_of_the_original_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    reached = Reached()
    reached.listen(_hello(tmp_path), _dispatch(0b11101))
    found = unreached(reached, tmp_path, {"app.hip": (AFTER, AFTER)})
    assert found is not None
    assert found.unseen == "no run executed 1 line that the original has as well: app.hip:3: `rare();`"


def test_nothing_is_said_where_no_run_reports_anything(tmp_path: Path) -> None:
    assert unreached(Reached(), tmp_path, {}) is None


def test_changed_lines_are_those_that_the_original_lacks() -> None:
    assert changed_lines(BEFORE, AFTER) == {2, 3, 4, 6}
