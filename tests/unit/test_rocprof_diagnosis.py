from __future__ import annotations

import json
from pathlib import Path

import pytest
from rocprofdata import text_of

from intelliperf.errors import ProtocolError
from intelliperf.profiling.rocprofv3 import CountedDispatch, CountersAsleep, JsonRecording, Shape, permission_problem
from intelliperf.profiling.rocprofv3.database import read_counters, read_dispatches
from intelliperf.profiling.rocprofv3.diagnosis import check_counted, unknown_counters
from intelliperf.profiling.rocprofv3.profiles import short_name
from intelliperf.profiling.rocprofv3.tool import parse_version, symbol_pattern


def dispatch(**values: float) -> CountedDispatch:
    return CountedDispatch("k", Shape(64, 64), 1, 1, values)


def test_zero_counters_on_rdna_name_the_power_state() -> None:
    with pytest.raises(CountersAsleep, match="STABLE_STD"):
        check_counted([dispatch(GRBM_COUNT=0.0, SQ_WAVES=0.0)], "gfx1201")
    with pytest.raises(CountersAsleep, match="another profiler"):
        check_counted([dispatch(SQ_WAVES=0.0)], "gfx942")
    check_counted([dispatch(GRBM_COUNT=0.0, SQ_WAVES=3.0)], "gfx1201")
    check_counted([dispatch(SQ_INSTS_LDS=0.0)], "gfx1201")  # a kernel without LDS


def test_permission_problems_are_told_with_their_remedy(tmp_path: Path) -> None:
    kfd, paranoid = tmp_path / "kfd", tmp_path / "paranoid"
    assert "amdgpu driver" in str(permission_problem(kfd, paranoid))
    kfd.write_text("")
    assert permission_problem(kfd, paranoid) is None
    paranoid.write_text("4\n")
    assert "perf_event_paranoid" in str(permission_problem(kfd, paranoid))
    paranoid.write_text("2\n")
    assert permission_problem(kfd, paranoid) is None


def test_an_unreadable_device_asks_for_the_render_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kfd = tmp_path / "kfd"
    kfd.write_text("")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "render" in str(permission_problem(kfd, tmp_path / "paranoid"))


def test_counters_that_the_tool_lacks_are_those_of_the_architecture_in_question() -> None:
    said = (
        "W0101 tool.cpp:1] Unable to find all counters for agent 4 (gpu-0, gfx942) in [SQ_WAVES, TCC_HIT[3], X_sum]. "
        "Found: [SQ_WAVES]\n"
        "W0101 tool.cpp:1] Unable to find all counters for agent 5 (gpu-1, gfx1036) in [SQ_WAVES]. Found: []\n"
    )
    assert unknown_counters(said, "gfx942") == {"TCC_HIT[3]", "X_sum"}
    assert unknown_counters("all well", "gfx942") == set()


def test_releases_are_told_by_rocms_number_or_by_the_tools_own() -> None:
    assert parse_version("    version: 1.0.0\n    git_revision: 7f1\n    rocm_version: 7.1.1\n") == (7, 1)
    assert parse_version("    version: 0.6.0\n    rocm_version: \n") == (6, 4)
    assert parse_version("usage: something else") is None


def test_the_filter_takes_exactly_the_kernels_and_their_descriptors() -> None:
    import re

    pattern = symbol_pattern(["_Z1kIiEvPT_", "k.kernel$1"])
    assert re.search(pattern, "_Z1kIiEvPT_.kd") and re.search(pattern, "k.kernel$1")
    assert not re.search(pattern, "_Z1kIiEvPT_2") and not re.search(pattern, "kxkernel$1")


def test_kernels_are_shown_without_return_type_and_parameters() -> None:
    assert short_name("void n::f<float>(float*, int (*)(int))") == "n::f<float>"
    assert short_name("plain") == "plain"


def json_recording() -> dict[str, object]:
    info = {
        "agent_id": {"handle": 7},
        "kernel_id": 3,
        "dispatch_id": 1,
        "private_segment_size": 0,
        "group_segment_size": 0,
        "workgroup_size": {"x": 64, "y": 1, "z": 1},
        "grid_size": {"x": 128, "y": 1, "z": 1},
    }
    counted = {
        "dispatch_data": {"dispatch_info": info},
        "records": [{"counter_id": {"handle": 9}, "value": value} for value in (1.0, 2.0, 4.0)],
        "arch_vgpr_count": 8,
        "sgpr_count": 16,
        "lds_block_size_v": 0,
    }
    agent = {"max_waves_per_simd": 8, "wave_front_size": 64, "num_xcc": 1, "cu_count": 104, "simd_per_cu": 4}
    return {
        "agents": [{"id": {"handle": 7}, "type": 2, "node_id": 4, "gfx_target_version": 90010, **agent}],
        "counters": [{"id": {"handle": 9}, "name": "TCC_HIT"}],
        "kernel_symbols": [{"kernel_id": 3, "kernel_name": "_Z1kv.kd"}],
        "callback_records": {"counter_collection": [counted]},
        "buffer_records": {"kernel_dispatch": [{"dispatch_info": info, "start_timestamp": 5, "end_timestamp": 9}]},
    }


def test_json_has_one_record_per_instance_which_are_added_up() -> None:
    recording = JsonRecording(json.dumps({"rocprofiler-sdk-tool": [json_recording()]}), "run_results.json")
    (counted,) = recording.counters()
    assert counted.values == {"TCC_HIT": 7.0}
    assert counted.instances == {"TCC_HIT": (1.0, 2.0, 4.0)}
    assert (counted.symbol, counted.shape, counted.agent) == ("_Z1kv", Shape(128, 64), 4)
    assert recording.agents()[0].architecture == "gfx90a"
    assert recording.dispatches()[0].duration_ns == 4


@pytest.mark.parametrize(
    "path",
    [
        *(f"agents.{key}" for key in ("id.handle", "type", "gfx_target_version", "cu_count", "simd_per_cu", "num_xcc")),
        *(f"agents.{key}" for key in ("max_waves_per_simd", "wave_front_size", "num_shader_banks")),
        *("counters.id.handle", "counters.name", "kernel_symbols.kernel_id", "kernel_symbols.kernel_name"),
        *(f"buffer_records.kernel_dispatch.{key}" for key in ("start_timestamp", "end_timestamp")),
        *(f"buffer_records.kernel_dispatch.dispatch_info.{key}" for key in ("kernel_id", "dispatch_id", "grid_size.x")),
        *(f"buffer_records.memory_copy.{key}" for key in ("start_timestamp", "end_timestamp", "kind", "operation")),
        *(
            f"callback_records.counter_collection.{key}"
            for key in ("arch_vgpr_count", "sgpr_count", "lds_block_size_v")
        ),
        *(f"callback_records.counter_collection.records.{key}" for key in ("counter_id.handle", "value")),
        "callback_records.counter_collection.dispatch_data.dispatch_info.agent_id.handle",
        *("strings.buffer_records.kind", "strings.buffer_records.operations"),
    ],
)
def test_keys_that_are_read_are_in_the_vendors_schema(path: str) -> None:
    assert f"rocprofiler-sdk-tool.{path}" in text_of("json_schema_paths.txt").splitlines()


def test_json_that_lacks_something_names_the_file_and_the_key() -> None:
    broken = json_recording()
    del broken["kernel_symbols"]
    recording = JsonRecording(json.dumps({"rocprofiler-sdk-tool": [broken]}), "run_results.json")
    with pytest.raises(ProtocolError, match=r"run_results\.json: no key 'kernel_symbols'"):
        recording.counters()
    nameless = json_recording()
    nameless["counters"] = []
    recording = JsonRecording(json.dumps({"rocprofiler-sdk-tool": [nameless]}), "run_results.json")
    with pytest.raises(ProtocolError, match="the counter 9 has a value, but no name"):
        recording.counters()
    with pytest.raises(ProtocolError, match="not JSON of rocprofv3"):
        JsonRecording("{}", "other.json")


def test_what_is_no_rocpd_database_is_said_to_be_none(tmp_path: Path) -> None:
    import sqlite3

    text = tmp_path / "text.db"
    text.write_text("this is not a database, and long enough to be seen as none")
    with pytest.raises(ProtocolError, match="not a rocpd database"):
        read_counters(text)
    empty = tmp_path / "empty.db"
    sqlite3.connect(empty).close()
    with pytest.raises(ProtocolError, match="no table rocpd_kernel_dispatch"):
        read_dispatches(empty)
    with pytest.raises(ProtocolError):
        read_dispatches(tmp_path / "missing.db")
