"""What a run says of launches that it does not analyse whole, against whole traces: see benchmarks/sampling.py."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import Application, KernelProfile, Metric

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "sampling.py"
FEW = {"INTELLIPERF_TRACE_EVENTS": "30000"}  # so that small launches are sampled, too
TARGET = "mi300x"


def _load() -> ModuleType:
    specification = importlib.util.spec_from_file_location("sampling_benchmark", BENCHMARK)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


benchmark = _load()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sampling")
    benchmark.build(place, TARGET)
    return place


@lru_cache(maxsize=64)
def compared(directory: Path, case: str):  # type: ignore[no-untyped-def]
    return benchmark.compare(directory, TARGET, case, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("case", benchmark.cases())
def test_figures_that_are_said_to_be_exact_equal_those_of_a_whole_trace(directory: Path, case: str) -> None:
    comparison = compared(directory, case)
    assert comparison.exact > 0
    assert comparison.inexact == []


@pytest.mark.slow
def test_error_bars_hold_the_truth(directory: Path) -> None:
    every = [compared(directory, case) for case in benchmark.cases()]
    estimated = sum(comparison.estimated for comparison in every)
    outside = [name for comparison in every for name in comparison.outside]
    assert estimated > 200
    assert len(outside) <= 0.05 * estimated, outside


def profile_of(directory: Path, case: str, environment: dict[str, str]) -> ApplicationProfile:
    backend = EmulatorBackend(directory / f"records-{case}", TARGET)
    application = Application(("./sampling", case), BENCHMARK.parent, directory, environment=tuple(environment.items()))
    return backend.profile(application, 120.0)


def kernel_of(directory: Path, case: str) -> KernelProfile:
    (kernel,) = profile_of(directory, case, FEW).kernels
    return kernel


@pytest.mark.parametrize("case", ["few_blocks_work", "nested", "one_block_most", "giant_blocks"])
def test_instructions_of_blocks_that_are_not_analysed_take_their_time(directory: Path, case: str) -> None:
    told = kernel_of(directory, case).quantity(Metric.ISSUE_TIME_NS).value
    (whole,) = profile_of(directory, f"{case}", dict(benchmark.WHOLE)).kernels
    assert told == pytest.approx(whole.quantity(Metric.ISSUE_TIME_NS).value, rel=1e-6)


def test_a_block_with_most_of_the_work_is_waited_for(directory: Path) -> None:
    """20,000 loads, twelve under way, each at least as long as one from the first cache; the mean block has 24."""
    kernel = kernel_of(directory, "one_block_most")
    assert kernel.quantity(Metric.LATENCY_TIME_NS).value > 20000 / 12 * 100 / 2.1


def test_most_blocks_being_empty_is_said(directory: Path) -> None:
    assert any("of 6,000 blocks access no memory" in note for note in kernel_of(directory, "few_blocks_work").notes)


def test_a_long_block_is_run_to_its_end_though_little_of_it_is_analysed(directory: Path) -> None:
    kernel = kernel_of(directory, "giant_blocks")
    (followed,) = (float(found[1]) for note in kernel.notes if (found := re.search(r"([\d.]+) % of them traced", note)))
    assert followed < 2
