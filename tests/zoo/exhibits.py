"""The zoo's programs and the changes to them, honest and wrong: read from `programs`, shown to be wrong, and judged.

A change is a headline `[honest WHAT] DECLARED` or `[wrong CLASS WHAT] DECLARED PROOF`, with texts to replace below it.
DECLARED is nothing, `geometry` or `kernels`. PROOF says how a wrong one shows itself without any judge:

* `run ARGUMENTS`: it prints something else, or ends otherwise, with these arguments;
* `bits ARGUMENTS`: its results have other bits; `errs ARGUMENTS`: they are further from the exact ones;
* `fault KIND ARGUMENTS`: the emulator sees a fault of that kind in its run, and none in the original's;
* `order ARGUMENTS`: under some order of lanes and blocks, or over other garbage, its results have other bits;
* `poison ARGUMENTS`: over other garbage alone;
* `target CHIP ARGUMENTS`: built for that chip, it prints something else in some order;
* `environment NAME=VALUE`: it prints something else with that variable set;
* `launches ARGUMENTS`: it launches something else, or another number of times.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from inprocess import compile_here
from readers import reading_of

from intelliperf.cli.verify import target
from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.schedules import IN_ORDER, schedules
from intelliperf.emulator.watching import Watched, watch
from intelliperf.processes.process import Completed, run
from intelliperf.processes.sandbox import Sandbox
from intelliperf.protocols import ApplicationProfile
from intelliperf.records import (
    Application,
    Candidate,
    Declaration,
    FileEdit,
    Origin,
    OriginKind,
    Outcome,
    Verdict,
    content_hash,
)
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.edits.targets import Touched, touched
from intelliperf.validation.judge import Judge
from intelliperf.validation.replaygate import Recorder
from intelliperf.validation.trial import BuildFailure, Case, Settings

PROGRAMS = Path(__file__).parent / "programs"
HEADER = "zoo.h"
_HEADLINE = re.compile(r"^\[(honest|wrong) (?:([A-H]\d+) )?(.*)\]([^\n]*)$", re.MULTILINE)
_REPLACED = re.compile(r"^<\n(.*?)^=\n(.*?)^>$", re.MULTILINE | re.DOTALL)
_MERITS = {Outcome.ACCEPTED, Outcome.NOT_FASTER, Outcome.SLOWER_OVERALL, Outcome.IMPLAUSIBLE}
DEADLINE_S = 60.0
_MOST_RECORDED_BYTES = 1 << 30
_LESS_EXACT = 4.0, 1.0  # so many times the original's error, and so many ulp more, is less exact


@dataclass(frozen=True)
class Change:
    program: str  # file name
    honest: bool
    kind: str  # A1 to H13; empty for honest ones
    what: str
    declares: Declaration
    proof: tuple[str, ...]
    replaced: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        label = "honest" if self.honest else self.kind
        return f"{self.program.partition('.')[0]}-{label}-{self.what.replace(' ', '_')}"

    def text(self, original: str) -> str:
        text = original
        for old, new in self.replaced:
            if old not in text:  # part of a line
                old, new = old.rstrip("\n"), new.rstrip("\n")
            assert text.count(old) == 1, f"{self.name}: {text.count(old)} times in the program:\n{old}"
            text = text.replace(old, new)
        return text


def programs() -> list[str]:
    return sorted(path.name for path in PROGRAMS.iterdir() if path.suffix in (".hip", ".cu"))


def changes(program: str, folder: Path = PROGRAMS) -> Iterator[Change]:
    text = (folder / program).with_suffix(".changes").read_text()
    heads = list(_HEADLINE.finditer(text))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        below = text[head.end() : after.start() if after else len(text)]
        words = head[4].split()
        declared = {"geometry": Declaration(geometry=True), "kernels": Declaration(kernels=True)}
        declares = declared.get(words[0], Declaration()) if words else Declaration()
        proof = tuple(words[1:] if words and words[0] in declared else words)
        replaced = tuple((old, new) for old, new in _REPLACED.findall(below))
        yield Change(program, head[1] == "honest", head[2] or "", head[3], declares, proof, replaced)


@dataclass
class Ran:
    completed: Completed

    @property
    def said(self) -> tuple[str, int | None]:
        return self.completed.tail("stdout", 1 << 20), self.completed.exit_status

    @property
    def rows(self) -> list[list[str]]:
        """Of standard error: name, hash, error in ulp."""
        return [line.split() for line in self.completed.tail("stderr", 1 << 20).splitlines() if len(line.split()) == 3]

    @property
    def bits(self) -> list[str]:
        return [row[1] for row in self.rows]

    @property
    def errors(self) -> list[float]:
        return [float(row[2]) for row in self.rows]


@dataclass
class Exhibit:
    """One program: its original, built once, and the judge that keeps what the original does."""

    program: str
    root: Path
    folder: Path = PROGRAMS
    _runs: int = 0
    _built: dict[Path, str] = field(default_factory=dict)  # the text that was built last, by directory

    @cached_property
    def original(self) -> str:
        return (self.folder / self.program).read_text()

    @cached_property
    def backend(self) -> EmulatorBackend:
        return EmulatorBackend(self.root / "device", sandbox=self._sandbox)

    @cached_property
    def _sandbox(self) -> Sandbox:
        (self.root / "logs").mkdir(parents=True, exist_ok=True)
        return Sandbox.probe(self.root)

    @cached_property
    def _judge(self) -> Judge:
        recorder = Recorder(self.root / "recordings", self.root / "replays", _MOST_RECORDED_BYTES)
        return Judge(self.backend, self._sandbox, Settings(DEADLINE_S, 5.0), recorder)

    @cached_property
    def _reference(self) -> Application:
        built = self._build(self.root / "reference", self.original)
        assert isinstance(built, Application), built
        return built

    @cached_property
    def _reading(self) -> Reading | None:
        texts = {self.program: self.original, HEADER: (PROGRAMS / HEADER).read_text()}
        return reading_of(self.root / "sources", texts)

    def _touched(self, edit: FileEdit) -> Touched:
        assert self._reading is not None
        return touched(self._reading, (edit,), {self.program: self.original})

    @cached_property
    def _profile(self) -> ApplicationProfile:
        return self.backend.profile(self._reference, DEADLINE_S)

    # ---- the judge's word ------------------------------------------------------------------------------------

    def verdict(self, change: Change) -> Verdict:
        text = change.text(self.original)
        edit = FileEdit(self.program, content_hash(self.original), text)
        originals = {self.program: self.original}
        directory = self.root / "candidate"
        case = Case(
            candidate=Candidate((edit,), "", Origin(OriginKind.USER, change.what), change.declares),
            finding=target(self._profile, self._touched(edit)),
            reference=self._reference,
            baseline=self._reference,
            sources=originals,
            allowed={self.program},
            build=lambda: self._build(directory, text),
            logs=self.root / "logs",
            reading=self._reading,
            other_wave=lambda: self._other_wave(text),
        )
        verdict = self._judge.judge(case)
        if verdict.accepted and verdict.on_recordings:  # on a busy machine, where a run takes long
            return self._judge.judge_whole(case, [case.kernel])
        return verdict

    def _other_wave(self, text: str) -> tuple[Application, Application] | None:
        target = self.backend.other_wave_build().get("INTELLIPERF_TARGET")
        if target is None:
            return None
        original, candidate = (
            self._build(self.root / f"{side}-{target}", one, target)
            for side, one in (("reference", self.original), ("candidate", text))
        )
        built = isinstance(original, Application) and isinstance(candidate, Application)
        return (original, candidate) if built else None

    # ---- proofs without a judge ------------------------------------------------------------------------------

    def shows(self, change: Change) -> str:
        """Empty where a wrong change is seen to be wrong as its proof says; else what was seen."""
        assert change.proof, f"{change.name}: no proof"
        return getattr(self, f"_by_{change.proof[0]}")(change, *change.proof[1:])

    def _by_run(self, change: Change, *arguments: str) -> str:
        before, after = self._both(change, arguments)
        return _unless(before.said != after.said, f"both print {after.said}")

    def _by_bits(self, change: Change, *arguments: str) -> str:
        before, after = self._both(change, arguments)
        return _unless(before.bits != after.bits, f"the same bits: {after.bits}")

    def _by_errs(self, change: Change, *arguments: str) -> str:
        before, after = self._both(change, arguments)
        factor, offset = _LESS_EXACT
        pairs = zip(before.errors, after.errors, strict=True)
        less = any(mine > factor * own + offset for own, mine in pairs)
        return _unless(less, f"as exact: {before.errors} and {after.errors} ulp")

    def _by_environment(self, change: Change, variable: str) -> str:
        name, _, value = variable.partition("=")
        before, after = self._both(change, (), {name: value})
        return _unless(before.said != after.said, f"both print {after.said}")

    def _by_target(self, change: Change, chip: str, *arguments: str) -> str:
        for schedule in schedules(1):
            before, after = self._both(change, arguments, dict(schedule.environment), chip)
            if before.said != after.said:
                return ""
        return f"both print {after.said}"

    def _by_fault(self, change: Change, kind: str, *arguments: str) -> str:
        before, after = (
            {fault.kind for _, fault in self._watched(text, arguments).faults}
            for text in (self.original, change.text(self.original))
        )
        new = {fault for fault in after - before if kind in fault}
        return _unless(bool(new), f"faults of the original: {before}, of the change: {after}")

    def _by_launches(self, change: Change, *arguments: str) -> str:
        before, after = (
            [
                (launch.kernel, launch.geometry)
                for trace in self._watched(text, arguments).traces
                for launch in trace.launches
            ]
            for text in (self.original, change.text(self.original))
        )
        return _unless(before != after, f"{len(after)} launches in both")

    def _by_order(self, change: Change, *arguments: str) -> str:
        return self._unsteady(change, arguments, [dict(schedule.environment) for schedule in schedules(3)])

    def _by_poison(self, change: Change, *arguments: str) -> str:
        return self._unsteady(
            change, arguments, [{"INTELLIPERF_POISON": poison} for poison in ("0x00", "0x5B", "0x77")]
        )

    def _unsteady(self, change: Change, arguments: tuple[str, ...], orders: list[dict[str, str]]) -> str:
        seen: list[set[tuple[str, ...]]] = []
        for text in (self.original, change.text(self.original)):
            ran = [self._run(text, arguments, order) for order in orders]
            seen.append({(*one.bits, str(one.said)) for one in ran})
        assert len(seen[0]) == 1, f"{change.program}: the original depends on the order: {seen[0]}"
        return _unless(seen[0] != seen[1], f"the same under {len(orders)} orders: {seen[1]}")

    def _both(
        self, change: Change, arguments: tuple[str, ...], environment: dict[str, str] | None = None, target: str = ""
    ) -> tuple[Ran, Ran]:
        texts = self.original, change.text(self.original)
        before, after = (self._run(text, arguments, environment or {}, target) for text in texts)
        assert not before.completed.timed_out, f"{change.program} {arguments}: {before.completed.describe()}"
        return before, after

    def _run(self, text: str, arguments: tuple[str, ...], environment: dict[str, str], target: str = "") -> Ran:
        application = self._program(text, target)
        self._runs += 1
        argv = (*application.command, *arguments)
        logs = self.root / "runs"
        given = {**dict(application.environment), **environment}
        return Ran(run(argv, application.directory, DEADLINE_S, logs, f"run-{self._runs}", given))

    def _watched(self, text: str, arguments: tuple[str, ...]) -> Watched:
        application = self._program(text)
        self._runs += 1
        command = (*application.command, *arguments)
        directory = self.root / "runs" / f"watched-{self._runs}"
        return watch(replace(application, command=command), IN_ORDER, directory, DEADLINE_S)

    # ---- builds ----------------------------------------------------------------------------------------------

    def _program(self, text: str, target: str = "") -> Application:
        if not target and text == self.original:
            return self._reference
        built = self._build(self.root / (f"shown-{target}-{text == self.original}"), text, target)
        assert isinstance(built, Application), built
        return built

    def _build(self, directory: Path, text: str, target: str = "") -> Application | BuildFailure:
        application = Application((str(directory / "app"),), directory, directory)
        if self._built.get(directory) == text:
            return application
        (directory / "logs").mkdir(parents=True, exist_ok=True)
        (directory / self.program).write_text(text)
        shutil.copy(PROGRAMS / HEADER, directory / HEADER)
        compiler = "hipcc" if self.program.endswith(".hip") else "nvcc"
        environment = dict(self.backend.build_environment()) | ({"INTELLIPERF_TARGET": target} if target else {})
        words = ("-O2", "-g", self.program, "-o", "app")
        done = compile_here(compiler, *words, directory=directory, environment=environment)
        if done.status:
            return BuildFailure(tuple(done.said.splitlines()[:3]))
        self._built[directory] = text
        return application


def refused_on_merits(verdict: Verdict) -> bool:
    """A wrong change that is only not faster would have been accepted had it been."""
    return verdict.outcome not in _MERITS


def _unless(shown: bool, otherwise: str) -> str:
    return "" if shown else otherwise
