"""One candidate before the judge: the case, what the gates find out about it as they go, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from intelliperf.errors import ProtocolError
from intelliperf.processes.process import Completed
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.protocols import Timing
from intelliperf.records import (
    Application,
    Candidate,
    Check,
    CheckStatus,
    Declaration,
    Finding,
    Interception,
    Kernel,
    Outcome,
)
from intelliperf.validation.buffers.algebra import Account
from intelliperf.validation.buffers.tolerance import UserTolerance
from intelliperf.validation.calibration import Calibration
from intelliperf.validation.checker import Checker
from intelliperf.validation.edits.gate import StaticVerdict
from intelliperf.validation.edits.reading import Reading
from intelliperf.validation.runs.pairing import Key
from intelliperf.validation.runs.reached import Reached
from intelliperf.validation.runs.totalled import Totalled
from intelliperf.validation.sameorder import SameOrder

GATES = (
    "edit allowed",
    "build",
    "dispatches and buffers",
    "exit status and output",
    "other orders and poison",
    "other numbers",
    "strictness",
    "safety",
    "unit tests",
    "time",
)


@dataclass(frozen=True)
class BuildFailure:
    """The candidate does not build: the compiler's first complaints."""

    errors: tuple[str, ...]
    timed_out: bool = False


class Steps:
    """Is told how far a judgement is, and keeps it to itself."""

    def begun(self, name: str, number: int, gates: int) -> None:
        """A gate, its number and how many there are."""

    def compared(self, launches: int) -> None:
        """So many so far, in this run of the gate that has begun."""


@dataclass(frozen=True)
class Case:
    """All that there is to say about one candidate."""

    candidate: Candidate
    finding: Finding
    reference: Application  # the original, built
    baseline: Application  # the best accepted state, built; the reference itself at first
    sources: Mapping[str, str]  # texts of the baseline by project-relative path
    allowed: Collection[str]  # paths that may change: sources of the kernel and their headers
    build: Callable[[], Application | BuildFailure]
    logs: Path
    reading: Reading | None  # the baseline's build, to be read again with the candidate's texts; None without C++
    # The original, built so that its kernels round "up" or "down"; None where the backend has no such build.
    rounded: Callable[[str], Application | None] = lambda way: None
    # Original and candidate, built for a chip whose waves have another size; None where there is no such chip, or where
    # one of them does not build for it.
    other_wave: Callable[[], tuple[Application, Application] | None] = lambda: None
    steps: Steps = Steps()
    standing: Declaration = Declaration()  # what the accepted candidates that the baseline holds have declared

    @property
    def kernel(self) -> Kernel:
        return self.finding.profile.kernel

    @property
    def jit(self) -> bool:
        """Are the kernels compiled as the program runs?"""
        return all(edit.path.endswith(SUFFIX) for edit in self.candidate.edits)


@dataclass(frozen=True)
class Settings:
    """Deadlines in seconds. `unit_tests` runs in the candidate's project directory; never split or joined."""

    run_deadline_s: float = 300.0
    # What a candidate gets beyond a multiple of the reference's time, which is short where launches are repeated.
    grace_s: float = 120.0
    unit_tests: tuple[str, ...] = ()
    test_environment: Mapping[str, str] = field(default_factory=dict)
    tolerance: UserTolerance = UserTolerance()
    also_run: tuple[str, ...] = ()  # further commands, each a text for the shell


@dataclass(frozen=True)
class Rejection:
    outcome: Outcome
    detail: str


@dataclass(frozen=True)
class Examined:
    """What the gates say of results alone, on one device."""

    rejection: Rejection | None
    checks: tuple[Check, ...]
    proof: str  # what was shown, as `Verdict.proof`; empty where it was refused


@dataclass
class Trial:
    """What the gates find out about one candidate, as they go."""

    case: Case
    declared: Declaration  # by this candidate or by accepted ones that it builds on
    static: StaticVerdict = StaticVerdict()
    built: Application | None = None
    checker: Checker | None = None
    all_geometry: bool = False  # other kernels' launches changed with the target's
    widened: Calibration | None = None  # by what other rounding does to the original, once that was asked for
    points: tuple[tuple[int, int], ...] = ()  # where declared kernels are compared, see `alignment`
    totalled: Totalled = Totalled()  # what is compared there by its total
    ended: Completed | None = None
    checks: list[Check] = field(default_factory=list)
    timing: Timing = Timing(())
    proven: Mapping[Key, Account] = field(default_factory=dict)  # by algebra, the same real numbers
    coverage: str = ""  # where other orders were not followed to the end
    same_order: SameOrder = field(default_factory=SameOrder)  # of altered launches
    unaltered: bool = False  # no launch with another argument could be held to the original's
    reached: Reached = field(default_factory=Reached)  # what all its runs executed of its kernels
    on_recordings: bool = False  # recorded dispatches decide
    replayed: Trial | None = None  # what the gates found out there, where it won
    needs_laws: bool = False  # of roots and quotients, for its numbers to be the original's

    @property
    def compared(self) -> Checker:
        if self.checker is None:
            raise ProtocolError("a gate ran before the comparison")
        return self.checker

    @property
    def own_grids(self) -> tuple[Interception, Interception]:
        """How altered launches of original and candidate come by their grids, where their host code tells."""
        mine, theirs = self.static.grids or (None, None)
        return Interception(other_grids=mine), Interception(other_grids=theirs)

    @property
    def sizes_open(self) -> bool:
        """Are sizes other than the command's not checked by altering arguments, or grids that the host chooses?"""
        grids = self.static.grids
        chosen = self.declared.geometry and (grids is None or any("=" in one for side in grids for one in side))
        return self.declared.kernels or self.unaltered or chosen

    @property
    def application(self) -> Application:
        if self.built is None:
            raise ProtocolError("a gate ran before the build")
        return self.built

    def note_output(self, steady: bool, compared: str) -> None:
        """What the gate of exit status and output has seen; of a program that is ended early neither is the whole."""
        stop = self.case.reference.stop_after
        if not steady:
            compared = "exit status only: the original prints something else each time"
        if stop is None:
            self.note(GATES[3], CheckStatus.PASSED if steady else CheckStatus.WEAK, compared)
            return
        told = f"until --stop-after-launches {stop} ends the program, which has no exit status of its own then"
        self.note(GATES[3], CheckStatus.WEAK, f"{compared}, {told}" if steady else told)

    def note(self, gate: str, status: CheckStatus, detail: str = "", control: str = "", unseen: str = "") -> None:
        self.checks.append(Check(gate, status, detail, control=control, unseen=unseen))
