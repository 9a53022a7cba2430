from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rocprofdata import text_of

from intelliperf.devices import models
from intelliperf.errors import ProtocolError, UsageError
from intelliperf.profiling.rocprofv3 import PcSample, by_line, cycles_by_line, parse_pc_samples, parse_thread_trace
from intelliperf.profiling.rocprofv3.sampling import place
from intelliperf.profiling.rocprofv3.tool import sampling_request
from intelliperf.records import Kernel, Metric, Provenance, Quantity
from intelliperf.rocm.linetimes import line_evidence
from intelliperf.rocm.samples import Samples, interval_for, sampled_lines, share_error

# Made by hand after the columns and the labels that rocprofiler-sdk's own writer gives them: no recording is public.
THREAD_TRACE = (
    '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"\n'
    '1,8788,"; _Z4copyPd.kd",0,0,0,0,"copy(double*)"\n'
    '1,8788,"global_load_dwordx2 v[2:3], v[2:3], off",64,900,300,0,"/src/copy.hip:3"\n'
    '1,8804,"s_waitcnt vmcnt(0)",64,20000,19000,12,""\n'
)


def test_recorded_host_trap_samples_know_the_instruction_but_no_reason() -> None:
    samples = parse_pc_samples(text_of("sdk_pc_sampling_host_trap.csv"), "host_trap")
    assert samples[1].instruction == "s_waitcnt vmcnt(0)"
    assert samples[1].lanes == 16
    assert samples[1].issued is None and samples[1].stall is None
    assert samples[1].file is None, "that program was built without -g"
    assert by_line(samples) == ()


def test_recorded_stochastic_samples_give_lines_with_their_reasons_to_wait() -> None:
    samples = parse_pc_samples(text_of("sdk_pc_sampling_stochastic_debug.csv"), "stochastic")
    assert samples[0].file is not None and samples[0].file.endswith("vector-ops.cpp")
    assert (samples[0].line, samples[0].lanes, samples[0].issued, samples[0].stall) == (133, 64, False, "waitcnt")
    assert samples[1].issued is True and samples[1].stall is None, "what was issued did not wait"
    lines = by_line(samples)
    assert [one.samples for one in lines] == sorted((one.samples for one in lines), reverse=True)
    assert sum(one.samples for one in lines) == len(samples)
    waits = {reason for one in lines for reason in one.stalls}
    assert "waitcnt" in waits
    assert not any(reason.startswith("rocprofiler") for reason in waits)


def test_thread_trace_statistics_are_read_by_instruction() -> None:
    first, second = parse_thread_trace(THREAD_TRACE, "stats")
    assert (first.file, first.line, first.address, first.hits) == ("/src/copy.hip", 3, 8788, 64)
    assert (second.stall_cycles, second.idle_cycles, second.cycles, second.file) == (19000, 12, 20012, None)
    assert first.symbol == second.symbol == "_Z4copyPd"
    with pytest.raises(ProtocolError, match="no column Stall"):
        parse_thread_trace(THREAD_TRACE.replace('"Stall"', '"Stalled"'), "stats.csv")


def test_a_line_has_the_cycles_of_all_its_instructions() -> None:
    more = '1,8812,"v_add_u32_e32 v0, s6, v0",64,100,20,0,"/src/copy.hip:3"\n'
    more += '1,8820,"s_nop 0",1,90,0,1000,"/rocm/shuffle.h:40 -> /src/copy.hip:9"\n'
    lines = cycles_by_line(parse_thread_trace(THREAD_TRACE + more, "stats"), lambda file: file.startswith("/src/"))
    assert [(one.line, one.hits, one.cycles, one.stall_cycles) for one in lines] == [
        (9, 1, 1090, 0),
        (3, 128, 1000, 320),
    ]
    assert lines[1].stalls == {"global_load_dwordx2 v[2:3], v[2:3], off": 300, "v_add_u32_e32 v0, s6, v0": 20}


def test_a_place_is_the_innermost_of_an_inline_chain() -> None:
    assert place("/a/b.h:7 -> /a/c.hip:12") == ("/a/b.h", 7)
    assert place("C:/x.hip:3") == ("C:/x.hip", 3)
    assert place("") == (None, None)
    assert place("/a/b.h:?") == (None, None)


def test_an_unknown_way_to_sample_is_refused() -> None:
    with pytest.raises(UsageError, match="host_trap, stochastic"):
        sampling_request("guess", 1)


def test_recorded_samples_become_evidence_with_their_reason_to_wait() -> None:
    samples = parse_pc_samples(text_of("sdk_pc_sampling_stochastic_debug.csv"), "stochastic")
    file = next(one.file for one in samples if one.file is not None and one.file.endswith("vector-ops.cpp"))
    known = Samples(tuple(replace(one, symbol="k.kd") for one in samples), "stochastic")
    kernel = Kernel("k", "k")
    times = sampled_lines(known, kernel, Path(file).parent)
    assert times.way == f"{len(samples):,} stochastic samples"
    at_133 = [one for one in samples if (one.file, one.line) == (file, 133)]
    waits = [one for one in at_133 if one.stall == "waitcnt"]
    assert times.told(Path(file), 133) == (
        f"{100 * len(at_133) / len(samples):.0f} % of {len(samples):,} stochastic samples, "
        f"{100 * len(waits) / len(at_133):.0f} % of which wait for waitcnt"
    )
    whole = {Metric.DEVICE_TIME_NS: Quantity(5000.0, Provenance.MEASURED)}
    found = {one.line: one for one in line_evidence(times, kernel, whole, 64, lambda file, line: "")}
    time = found[133].quantity(Metric.DEVICE_TIME_NS)
    assert time.value == pytest.approx(5000.0 * len(at_133) / len(samples)) and time.error
    assert found[133].quantity(Metric.ACTIVE_LANE_RATIO).value == 1.0
    outside = sum(one.file is not None and "vector-operations" not in one.file for one in samples)
    assert outside and len(samples) * sum(one.share for one in times.lines.values()) <= len(samples) - outside + 0.5


def test_the_interval_follows_the_kernels_duration() -> None:
    chip = models.record("mi250x").limits
    clock_hz, waves = chip.clock_hz, chip.compute_units * chip.max_waves_per_compute_unit
    assert interval_for("host_trap", 30_000.0, 0.0, chip) == 1  # 30 us: as often as the device can
    assert interval_for("host_trap", 600_000.0, 600_000.0, chip) == 20
    assert 30_000.0 / 60 < interval_for("stochastic", 30_000.0, 0.0, chip) / clock_hz * 1e9 <= 1000.0
    assert interval_for("stochastic", 1_000.0, 0.0, chip) == 256
    for method in ("host_trap", "stochastic"):
        for duration in (1.0, 1e4, 1e6, 1e12):
            assert interval_for(method, duration, duration, chip) >= (1 if method == "host_trap" else 256)
    for run_ns in (1e8, 1e10):  # of short and long kernels
        for kernel_ns in (1e5, 1e8):
            interval_ns = 1e3 * interval_for("host_trap", kernel_ns, run_ns, chip)
            assert run_ns / interval_ns * waves <= 1.01 * 400_000, "no more samples than can be read in seconds"


def test_samples_of_one_interrupt_are_no_independent_draws() -> None:
    # At each of ten moments all hundred waves stand at one of two places.
    together = share_error([(100 * (moment % 2), 100) for moment in range(10)])
    apart = share_error([(n % 2, 1) for n in range(1000)])
    assert together == pytest.approx(2.262 * 0.5 / 3, rel=0.01)  # t of nine degrees of freedom
    assert apart == pytest.approx(1.96 * 0.5 / 1000**0.5, rel=0.01)
    assert share_error([(3, 4)]) == 0.75, "one moment tells nothing"


def test_a_sample_has_its_own_moment_and_its_kernel() -> None:
    text = '"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment","Correlation_Id"\n'
    text += "".join(f'{at},255,{dispatch},"s_nop 0","/p/k.hip:5",1\n' for at, dispatch in ((7, 1), (9, 1), (9, 2)))
    found = parse_pc_samples(text, "samples.csv", {1: "_Z1kv"})
    assert [(one.taken_ns, one.dispatch, one.symbol, one.lanes) for one in found] == [
        (7, 1, "_Z1kv", 8),
        (9, 1, "_Z1kv", 8),
        (9, 2, None, 8),
    ]


def test_moments_are_known_by_their_timestamps() -> None:
    place = (("/p/k.hip", 5),)

    def one(taken_ns: int | None) -> PcSample:
        return PcSample("s_nop 0", "/p/k.hip", 5, 1, 64, None, None, place, "_Z1kv", taken_ns)

    timed = Samples(tuple(one(start + n) for start in (0, 1000, 2000) for n in range(20)), "host_trap", "", 1000.0)
    assert sampled_lines(timed, Kernel("_Z1kv", "k"), Path("/p")).way == "60 host trap samples at 3 moments"
    untimed = Samples(tuple(one(None) for _ in range(60)), "host_trap")
    assert sampled_lines(untimed, Kernel("_Z1kv", "k"), Path("/p")).way == "60 host trap samples"
