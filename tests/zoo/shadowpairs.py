"""Two variants of a kernel side by side with shadows, without the other gates: what the zoo's families are tried by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
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

FAMILIES = Path(__file__).parent / "families"
_EXPECTED = re.compile(r"^// V(\d+): ([A-Z]) (.*)$", re.MULTILINE)
_FORMATS = re.compile(r"^// formats: (.*)$", re.MULTILINE)
_DEADLINE_S = 300.0


@dataclass(frozen=True)
class Variant:
    family: str
    number: int
    expected: str  # A equal, B close, C different, L right but less exact, S equal here but another function
    what: str


def variants() -> Iterator[Variant]:
    for path in sorted(FAMILIES.glob("*.hip")):
        for number, expected, what in _EXPECTED.findall(path.read_text()):
            yield Variant(path.stem, int(number), expected, what)


@dataclass
class Pairs:
    """Builds families in `directory`, once each, and runs variants of them against variant 0."""

    directory: Path
    field_: Field = field(default_factory=Field.drawn)
    built: dict[str, Path] = field(default_factory=dict)

    def judged(self, variant: Variant) -> tuple[str, Account, str]:
        """The letter, what was counted, and what is said."""
        letter, account, said = self._run(variant, symbolic=False)
        if letter == "A" and self._run(variant, symbolic=True)[0] != "A":
            letter = "S"
        return letter, account, said

    def _run(self, variant: Variant, symbolic: bool) -> tuple[str, Account, str]:
        project = self._build(variant.family)
        found = _FORMATS.search((FAMILIES / f"{variant.family}.hip").read_text())
        formats = (found[1] if found else "float").split()
        shadow = Shadow(
            self.field_.fold, "half" in formats, "bfloat" in formats, single="float" in formats, symbolic=symbolic
        )
        asked = Interception(kernels=("*",), shadow=shadow)
        observer = AlgebraObserver(_UNKNOWN, self.field_)
        applications = [
            Application((str(project / "app"), number), project, project) for number in ("0", str(variant.number))
        ]
        runs = SideRun("reference", applications[0], asked), SideRun("candidate", applications[1], asked)
        logs = project / "logs"
        logs.mkdir(exist_ok=True)
        setting = Setting(EmulatorBackend(project / "records"), Kernel("*", "*"), UNCONFINED, logs, _DEADLINE_S)
        divergence = follow_planned(setting, runs, [(0, 0)], observer).divergences.get("candidate")
        account = NOTHING
        for one in observer.accounts.values():
            account = account.joined(one)
        if divergence is not None:
            return "C", account, divergence.detail
        if observer.doubtful:
            return "?", account, observer.doubt.text
        letter = {Level.EQUAL: "A", Level.CLOSE: "B", Level.DIFFERENT: "C"}[account.level]
        exact = all(one.exact_enough for one in observer.accounts.values())
        return letter if exact else "L", account, observer.doubt.text

    def _build(self, family: str) -> Path:
        if family not in self.built:
            project = self.directory / family
            project.mkdir(parents=True, exist_ok=True)
            environment = {**WITHOUT_FACTS, "INTELLIPERF_SHADOWS": "1"}
            words = ("-O2", f"-I{FAMILIES}", str(FAMILIES / f"{family}.hip"), "-o", "app")
            build_here("hipcc", *words, directory=project, environment=environment)
            self.built[family] = project
        return self.built[family]


class _Unknown:
    """A calibration that allows everything to be compared."""

    allowances: dict[object, object] = {}
    erratic_at: frozenset[object] = frozenset()
    undefined = Masks()


_UNKNOWN: Calibration = _Unknown()  # type: ignore[assignment]
