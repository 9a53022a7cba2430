"""PC samples as evidence: the stand-in's, of a real program on the software gfx90a with its real line table."""

from __future__ import annotations

from pathlib import Path

import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, STAND_IN, compile_hip

from intelliperf.formulas.atomic_contention import AtomicContention
from intelliperf.formulas.branch_divergence import BranchDivergence
from intelliperf.formulas.diagnose_only import DiagnoseOnly
from intelliperf.profiling.rocprofv3 import PcSample, Rocprof, find_rocprof
from intelliperf.records import AccessKind, Application, Kernel, Metric, Provenance, Quantity, SourceEvidence
from intelliperf.rocm import codeobject, lines
from intelliperf.rocm.samples import Samples, sampled_kernel, take

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
    numbered = iter(range(9))
    logs = tmp_path_factory.mktemp("logs")
    rocprof = find_rocprof(STAND_IN / "rocprofv3")
    return take(
        rocprof, application, "gfx90a", DEADLINE_S, lambda: logs / str(next(numbered)), application.launcher.words
    )


def evidence_of(application: Application, samples: Samples, scratch: Path) -> tuple[SourceEvidence, ...]:
    objects = codeobject.code_objects(application.directory / "app", "gfx90a", scratch)
    code = lines.kernel_code(objects, KERNEL, scratch)
    seen = lines.Seen(WHOLE, sampled_kernel(samples, KERNEL, application.project), 64)
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
    hot, cold = (atomics[line_of(text)].quantity(Metric.DEVICE_TIME_NS).value for text in ("atomicMax", "atomicExch"))
    assert hot > 3 * cold and hot + cold == pytest.approx(STALL_NS)
    assert (
        "which share the kernel's stall time by the samples on their lines" in atomics[line_of("atomicMax")].operation
    )
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


def test_the_kernel_itself_is_evidence_at_the_line_of_its_first_instruction(
    application: Application, samples: Samples, tmp_path: Path
) -> None:
    (whole,) = (e for e in evidence_of(application, samples, tmp_path) if e.access is AccessKind.KERNEL)
    assert whole.line == line_of("const int i")


def test_why_there_is_no_time_per_line_is_told(application: Application, tmp_path: Path) -> None:
    def told(found: tuple[PcSample, ...], why: str = "") -> str:
        return sampled_kernel(Samples(found, "host_trap", why), KERNEL, application.project).describe()

    one = PcSample("s_nop 0", str(SOURCE), 5, 1, 64, None, None, ((str(SOURCE), 5),), KERNEL.symbol)
    elsewhere = PcSample("s_nop 0", "/x.h", 5, 1, 64, None, None, (("/x.h", 5),), KERNEL.symbol)
    assert told((), "the reason") == "no time per line: the reason"
    assert "1 samples hit busy, too few" in told((one,))
    assert "carry no line of the project" in told((elsewhere,) * 50)
    assert "no dispatches were traced" in told((PcSample("s_nop 0", None, None, 1, 64),))
    assert told((one,) * 50) == "time per line by 50 host trap samples"
    old = Rocprof(STAND_IN / "rocprofv3", (6, 2))
    taken = take(old, application, "gfx90a", DEADLINE_S, lambda: tmp_path, ())
    assert taken.why.endswith("ROCm 6.2 takes no PC samples: install 6.3 or later")


def test_a_device_without_stochastic_sampling_is_sampled_by_host_traps(
    application: Application, tmp_path: Path
) -> None:
    numbered = iter(range(9))
    rocprof = find_rocprof(STAND_IN / "rocprofv3")
    taken = take(
        rocprof, application, "gfx942", DEADLINE_S, lambda: tmp_path / str(next(numbered)), application.launcher.words
    )
    assert taken.method == "host_trap" and taken.found
    assert next(numbered) == 2
