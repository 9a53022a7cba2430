"""Applications on NVIDIA GPUs whose runs take long: how seldom they are run, and what stands for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from intelliperf.cuda import activity, backend, replaying
from intelliperf.cuda.backend import CudaBackend
from intelliperf.processes.process import Completed
from intelliperf.profiling.ncu import ProfiledKernel
from intelliperf.project.versions import Version
from intelliperf.records import (
    Application,
    Geometry,
    Kernel,
    KernelProfile,
    Measurement,
    Outcome,
    Provenance,
    Scope,
    Verdict,
)
from intelliperf.search.observer import Observer, RunSettings
from intelliperf.validation.timing import time_refusal

ADD = Kernel("_Z3addPf", "add")


def application(directory: Path, name: str = "app") -> Application:
    directory.mkdir(exist_ok=True)
    return Application((f"./{name}",), directory, directory)


def seen(nanoseconds: int) -> activity.Activity:
    shape = Geometry((8, 1, 1), (128, 1, 1), 0)
    kernels = tuple(
        activity.KernelActivity(symbol, symbol, 0, end, shape, 0, 32, 0)
        for symbol, end in ((ADD.symbol, nanoseconds), ("other", 500))
    )
    return activity.Activity(kernels, (), 0)


class Runs:
    """`CudaBackend._traced` without a GPU; `seconds` is what each run takes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.of: list[str] = []

    def __call__(self, application: Application, *_: object) -> tuple[activity.Activity, Completed]:
        self.of.append(application.directory.name)
        time_ns = 4000 if application.directory.name == "original" else 1000
        nowhere = application.directory / "nothing"
        return seen(time_ns), Completed((), 0, None, False, False, self.seconds, nowhere, nowhere)


@pytest.mark.parametrize(("seconds", "is_long"), [(4.0, False), (61.0, True)])
def test_each_version_of_a_long_application_is_timed_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, is_long: bool
) -> None:
    cuda, runs = CudaBackend(tmp_path / "device"), Runs(seconds)
    monkeypatch.setattr(cuda, "_traced", runs)
    monkeypatch.setattr(cuda, "_under_the_roof", lambda *_: (None, ""))
    original, candidate = application(tmp_path / "original"), application(tmp_path / "candidate")
    cuda.profile(original, 600.0)
    assert cuda.is_long(original) is is_long
    for _ in range(2):
        timing = cuda.time(original, candidate, ADD, 600.0)
        kernel, everything, process = timing.measurements
        assert (kernel.ratio, everything.ratio, process.ratio) == (4.0, 3.0, 1.0)
    if is_long:
        assert runs.of == ["original", "candidate"]
        assert kernel.low < 3.2 and kernel.high > 5.0  # one pair proves little
        assert "one run of each version was timed, as one takes 61 s" in timing.notes[0]
    else:
        assert len(runs.of) > 10


def test_what_replays_have_shown_is_refused_only_where_runs_contradict_it() -> None:
    def once(ratio: float) -> Measurement:
        return Measurement(
            Scope.KERNEL, 1e6, 1e6 / ratio, ratio, ratio / 1.3, ratio * 1.3, Provenance.MEASURED, 1, pairs=(ratio,)
        )

    assert time_refusal([once(1.2)], None, shown=True) is None
    Verdict(Outcome.ACCEPTED, "", (), (once(1.2),), 1, 1)
    with pytest.raises(ValueError, match="without a measured or modelled gain"):
        Verdict(Outcome.ACCEPTED, "", (), (replace(once(1.2), pairs=(1.1, 1.3)),), 1, 1)
    assert (time_refusal([once(1.2)], None) or (None,))[0] is Outcome.NOT_FASTER
    assert (time_refusal([once(0.7)], None, shown=True) or (None,))[0] is Outcome.NOT_FASTER


def test_replays_of_two_programs_have_counters_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cuda, counted = CudaBackend(tmp_path / "device"), []

    def profiled(ncu: Path, application: Application, *_: object) -> tuple[ProfiledKernel, ...]:
        counted.append(replaying.played(application))
        return ()

    monkeypatch.setattr(backend, "profile_kernel", profiled)
    monkeypatch.setattr(backend, "find_ncu", lambda: Path("ncu"))
    plan = tmp_path / "plan.json"
    plan.write_text('{"dispatches": []}')
    programs = []
    for name in ("original", "candidate"):
        one = application(tmp_path / name)
        programs.append(one.directory / "app")
        programs[-1].write_text(name)
        for _ in range(2):
            cuda._counted(replaying.launching(one, programs[-1], plan), ADD, 600.0)
    assert counted == programs
    assert replaying.played(application(tmp_path / "original")) is None


class Recordings:
    """Of every kernel but `without`."""

    def __init__(self, without: str) -> None:
        self.without = without
        self.asked: list[str] = []

    def expect(self, kernels: Sequence[KernelProfile]) -> None:
        self.asked.append("+".join(one.kernel.name for one in kernels))

    def prepare(self, reference: Version, profile: KernelProfile) -> None:
        self.asked.append(profile.kernel.name)

    def stand_in(self, reference: Version, version: Version, kernel: Kernel) -> Application | None:
        app: Application = version.application
        return None if kernel.name == self.without else replace(app, command=("replay", kernel.name))


@pytest.mark.parametrize("is_long", [False, True])
def test_kernels_of_a_long_application_are_counted_by_replays(tmp_path: Path, is_long: bool) -> None:
    counted: list[tuple[str, ...]] = []

    class Backend:
        def is_long(self, _: Application) -> bool:
            return is_long

        def quantities(
            self, given: Application, kernels: Sequence[KernelProfile], _: float
        ) -> tuple[KernelProfile, ...]:
            counted.append((*given.command, *(one.kernel.name for one in kernels)))
            return tuple(kernels)

    class Built:
        application = Application(("./app",), tmp_path, tmp_path)

    top = [KernelProfile(Kernel(f"_{n}", n), 1, (), (), Provenance.MEASURED, 0.5) for n in ("add", "scale")]
    recordings = Recordings("scale")
    observer = Observer(RunSettings(), Backend(), None, print, recordings)  # type: ignore[arg-type]
    assert observer._quantities(Built(), top) == tuple(top)  # type: ignore[arg-type]
    if is_long:
        assert recordings.asked == ["add+scale", "add", "scale"]
        assert counted == [("replay", "add", "add"), ("./app", "scale")]
    else:
        assert recordings.asked == [] and counted == [("./app", "add", "scale")]


def test_buffers_of_replays_are_told_from_where_they_lay() -> None:
    a, b, c = ("device", 4, ""), ("device", 1, ""), ("pool", 2, "")
    lay = [(0x9000, 64, b), (0x1000, 32, a), (0x9000, 64, b), (0x5000, 16, c), (0x5000, 16, a)]
    assert replaying.homes(lay) == {("mapped", 1, ""): a, ("mapped", 3, ""): b}  # two in turn lay at 0x5000
