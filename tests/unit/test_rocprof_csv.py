from __future__ import annotations

from dataclasses import replace

import pytest
from rocprofdata import VCOPY, text_of, vcopy

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3 import (
    Copy,
    Dispatch,
    Shape,
    Trace,
    application_profile,
    parse_agents,
    parse_copies,
    parse_counters,
    parse_kernel_trace,
)
from intelliperf.records import Metric, Provenance

AGENTS = (
    '"Node_Id","Logical_Node_Id","Agent_Type","Max_Waves_Per_Simd","Wave_Front_Size","Num_Xcc","Cu_Count",'
    '"Num_Shader_Banks","Simd_Per_Cu","Gfx_Target_Version","Name"\n'
    '0,0,"CPU",0,0,0,0,0,0,0,"AMD EPYC"\n'
    '4,1,"GPU",8,64,8,304,32,4,90402,"gfx942"\n'
)


def recorded_trace() -> tuple[Dispatch, ...]:
    return parse_kernel_trace(text_of("sdk_kernel_trace.csv"), "sdk_kernel_trace.csv")


def test_a_recorded_kernel_trace_gives_kernels_by_falling_device_time() -> None:
    dispatches = recorded_trace()
    copies = parse_copies(text_of("sdk_memory_copy_trace.csv"), "copies")
    profile = application_profile(Trace(dispatches, copies, ()), demangle=lambda names: list(names))
    times = [sum(kernel.device_time_ns) for kernel in profile.kernels]
    assert times == sorted(times, reverse=True)
    assert profile.device_time_ns == sum(d.duration_ns for d in dispatches) + sum(c.duration_ns for c in copies)
    assert sum(kernel.share for kernel in profile.kernels) < 1.0, "copies have a share, too"
    to_device = [one.duration_ns for one in copies if one.direction == "MEMORY_COPY_HOST_TO_DEVICE"]
    share = 100 * sum(to_device) / profile.device_time_ns
    assert (
        f"{len(to_device)} copies from the host to the device take {share:.0f} % of the device's time" in profile.notes
    )
    assert any("copies from the device to the host take" in note for note in profile.notes)
    first = profile.kernels[0]
    assert first.time_provenance is Provenance.MEASURED
    assert first.geometries[0].grid == (16, 1024, 1), "grid sizes are work-items in the file, blocks with us"
    assert first.geometries[0].block == (64, 1, 1)
    assert first.quantity(Metric.VGPRS).provenance is Provenance.STATIC
    assert {kernel.kernel.name for kernel in profile.kernels} >= {"divide_kernel", "addition_kernel<float>"}


def test_an_old_trace_without_registers_and_a_converted_one_with_a_guid_read_the_same() -> None:
    old = (
        '"Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
        '"Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X",'
        '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
        '"KERNEL_DISPATCH",1,1,9,3,8,"_Z1kPf.kd",3,1000,1500,16,512,64,1,1,100,1,1\n'
    )
    new = (
        '"Guid","Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",'
        '"Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","Workgroup_Size_X",'
        '"Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"\n'
        '"0000-11","KERNEL_DISPATCH","Agent 1",1,0,9,3,8,"_Z1kPf",3,1000,1500,512,16,64,1,1,100,1,1\n'
    )
    (before,) = parse_kernel_trace(old, "old.csv")
    (after,) = parse_kernel_trace(new, "new.csv")
    assert before == after
    assert before.symbol == "_Z1kPf"
    assert before.vgprs is None, "absent registers are not zero"
    profile = application_profile(Trace((before,), (), ()), demangle=lambda names: list(names))
    assert not profile.kernels[0].has(Metric.VGPRS)
    assert profile.kernels[0].geometries[0].grid == (2, 1, 1), "the last block is partly filled"


def test_the_runtimes_own_kernels_take_time_but_are_no_kernels_of_the_user() -> None:
    dispatch = recorded_trace()[0]
    fill = replace(dispatch, symbol="__amd_rocclr_fillBufferAligned")
    profile = application_profile(Trace((dispatch, fill), (), ()), demangle=lambda names: list(names))
    assert [kernel.dispatches for kernel in profile.kernels] == [1]
    assert profile.kernels[0].share == pytest.approx(0.5)
    assert any("own kernels" in note for note in profile.notes)


def test_counters_come_one_row_each_and_are_gathered_by_dispatch() -> None:
    counted = parse_counters(text_of("sdk_counter_collection.csv"), "counters")
    assert len(counted) >= 4
    assert all(one.values == {"SQ_WAVES": 16384.0} for one in counted[:4])
    assert counted[0].agent == 1
    assert counted[0].shape == Shape(1048576, 64)
    assert counted[0].duration_ns == 3200098838483232 - 3200098838431081


def test_the_wide_and_the_long_table_of_one_gpu_tell_the_same_counters() -> None:
    wide = vcopy("MI300X_A1")
    long = parse_counters(text_of("vcopy_MI300X_long.csv"), "long")
    assert len(wide) == len(long) == 3
    for name in ("SQ_WAVES", "TA_FLAT_READ_WAVEFRONTS_sum", "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum"):
        assert wide[0].values[name] == long[0].values[name]


@pytest.mark.parametrize("gpu", VCOPY)
def test_recorded_copies_have_their_counters_their_name_and_no_invented_times(gpu: str) -> None:
    counted = vcopy(gpu)
    assert [one.symbol for one in counted] == ["vecCopy(double*, double*, double*, int, int)"] * 3
    assert all(one.values["SQ_WAVES"] == 16384 for one in counted)
    rounded = gpu.startswith("MI300")
    assert all((one.duration_ns is None) == rounded for one in counted), "1.62068E+14 has lost its nanoseconds"


def test_counts_in_exponent_notation_are_numbers() -> None:
    text = text_of("sdk_counter_collection.csv").replace("16384.000000", "1.63840000e+04")
    assert parse_counters(text, "exponents")[0].values == {"SQ_WAVES": 16384.0}


def test_copies_of_the_runtime_are_read_with_their_direction() -> None:
    copies = parse_copies(text_of("sdk_memory_copy_trace.csv"), "copies")
    assert copies[0] == Copy("MEMORY_COPY_HOST_TO_DEVICE", 1057963336487172, 1057963336564212)


def test_agents_are_the_gpus_with_their_number_of_dies() -> None:
    (gpu,) = parse_agents(AGENTS, "agents")
    assert (gpu.number, gpu.architecture, gpu.compute_units, gpu.dies) == (1, "gfx942", 304, 8)
    assert gpu.max_waves_per_compute_unit == 32
    unnamed = parse_agents(AGENTS.replace('"gfx942"', '"AMD Instinct"'), "agents")
    assert unnamed[0].architecture == "gfx942", "by the driver's number where the name is a marketing name"


@pytest.mark.parametrize(
    ("column", "what"),
    [("Kernel_Name", "Kernel_Name"), ("Grid_Size_X", "Grid_Size_X"), ("End_Timestamp", "End_Timestamp")],
)
def test_a_missing_column_is_named_with_its_file(column: str, what: str) -> None:
    text = text_of("sdk_kernel_trace.csv").replace(f'"{column}"', '"Something_Else"', 1)
    with pytest.raises(ProtocolError, match=rf"trace\.csv: no column.*{what}"):
        parse_kernel_trace(text, "trace.csv")


def test_a_missing_counter_column_and_a_cell_without_a_number_are_named() -> None:
    text = text_of("sdk_counter_collection.csv")
    with pytest.raises(ProtocolError, match="no column Counter_Value"):
        parse_counters(text.replace('"Counter_Value"', '"Value"'), "counters.csv")
    with pytest.raises(ProtocolError, match=r"counters\.csv, line 2: Counter_Value is not a number: 'n/a'"):
        parse_counters(text.replace("16384.000000", "n/a"), "counters.csv")


def test_rounded_times_empty_files_and_cut_rows_are_errors_in_a_trace() -> None:
    text = text_of("sdk_kernel_trace.csv")
    with pytest.raises(ProtocolError, match="rounded"):
        parse_kernel_trace(text.replace("1550151853029637", "1.55015E+15"), "trace.csv")
    with pytest.raises(ProtocolError, match="empty"):
        parse_kernel_trace("", "trace.csv")
    with pytest.raises(ProtocolError, match="cut off"):
        parse_kernel_trace(text.rstrip()[:-8].rpartition(",")[0], "trace.csv")


def test_a_counter_that_comes_twice_for_a_dispatch_is_an_error() -> None:
    text = text_of("sdk_counter_collection.csv").rstrip()
    with pytest.raises(ProtocolError, match="SQ_WAVES comes twice"):
        parse_counters("\n".join([text, text.splitlines()[-1]]), "counters.csv")


def test_time_in_which_the_device_waits_for_the_host_is_noted() -> None:
    work = [(0, 400), (300, 500), (1500, 2000)]
    copies = tuple(Copy("MEMORY_COPY_HOST_TO_DEVICE", start, end) for start, end in work)
    profile = application_profile(Trace((), copies, ()), demangle=lambda names: list(names))
    assert "between its first and last work the GPU was idle for 50 % of 0.002 ms" in profile.notes
