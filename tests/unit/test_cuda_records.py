"""What an H100 told, as recorded: activity records, Nsight Compute's counters, inline chains, names of nvcc."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest

from intelliperf.cuda import counters, lines, refetching
from intelliperf.cuda.activity import application_profile, display_name, read
from intelliperf.cuda.inlining import parse_disassembly
from intelliperf.cuda.probe import Attribute, device_record
from intelliperf.cuda.symbols import canonical, pattern
from intelliperf.cuda.toolchain import completed
from intelliperf.errors import BackendUnavailable, MissingMetric, ProtocolError, SourceNotFound
from intelliperf.formulas import find_formula
from intelliperf.profiling import ncu
from intelliperf.profiling.ncu import CountersDenied, Ncu, ProfiledKernel, complaints_in, parse_dump
from intelliperf.records import (
    AccessKind,
    Application,
    Geometry,
    Kernel,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    Quantity,
)

DATA = Path(__file__).resolve().parents[1] / "data" / "nvidia"
H100 = {
    Attribute.MAX_SHARED_MEMORY_PER_BLOCK: 49152,
    Attribute.WARP_SIZE: 32,
    Attribute.CLOCK_RATE: 1980000,
    Attribute.MULTIPROCESSOR_COUNT: 132,
    Attribute.MEMORY_CLOCK_RATE: 2619000,
    Attribute.GLOBAL_MEMORY_BUS_WIDTH: 5120,
    Attribute.L2_CACHE_SIZE: 52428800,
    Attribute.MAX_THREADS_PER_MULTIPROCESSOR: 2048,
    Attribute.COMPUTE_CAPABILITY_MAJOR: 9,
    Attribute.COMPUTE_CAPABILITY_MINOR: 0,
    Attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: 233472,
    Attribute.MAX_REGISTERS_PER_MULTIPROCESSOR: 65536,
    Attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: 232448,
}


def recorded(name: str) -> ProfiledKernel:
    (kernel,) = parse_dump((DATA / f"{name}.ncu.jsonl").read_text())
    return kernel


def program(directory: Path, *command: str) -> Application:
    return Application(command or ("./app",), directory, directory)


def counted(kernel: ProfiledKernel) -> KernelProfile:
    plain = KernelProfile(Kernel(kernel.symbol, kernel.name), 1, (), (1e6,), Provenance.MEASURED, 0.5)
    return counters.with_quantities(plain, [kernel])


def test_limits_of_an_h100_follow_from_its_attributes() -> None:
    device = device_record("NVIDIA H100 80GB HBM3", H100)
    assert (device.architecture, device.name, device.emulated) == ("sm_90", "H100 80GB HBM3", False)
    assert device.limits.dram_bytes_per_s == pytest.approx(3.352e12, rel=1e-3)
    assert device.limits.fp32_flops_per_s == pytest.approx(66.9e12, rel=1e-3)
    assert device.limits.l2_bytes_per_s is None


def test_an_unknown_generation_claims_no_peak_rate() -> None:
    device = device_record("NVIDIA X", {**H100, Attribute.COMPUTE_CAPABILITY_MAJOR: 99})
    assert device.limits.fp32_flops_per_s is None
    assert "fp32_flops_per_s" not in device.limits.sources


def test_every_launch_form_is_in_the_activity_records() -> None:
    activity = read([DATA / "launch_forms.activity.jsonl"])
    assert len(activity.of("_Z5scale4ViewPKfi")) == 8  # plain, stream, Ex and two launches of a graph of two
    assert len(activity.of("_Z8togetherPfi")) == 1
    assert [t.operation for t in activity.transfers].count("memset") == 2
    assert activity.dropped == 0
    assert 0 < activity.busy_ns <= activity.total_ns <= activity.span_ns


def test_a_profile_ranks_kernels_by_measured_time() -> None:
    profile = application_profile(read([DATA / "launch_forms.activity.jsonl"]), 0)
    first, second = profile.kernels
    assert (first.kernel.name, second.kernel.name) == ("scale", "together")
    assert first.time_provenance is Provenance.MEASURED
    assert sum(first.device_time_ns) > sum(second.device_time_ns)
    assert any("idle" in note for note in profile.notes)


def test_what_is_no_activity_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"type": "kernel", "kernel": "k"}\n')
    with pytest.raises(ProtocolError, match="line 1"):
        read([tmp_path / "a"])


@pytest.mark.parametrize(
    ("demangled", "shown"),
    [
        ("scale(View, float const*, int)", "scale"),
        ("void n::f<float, (E)1>(float*, void (*)(int))", "n::f<float, (E)1>"),
        ("(anonymous namespace)::k(int)", "(anonymous namespace)::k"),
        ("plain_c_name", "plain_c_name"),
    ],
)
def test_names_for_people_have_no_parameters(demangled: str, shown: str) -> None:
    assert display_name(demangled) == shown


def test_contended_float_atomics_show_their_queue() -> None:
    profile = counted(recorded("reduction"))
    assert profile.quantity(Metric.ATOMIC_LANES).value == 1 << 20
    assert profile.quantity(Metric.ATOMIC_SERIALIZATION).value == 1 << 20  # one operation per lane
    assert profile.quantity(Metric.ATOMIC_TIME_NS).value > 0.9 * profile.quantity(Metric.DEVICE_TIME_NS).value
    finding = find_formula("atomicContention").diagnose(profile, device_record("H100", H100))
    assert finding is not None
    assert "32.0 operations in L2" in finding.sentence


def test_an_unpadded_tile_conflicts_and_a_coalesced_load_does_not() -> None:
    profile = counted(recorded("transpose"))
    device = device_record("H100", H100)
    finding = find_formula("bankConflict").diagnose(profile, device)
    assert finding is not None
    assert finding.value / finding.ideal == pytest.approx(16.5, abs=0.1)
    assert find_formula("memoryAccess").diagnose(profile, device) is None
    assert find_formula("atomicContention").diagnose(profile, device) is None


def divergent(kernel: ProfiledKernel, lanes: float) -> ProfiledKernel:
    """The recorded kernel as if every instruction had been carried out by so many lanes."""
    instructions = tuple(
        dataclasses.replace(
            item, metrics={**item.metrics, "thread_inst_executed": item.metrics["inst_executed"] * lanes}
        )
        for item in kernel.instructions
    )
    busy = {"smsp__issue_active.avg.pct_of_peak_sustained_elapsed": 80.0}
    metrics = {**kernel.metrics, **busy, "smsp__thread_inst_executed_per_inst_executed.ratio": lanes}
    return dataclasses.replace(kernel, metrics=metrics, instructions=instructions)


def test_every_metric_that_is_asked_for_is_in_a_report() -> None:
    """But for what the recordings were cut down to."""
    for name in ("reduction", "transpose"):
        assert set(counters.METRICS) - set(recorded(name).metrics) == set()


def test_the_shape_of_a_launch_and_what_limits_it_come_from_the_report() -> None:
    profile = counted(recorded("transpose"))  # 3008 blocks of 8 warps on 132 multiprocessors, 8 at a time
    assert profile.quantity(Metric.LANE_FILL_RATIO).value == 1.0
    assert profile.quantity(Metric.UNIT_FILL_RATIO).value == pytest.approx(3008 / 132 / 23)
    assert profile.quantity(Metric.ROUND_FILL_RATIO).value == pytest.approx(3008 / (132 * 8) / 3)
    assert profile.quantity(Metric.OCCUPANCY_LIMIT_RATIO).value == 1.0
    limits = (Metric.WAVES_BY_REGISTERS, Metric.WAVES_BY_LDS, Metric.WAVES_BY_BLOCKS)
    assert [profile.quantity(metric).value for metric in limits] == [64, 64, 64]
    assert profile.quantity(Metric.LANE_INSTRUCTIONS).value == 59281408
    assert profile.quantity(Metric.LOCAL_REQUESTS).value == 0


def test_healthy_registers_lanes_occupancy_and_launches_have_no_finding() -> None:
    device = device_record("H100", H100)
    for name in ("reduction", "transpose"):
        profile = dataclasses.replace(counted(recorded(name)), geometries=(Geometry((3008, 1, 1), (256, 1, 1)),))
        for formula in ("registerPressure", "branchDivergence", "occupancy", "launchConfig"):
            assert find_formula(formula).diagnose(profile, device) is None


def test_distinct_addresses_are_nothing_that_hardware_counts() -> None:
    with pytest.raises(MissingMetric, match="dram_bytes_compulsory"):
        find_formula("memoryLocality").diagnose(counted(recorded("transpose")), device_record("H100", H100))


def test_divergence_on_hardware_is_found_and_blamed_on_lines(tmp_path: Path) -> None:
    text = (DATA / "transpose.ncu.jsonl").read_text()
    (kernel,) = parse_dump(re.sub(r'"/project/transpose', f'"{tmp_path}', text))
    finding = find_formula("branchDivergence").diagnose(counted(divergent(kernel, 8)), device_record("H100", H100))
    assert finding is not None
    assert "8.0 lanes of a wave where 32 could take part (25 %)" in finding.sentence
    found = lines.kernel_lines(divergent(kernel, 8), {}, Kernel(kernel.symbol, "k"), program(tmp_path), None)
    blamed = find_formula("branchDivergence").blame(found)
    assert {item.access for item in blamed} == {AccessKind.CODE}
    assert blamed[0].quantity(Metric.ACTIVE_LANE_RATIO).value == 0.25
    whole = lines.kernel_lines(kernel, {}, Kernel(kernel.symbol, "k"), program(tmp_path), None)
    (first,) = find_formula("occupancy").blame(whole)
    assert (first.access, first.line) == (AccessKind.KERNEL, 14)
    assert first.quantity(Metric.VGPRS).value == 25


def test_local_loads_and_stores_are_register_pressure(tmp_path: Path) -> None:
    text = (DATA / "transpose.ncu.jsonl").read_text().replace('"LDS ', '"LDL ').replace(" LDS ", " LDL ")
    (kernel,) = parse_dump(re.sub(r'"/project/transpose', f'"{tmp_path}', text))
    profile = counted(kernel)
    assert profile.quantity(Metric.LOCAL_REQUESTS).value > 0
    finding = find_formula("registerPressure").diagnose(profile, device_record("H100", H100))
    assert finding is not None
    assert "(25 registers per thread)" in finding.sentence and "cannot be told from counters" in finding.sentence
    found = lines.kernel_lines(kernel, {}, Kernel(kernel.symbol, "k"), program(tmp_path), None)
    blamed = find_formula("registerPressure").blame(found)
    assert {(item.space, item.access) for item in blamed} == {(MemorySpace.LOCAL, AccessKind.LOAD)}
    assert (
        sum(item.quantity(Metric.LOCAL_REQUESTS).value for item in blamed)
        == profile.quantity(Metric.LOCAL_REQUESTS).value
    )


def with_launch(**values: float) -> KernelProfile:
    kernel = recorded("transpose")
    return counted(dataclasses.replace(kernel, metrics={**kernel.metrics, **values}))


def test_a_starved_launch_and_a_half_filled_one_are_found_from_the_report() -> None:
    device = device_record("H100", H100)
    seen = with_launch(
        launch__occupancy_limit_shared_mem=1.0, sm__maximum_warps_per_active_cycle_pct=12.5,
        **{"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed": 1.0},
        **{"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": 5.0},
    )  # fmt: skip
    starved = dataclasses.replace(seen, geometries=(Geometry((3008, 1, 1), (256, 1, 1)),))
    finding = find_formula("occupancy").diagnose(starved, device)
    assert finding is not None
    assert (
        "LDS let 8 of 64 waves be resident on a compute unit (12 %; this launch could fill 100 %)" in finding.sentence
    )
    few = dataclasses.replace(with_launch(launch__grid_size=8.0), geometries=(Geometry((8, 1, 1), (256, 1, 1)),))
    finding = find_formula("launchConfig").diagnose(few, device)
    assert finding is not None
    assert "8 blocks on 132 compute units leave 94 % of them without work" in finding.sentence


def test_a_metric_that_the_device_does_not_have_is_absent() -> None:
    kernel = recorded("transpose")
    without = {name: value for name, value in kernel.metrics.items() if not name.startswith("dram__")}
    profile = counted(ProfiledKernel(kernel.symbol, kernel.name, without, kernel.instructions))
    assert not profile.has(Metric.DRAM_BYTES)
    assert not profile.has(Metric.DRAM_TIME_NS)


def test_an_atomic_inlined_from_a_header_is_blamed_on_the_users_line(tmp_path: Path) -> None:
    kernel = recorded("reduction")
    text = (DATA / "reduction.nvdisasm.txt").read_text()
    source = tmp_path / "signal_energy.hip"
    source.write_text("\n" * 24 + "    atomicAdd(energy, s * s);\n")
    moved = re.sub(r'"[^"]*/signal_energy\.hip"', f'"{source}"', text)
    chains = parse_disassembly(moved.splitlines())[kernel.symbol]
    found = lines.kernel_lines(kernel, chains, Kernel(kernel.symbol, kernel.name), program(tmp_path), 1048576.0)
    (atomic,) = (item for item in found if item.access is AccessKind.REDUCTION)
    assert (atomic.file, atomic.line, atomic.text) == (source, 25, "atomicAdd(energy, s * s);")
    assert atomic.quantity(Metric.ATOMIC_SERIALIZATION).value == 1 << 20
    (load,) = (item for item in found if item.access is AccessKind.LOAD)
    assert (load.line, load.element_bytes) == (24, 4)
    assert load.quantity(Metric.SECTORS).value == load.quantity(Metric.SECTORS_IDEAL).value == 131072
    waiting = {
        item.line: item.quantity(Metric.WAITING_SAMPLES).value for item in found if item.access is AccessKind.CODE
    }
    assert waiting == {22: 49965, 25: 46846}  # where a value is used, the warp waits


def test_a_chain_of_another_binary_is_not_believed(tmp_path: Path) -> None:
    """The driver may have compiled the kernel anew, and then the same offset is another instruction."""
    kernel = recorded("reduction")
    text = (DATA / "reduction.nvdisasm.txt").read_text().replace("REDG.E.ADD", "ATOMG.E.ADD")
    text = re.sub(r'"[^"]*/signal_energy\.hip"', f'"{tmp_path}/signal_energy.hip"', text)
    chains = parse_disassembly(text.splitlines())[kernel.symbol]
    found = lines.kernel_lines(kernel, chains, Kernel(kernel.symbol, kernel.name), program(tmp_path), None)
    assert all(item.access is not AccessKind.REDUCTION for item in found)


def test_a_binary_without_lines_says_how_to_get_them(tmp_path: Path) -> None:
    kernel = parse_dump(re.sub(r'"file": "[^"]*"', '"file": null', (DATA / "reduction.ncu.jsonl").read_text()))[0]
    with pytest.raises(SourceNotFound, match="-lineinfo"):
        lines.kernel_lines(kernel, {}, Kernel(kernel.symbol, "k"), program(tmp_path), None)


@pytest.mark.parametrize("file", ["null", '"/elsewhere/standard.py"'])
def test_what_a_python_program_compiles_gets_its_lines_on_the_emulator(tmp_path: Path, file: str) -> None:
    dump = re.sub(r'"file": "[^"]*"', f'"file": {file}', (DATA / "reduction.ncu.jsonl").read_text())
    (kernel,) = parse_dump(dump)
    script = program(tmp_path, sys.executable, "app.py")
    with pytest.raises(SourceNotFound, match="Triton kernel's lines and patches need --backend emulator"):
        lines.kernel_lines(kernel, {}, Kernel(kernel.symbol, "k"), script, None)
    with pytest.raises(SourceNotFound) as compiled:
        lines.kernel_lines(kernel, {}, Kernel(kernel.symbol, "k"), program(tmp_path), None)
    assert "Triton" not in str(compiled.value)


def test_a_python_program_is_led_to_the_emulator_where_chains_are_known_too(tmp_path: Path) -> None:
    kernel = recorded("reduction")
    chains = parse_disassembly((DATA / "reduction.nvdisasm.txt").read_text().splitlines())[kernel.symbol]
    script = program(tmp_path, sys.executable, "app.py")
    with pytest.raises(SourceNotFound, match="need --backend emulator$"):
        lines.kernel_lines(kernel, chains, Kernel(kernel.symbol, "k"), script, None)


def test_kernels_that_did_not_run_are_not_counted() -> None:
    """ncu lists instructions of the module's other kernels, at other addresses and without executions."""
    (line,) = (DATA / "reduction.ncu.jsonl").read_text().splitlines()
    entry = json.loads(line)
    stranger = {"address": 16, "sass": "LDG.E R2, [R2]", "file": "other.cu", "line": 3, "metrics": {"memory_type": 4.0}}
    entry["instructions"].insert(0, stranger)
    (kernel,) = parse_dump(json.dumps(entry))
    assert kernel.instructions == recorded("reduction").instructions


def test_what_is_no_dump_is_refused() -> None:
    with pytest.raises(ProtocolError):
        parse_dump('{"kernel": 1}\n')


@pytest.mark.parametrize(
    ("symbol", "plain"),
    [
        (
            "_ZN6linalg46_GLOBAL__N__b7d70871_13_transpose_hip_a00f4ba414transposeTiledEPKfPfii",
            "_ZN6linalg12_GLOBAL__N_114transposeTiledEPKfPfii",
        ),
        ("_ZN41_GLOBAL__N__5be91f4f_12_histogram_cu_main4binsEPj", "_ZN12_GLOBAL__N_14binsEPj"),
        ("_ZN2a141_GLOBAL__N__5be91f4f_12_histogram_cu_main4binsEPj", "_ZN2a112_GLOBAL__N_14binsEPj"),
        ("_Z13signal_energyPKfPfi", "_Z13signal_energyPKfPfi"),
        ("_ZN12_GLOBAL__N_14tileEv", "_ZN12_GLOBAL__N_14tileEv"),
    ],
)
def test_names_do_not_depend_on_the_compilation(symbol: str, plain: str) -> None:
    assert canonical(symbol) == plain
    assert re.match(pattern(plain), symbol)
    assert not re.match(pattern(plain), symbol + "x")


def test_nvcc_is_asked_for_lines_and_this_gpu_unless_the_build_says_otherwise() -> None:
    assert completed(["-O3", "a.cu"], "sm_90") == ["-lineinfo", "-arch=sm_90", "-O3", "a.cu"]
    assert completed(["-G", "-arch", "sm_80", "a.cu"], "sm_90") == ["-G", "-arch", "sm_80", "a.cu"]
    assert completed(["-gencode=arch=compute_80,code=sm_80", "a.cu"], "sm_90")[0] == "-lineinfo"


def test_more_read_than_can_be_reached_bounds_what_every_line_once_would_be() -> None:
    launch = recorded("transpose")
    seen = counted(launch)
    assert not refetching.worth_a_run(seen, launch)  # 12.3 MB are less than what may move besides
    larger = dataclasses.replace(launch, metrics={**launch.metrics, refetching.READ: 12295424.0 * 20})
    assert refetching.worth_a_run(seen, larger)
    known = refetching.bounded(seen, larger.metrics, 100_000_000, "")
    bound = known.quantity(Metric.DRAM_BYTES_COMPULSORY_AT_MOST).value
    assert bound == 100_000_000 + refetching.BESIDES_BYTES + 424704
    assert "can reach 100 MB" in known.notes[-1]
    unproven = refetching.bounded(seen, larger.metrics, 240_000_000, "")
    assert not unproven.has(Metric.DRAM_BYTES_COMPULSORY_AT_MOST)
    unknown = refetching.bounded(seen, larger.metrics, None, "it uses textures")
    assert "it uses textures" in unknown.notes[-1]
    spilling = {**seen.quantities, Metric.LOCAL_REQUESTS: Quantity(5.0, Provenance.MEASURED)}
    assert not refetching.worth_a_run(dataclasses.replace(seen, quantities=spilling), larger)


def test_an_exit_status_that_was_announced_is_no_error_of_ncu() -> None:
    said = "==PROF== Profiling\n==ERROR== The application returned an error code (2).\n==ERROR== Unknown option.\n"
    assert complaints_in(said, 2) == ["Unknown option."]
    assert complaints_in(said, 0)[0].endswith("(2).")


@pytest.mark.parametrize("mark", ["==ERROR== ", ""])
def test_what_the_driver_reported_is_told_with_its_cause(mark: str) -> None:
    said = f"==ERROR== An error was reported by the driver:\n{mark}\n{mark}No resource.\n==ERROR== Failed to profile.\n"
    assert complaints_in(said, 0) == ["An error was reported by the driver: No resource.", "Failed to profile."]


_BUSY_NCU = """#!/bin/sh
echo x >> tries
if [ "$(wc -l < tries)" -le {busy} ]; then
  echo "==ERROR== Profiling failed because a driver resource was unavailable. Ensure that no other tool (like DCGM)"
else
  echo "==ERROR== ERR_NVGPUCTRPERM"
fi
exit 1
"""


@pytest.mark.parametrize(
    ("busy", "error", "words"),
    [(2, CountersDenied, "ERR_NVGPUCTRPERM"), (9, BackendUnavailable, "dcgmi profile --pause")],
)
def test_counters_in_use_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: int, error: type[BackendUnavailable], words: str
) -> None:
    program = tmp_path / "ncu"
    program.write_text(_BUSY_NCU.format(busy=busy))
    program.chmod(0o755)
    monkeypatch.setattr(ncu, "_WAITS_S", (0.0, 0.0, 0.0))
    with pytest.raises(error, match=words):
        ncu.profile(
            Ncu(program, tmp_path), Application(("./app",), tmp_path, tmp_path), "k", ["m"], 10.0, tmp_path / "logs"
        )
    assert len((tmp_path / "tries").read_text().split()) == min(busy + 1, 4)
