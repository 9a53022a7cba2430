"""PC samples and thread traces as evidence: the stand-in's, of a real program with its real line table."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, STAND_IN, compile_hip

from intelliperf.devices import models
from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.branch_divergence import BranchDivergence
from intelliperf.formulas.every import DiagnoseOnly
from intelliperf.profiling.rocprofv3 import PcSample, Rocprof, TracedInstruction, find_rocprof
from intelliperf.records import AccessKind, Application, Kernel, Metric, Provenance, Quantity, SourceEvidence
from intelliperf.rocm import codeobject, lines
from intelliperf.rocm.backend import RocmBackend
from intelliperf.rocm.linetimes import LineTimes
from intelliperf.rocm.samples import Samples, sampled_lines, take
from intelliperf.rocm.threadtrace import trace_lines, traced_lines

pytestmark = pytest.mark.gfx90a
SOURCE = HERE / "programs" / "sampled.hip"
KERNEL = Kernel("_Z4busyPjS_Pfi", "busy")
TIME_NS, STALL_NS, INSTRUCTIONS = 1000.0, 600.0, 10000.0
WHOLE = {
    metric: Quantity(value, Provenance.MEASURED)
    for metric, value in (
        (Metric.DEVICE_TIME_NS, TIME_NS),
        (Metric.ATOMIC_STALL_NS, STALL_NS),
        (Metric.INSTRUCTIONS, INSTRUCTIONS),
    )
}


def line_of(text: str) -> int:
    (number,) = (at for at, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)
    return number


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    place = tmp_path_factory.mktemp("sampled")
    compile_hip(SOURCE, place / "app")
    return Application(("./app",), SOURCE.parent, place, launcher=LAUNCHER)


@pytest.fixture(scope="module")
def samples(application: Application, tmp_path_factory: pytest.TempPathFactory) -> Samples:
    logs = tmp_path_factory.mktemp("logs")
    rocprof, words = find_rocprof(STAND_IN / "rocprofv3"), application.launcher.words
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCPROFV3_STANDIN_LONGER", "30")  # of a kernel that long enough shares can be read
        return take(rocprof, application, "host_trap", 1, models.record("mi250x"), DEADLINE_S, logs, words)


def evidence_of(application: Application, samples: Samples, scratch: Path) -> tuple[SourceEvidence, ...]:
    return timed_evidence(application, sampled_lines(samples, KERNEL, application.project), scratch)


def timed_evidence(application: Application, times: LineTimes, scratch: Path) -> tuple[SourceEvidence, ...]:
    objects = codeobject.code_objects(application.directory / "app", "gfx90a", scratch)
    code = lines.kernel_code(objects, KERNEL, scratch)
    seen = lines.Seen(WHOLE, times, 64)
    accesses = lines.kernel_lines(code, KERNEL, application.project, seen)
    return (*lines.beside_accesses(code, KERNEL, application.project, seen), *accesses)


def test_a_line_has_the_share_of_time_that_its_samples_have(
    application: Application, samples: Samples, tmp_path: Path
) -> None:
    own = samples.of(KERNEL)
    assert samples.method == "host_trap" and len(own) > 1000
    found = [e for e in evidence_of(application, samples, tmp_path) if e.access is AccessKind.CODE]
    times = {e.line: e.quantity(Metric.DEVICE_TIME_NS) for e in found}
    for line, time in times.items():
        here = [one for one in own if one.chain and line in {at for file, at in one.chain if file == str(SOURCE)}]
        assert time.value == pytest.approx(TIME_NS * len(here) / len(own), rel=0.01)
        assert time.error and time.error < 0.05 * TIME_NS
    assert 0.9 * TIME_NS < sum(time.value for time in times.values()) <= TIME_NS
    hot = next(e for e in found if e.line == line_of("atomicMax"))
    assert f"of {len(own):,} host trap samples" in hot.operation
    (worst, *_) = DiagnoseOnly(()).blame(found)
    assert worst.line == max(times, key=lambda line: times[line].value)


def test_the_stall_of_atomics_goes_to_the_line_where_waves_were_found(
    application: Application, samples: Samples, tmp_path: Path
) -> None:
    found = evidence_of(application, samples, tmp_path)
    atomics = {e.line: e for e in found if e.access in (AccessKind.ATOMIC, AccessKind.REDUCTION)}
    hot, cold = (atomics[line_of(text)].quantity(Metric.DEVICE_TIME_NS).value for text in ("atomicMax", "atomicXor"))
    assert hot > 3 * cold and hot + cold == pytest.approx(STALL_NS)
    assert "which share the kernel's stall time by the time on their lines" in atomics[line_of("atomicMax")].operation
    assert [e.line for e in AtomicContention().blame(found)][0] == line_of("atomicMax")
    without = evidence_of(application, Samples((), "", "not here"), tmp_path)
    equal = {e.quantity(Metric.DEVICE_TIME_NS).value for e in without if e.line in atomics and e.element_bytes}
    assert equal == {STALL_NS / 2}


def test_lanes_that_sit_out_are_blamed_on_the_line_where_they_do(
    application: Application, samples: Samples, tmp_path: Path
) -> None:
    found = evidence_of(application, samples, tmp_path)
    (worst, *_) = BranchDivergence().blame(found)
    assert worst.line == line_of("sum * 1.5f")
    assert worst.quantity(Metric.ACTIVE_LANE_RATIO).value < 0.1
    assert worst.quantity(Metric.LANES_LOST).provenance is Provenance.MODELLED


def test_the_kernel_itself_is_evidence_at_the_line_that_names_it(
    application: Application, samples: Samples, tmp_path: Path
) -> None:
    (whole,) = (e for e in evidence_of(application, samples, tmp_path) if e.access is AccessKind.KERNEL)
    assert whole.line == line_of("void busy")


def test_why_there_is_no_time_per_line_is_told(application: Application, tmp_path: Path) -> None:
    def told(found: tuple[PcSample, ...], why: str = "") -> str:
        return sampled_lines(Samples(found, "host_trap", why), KERNEL, application.project).describe()

    one = PcSample("s_nop 0", str(SOURCE), 5, 1, 64, None, None, ((str(SOURCE), 5),), KERNEL.symbol)
    elsewhere = PcSample("s_nop 0", "/x.h", 5, 1, 64, None, None, (("/x.h", 5),), KERNEL.symbol)
    assert told((), "the reason") == "no time per line: the reason"
    assert "1 samples hit busy, too few" in told((one,))
    assert "carry no line of the project" in told((elsewhere,) * 50)
    assert "no dispatches were traced" in told((PcSample("s_nop 0", None, None, 1, 64),))
    assert told((one,) * 50) == "time per line by 50 host trap samples"
    old = Rocprof(STAND_IN / "rocprofv3", (6, 2))
    taken = take(old, application, "host_trap", 1, models.record("mi250x"), DEADLINE_S, tmp_path, ())
    assert taken.why.endswith("ROCm 6.2 takes no host trap samples: install 6.3 or later")


@pytest.mark.parametrize(
    ("decoder", "said"),
    [
        ("", r"[\d,]+ host trap samples at \d+ moments \(stochastic .* on gfx90a, .* no fitting decoder"),
        ("/opt/rocm/lib", r"a thread trace of 64 waves of .* unit \(stochastic samples: .* on gfx90a"),
    ],
)
def test_the_best_way_that_works_gives_time_and_better_ones_are_named(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoder: str, said: str
) -> None:
    backend = RocmBackend(tmp_path, launcher=LAUNCHER)  # one remembers a program's lines
    monkeypatch.setenv("PATH", os.pathsep.join([str(STAND_IN), os.environ["PATH"]]))
    monkeypatch.setenv("ROCPROF_ATT_LIBRARY_PATH", decoder)
    found = backend.lines(application, KERNEL, DEADLINE_S)
    (note,) = backend.line_notes()
    assert re.search(f"time per line by {said}", note), note
    assert next(e for e in found if e.access is AccessKind.CODE).line == line_of("sum * 1.5f")


def test_a_traced_line_has_its_share_of_the_cycles_but_no_lanes(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCPROF_ATT_LIBRARY_PATH", "/opt/rocm/lib")
    rocprof, words = find_rocprof(STAND_IN / "rocprofv3"), application.launcher.words
    times = trace_lines(
        rocprof, application, KERNEL, application.project, "gfx90a", DEADLINE_S, tmp_path / "logs", words
    )
    found = [e for e in timed_evidence(application, times, tmp_path) if e.access is AccessKind.CODE]
    told = {e.line: e.quantity(Metric.DEVICE_TIME_NS) for e in found}
    assert 0.9 * TIME_NS < sum(time.value for time in told.values()) <= TIME_NS
    assert all(time.provenance is Provenance.MODELLED and time.error is None for time in told.values())
    assert not any(metric in e.quantities for e in found for metric in (Metric.ACTIVE_LANE_RATIO, Metric.LANES_LOST))
    hot = next(e for e in found if e.line == line_of("atomicMax"))
    assert "% of which stall, 100 % of these at global_atomic_umax" in hot.operation


def test_a_kernel_that_the_traced_compute_unit_did_not_run_has_no_times(application: Application) -> None:
    idle = TracedInstruction("s_nop 0", 0, str(SOURCE), 5, 0, 0, 0, 0, ((str(SOURCE), 5),), KERNEL.symbol)
    assert traced_lines([idle], KERNEL, application.project).why == "no wave of busy ran on the traced compute unit"
    ran = replace(idle, hits=2, latency_cycles=30)
    other = replace(ran, symbol="_Z5otherv", latency_cycles=10)
    assert traced_lines([ran, other], KERNEL, application.project).way == (
        "a thread trace of 2 waves of its first launch on one compute unit, where 25 % of the cycles were of other "
        "functions"
    )
