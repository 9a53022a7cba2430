"""Tunables of a candidate: found in its text, timed within bounds, written as plain code."""

from __future__ import annotations

import pytest

from intelliperf.codegen.reply import MalformedReply, parse_reply
from intelliperf.project.constants import defined, with_constants
from intelliperf.records import Candidate, FileEdit, Origin, OriginKind, Tunable
from intelliperf.search.tuning import MOST_TIMED, Tuning

TEXT = "#define ITEMS 4\nstatic constexpr unsigned int TILE = 32u;  // lanes\nint x = TILE * ITEMS; // ITEMS 4\n"


def candidate(**sets: tuple[int, ...]) -> Candidate:
    tunables = tuple(Tunable(name, values) for name, values in sets.items())
    return Candidate((FileEdit("a.hip", "0", TEXT),), "", Origin(OriginKind.MODEL, "m"), tunables=tunables)


def value(one: Candidate, name: str) -> int:
    return defined(one.edits, name)


def test_other_values_are_written_where_a_constant_is_defined_and_nowhere_else() -> None:
    changed = with_constants(TEXT, {"ITEMS": 8, "TILE": 64})
    assert changed == TEXT.replace("ITEMS 4\nst", "ITEMS 8\nst").replace("TILE = 32u", "TILE = 64u")
    with pytest.raises(ValueError, match="tunable LOST: 0 definitions"):
        defined(candidate().edits, "LOST")


def test_all_combinations_of_small_sets_are_timed_and_the_fastest_becomes_plain_code() -> None:
    timed: list[tuple[int, int]] = []

    def time(one: Candidate) -> float | None:
        timed.append((value(one, "ITEMS"), value(one, "TILE")))
        return None if timed[-1][0] == 2 else abs(timed[-1][0] - 8) + abs(timed[-1][1] - 16) + 1.0

    best, told = Tuning(candidate(ITEMS=(2, 4, 8), TILE=(16, 32)), time).best()
    assert (value(best, "ITEMS"), value(best, "TILE"), best.tunables) == (8, 16, ())
    assert sorted(timed) == [(2, 16), (2, 32), (4, 16), (4, 32), (8, 16), (8, 32)]
    assert told == "tuned: ITEMS = 8, TILE = 16; 6 of 6 combinations timed; 2 of these do not build or run"


def test_a_set_that_explodes_is_bounded_and_the_report_says_so() -> None:
    many = tuple(range(1, 101))
    best, told = Tuning(candidate(ITEMS=many, TILE=many), lambda one: 1000.0 / value(one, "ITEMS")).best()
    assert "of 10000 combinations timed, one tunable after the other, to bound the effort" in told
    assert int(told.split("; ")[1].split()[0]) <= MOST_TIMED
    assert (value(best, "ITEMS"), value(best, "TILE")) == (100, 32)


def test_where_nothing_can_be_timed_the_values_stay_as_they_were_written() -> None:
    best, told = Tuning(candidate(ITEMS=(2, 4)), lambda one: None).best()
    assert best.edits[0].text == TEXT
    assert "ITEMS = 4 (as written)" in told


REPLY = "[[ ## rationale ## ]]\nx\n[[ ## edits ## ]]\nNO CHANGE\n[[ ## tunables ## ]]\n{}\n"


def test_a_reply_declares_its_tunables_line_by_line() -> None:
    assert parse_reply(REPLY.format("- `TILE`: 16, 32,16\nITEMS: 4")).tunables == (
        Tunable("TILE", (16, 32)),
        Tunable("ITEMS", (4,)),
    )
    assert parse_reply(REPLY.format("none")).tunables == ()
    with pytest.raises(MalformedReply, match="is not `NAME: 32, 64, 128`"):
        parse_reply(REPLY.format("TILE = 16"))
