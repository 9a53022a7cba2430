from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from intelliperf.errors import UsageError
from intelliperf.formulas import FORMULAS, find_formula
from intelliperf.protocols import Backend
from intelliperf.records import ProcessTime, Provenance
from intelliperf.records.timeline import (
    DOWNLOAD,
    KERNEL,
    UPLOAD,
    HostCall,
    HostLine,
    ProcessFinding,
    Timeline,
    process_ns,
    without,
)
from intelliperf.search.wholeprocess import Process, unseen

WEIGHTS, FIELD, HOST = 0x1000, 0x9000, 0x7F00


def upload(to: int = FIELD, held: bool = False, **other: object) -> HostCall:
    call = HostCall(UPLOAD, 1, 500.0, device_ns=20_000, size=1 << 20, waits=True, held=held, to=to, from_=HOST)
    return changed(call, **other)


def download(**other: object) -> HostCall:
    call = HostCall(DOWNLOAD, 2, 500.0, device_ns=20_000, size=1 << 20, waits=True, to=HOST, from_=FIELD)
    return changed(call, **other)


def kernel(device_ns: float = 50_000, **other: object) -> HostCall:
    return changed(HostCall(KERNEL, 3, 500.0, device_ns=device_ns, launch_ns=2_000, kernel="step"), **other)


def wait(**other: object) -> HostCall:
    return changed(HostCall("wait_device", 4, 500.0, waits=True), **other)


def changed(call: HostCall, **other: object) -> HostCall:
    return HostCall(**{**call.__dict__, **other})


def told(name: str, calls: Sequence[HostCall], after_ns: float = 0.0) -> ProcessFinding | None:
    timeline = Timeline(tuple(calls), after_ns, lambda site: HostLine(Path("/p/main.cu"), 10 * site, "text"))
    return next(iter(find_formula(name).process_findings(timeline)), None)


def test_the_host_waits_only_where_a_call_does() -> None:
    assert process_ns([kernel(), kernel()], 1_000) == 500 + 100_000
    assert process_ns([kernel(), wait(), kernel(host_ns=30_000)], 0) == 500 + 50_000 + 30_000 + 50_000
    assert process_ns([upload(), wait()], 7_000) == 500 + 20_000 + 500 + 7_000


def test_dropped_calls_leave_the_work_of_the_host() -> None:
    calls = [upload(host_ns=9_000), kernel(host_ns=1_000), wait(host_ns=300)]
    assert [call.host_ns for call in without(calls, lambda number: number == 0)] == [10_000, 300]
    assert sum(call.host_ns for call in without(calls, lambda number: number > 0)) == 10_300


def test_an_upload_of_what_the_device_holds_is_repeated_and_has_its_line() -> None:
    calls = [upload(WEIGHTS), kernel()] + [upload(WEIGHTS, held=True), kernel()] * 9
    finding = told("transfers", calls)
    assert finding is not None
    assert "9 bring bytes that are there already" in finding.sentence
    assert finding.lines[0].line == 10
    assert finding.lines[0].what == "10 uploads, 10.5 MB, 9 needless"
    # Nothing but the first upload is left, and that could run beside the kernels.
    assert finding.gain_ceiling == pytest.approx(process_ns(calls, 0) / process_ns([kernel()] * 10, 0), rel=0.02)


def test_equal_bytes_by_chance_are_no_repeated_upload() -> None:
    """The first copy to a place is needed, even if the device happened to hold the same, as of zeros."""
    finding = told("transfers", [upload(WEIGHTS, held=True), kernel()])
    assert finding is not None
    assert "already" not in finding.sentence


def test_data_that_the_host_sends_back_is_a_round_trip() -> None:
    unchanged = told("transfers", [kernel(), download(content=7), upload(WEIGHTS, content=7)] * 5)
    edited = told("transfers", [kernel(), download(content=7), upload(content=8)] * 5)
    assert unchanged is not None and edited is not None
    assert "5 take data to the host and 5 send it back, 5 of them unchanged" in unchanged.sentence
    assert "changed by the host" in edited.sentence


def test_copies_that_run_beside_kernels_already_are_not_told() -> None:
    streams = [[upload(stream=7, waits=False), kernel(stream=number)] for number in range(1, 4)]
    assert told("transfers", [call for pair in streams for call in pair]) is None


def test_copies_of_a_twentieth_of_the_time_are_not_told() -> None:
    assert told("transfers", [upload(), kernel(2_000_000)]) is None


def test_rows_of_short_launches_are_told_with_the_kernel() -> None:
    calls = [upload(device_ns=100)] + [kernel(3_000)] * 200
    finding = told("launchOverhead", calls)
    assert finding is not None
    assert "200 of 200 launches take 3 µs on average (modelled), of which 2 µs" in finding.sentence
    assert finding.lines[0].what == "200 launches of step"
    assert finding.gain_ceiling == pytest.approx(3, rel=0.05)


@pytest.mark.parametrize(
    "calls",
    [[kernel(50_000)] * 200, [kernel(3_000)] * 9, [kernel(3_000), upload(device_ns=90_000)] * 20],
    ids=["long kernels", "few launches", "a copy between all"],
)
def test_launches_that_do_their_work_or_stand_alone_are_not_told(calls: list[HostCall]) -> None:
    assert told("launchOverhead", calls) is None


def test_a_wait_before_the_next_launch_is_needless() -> None:
    finding = told("deviceIdle", [kernel(10_000), wait()] * 50)
    assert finding is not None
    assert "49 of 50 waits of the host are needless" in finding.sentence
    assert finding.lines[0].what == "49 needless waits"


@pytest.mark.parametrize(
    "calls",
    [
        [kernel(10_000), wait(visible=True)] * 50,
        [kernel(10_000), wait(), HostCall("clock", 5, 100.0)] * 50,
        [kernel(10_000), wait()] * 3,
        [kernel(10_000)] * 50 + [wait()],
        [kernel(10_000), wait(), download()] * 50,
    ],
    ids=["shared memory may be read", "a clock is read", "seldom", "at the end", "the next call waits anyway"],
)
def test_waits_that_may_serve_something_are_not_told(calls: list[HostCall]) -> None:
    assert told("deviceIdle", calls) is None


def test_host_work_between_launches_stops_the_device() -> None:
    finding = told("deviceIdle", [kernel(100_000), wait(), kernel(100_000, host_ns=90_000, site=6)] * 10)
    assert finding is not None
    assert "the device stands still for 900 µs (measured on this machine)" in finding.sentence
    assert (finding.lines[0].line, finding.lines[0].what) == (60, "900 µs of host work before it")


def test_host_work_that_runs_beside_the_device_is_not_told() -> None:
    assert told("deviceIdle", [kernel(100_000, host_ns=90_000)] * 10) is None


def test_formulas_of_the_process_change_nothing_and_find_nothing_in_a_kernel() -> None:
    only = {name for name, formula in FORMULAS.items() if formula.diagnosis_only}
    assert only == {"transfers", "launchOverhead", "deviceIdle", "diagnoseOnly"}


def test_all_formulas_together_tell_the_greatest_first() -> None:
    calls = [call for _ in range(50) for call in (kernel(3_000), wait(), upload(WEIGHTS, held=True))]
    timeline = Timeline(tuple(calls), 0.0, lambda site: None)
    found = find_formula("all").process_findings(timeline)
    assert [finding.formula for finding in found][0] == "transfers"
    assert [f.gain_ceiling for f in found] == sorted((f.gain_ceiling for f in found), reverse=True)
    assert found[0].lines == ()


class _NoCalls:
    name = "cuda"


@pytest.mark.parametrize("name", ["transfers", "launchOverhead", "deviceIdle"])
def test_a_formula_whose_calls_a_backend_does_not_trace_is_refused_by_name(name: str) -> None:
    with pytest.raises(UsageError, match=f"-f {name}: the cuda backend does not trace the host's calls"):
        unseen(Process(), find_formula(name), cast(Backend, _NoCalls()))


def test_a_search_for_everything_says_what_it_did_not_look_for() -> None:
    backend = cast(Backend, _NoCalls())
    told = unseen(Process(), find_formula("all"), backend)
    why = "the cuda backend does not trace the host's calls"
    assert told == f"not looked for: transfers, launchOverhead, deviceIdle: {why}"
    seen = ProcessTime(1.0, 1.0, 0.0, 0.0, 1.0, Provenance.MEASURED, Provenance.MODELLED)
    assert unseen(Process((), seen), find_formula("all"), backend) == ""
    assert unseen(Process(), find_formula("bankConflict"), backend) == ""
