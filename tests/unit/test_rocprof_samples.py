from __future__ import annotations

import pytest
from rocprofdata import text_of

from intelliperf.errors import ProtocolError, UsageError
from intelliperf.profiling.rocprofv3 import by_line, cycles_by_line, parse_pc_samples, parse_thread_trace
from intelliperf.profiling.rocprofv3.sampling import place
from intelliperf.profiling.rocprofv3.tool import sampling_request

# Made by hand after the columns that the vendor documents: no recording is public.
THREAD_TRACE = (
    '"CodeObj","Vaddr","Instruction","Hitcount","Latency","Stall","Idle","Source"\n'
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
    assert (second.stall_cycles, second.idle_cycles, second.file) == (19000, 12, None)
    with pytest.raises(ProtocolError, match="no column Stall"):
        parse_thread_trace(THREAD_TRACE.replace('"Stall"', '"Stalled"'), "stats.csv")


def test_a_line_has_the_cycles_of_all_its_instructions() -> None:
    more = '1,8812,"v_add_u32_e32 v0, s6, v0",64,100,20,0,"/src/copy.hip:3"\n'
    more += '1,8820,"s_nop 0",1,9,900,0,"/src/copy.hip:9"\n'
    lines = cycles_by_line(parse_thread_trace(THREAD_TRACE + more, "stats"))
    assert [(one.line, one.hits, one.latency_cycles, one.stall_cycles) for one in lines] == [
        (9, 1, 9, 900),
        (3, 128, 1000, 320),
    ]


def test_a_place_is_the_innermost_of_an_inline_chain() -> None:
    assert place("/a/b.h:7 -> /a/c.hip:12") == ("/a/b.h", 7)
    assert place("C:/x.hip:3") == ("C:/x.hip", 3)
    assert place("") == (None, None)
    assert place("/a/b.h:?") == (None, None)


def test_an_unknown_way_to_sample_is_refused() -> None:
    with pytest.raises(UsageError, match="host_trap, stochastic"):
        sampling_request("guess", 1)
