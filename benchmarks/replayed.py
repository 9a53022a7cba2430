"""What replays on an NVIDIA GPU say, beside whole runs of the application, and how often they see a gain in nothing.

    python benchmarks/replayed.py [--repeats N] [--seconds S] SOURCE=PATCH ...

Each source file is a program of its own, built with nvcc as it is, with its patch, and once more as it is. The launches
of its longest kernel are recorded, and the patched version is timed against the original by replay and by pairs of
whole runs, for `S` seconds. Then the original is timed against its other build, by replay: every one of `N` such
comparisons that calls one of them faster is a false win. One line for each program; the last lines are the totals.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from intelliperf.backends import open_backend
from intelliperf.cuda import replaying
from intelliperf.errors import IntelliPerfError
from intelliperf.processes.sandbox import Sandbox
from intelliperf.profiling.pairs import Decision
from intelliperf.protocols import Backend
from intelliperf.recordings.file import RecordingFile
from intelliperf.recordings.image import make_ready, reshaped, shapes_of
from intelliperf.records import Application, Kernel, Measurement, Scope
from intelliperf.validation.runs.lockstep import Setting
from intelliperf.validation.runs.recording import Wanted, record_dispatches
from intelliperf.validation.runs.relaunching import relaunched

NEAR = 1.05  # ratios by replay and by whole runs agree within this factor
LIMIT_BYTES = 4 << 30
TIMEOUT_S = 300.0
VERSIONS = ("original", "patched", "again")


@dataclass(frozen=True)
class Result:
    replayed: Measurement
    whole: Measurement
    false_wins: int

    @property
    def near(self) -> bool:
        return 1 / NEAR <= self.replayed.ratio / self.whole.ratio <= NEAR


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="comparisons of each original with itself")
    parser.add_argument("--seconds", type=float, default=12.0, help="for the pairs of whole runs of a program")
    parser.add_argument("programs", nargs="+", metavar="SOURCE=PATCH")
    options = parser.parse_args()
    given = [tuple(Path(part).resolve() for part in program.split("=")) for program in options.programs]
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda pair: built(*pair, home / pair[0].stem), given))
        for source, _ in given:
            try:
                results.append(measured(home / source.stem, options.repeats, options.seconds))
            except IntelliPerfError as error:
                print(f"{source.stem}: {error}", flush=True)
                continue
            print(f"{source.stem}: replayed {told(results[-1].replayed)}; whole {told(results[-1].whole)}", flush=True)
    print(
        f"{sum(one.near for one in results)} of {len(results)} ratios by replay are within 5 % of those by whole runs"
    )
    compared = options.repeats * len(results)
    print(f"{sum(one.false_wins for one in results)} false wins in {compared} comparisons of a kernel with itself")


def built(source: Path, patch: Path, home: Path) -> None:
    for version in VERSIONS:
        project = home / version
        project.mkdir(parents=True)
        first = "// the same, built anew\n" if version == "again" else ""
        (project / source.name).write_text(first + source.read_text())
        if version == "patched":
            subprocess.run(["git", "apply", "-p1", str(patch)], cwd=project, check=True)
        command = f"nvcc -O3 -arch=native -x cu {source.name} -o app"
        subprocess.run(shlex.split(command), cwd=project, check=True)


def measured(home: Path, repeats: int, seconds: float) -> Result:
    """Raises `IntelliPerfError`, as where the launches cannot be replayed."""
    original, patched, again = (application(home / version) for version in VERSIONS)
    sandbox = Sandbox.probe(home)
    backend, _ = open_backend("cuda", home / "device", None, sandbox, original)
    profiles = backend.profile(original, TIMEOUT_S).kernels
    kernel = max(profiles, key=lambda one: sum(one.device_time_ns)).kernel
    launches = next(one.dispatches for one in profiles if one.kernel == kernel)
    logs = home / "logs"
    logs.mkdir()
    setting = Setting(backend, kernel, sandbox, logs, TIMEOUT_S)
    plan, other_plan = plans(setting, original, patched, launches)
    (faster,) = replays(setting, original, patched, (plan, other_plan), 1)
    same = replays(setting, original, again, (plan, plan), repeats)
    replayed = next(m for m in faster.measurements if m.scope is Scope.KERNEL)
    false_wins = sum(one.decision is not Decision.NO_CHANGE for one in same)
    return Result(replayed, whole_runs(backend, original, patched, kernel, seconds), false_wins)


def application(project: Path) -> Application:
    return Application((str(project / "app"),), project, project)


def plans(setting: Setting, original: Application, patched: Application, launches: int) -> tuple[Path, Path]:
    path = setting.logs / "one.recording"
    made = record_dispatches(setting, original, [Wanted(setting.kernel, launches, path)], LIMIT_BYTES)
    for reason in made.failed.values():
        raise reason
    with RecordingFile(path) as file:
        plan, recording = make_ready(file, setting.logs / "image"), file.recording
    shapes = relaunched(setting, patched, [recording])[setting.kernel.symbol]
    if not isinstance(shapes, tuple):
        raise shapes
    return plan, plan if shapes == shapes_of(recording) else reshaped(plan, shapes)


def replays(
    setting: Setting, before: Application, after: Application, both: tuple[Path, Path], repeats: int
) -> Sequence[replaying.Comparison]:
    programs = Path(before.command[0]), Path(after.command[0])
    logs = Path(tempfile.mkdtemp(dir=setting.logs))
    return replaying.timed(before, programs, both, logs, setting.sandbox, None, TIMEOUT_S, repeats=repeats)


def whole_runs(
    backend: Backend, before: Application, after: Application, kernel: Kernel, seconds: float
) -> Measurement:
    timing = backend.time(before, after, kernel, seconds)
    return next(m for m in timing.measurements if m.scope is Scope.KERNEL)


def told(one: Measurement) -> str:
    times = f"{one.baseline_ns / 1e3:.4g} → {one.candidate_ns / 1e3:.4g} µs"
    return f"{one.ratio:.3f}× ({one.low:.3f} to {one.high:.3f}), {times}"


if __name__ == "__main__":
    main()
