"""How far a run is: the page that the runtime writes, what is estimated from it, and what the user is told."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from intelliperf.emulator.awaiting import Watch
from intelliperf.interception.progress import ProgressReading, parse, standing, time_left
from intelliperf.sentences import interval_of_time, span


def _page(launches: int, ended: int, *, blocks: int = 65536, began_s: float = 100.0, running: bool = True) -> bytes:
    mark, kernel = b"IPPROG01", b"step(float*)"
    return struct.pack("<8s4Qd Q456s", mark, 2 * launches, launches, blocks, ended, began_s * 1e9, running, kernel)


class _Run:
    """A run whose page and clock are set by hand."""

    def __init__(self, directory: Path, limit_s: float = 300.0) -> None:
        self.now_s = 100.0
        self.told: list[str] = []
        self.watch = Watch(directory / "progress", self.told.append, limit_s, lambda: self.now_s)

    def at(self, now_s: float, page: bytes) -> None:
        (self.watch.directory / "17").write_bytes(page)
        self.now_s = now_s
        self.watch.look()


def test_a_page_that_is_being_written_or_is_no_page_is_not_read() -> None:
    whole = _page(3, 7)
    found = parse(whole)
    assert found is not None and (found.launches, found.ended, found.kernel) == (3, 7, "step(float*)")
    assert parse(whole[:100]) is None
    assert parse(b"OTHER001" + whole[8:]) is None
    assert parse(whole[:8] + (5).to_bytes(8, "little") + whole[16:]) is None


def test_of_several_processes_the_one_that_runs_a_launch_counts(tmp_path: Path) -> None:
    assert standing(tmp_path / "absent") is None
    (tmp_path / "1").write_bytes(_page(9, 1, began_s=200.0, running=False))
    (tmp_path / "2").write_bytes(_page(2, 5, began_s=150.0))
    found = standing(tmp_path)
    assert found is not None and found.launches == 2


def test_an_estimate_holds_the_truth_where_blocks_are_alike_and_is_an_interval() -> None:
    steady = [ProgressReading(float(n), 10 * n) for n in range(11)]
    left = time_left(steady, 1100)
    assert left is not None and left[0] < 100.0 < left[1] < 2 * left[0]


def test_a_launch_that_becomes_slower_widens_the_estimate() -> None:
    slower = [ProgressReading(0.0, 0), ProgressReading(5.0, 90), ProgressReading(10.0, 100)]
    left = time_left(slower, 1100)
    assert left is not None
    assert left[0] <= 1000 / 18 and left[1] > 1000 / 5


@pytest.mark.parametrize("ended", [0, 7])
def test_few_blocks_tell_nothing_of_the_others(ended: int) -> None:
    assert time_left([ProgressReading(0.0, 0), ProgressReading(60.0, ended)], 65536) is None


def test_a_long_launch_is_told_with_an_estimate_and_ever_more_rarely(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    for second in range(1, 41):
        run.at(100.0 + second, _page(3, 26 * second))
    assert len(run.told) == 2
    first, second_line = run.told
    assert first.startswith("kernel step(float*), launch 3: 130 of 65,536 blocks in 5 s; estimated at that rate, ")
    assert " min; choose a smaller problem, --stop-after-launches 2, or a longer --run-timeout" in first
    assert "390 of 65,536 blocks in 15 s" in second_line


def test_a_launch_that_will_end_in_time_is_told_without_advice(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    for second in range(1, 7):
        run.at(100.0 + second, _page(1, 100 * second, blocks=1200))
    (line,) = run.told
    assert "500 of 1,200 blocks" in line and "choose" not in line


def test_short_launches_are_not_told(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    for second in range(1, 9):
        run.at(100.0 + second, _page(second, 10, began_s=99.5 + second))
    assert not run.told


def test_the_time_limit_names_the_kernel_and_what_to_do(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    assert run.watch.at_the_limit() == ""
    run.at(160.0, _page(1, 0))
    told = run.watch.at_the_limit()
    assert "0 of 65,536 blocks in 60 s; too few to tell what the rest takes" in told
    assert "--stop-after-launches N for the first N launches alone" in told


def test_between_launches_their_number_is_told(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    run.at(120.0, _page(4000, 4, running=False))
    assert run.told == [
        "4,000 launches so far, the latest of step(float*); choose a smaller problem, --stop-after-launches 4000, "
        "or a longer --run-timeout"
    ]


def test_what_goes_before_the_first_launch_is_no_reason_to_advise_fewer(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    for second in range(160, 170):
        run.at(float(second), _page(1, 4, began_s=159.5, running=False))
    assert not run.told


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.04, "0.04 s"), (5.2, "5 s"), (119, "119 s"), (150, "2.5 min"), (9000, "2.5 h"), (2e6, "23 days")],
)
def test_a_time_is_spelled_with_the_unit_that_people_wait_in(seconds: float, words: str) -> None:
    assert span(seconds) == words


def test_an_interval_names_a_common_unit_once() -> None:
    assert interval_of_time(2100, 2880) == "35 to 48 min"
    assert interval_of_time(100, 300) == "100 s to 5 min"
    assert interval_of_time(300, 301) == "about 5 min"


def test_the_same_is_not_told_twice(tmp_path: Path) -> None:
    run = _Run(tmp_path)
    for second in range(1, 120):
        run.at(100.0 + second, _page(4, 1, running=False))
    assert len(run.told) == 1 and "4 launches so far" in run.told[0]
