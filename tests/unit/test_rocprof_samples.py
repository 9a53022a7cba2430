from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rocprofdata import text_of

from intelliperf.errors import ProtocolError, UsageError
from intelliperf.profiling.rocprofv3 import by_line, cycles_by_line, parse_pc_samples, parse_thread_trace
from intelliperf.profiling.rocprofv3.sampling import place
from intelliperf.profiling.rocprofv3.tool import sampling_request
from intelliperf.records import Kernel, Metric, Provenance, Quantity
from intelliperf.rocm.linetimes import line_evidence
from intelliperf.rocm.samples import Samples, sampled_lines

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
