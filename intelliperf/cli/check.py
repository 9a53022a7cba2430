"""`intelliperf check -- ./app`: what the program does wrong on the device, seen on the emulator."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from intelliperf.backends import with_gpu
from intelliperf.cli.application import application_of
from intelliperf.cli.options import CheckOptions
from intelliperf.cli.view import show
from intelliperf.emulator.schedules import ANOTHER_CLOCK, IN_ORDER, Schedule, schedules, seeded
from intelliperf.emulator.watching import Watched, watch
from intelliperf.errors import BuildFailed
from intelliperf.project.recipes import is_python
from intelliperf.project.scratch import Workspace
from intelliperf.records import Application, Defect, DefectLevel
from intelliperf.report.wording import build_line, command_line
from intelliperf.sentences import counted

EXIT_DEFECTS = 3
_GRACE_S, _AS_LONG = 30.0, 20.0  # a run in another order may take so much more, and so many times as long as the first
_OTHER_WAVE = {32: "mi300x", 64: "rx7900xtx"}  # by a HIP program's wave size: a chip of the other one


@dataclass(frozen=True)
class Checked:
    defects: tuple[Defect, ...]
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]


def check_application(options: CheckOptions) -> int:
    """Print the defects. Exit status 3 where there is an error (with --strict also for a warning), else 0."""
    application, reason = application_of(options)
    print(f"build: {build_line(application.build_commands, reason)}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
        result = _Checker(application, options, Path(name)).check()
    _tell(result, application, options)
    fatal = {DefectLevel.ERROR, DefectLevel.WARNING} if options.strict else {DefectLevel.ERROR}
    return EXIT_DEFECTS if any(defect.level in fatal for defect in result.defects) else 0


def _tell(result: Checked, application: Application, options: CheckOptions) -> None:
    from intelliperf.report.defects import defect_lines, defects_json, summary_line
    from intelliperf.report.sarif import sarif

    if options.sarif is not None:
        document = sarif(result.defects, command_line(application.command), complete=True)
        options.sarif.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if options.json_events:
        print(json.dumps(defects_json(result.defects, result.checked, result.not_checked), indent=2))
        return
    lines = (
        *defect_lines(result.defects),
        summary_line(result.defects),
        f"checked: {'; '.join(result.checked)}",
        f"not checked: {'; '.join(result.not_checked)}",
    )
    show("".join(f"{line}\n" for line in lines), sys.stdout, headline=False)


def _left_out(runs: Sequence[Watched], planned: Sequence[Schedule], application: Application) -> list[str]:
    """Of the program and of the schedules."""
    found = []
    if len(runs) < len(planned):
        unseen = ", ".join(schedule.name for schedule in planned[len(runs) :])
        found.append(f"{unseen}: the first run already timed out")
    if any(trace.stopped_after for run in runs for trace in run.traces):
        launches = counted(application.stop_after or 0, "launch", "es")
        found.append(f"what the program does after {launches}, where --stop-after-launches ended it")
    return found


def _tell_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class _Checker:
    """The builds and runs of one check, below `root`."""

    def __init__(self, application: Application, options: CheckOptions, root: Path) -> None:
        self._application = application
        self._options = options
        self._root = root

    def check(self) -> Checked:
        from intelliperf.emulator.defects import defects_of, nothing_ran, other_output, unfinished
        from intelliperf.emulator.safety import coverage_of
        from intelliperf.emulator.sourcelines import Project

        built = self._build("work", self._options.target)
        planned = schedules(self._options.seeds)
        if self._options.seed is not None:
            planned = (IN_ORDER, seeded(self._options.seed))
        runs = [self._run(built, planned[0], "work")]
        later = () if runs[0].completed.timed_out else planned[1:]  # they would take as long
        limit_s = _GRACE_S + _AS_LONG * runs[0].completed.seconds
        runs += [self._run(built, schedule, "work", limit_s) for schedule in later]
        again = self._run(built, ANOTHER_CLOCK, "again", limit_s) if later else runs[0]
        module = next((m for run in runs for trace in run.traces for m in trace.modules.values()), None)
        vendor = str(module.device.get("vendor", "amd")) if module else "amd"
        project = Project(built.project)
        defects = [*defects_of(runs, project, vendor), *unfinished(runs), *nothing_ran(runs, project)]
        repeated = partial(self._repeated, built, limit_s)
        defects += other_output((runs[0], again, *runs[1:]), repeated=repeated)
        told = [(run, "; ".join(filter(None, map(coverage_of, run.traces)))) for run in runs]
        checked = [f"{run.schedule.name}: {seen or 'no launch came to its end'}" for run, seen in told]
        not_checked = [
            "other inputs than this command's",
            "copies and fills beside kernels of other streams, and a read there that a third kernel has repeated",
        ]
        not_checked += _left_out(runs, planned, self._application)
        if is_python(built.command[0], built.directory):
            not_checked.append("waves of another size, for which Triton would compile other code")
        elif module is not None and module.language == "hip" and self._options.other_wave and not self._options.target:
            defects += self._of_other_wave(module.wave_size, (runs[0], again), defects, vendor)
            checked.append(f"waves of {96 - module.wave_size} lanes as well as of {module.wave_size}")
        elif module is not None and module.language == "hip":
            not_checked.append(f"waves of {96 - module.wave_size} lanes")
        rank = list(DefectLevel)
        defects.sort(key=lambda defect: rank.index(defect.level))
        return Checked(tuple(defects), tuple(checked), tuple(not_checked))

    def _build(self, name: str, target: str | None) -> Application:
        from intelliperf.emulator.backend import EmulatorBackend

        backend = EmulatorBackend(self._root / f"{name}-device", target)
        application = with_gpu(self._application, "emulator", target)
        workspace = Workspace.create(application, self._root / name)
        built = workspace.build(backend.build_environment(), self._options.build_timeout, self._root / f"{name}-logs")
        if not built.ok:
            raise BuildFailed(built.complaint())
        return workspace.application

    def _run(self, built: Application, schedule: Schedule, name: str, limit_s: float = math.inf) -> Watched:
        directory = self._root / f"{name}-{schedule.name.replace(' ', '-')}"
        most_s = min(limit_s, self._options.run_timeout)
        return watch(built, schedule, directory, most_s, lambda text: _tell_progress(f"{schedule.name}: {text}"))

    def _repeated(self, built: Application, limit_s: float, run: Watched) -> Watched:
        return self._run(built, run.schedule, "repeated", limit_s)

    def _of_other_wave(
        self, wave_size: int, before: tuple[Watched, Watched], known: Sequence[Defect], vendor: str
    ) -> list[Defect]:
        """What goes wrong with waves of the other size only."""
        from intelliperf.emulator.defects import defects_of, other_output
        from intelliperf.emulator.sourcelines import Project

        built = self._build("other-wave", _OTHER_WAVE[wave_size])
        run = self._run(built, Schedule(f"with waves of {96 - wave_size} lanes", {}), "other-wave")
        seen = {(defect.rule, defect.lines) for defect in known}
        new = [
            replace(defect, what=f"{defect.what}; only with waves of {96 - wave_size} lanes")
            for defect in defects_of((run,), Project(built.project), vendor)
            if (defect.rule, defect.lines) not in seen
        ]
        return [*new, *(replace(one, rule="wave-size-dependence") for one in other_output((*before, run), True))]
