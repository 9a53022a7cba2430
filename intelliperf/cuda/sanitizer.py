"""compute-sanitizer as a gate: each of its tools must find a planted fault here before its silence counts.

What the original does wrong already is reported, not blamed on the candidate; what the candidate adds is a failure.
Faults are known by kind, kernel and the text of the source line, since line numbers move with every edit. Not seen
by any of the tools: races through global memory between blocks (the comparison of buffers under load is for those).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.cuda.sanitizer_report import SanitizerFinding, SanitizerReport, Spot, parse
from intelliperf.cuda.symbols import pattern
from intelliperf.cuda.toolkit import Toolkit
from intelliperf.errors import ToolchainError
from intelliperf.processes.process import Completed, output_of, run
from intelliperf.processes.sandbox import UNCONFINED, Sandbox
from intelliperf.processes.storage import cache_directory
from intelliperf.records import Application, Check, CheckStatus, Kernel

PROGRAM = "compute-sanitizer"
_PLANTED = Path(__file__).with_name("planted.cu")
_BUILD_DEADLINE_S = 120.0
_CONTROL_DEADLINE_S = 60.0
_PRINT_LIMIT = 20_000
_SHOWN = 3
# A run that does not end in its share of the time is tried once more with the kernel's first launches only.
_FEW_LAUNCHES = 4
_REMEDY = "it is part of the CUDA toolkit (package cuda-sanitizer); put it on PATH"


@dataclass(frozen=True)
class Tool:
    """One tool. `check` names what it looks for, in the emulator's words for the same faults."""

    name: str
    check: str
    options: tuple[str, ...] = ()
    may_filter: bool = True  # initcheck must see every kernel's writes
    blind_to_replays: str = ""  # why it sees nothing where recorded dispatches are launched


# Padding keeps a step past one allocation from landing in the next; kernels end at an error, the program continues.
TOOLS = (
    Tool(
        "memcheck",
        "out of bounds",
        ("--padding", "512", "--destroy-on-device-error", "kernel"),
        blind_to_replays="recorded buffers lie side by side in one mapping",
    ),
    Tool("racecheck", "races", ("--racecheck-report", "analysis")),
    Tool(
        "initcheck",
        "uninitialised reads",
        (),
        may_filter=False,
        blind_to_replays="all recorded memory is written before a replay",
    ),
    Tool("synccheck", "synchronisation"),
)


@dataclass(frozen=True)
class _Ran:
    report: SanitizerReport
    ended: Completed
    partly: bool  # the kernel's first launches only

    @property
    def problem(self) -> str:
        """Why it says nothing; empty where it does."""
        if self.report.complete:
            return ""
        said = " | ".join(self.report.messages[:2]) or self.ended.tail("stderr", 400).strip()[-200:]
        return f"{self.ended.describe()}{': ' if said else ''}{said}"


class Sanitizer:
    """Runs the tools; keeps what the controls and the original showed. `logs` takes their reports."""

    def __init__(self, toolkit: Toolkit, logs: Path, sandbox: Sandbox = UNCONFINED) -> None:
        self._toolkit = toolkit
        self._logs = logs
        self._sandbox = sandbox
        self._runs = 0
        self._controls: dict[str, str] = {}
        self._references: dict[tuple[Application, str], _Ran] = {}

    def checks(
        self,
        reference: Application,
        candidate: Application,
        kernel: Kernel,
        deadline_s: float,
        replayed: bool = False,
    ) -> tuple[Check, ...]:
        """One check per tool. `deadline_s` is for each run of a program under a tool.

        `replayed`: the programs launch recorded dispatches, for which not every tool has eyes.
        """
        program = find_sanitizer(self._toolkit)
        if program is None:
            return tuple(Check(t.check, CheckStatus.NOT_RUN, f"no {PROGRAM} here: {_REMEDY}") for t in TOOLS)
        return tuple(
            Check(tool.check, CheckStatus.NOT_RUN, f"{tool.name}: {tool.blind_to_replays}")
            if replayed and tool.blind_to_replays
            else self._check(program, tool, (reference, candidate), kernel, deadline_s)
            for tool in TOOLS
        )

    def _check(
        self, program: Path, tool: Tool, pair: tuple[Application, Application], kernel: Kernel, deadline_s: float
    ) -> Check:
        if tool.name not in self._controls:
            self._controls[tool.name] = self._control(program, tool)
        if self._controls[tool.name]:
            return Check(tool.check, CheckStatus.NOT_RUN, f"{tool.name} {self._controls[tool.name]}")
        reference, candidate = pair
        key = reference, tool.name
        if key not in self._references:
            self._references[key] = self._run(program, tool, reference, kernel, deadline_s, UNCONFINED)
        before = self._references[key]
        if before.problem:
            return Check(tool.check, CheckStatus.NOT_RUN, f"{tool.name} of the original: {before.problem}")
        after = self._run(program, tool, candidate, kernel, deadline_s, self._sandbox)
        if after.problem:
            return Check(tool.check, CheckStatus.NOT_RUN, f"{tool.name} of the candidate: {after.problem}")
        texts = _Texts(reference), _Texts(candidate)
        return judge(tool, before.report, after.report, texts, partly=before.partly or after.partly)

    def _control(self, program: Path, tool: Tool) -> str:
        """Why the tool's silence is worth nothing here; empty where it found the planted fault."""
        try:
            planted = planted_program(self._toolkit)
        except ToolchainError as error:
            return f"cannot be tried: {error}"
        report = self._logs / f"control-{tool.name}.txt"
        self._logs.mkdir(parents=True, exist_ok=True)
        argv = [*_command(program, tool, report), str(planted), tool.name]
        ended = run(argv, self._logs, _CONTROL_DEADLINE_S, self._logs, f"control-{tool.name}")
        seen = _Ran(_read(report), ended, partly=False)
        if any(f"planted_{tool.name}" in finding.kernel for finding in seen.report.findings):
            return ""
        return (
            f"does not find a planted fault here ({seen.problem or 'it is silent'}), so that its silence says nothing"
        )

    def _run(
        self, program: Path, tool: Tool, application: Application, kernel: Kernel, deadline_s: float, sandbox: Sandbox
    ) -> _Ran:
        """All launches of all kernels; where that takes too long, the kernel's first ones."""
        ran = self._once(program, tool, application, (), deadline_s, sandbox)
        if ran.ended.timed_out and tool.may_filter:
            first = ("--kernel-name", f"regex={pattern(kernel.symbol)}", "--launch-count", str(_FEW_LAUNCHES))
            ran = self._once(program, tool, application, first, deadline_s, sandbox)
            return _Ran(ran.report, ran.ended, partly=True)
        return ran

    def _once(
        self,
        program: Path,
        tool: Tool,
        application: Application,
        options: Sequence[str],
        deadline_s: float,
        sandbox: Sandbox,
    ) -> _Ran:
        self._runs += 1
        logs = self._logs / f"{self._runs:04d}-{tool.name}"
        logs.mkdir(parents=True, exist_ok=True)
        report = logs / "report.txt"
        argv = [*_command(program, tool, report), *options, *application.argv]
        environment = dict(application.environment)
        wrapped = sandbox.wrap(argv, writable=(application.project, logs), names=[*environment], traces=True)
        ended = run(wrapped, application.directory, deadline_s, logs, "run", environment)
        return _Ran(_read(report), ended, partly=False)


def _command(program: Path, tool: Tool, report: Path) -> list[str]:
    fixed = ["--tool", tool.name, "--demangle", "no", "--strip-paths", "no", "--show-backtrace", "device"]
    return [str(program), *fixed, "--print-limit", str(_PRINT_LIMIT), "--log-file", str(report), *tool.options]


def _read(report: Path) -> SanitizerReport:
    if not report.exists():
        return SanitizerReport((), False, 0, ())
    return parse(report.read_text("utf-8", "replace"))


def find_sanitizer(toolkit: Toolkit) -> Path | None:
    """The toolkit's own, else the one on PATH, else where the toolkit keeps it apart."""
    found = toolkit.tool(PROGRAM)
    apart = toolkit.root / PROGRAM / PROGRAM
    return found or (apart if os.access(apart, os.X_OK) else None)


def planted_program(toolkit: Toolkit) -> Path:
    """The program with the known faults, built on first use. Raises `ToolchainError`."""
    source = _PLANTED.read_bytes()
    digest = hashlib.sha256(source + f"{toolkit.nvcc}{toolkit.version}".encode()).hexdigest()[:16]
    program = cache_directory() / "cuda" / f"planted-{digest}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        made = program.with_name(f"{program.name}.{os.getpid()}")
        argv = [str(toolkit.nvcc), "-lineinfo", "-o", str(made), str(_PLANTED)]
        done, out, err = output_of(argv, _BUILD_DEADLINE_S)
        if not done.ok:
            made.unlink(missing_ok=True)
            raise ToolchainError(f"the control program does not build: {(err or out).strip()[-400:]}")
        made.replace(program)
    return program


class _Texts:
    """Source lines of one application, as far as they are there to read."""

    def __init__(self, application: Application) -> None:
        self._roots = (application.directory, application.project)
        self._lines: dict[str, list[str]] = {}

    def of(self, spot: Spot | None) -> str:
        """The line without its blanks; the function's name where there is none."""
        if spot is None:
            return ""
        if spot.file not in self._lines:
            places = [root / spot.file for root in self._roots]
            found = next((place for place in places if spot.file and place.is_file()), None)
            self._lines[spot.file] = found.read_text("utf-8", "replace").splitlines() if found else []
        lines = self._lines[spot.file]
        return " ".join(lines[spot.line - 1].split()) if 0 < spot.line <= len(lines) else spot.function


def judge(
    tool: Tool, before: SanitizerReport, after: SanitizerReport, texts: tuple[_Texts, _Texts], partly: bool
) -> Check:
    """The check that two reports of a tool make."""
    new = introduced(before.findings, after.findings, texts)
    if before.unprinted:  # the original's list is not whole: only kernels without any such fault count
        known = {(finding.kind, finding.kernel) for finding in before.findings}
        new = tuple(finding for finding in new if (finding.kind, finding.kernel) not in known)
    if new:
        return Check(tool.check, CheckStatus.FAILED, f"the candidate introduces {_listed(new)} ({tool.name})")
    parts = [f"{tool.name}, which finds a planted fault here: none new"]
    if before.findings:
        parts.append(f"the original has {_listed(before.findings)}")
    if before.unprinted or after.unprinted:
        parts.append(f"more than {_PRINT_LIMIT} were seen, the rest was not looked at")
    if partly:
        parts.append(f"only the first {_FEW_LAUNCHES} launches of the kernel, for time")
    weak = partly or before.unprinted or after.unprinted
    return Check(tool.check, CheckStatus.WEAK if weak else CheckStatus.PASSED, "; ".join(parts))


def introduced(
    before: Iterable[SanitizerFinding], after: Iterable[SanitizerFinding], texts: tuple[_Texts, _Texts]
) -> tuple[SanitizerFinding, ...]:
    """Findings of the candidate whose line does not misbehave in as many places of the original."""
    known: dict[tuple[str, ...], int] = {}
    for finding in before:
        identity = _identity(finding, texts[0])
        known[identity] = known.get(identity, 0) + 1
    new = []
    for finding in after:
        identity = _identity(finding, texts[1])
        known[identity] = known.get(identity, 0) - 1
        if known[identity] < 0:
            new.append(finding)
    return tuple(new)


def _identity(finding: SanitizerFinding, texts: _Texts) -> tuple[str, ...]:
    sides = sorted((texts.of(finding.spot), texts.of(finding.other)))
    return finding.kind, finding.kernel, *sides


def _listed(findings: Sequence[SanitizerFinding]) -> str:
    shown = "; ".join(str(finding) for finding in findings[:_SHOWN])
    more = len(findings) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown
