"""Real HIP binaries under Debian's ROCr on the software gfx90a: traced, counted and diagnosed as on hardware."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from intelliperf.devices.models import record
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.base import Formula
from intelliperf.formulas.memory_access import MemoryAccess
from intelliperf.processes.process import output_of
from intelliperf.profiling.rocprofv3 import application_profile, collect, find_rocprof, trace
from intelliperf.records import Application, KernelProfile, Metric, Provenance
from intelliperf.rocm import counters
from intelliperf.rocm.codeobject import from_program

pytestmark = pytest.mark.gfx90a

HERE = Path(__file__).parent
DEVICE = record("mi250x")
DEADLINE_S = 120.0
BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"
FORMULAS: dict[str, Formula] = {"turned": MemoryAccess(), "columns": BankConflict(), "crowded": AtomicContention()}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, KernelProfile]]:
    """What the whole way gives for each kernel of the test program, by name."""
    work = tmp_path_factory.mktemp("patterns")
    argv = ["clang++-19", "-x", "hip", "--offload-arch=gfx90a", "-mcode-object-version=4", "-O3"]
    argv += [f"--rocm-device-lib-path={BITCODE}", str(HERE / "programs" / "patterns.hip"), "-o", str(work / "app")]
    done, _, err = output_of([*argv, "-lamdhip64"], DEADLINE_S)
    assert done.ok, err
    device = runpy.run_path(str(HERE.parent / "gfx90a" / "device.py"))
    environment = {"LD_LIBRARY_PATH": device["environment"]()["LD_LIBRARY_PATH"]}
    application = Application((str(work / "app"),), work, work, (), tuple(environment.items()))
    rocprof = find_rocprof(HERE / "rocprofv3")
    seen = trace(rocprof, application, DEADLINE_S, work / "trace")
    profile = application_profile(seen, timing=Provenance.MODELLED)
    symbols = [kernel.kernel.symbol for kernel in profile.kernels]
    names = counters.needed("gfx90a")
    counted = collect(rocprof, application, symbols, names, "gfx90a", DEADLINE_S, work / "counters")
    (work / "code").mkdir()
    code = from_program(work / "app", "gfx90a", work / "code")
    yield {
        kernel.kernel.name: counters.with_quantities(kernel, counted, code[kernel.kernel.symbol], DEVICE)
        for kernel in profile.kernels
    }


@pytest.mark.slow
def test_all_kernels_of_the_program_are_seen_twice_and_none_of_the_runtime(kernels: dict[str, KernelProfile]) -> None:
    assert set(kernels) == {"copied", "turned", "columns", "crowded"}
    assert all(kernel.dispatches == 2 for kernel in kernels.values())
    assert kernels["columns"].quantity(Metric.LDS_BYTES).value == 8192


def test_a_plain_copy_of_doubles_is_perfect_in_all_three_ways(kernels: dict[str, KernelProfile]) -> None:
    copied = kernels["copied"]
    assert copied.quantity(Metric.L1_L2_BYTES).value == copied.quantity(Metric.BYTES_AT_MOST).value == 2 * 8 * 65536
    assert [formula.diagnose(copied, DEVICE) for formula in FORMULAS.values()] == [None] * 3


@pytest.mark.parametrize("name", FORMULAS)
def test_each_bad_pattern_is_found_by_its_formula_and_by_no_other(kernels: dict[str, KernelProfile], name: str) -> None:
    found = {other: formula.diagnose(kernels[name], DEVICE) is not None for other, formula in FORMULAS.items()}
    assert found == {other: other == name for other in FORMULAS}


def test_the_numbers_are_those_of_the_patterns(kernels: dict[str, KernelProfile]) -> None:
    turned = kernels["turned"]
    loads = stores = 65536 // 64
    assert turned.quantity(Metric.REQUESTS).value == loads + stores
    assert turned.quantity(Metric.L1_L2_BYTES).value == loads * 512 + stores * 64 * 64
    assert turned.quantity(Metric.L1_L2_EXCESS_BYTES).value == stores * (64 * 64 - 512)
    assert kernels["crowded"].quantity(Metric.ATOMIC_REQUESTS).value == 65536 // 64
    assert kernels["columns"].quantity(Metric.LDS_TIME_NS).provenance is Provenance.MODELLED
