from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from emulator_records import KERNEL, Recording, site

import intelliperf.emulator
from intelliperf.counting import sampling
from intelliperf.emulator import collect
from intelliperf.emulator.modulefacts import ABI_VERSION
from intelliperf.emulator.tracefiles import BLOCK_DTYPE, SHAPES, SITE_DTYPE, IncompleteTrace, Trace
from intelliperf.errors import ApplicationFailed, ProtocolError
from intelliperf.project.builder import library_functions
from intelliperf.records import Metric, Provenance, Quantity

ABI_HEADER = Path(intelliperf.emulator.__file__).parent / "runtime" / "abi.h"


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    source = tmp_path / "app.hip"
    source.write_text("\n".join(f"line {number}" for number in range(1, 20)))
    return Recording(source, sites=[site("load", source, 4), site("reduction", source, 5), site("load", source, 6)])


def _struct_fields(name: str) -> list[tuple[str, str]]:
    """(type, field) pairs of a struct in abi.h, in order."""
    body = re.search(rf"struct {name} {{(.*?)}};", ABI_HEADER.read_text(), re.DOTALL)
    assert body is not None
    found = []
    for declaration in re.sub(r"//[^\n]*", "", body[1]).split(";"):
        words = declaration.replace(",", " ").split()
        found += [(words[0], field) for field in words[1:]] if words else []
    return found


@pytest.mark.parametrize(("name", "dtype"), [("SiteRecord", SITE_DTYPE), ("BlockRecord", BLOCK_DTYPE)])
def test_the_reader_agrees_with_the_header_that_the_runtime_is_built_from(name: str, dtype: np.dtype[np.void]) -> None:
    types = {"uint32_t": "<u4", "uint64_t": "<u8", "double": "<f8"}
    fields = [(field, types[kind]) for kind, field in _struct_fields(name)]
    many = ("error[kShapeFields]", "<f8")
    assert [("error", "<f8", (len(SHAPES),)) if field == many else field for field in fields] == dtype.descr


def test_the_reader_knows_the_version_of_the_header() -> None:
    assert f"kAbiVersion = {ABI_VERSION};" in ABI_HEADER.read_text()


def test_a_process_that_was_killed_is_named_incomplete(tmp_path: Path) -> None:
    with pytest.raises(IncompleteTrace, match=r"no end.json: the process was killed"):
        Trace(tmp_path)


def test_records_of_another_version_are_refused(recording: Recording, tmp_path: Path) -> None:
    directory = recording.write(tmp_path / "records")
    (directory / "end.json").write_text('{"abi": 7, "complete": true}')
    with pytest.raises(ProtocolError, match=f"version 7, this reader knows {ABI_VERSION}"):
        Trace(directory)


def test_a_torn_record_file_is_refused(recording: Recording, tmp_path: Path) -> None:
    recording.count(recording.launch(), 0, requests=4)
    directory = recording.write(tmp_path / "records")
    (directory / "sites.bin").write_bytes((directory / "sites.bin").read_bytes()[:-1])
    with pytest.raises(ProtocolError, match="not a whole number of 336-byte records"):
        _ = Trace(directory).sites


def test_a_record_of_a_site_that_is_not_in_the_table_is_refused(recording: Recording, tmp_path: Path) -> None:
    recording.count(recording.launch(), 3, requests=4)
    with pytest.raises(ProtocolError, match="site 3 is beyond module 0's"):
        _ = Trace(recording.write(tmp_path / "records")).sites


def test_a_launch_without_a_needed_field_is_refused(recording: Recording, tmp_path: Path) -> None:
    recording.launch()
    del recording.launches[0]["traced_blocks"]
    with pytest.raises(ProtocolError, match="malformed record: KeyError"):
        _ = Trace(recording.write(tmp_path / "records")).launches


def test_a_missing_record_file_is_not_taken_for_an_empty_one(recording: Recording, tmp_path: Path) -> None:
    directory = recording.write(tmp_path / "records")
    (directory / "launches.jsonl").unlink()
    with pytest.raises(ProtocolError, match=r"launches.jsonl is missing"):
        _ = Trace(directory).launches


def _profile(recording: Recording, tmp_path: Path, said: str = ""):  # type: ignore[no-untyped-def]
    return collect.application_profile(Trace(recording.write(tmp_path / "records")), 0, tmp_path, said=said)


def test_counts_of_a_wholly_traced_launch_are_exact(recording: Recording, tmp_path: Path) -> None:
    launch = recording.launch()
    recording.count(
        launch, 0, requests=400, global_requests=400, lanes=25600, bytes=102400, sectors=3200, sectors_ideal=3200
    )
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.SECTORS).value == 3200
    assert kernel.quantity(Metric.SECTORS).provenance is Provenance.MEASURED
    assert kernel.quantity(Metric.SECTORS).error is None
    assert kernel.quantity(Metric.ACTIVE_LANE_RATIO).value == 1.0
    assert kernel.quantity(Metric.DEVICE_TIME_NS).provenance is Provenance.MODELLED
    assert kernel.quantity(Metric.VGPRS).provenance is Provenance.STATIC


def test_a_figure_has_an_error_where_its_record_has_one(recording: Recording, tmp_path: Path) -> None:
    launch = recording.launch(traced_blocks=10, all_events=256000)
    recording.count(launch, 0, requests=440, global_requests=440, lanes=440 * 64, sectors=900, errors={"sectors": 30.0})
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.REQUESTS) == Quantity(440.0, Provenance.MEASURED, None)
    assert kernel.quantity(Metric.SECTORS) == Quantity(900.0, Provenance.MEASURED, 30.0)
    assert any("10 % of them traced through the caches" in note for note in kernel.notes)


def test_launches_that_were_not_watched_differ_as_those_that_were(recording: Recording, tmp_path: Path) -> None:
    for requests in (100, 200, 300):
        recording.count(recording.launch(), 0, requests=requests, global_requests=requests, lanes=64 * requests)
    recording.launch(traced_blocks=0, time_from="similar")
    (kernel,) = _profile(recording, tmp_path).kernels
    requests = kernel.quantity(Metric.REQUESTS)
    assert requests.value == (100 + 200 + 2 * 300) / 4
    assert requests.error == pytest.approx(4.303 * 100 * np.sqrt((1 - 3 / 4) / 3))
    assert kernel.quantity(Metric.ACTIVE_LANE_RATIO).error is not None


def test_a_shape_that_was_not_watched_is_taken_to_be_like_another(recording: Recording, tmp_path: Path) -> None:
    recording.count(recording.launch(), 0, requests=100, global_requests=100, lanes=6400)
    recording.launch(grid=[300, 1, 1], blocks=300, traced_blocks=0, time_from="similar")
    (kernel,) = _profile(recording, tmp_path).kernels
    requests = kernel.quantity(Metric.REQUESTS)
    assert (requests.value, requests.error) == (200.0, 75.0)
    assert any("1 dispatches of 1 other shapes were not watched" in note for note in kernel.notes)


def test_most_blocks_without_any_access_are_noted(recording: Recording, tmp_path: Path) -> None:
    recording.launch(empty_blocks=97)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert "97 of 100 blocks access no memory" in kernel.notes


def test_dispatches_of_one_shape_are_averaged_and_shapes_weigh_by_their_number(
    recording: Recording, tmp_path: Path
) -> None:
    small = [recording.launch() for _ in range(3)]
    large = recording.launch(grid=[200, 1, 1], blocks=200, traced_blocks=200)
    recording.launch(traced_blocks=0, time_from="similar")
    for launch in small:
        recording.count(launch, 0, requests=400, global_requests=400, lanes=1)
    recording.count(large, 0, requests=900, global_requests=900, lanes=1)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.dispatches == 5
    assert len(kernel.geometries) == 2
    assert kernel.quantity(Metric.REQUESTS).value == pytest.approx((4 * 400 + 900) / 5)


def test_atomics_are_counted_apart_from_loads_and_stores(recording: Recording, tmp_path: Path) -> None:
    launch = recording.launch(atomic_lanes=6400, atomic_addresses=1, atomic_hottest_lanes=6400, atomic_hottest_site=1)
    recording.count(launch, 0, requests=100, global_requests=100, lanes=6400, sectors=800)
    recording.count(launch, 1, requests=100, global_requests=100, lanes=6400, sectors=100, same_address=6400)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.SECTORS).value == 800
    assert kernel.quantity(Metric.ATOMIC_SERIALIZATION).value == 6400
    assert kernel.quantity(Metric.ATOMIC_HOTTEST_SHARE).value == 1.0
    assert kernel.quantity(Metric.ATOMIC_TIME_NS).value == 6000


def test_sites_that_add_floats_atomically_are_counted_once_each(tmp_path: Path) -> None:
    source = tmp_path / "app.hip"
    source.write_text("line")
    operations = ("atomicrmw fadd", "atomicrmw add", "cmpxchg", "atomicrmw fadd")
    recording = Recording(source, sites=[site("reduction", source, 1, operation=name) for name in operations])
    for launch in (recording.launch(), recording.launch()):
        for number in range(3):
            recording.count(launch, number, requests=1, global_requests=1, lanes=64)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.ATOMIC_FLOAT_SITES).value == 2


def test_a_kernel_without_atomics_has_zero_of_them_and_no_share(recording: Recording, tmp_path: Path) -> None:
    recording.count(recording.launch(), 0, requests=100, global_requests=100, lanes=6400)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.ATOMIC_LANES).value == 0
    assert not kernel.has(Metric.ATOMIC_HOTTEST_SHARE)
    assert not kernel.has(Metric.L1_HIT_RATIO)


def test_a_site_in_both_spaces_shares_its_lanes_out_by_requests(recording: Recording, tmp_path: Path) -> None:
    launch = recording.launch()
    recording.count(launch, 0, requests=4, global_requests=1, shared_requests=3, lanes=256, bytes=1024, lds_phases=6)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.LANES).value == 64
    assert kernel.quantity(Metric.LDS_REQUESTS).value == 3
    assert kernel.quantity(Metric.LDS_LANES).value == 192


def test_copies_count_towards_the_device_time(recording: Recording, tmp_path: Path) -> None:
    recording.launch()
    recording.copy(30000.0)
    profile = _profile(recording, tmp_path)
    assert profile.device_time_ns == 40000
    assert profile.kernels[0].share == 0.25


def test_instructions_come_from_basic_blocks(recording: Recording, tmp_path: Path) -> None:
    launch = recording.launch()
    recording.blocks.append((launch, 0, 12800, 400))
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.INSTRUCTIONS).value == 400 * 10
    assert kernel.quantity(Metric.LANE_INSTRUCTIONS).value == 12800 * 10
    assert kernel.quantity(Metric.ACTIVE_LANE_RATIO).value == 0.5


def test_threads_beyond_the_largest_tensor_have_no_work_of_their_own(recording: Recording, tmp_path: Path) -> None:
    recording.launch(blocks=380, traced_blocks=380, block=[512, 1, 1])
    recording.elements = 32
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.LANE_FILL_RATIO).value == 32 / 512


def test_a_launch_tells_how_it_fills_the_device(recording: Recording, tmp_path: Path) -> None:
    """380 blocks of 96 threads on 304 compute units that hold 6 of them at a time: 12 of 32 waves, for LDS."""
    recording.launch(blocks=380, traced_blocks=380, block=[96, 1, 1], occupancy_waves=12, waves_by_lds=12)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert kernel.quantity(Metric.LANE_FILL_RATIO).value == 96 / 128
    assert kernel.quantity(Metric.UNIT_FILL_RATIO).value == 380 / 608
    assert kernel.quantity(Metric.ROUND_FILL_RATIO).value == pytest.approx(380 / (304 * 6))
    assert kernel.quantity(Metric.OCCUPANCY_LIMIT_RATIO).value == 12 / 32
    assert kernel.quantity(Metric.WAVES_BY_LDS).value == 12
    assert kernel.quantity(Metric.WAVES_BY_REGISTERS).value == 32


def test_private_memory_of_an_unknown_compile_is_absent_not_zero(recording: Recording, tmp_path: Path) -> None:
    recording.launch(local_requests=None, local_ns=None)
    (kernel,) = _profile(recording, tmp_path).kernels
    assert not kernel.has(Metric.LOCAL_REQUESTS) and not kernel.has(Metric.LOCAL_TIME_NS)


def test_an_application_without_kernels_is_an_error(recording: Recording, tmp_path: Path) -> None:
    recording.copy(1.0)
    with pytest.raises(ApplicationFailed, match="launched no GPU kernel; last output: usage: app N"):
        _profile(recording, tmp_path, said="; last output: usage: app N")


def test_an_application_of_library_calls_alone_is_told_which(recording: Recording, tmp_path: Path) -> None:
    recording.copy(1.0)
    for name in ("cublasSgemm", "cublasSgemm", "cublasSaxpy"):
        recording.copy(1.0, operation="library", name=name)
    with pytest.raises(ApplicationFailed, match=r"3 calls \(cublasSgemm ×2, cublasSaxpy ×1\)"):
        _profile(recording, tmp_path)


def test_library_functions_are_read_from_a_programs_symbols(tmp_path: Path) -> None:
    program = tmp_path / "app"
    program.write_bytes(b"\x7fELF\0cublasCreate\0cublasDgemm\0mycublasSgemm\0rocblas_saxpy\0cublasSetStream\0")
    assert library_functions(program) == ("cublasDgemm", "rocblas_saxpy")
    program.write_bytes(b"\x7fELF\0cudaMalloc\0")
    assert library_functions(program) == ()


def test_faults_of_the_program_as_it_is_are_noted(recording: Recording, tmp_path: Path) -> None:
    recording.launch()
    for launch in (0, 1):
        recording.faults.append({"kind": "out_of_bounds", "launch": launch, "kernel": KERNEL, "module": 0, "site": 0})
    assert "1 distinct out-of-bounds fault: out-of-bounds at " in _profile(recording, tmp_path).notes[0]


def test_one_block_of_many_tells_nothing_of_the_spread() -> None:
    assert sampling.half_width(5.0, 25.0, traced=1, blocks=10) == 50.0
    assert sampling.half_width(50.0, 250.0, traced=10, blocks=10) == 0.0
    assert sampling.relative(0.0, 0.0, traced=2, blocks=10) == 0.0


def test_the_sampling_interval_covers_the_truth() -> None:
    """Of many random samples of a skewed population, about 95 % of the intervals hold its total."""
    generator = np.random.default_rng(5)
    population = generator.gamma(2.0, 10.0, size=400)
    covered = 0
    for _ in range(200):
        sample = generator.choice(population, size=40, replace=False)
        width = sampling.half_width(float(sample.sum()), float((sample**2).sum()), 40, 400)
        covered += abs(sample.mean() * 400 - population.sum()) <= width
    assert covered >= 180


def test_metadata_without_its_fields_is_refused(recording: Recording, tmp_path: Path) -> None:
    directory = recording.write(tmp_path / "records")
    metadata = recording.metadata()
    del metadata["sites"]
    (directory / "module-0.json").write_text(json.dumps(metadata))
    with pytest.raises(ProtocolError, match="malformed metadata"):
        _ = Trace(directory).modules
