"""Runs of one program with shadows, each compared with its first: `./app V` is variant V."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inprocess import WITHOUT_FACTS, build_here

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import Application, Interception, Kernel, Shadow
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.buffers.algebra import NOTHING, Account, Level
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.calibration import Calibration, Masks
from intelliperf.validation.runs.lockstep import Setting, follow_planned
from intelliperf.validation.runs.side import SideRun

_DEADLINE_S = 120.0


class _Unknown:
    """A calibration that lets everything be compared."""

    allowances: dict[object, object] = {}
    erratic_at: frozenset[object] = frozenset()
    undefined = Masks()


UNKNOWN: Calibration = _Unknown()  # type: ignore[assignment]


class ShadowRuns:
    """Builds `source` in `project` once; `formats` are those of its numbers."""

    def __init__(self, project: Path, source: str, formats: str, target: str = "") -> None:
        self._project = project
        self._field = Field.drawn()
        self._shadow = Shadow(self._field.fold, half="half" in formats, bfloat="bfloat" in formats)
        (project / "app.hip").write_text(source)
        (project / "logs").mkdir()
        environment = {**WITHOUT_FACTS, "INTELLIPERF_SHADOWS": "1"}
        environment |= {"INTELLIPERF_TARGET": target} if target else {}
        build_here("hipcc", "-O2", "app.hip", "-o", "app", directory=project, environment=environment)

    def compared(self, variant: int, launch: int = 0, **more: bool) -> tuple[Level, Account, AlgebraObserver]:
        """After that launch: how variant 0 and this one relate."""
        shadow = replace(self._shadow, **more)
        runs = [self._run(number, shadow) for number in (0, variant)]
        observer = AlgebraObserver(UNKNOWN, self._field)
        backend = EmulatorBackend(self._project / "records")
        setting = Setting(backend, Kernel("*", "*"), UNCONFINED, self._project / "logs", _DEADLINE_S)
        divergence = follow_planned(setting, (runs[0], runs[1]), [(launch, launch)], observer).divergences.get(
            "variant"
        )
        account = NOTHING
        for one in (*observer.accounts.values(), *observer.doubtful.values()):
            account = account.joined(one)
        return Level.DIFFERENT if divergence is not None else account.level, account, observer

    def _run(self, number: int, shadow: Shadow) -> SideRun:
        application = Application((str(self._project / "app"), str(number)), self._project, self._project)
        return SideRun("variant" if number else "original", application, Interception(kernels=("*",), shadow=shadow))
