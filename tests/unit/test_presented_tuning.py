"""How many of an autotuner's configurations are tried, and what is told of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from intelliperf.emulator.launchless import tuning_note
from intelliperf.errors import ProtocolError
from intelliperf.python.site.intelliperf_presented.tuning import Tried, spread


def test_short_lists_are_tried_whole_and_of_long_ones_a_part_in_their_order() -> None:
    assert spread(range(16), 16) == range(16)
    chosen = list(spread(range(48), 16))
    assert len(chosen) == 16 and chosen == sorted(set(chosen)) and chosen[0] == 0
    for inner in (2, 3, 4, 6, 8):  # one of several choices that alternate in the list is not all that is tried
        assert {place % inner for place in chosen} == set(range(inner))


def test_after_many_configurations_fewer_of_each_kernel_are_tried() -> None:
    tried = Tried()
    counts = [len(tried.some(f"kernel{number}", range(40))) for number in range(6)]
    assert counts == [16, 16, 16, 16, 4, 4]
    assert tried.left_out["kernel5"] == (4, 40)


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    assert tuning_note(tmp_path) == ()
    (tmp_path / "tuned-7.json").write_text(json.dumps({"scan": [16, 48], "total": [4, 12]}))
    (note,) = tuning_note(tmp_path)
    assert note.endswith("16 of 48 of scan, 4 of 12 of total")
    (tmp_path / "tuned-8.json").write_text("[3]")
    with pytest.raises(ProtocolError, match="tuned-8"):
        tuning_note(tmp_path)
