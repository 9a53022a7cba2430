"""What the modelled time must agree with hardware on: which of two kernels is the slower one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from intelliperf.processes.process import output_of

SOURCE = Path(__file__).parent / "programs" / "modelled.hip"
TAKERS = ("blocks", "waves", "threads")


def _build(built: Path, compiler: str = "hipcc", **environment: str) -> Path:
    source = SOURCE.with_suffix(".hip" if compiler == "hipcc" else ".cu")
    argv = [sys.executable, "-m", "intelliperf.emulator.driver", compiler, "-O2", str(source), "-o", str(built)]
    done, _, errors = output_of(argv, 300, environment)
    assert done.ok, errors
    return built


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("modelled") / "modelled")


def _read(program: Path, records: Path, **environment: str) -> dict[str, float]:
    """With records, so that launches of one kernel with other arguments are looked at each by itself."""
    traced = {"INTELLIPERF_TRACE_DIR": str(records), "INTELLIPERF_TRACE_LAUNCHES": "8"}
    done, out, errors = output_of([str(program)], 120, {**traced, **environment})
    assert done.ok, errors
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}


@pytest.fixture(scope="module")
def times(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return _read(program, tmp_path_factory.mktemp("records"))


@pytest.mark.parametrize(
    ("slower", "faster", "at_least"),
    [
        ("copy_strided", "copy", 1.3),
        ("copy", "copy_cached", 1.05),
        ("copy", "copy_wide", 1.0),
        ("copy_twice", "copy", 1.08),
        ("atomics_hot", "atomics_spread", 5.0),
        ("columns_conflicting", "columns", 1.3),
        ("chase_alone", "chase", 1.2),
        ("walk_alone", "walk_together", 0.8),
        ("product", "product_tiled", 1.1),
        ("sum_among_short_ones", "sum_alone", 0.95),
        *((f"{taker}_own", f"{taker}_drawn", 0.5) for taker in TAKERS),
        *((f"{taker}_drawn", f"{taker}_own", 0.7) for taker in TAKERS),
    ],
)
def test_the_slower_kernel_is_modelled_as_slower(
    times: dict[str, float], slower: str, faster: str, at_least: float
) -> None:
    assert times[slower] > at_least * times[faster]


@pytest.fixture(scope="module")
def nvidia_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("modelled") / "modelled", "nvcc", INTELLIPERF_TARGET="h100")


@pytest.fixture(scope="module")
def nvidia_times(nvidia_program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return _read(nvidia_program, tmp_path_factory.mktemp("records"))


def test_nvidia_s_caches_keep_what_a_block_stores_and_what_came_before_a_launch(
    nvidia_program: Path, nvidia_times: dict[str, float], tmp_path: Path
) -> None:
    times = nvidia_times
    assert times["exchanged_in_memory"] < 1.4 * times["exchanged_in_lds"]
    assert times["summed_after_others"] > 1.8 * times["summed_after_fill"]  # 2.2 on an H200, see rates.cu
    assert times["summed_after_itself"] == pytest.approx(times["summed_after_fill"], rel=0.02)
    assert times["summed_after_a_part"] == pytest.approx(times["summed_after_itself"], rel=0.05)
    # What other blocks have asked memory for is not there at once.
    assert times["walked_by_all"] == pytest.approx(times["walked_by_one"], rel=0.1)
    assert times["started"] - times["started_again"] == pytest.approx(350e-6, rel=0.1)  # ms
    assert times["loaded"] < times["started_again"] + 50e-6
    emptied = _read(nvidia_program, tmp_path, INTELLIPERF_EMPTY_L2="1")
    assert emptied["summed_after_fill"] == emptied["summed_after_others"] == times["summed_after_others"]


def test_the_l2_has_what_is_not_looked_at_of_a_launch_before(
    nvidia_program: Path, nvidia_times: dict[str, float], tmp_path: Path
) -> None:
    sampled = _read(nvidia_program, tmp_path, INTELLIPERF_TRACE_EVENTS="8000")
    assert sampled["summed_after_itself"] == pytest.approx(nvidia_times["summed_after_itself"], rel=0.1)


def test_what_nvcc_loads_and_calls_again_is_counted(nvidia_times: dict[str, float]) -> None:
    """Loads after stores of another type, and powers whose exponent is known."""
    assert nvidia_times["types_apart"] == pytest.approx(nvidia_times["types_alike"], rel=0.1)
    assert nvidia_times["squared_by_power"] > 1.2 * nvidia_times["squared"]


def test_blocks_that_are_not_looked_at_cannot_hide_what_they_do(program: Path, tmp_path: Path) -> None:
    sampled = _read(program, tmp_path, INTELLIPERF_TRACE_EVENTS="30000")
    assert sampled["copy_unevenly"] > 0.9 * sampled["copy"]


def test_the_shader_clock_moves_with_a_traced_block_s_requests(times: dict[str, float]) -> None:
    assert 64 * 4 < times["clock"] < 64 * 1000


def test_the_clock_s_scale_reaches_every_time_that_the_program_reads(
    program: Path, times: dict[str, float], tmp_path: Path
) -> None:
    scaled = _read(program, tmp_path, INTELLIPERF_CLOCK_SCALE="3")
    for name, value in times.items():
        bend = value**-0.05 if name != "clock" else 1  # of times between events, which are in milliseconds
        assert scaled[name] == pytest.approx(3 * value * bend, rel=1e-3)


@pytest.mark.slow
def test_work_that_a_gpu_s_own_code_draws_is_shared_out_and_alike_in_every_run(tmp_path: Path) -> None:
    built = _build(tmp_path / "modelled", INTELLIPERF_EXECUTOR="machine", INTELLIPERF_TARGET="mi300x")
    runs = []
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        runs.append(_read(built, tmp_path / str(number)))
    assert runs[0] == runs[1]
    assert all(0.7 < runs[0][f"{taker}_drawn"] / runs[0][f"{taker}_own"] < 2 for taker in TAKERS)
