"""The gate of algebraic equality: original and candidate in lock-step, with shadows beside their numbers.

What it proves replaces the tolerance that would be derived from the original's noise. Where a shadow was lost, or
rounding alone decides a branch, it proves nothing and says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from intelliperf.errors import ProtocolError, ToolchainError
from intelliperf.interception.messages import Allocation, Hello
from intelliperf.interception.wire import Deadline, PeerTimeout
from intelliperf.protocols import ShadowedMemory, ShadowPart, ShadowState
from intelliperf.records import CheckStatus, Outcome
from intelliperf.validation.algebrawords import different, less_exact, said, unseen
from intelliperf.validation.buffers.algebra import NOTHING, Account, Level, Shaded, compare, planted
from intelliperf.validation.buffers.compare import CHUNK_BYTES, as_bytes, equal
from intelliperf.validation.buffers.elements import BYTE, FLOAT32, FLOAT64, Scalar
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness
from intelliperf.validation.calibration import BASE, POISON, Calibration, scalars
from intelliperf.validation.reference import Reference
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.lockstep import Divergence, Paused, Rule, Sync, follow, follow_planned, record
from intelliperf.validation.runs.pairing import Key, Pairing, describe, key_of
from intelliperf.validation.runs.reach import chosen
from intelliperf.validation.runs.side import Run, SideFailed
from intelliperf.validation.trial import Rejection, Trial

OPTION = "shadow"
NAME = "algebraic equality"
_CANDIDATE = "candidate with shadows"
_NORMAL = "original without shadows"
_NEARLY_EQUAL = 8.0
_NO_FLOATS = "no kernel writes floating-point numbers"
_BYTES = {"float": 4, "double": 8, "half": 2, "bfloat": 2}
_SCALARS: Mapping[str, Scalar] = {"float": FLOAT32, "double": FLOAT64}


@dataclass(frozen=True)
class Doubt:
    """Why a difference may prove nothing; without a text it does prove something.

    `largest`: in units of the original's error, what it can explain. A comparison that rounding decides in the
    candidate alone may swap two numbers that are nearly the same, not make another number of them.
    """

    text: str = ""
    largest: float = math.inf
    # The candidate alone is to blame, who may have sought the doubt: its numbers have to be as exact anyway.
    own: bool = False

    def explains(self, account: Account) -> bool:
        near = account.worst is None or account.worst.units <= self.largest
        return bool(self.text) and near and (not self.own or account.exact_unseen)


def doubts(original: ShadowState, candidate: ShadowState, hellos: Sequence[Hello | None] = (None, None)) -> Doubt:
    """What both runs say of their shadows."""
    if original.inputs != candidate.inputs:
        text = "the host has calculated with results of kernels, so that the two were given different numbers"
        return Doubt(text)
    for name, state, hello in zip(("original", "candidate"), (original, candidate), hellos, strict=True):
        if state.lost:
            text = f"the {name} has operations that no shadow follows{_lost_at(state, hello)}"
            return Doubt(text, own=name == "candidate" and not original.undecided)
    if original.undecided:
        return Doubt(f"rounding alone decides {original.undecided} comparisons of the original")
    if candidate.undecided:
        return Doubt(
            f"rounding alone decides {candidate.undecided} comparisons of the candidate", _NEARLY_EQUAL, own=True
        )
    return Doubt()


def _lost_at(state: ShadowState, hello: Hello | None) -> str:
    """The first of them; each module numbers its own."""
    lists = hello.lost_shadows if hello is not None else ()
    found = dict.fromkeys(reasons[state.why] for reasons in lists if state.why < len(reasons))
    return f" ({' or '.join(found)})" if found else ""


@dataclass
class AlgebraObserver:
    """Compares the shadows of two paused runs; gathers accounts by buffer."""

    calibration: Calibration
    field_: Field
    symbolic: bool = False
    accounts: dict[Key, Account] = field(default_factory=dict)
    names: dict[Key, str] = field(default_factory=dict)
    scalars: dict[Key, Scalar] = field(default_factory=dict)
    doubtful: dict[Key, Account] = field(default_factory=dict)  # what differs, but proves nothing
    doubt: Doubt = Doubt()
    whole: dict[Key, bool] = field(default_factory=dict)  # it consists of such numbers
    shaded: bool = False  # both runs had shadows
    choices: bool = False  # numbers were compared by either program
    free: bool = False  # roots and quotients stood for any function: what differs may be equal by their laws
    compared: int = 0
    controls: set[Key] = field(default_factory=set)  # buffers in which a planted number was noticed

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        states = [_state(paused) for paused in (base, other)]
        if states[0] is None or states[1] is None:
            return None
        self.shaded = True
        self.compared += 1
        self.choices |= bool(states[0].choices or states[1].choices)
        self.free |= bool(states[0].free or states[1].free)
        self.doubt = doubts(states[0], states[1], (base.side.hello, other.side.hello))
        known = scalars(base.dispatch, base.side.hello)
        named = {id: name for id, (name, _) in known.items()}
        due = chosen(sync, base)
        for mine, theirs in pairing.pairs:
            key = key_of(mine)
            if (due is not None and mine.id not in due) or self._left_out(base, key) or mine.size != theirs.size:
                continue
            account = self._buffer(base, other, (mine, theirs), deadline)
            if not account.elements:
                continue
            self.names[key] = describe(mine, named) if mine.id in named else self.names.get(key, describe(mine, {}))
            self.scalars[key] = known.get(mine.id, ("", BYTE))[1]
            covered = sum(_BYTES[kind] for kind in account.kinds) * account.elements
            self.whole[key] = self.whole.get(key, True) and len(account.kinds) == 1 and covered == mine.size
            if account.level is Level.DIFFERENT:
                if not self.doubt.explains(account):
                    beyond = account.worst is not None and account.worst.units > self.doubt.largest
                    told = unseen(account, self.doubt.text) if self.doubt.own and not beyond else different(account)
                    text = f"{sync.where}: {self.names[key]}: {told}"
                    return Divergence(other.side.label, Outcome.WRONG_OUTPUT, text)
                self.doubtful[key] = self.doubtful.get(key, NOTHING).joined(account)
            self.accounts[key] = self.accounts.get(key, NOTHING).joined(account)
        return None

    def doubtfully(self) -> str:
        """Why differences prove nothing, and how many there are; empty where there are none."""
        found = self.doubtful.values()
        if not found:
            return ""
        different, elements = sum(a.different for a in found), sum(a.elements for a in found)
        return f"{self.doubt.text}: {different:,} of {elements:,} numbers are not proven for it"

    def _left_out(self, base: Paused, key: Key) -> bool:
        allowance = self.calibration.allowances.get(key, Allowance())
        return allowance.steadiness >= Steadiness.UNORDERED or (base.dispatch.index, key) in self.calibration.erratic_at

    def _buffer(
        self, base: Paused, other: Paused, buffers: tuple[Allocation, Allocation], deadline: Deadline
    ) -> Account:
        mine, theirs = buffers
        if not (_shaded(base, mine) or _shaded(other, theirs)):
            return NOTHING
        contents = as_bytes(base.content(mine.id)), as_bytes(other.content(theirs.id))
        account = NOTHING
        for start in range(0, mine.size, CHUNK_BYTES):
            if deadline.passed:
                raise PeerTimeout("the comparison of shadows timed out")
            size = min(CHUNK_BYTES, mine.size - start)
            chunks = [content[start : start + size] for content in contents]
            sides = [
                Shaded(start, chunk, *(_parts(paused, one, start, size, unit) for unit in (4, 2)))
                for paused, one, chunk in zip((base, other), buffers, chunks, strict=True)
            ]
            if not any(side.words or side.halves for side in sides):
                continue
            self._prove(key_of(mine), sides[0])
            mask = self.calibration.undefined.get(base.dispatch.index, key_of(mine), start, size)
            account = account.joined(compare(self.field_, sides[0], sides[1], mask, self.symbolic))
        return account

    def _prove(self, key: Key, original: Shaded) -> None:
        """Once per buffer, on live content: a number that is off must be told apart."""
        if self.symbolic or key in self.controls:
            return
        wrong = planted(original)
        if wrong is None:
            return
        if not compare(self.field_, original, wrong).different:
            raise ToolchainError(
                "the comparison of shadows overlooks a planted error on this machine; numpy is broken?"
            )
        self.controls.add(key)


def _state(paused: Paused) -> ShadowState | None:
    memory = paused.side.memory
    return memory.shadow_state() if isinstance(memory, ShadowedMemory) else None


def _shaded(paused: Paused, one: Allocation) -> bool:
    memory = paused.side.memory
    return isinstance(memory, ShadowedMemory) and memory.shaded(one.base, one.size)


def _parts(paused: Paused, one: Allocation, start: int, size: int, unit: int) -> tuple[ShadowPart, ...]:
    memory = paused.side.memory
    if not isinstance(memory, ShadowedMemory):
        return ()
    parts = memory.shadows(one.base + start, size, unit)
    return tuple(replace(part, start=part.start + start) for part in parts)


@dataclass(frozen=True)
class Proof:
    """What the gate found. `rejection`: something else is computed; `doubt`: it cannot tell, and why."""

    observer: AlgebraObserver | None = None
    rejection: Rejection | None = None
    doubt: str = ""
    coverage: str = ""

    @property
    def compared(self) -> int:
        """How many launches were compared."""
        return self.observer.compared if self.observer is not None else 0

    def proven(self) -> dict[Key, Account]:
        """Buffers that hold the same real numbers, as exact as the original's."""
        if self.observer is None or self.rejection is not None:
            return {}
        found = self.observer.accounts
        return {key: a for key, a in found.items() if a.level is not Level.DIFFERENT and a.exact_enough}

    @property
    def all_equal(self) -> bool:
        found = self.observer
        return self.rejection is None and found is not None and all(not a.level for a in found.accounts.values())

    def less_exact(self) -> str:
        """The first buffer that is right, but further from the exact numbers; empty where there is none."""
        if self.observer is None:
            return ""
        for key, account in self.observer.accounts.items():
            if account.level is not Level.DIFFERENT and not account.exact_enough:
                return f"{self.observer.names[key]}: {less_exact(account)}"
        return ""


class AlgebraGate:
    """Runs original and candidate with shadows and says what follows from it."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._faithful: dict[tuple[object, ...], str] = {}  # by reference: why its shadows are not to be trusted

    def prove(self, trial: Trial) -> Proof:
        """Once per candidate; notes what it saw."""
        if OPTION not in self._reference.backend.honours:
            return Proof()
        if self._reference.settings.tolerance.given:
            trial.note(NAME, CheckStatus.NOT_RUN, "a tolerance was given")
            return Proof()
        calibration, _ = self._reference.calibration(trial)
        if not calibration.formats:
            trial.note(NAME, CheckStatus.NOT_RUN, _NO_FLOATS)
            return Proof()
        field_ = Field.drawn()  # the candidate is built: it cannot be made for this prime
        proof = self._run(trial, field_, {}, calibration)
        if proof.rejection is None and proof.observer is not None and proof.observer.accounts and not proof.doubt:
            proof = self._symbolic(trial, field_, proof)
        self._note(trial, proof)
        return proof

    def on_other_numbers(self, trial: Trial, altered: Mapping[str, str], calibration: Calibration) -> Proof:
        """The same for runs with other options; nothing is noted."""
        if OPTION not in self._reference.backend.honours or self._reference.settings.tolerance.given:
            return Proof()
        return self._run(trial, Field.drawn(), altered, calibration)

    def allow(self, trial: Trial, proof: Proof) -> bool:
        """Let what was proven replace the tolerance; False where that changes nothing."""
        calibration, _ = self._reference.calibration(trial)
        allowed = self.allowed(calibration, proof)
        if allowed is None:
            return False
        trial.widened = allowed
        if trial.checker is not None:
            trial.checker.calibration = trial.widened
        return True

    def allowed(self, calibration: Calibration, proof: Proof) -> Calibration | None:
        """With what was proven in place of the tolerance; None where that changes nothing."""
        allowances = dict(calibration.allowances)
        observer = proof.observer
        for key, account in proof.proven().items():
            if observer is None or not any(account.largest):
                continue
            scalar = observer.scalars[key]
            if not scalar.floating and observer.whole.get(key, False):
                scalar = _SCALARS.get(next(iter(account.kinds)), scalar)
            if scalar.floating:
                allowances[key] = Allowance(Steadiness.NUMERIC, scalar, account.relative, by_algebra=True)
        if allowances == dict(calibration.allowances):
            return None
        return replace(calibration, allowances=allowances)

    def _note(self, trial: Trial, proof: Proof) -> None:
        observer = proof.observer
        if proof.rejection is not None:
            trial.note(NAME, CheckStatus.FAILED, proof.rejection.detail)
        elif observer is None or not observer.shaded:
            trial.note(NAME, CheckStatus.NOT_RUN, proof.doubt or "the runs have no shadows")
        elif not observer.accounts:
            trial.note(NAME, CheckStatus.NOT_RUN, _NO_FLOATS)
        elif proof.doubt:
            told = f"no evidence: {proof.doubt}; the tolerance derived from the original's noise serves instead"
            trial.note(NAME, CheckStatus.WEAK, told)
        else:
            trial.proven = proof.proven()
            weak = not all(a.exact_enough and a.level is Level.EQUAL for a in observer.accounts.values())
            text = _summary(observer) + (f"; {proof.coverage}" if proof.coverage else "")
            count = len(observer.controls)
            control = f"a number off by a thousandth in each of {count} buffers" if count else ""
            trial.note(NAME, CheckStatus.WEAK if weak else CheckStatus.PASSED, text, control)

    def _run(
        self,
        trial: Trial,
        field_: Field,
        altered: Mapping[str, str],
        calibration: Calibration,
        symbolic: bool = False,
    ) -> Proof:
        """Without the laws of roots and quotients first: most candidates leave these alone, and laws cost time."""
        proof = self._run_once(trial, field_, altered, calibration, symbolic, free_functions=True)
        if proof.observer is None or not proof.observer.free or proof.all_equal:
            return proof
        return self._run_once(trial, field_, altered, calibration, symbolic, free_functions=False)

    def _run_once(
        self,
        trial: Trial,
        field_: Field,
        altered: Mapping[str, str],
        calibration: Calibration,
        symbolic: bool,
        free_functions: bool,
    ) -> Proof:
        _, memory = self._reference.calibration(trial)
        options = {
            "kernels": self._reference.kernels(trial),
            "poison": POISON,
            "memory": memory,
            OPTION: _option(field_, calibration, symbolic, free_functions),
            **altered,
        }
        observer = AlgebraObserver(calibration, field_, symbolic)
        runs = Run(BASE, trial.case.reference, options), Run(_CANDIDATE, trial.application, options)
        try:
            divergence, coverage = self._follow(trial, runs, observer, altered)
        except (SideFailed, ProtocolError) as error:
            return Proof(None, None, f"the original does not run with shadows: {error}")
        if divergence is None:
            return Proof(observer, None, observer.doubtfully(), coverage)
        if divergence.outcome is not Outcome.WRONG_OUTPUT:
            return Proof(observer, None, f"the candidate does not run with shadows: {divergence.detail}")
        if unfaithful := self._unfaithful(trial, options):
            return Proof(observer, None, unfaithful)
        return Proof(observer, Rejection(divergence.outcome, divergence.detail))

    def _follow(
        self, trial: Trial, runs: tuple[Run, Run], observer: AlgebraObserver, altered: Mapping[str, str]
    ) -> tuple[Divergence | None, str]:
        setting = self._reference.setting(trial, 2)
        if trial.declared.kernels:
            events = self._reference.calibration(trial)[0].events
            candidate, _ = record(setting, runs[1])
            plan = align(events, candidate, trial.case.kernel.symbol)
            if plan.problem:
                return Divergence(_CANDIDATE, Outcome.DISPATCHES_CHANGED, plan.problem), ""
            return follow_planned(setting, runs, plan.points, observer).divergences.get(_CANDIDATE), ""
        rule = Rule(
            lambda d: d.target and d.status == 0,
            self._reference.free_geometry(trial),
            after_failures=bool(altered),
            bounded=(_CANDIDATE,),
        )
        followed = follow(setting, runs, rule, observer)
        return followed.divergences.get(_CANDIDATE), followed.coverage(_CANDIDATE)

    def _unfaithful(self, trial: Trial, options: Mapping[str, str]) -> str:
        """Does the original come out otherwise when it carries shadows? Then its shadows prove nothing."""
        key = (trial.case.reference, *sorted((name, v) for name, v in options.items() if name != OPTION))
        if key not in self._faithful:
            plain = {name: value for name, value in options.items() if name != OPTION}
            runs = Run(BASE, trial.case.reference, plain), Run(_NORMAL, trial.case.reference, options)
            observer = _SameBits(self._reference.calibration(trial)[0])
            rule = Rule(lambda d: d.target, bounded=(_NORMAL,))
            try:
                found = follow(self._reference.setting(trial, 2), runs, rule, observer).divergences.get(_NORMAL)
            except SideFailed as error:
                self._faithful[key] = f"the original does not run twice: {error}"
                return self._faithful[key]
            self._faithful[key] = f"the original comes out otherwise with shadows: {found.detail}" if found else ""
        return self._faithful[key]

    def _symbolic(self, trial: Trial, field_: Field, proof: Proof) -> Proof:
        """Once more with unknowns for what the host uploads: is it the same function, or the same number by chance?"""
        observer = proof.observer
        if observer is None or not observer.accounts:
            return proof
        if any(a.level is not Level.EQUAL for a in observer.accounts.values()):
            return proof
        calibration, _ = self._reference.calibration(trial)
        other = self._run(trial, field_, {}, calibration, symbolic=True)
        if other.doubt or other.observer is None:
            return proof
        detail = other.rejection.detail if other.rejection is not None else _not_equal(other.observer)
        if not detail:
            trial.note(SYMBOLIC_NAME, CheckStatus.PASSED, _ALONG)
            return proof
        text = f"another formula: it coincides on these inputs only; with unknowns for them, {detail}"
        if other.observer.choices:  # what numbers decide may differ where they are equal by chance
            trial.note(SYMBOLIC_NAME, CheckStatus.WEAK, text)
            return proof
        return replace(proof, rejection=Rejection(Outcome.WRONG_OUTPUT, text))


def _not_equal(observer: AlgebraObserver) -> str:
    """The first buffer in which unknowns give another result; empty where there is none."""
    for key, account in observer.accounts.items():
        if account.level is not Level.EQUAL:
            return (
                f"{account.close + account.different:,} of {account.elements:,} numbers of {observer.names[key]} differ"
            )
    return ""


SYMBOLIC_NAME = "same arithmetic on unknowns"
_ALONG = (
    "with unknowns for uploaded floats and float arguments: the same real numbers along the branches, indices and "
    "integers of this run"
)


@dataclass
class _SameBits:
    """Two runs of one program must leave the same bits, where they are steady at all."""

    calibration: Calibration

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        due = chosen(sync, base)
        for mine, theirs in pairing.pairs:
            allowance = self.calibration.allowances.get(key_of(mine), Allowance())
            if (due is not None and mine.id not in due) or allowance.steadiness >= Steadiness.UNORDERED:
                continue
            if mine.size == theirs.size and not equal(
                *(as_bytes(p.content(a.id)) for p, a in ((base, mine), (other, theirs)))
            ):
                return Divergence(other.side.label, Outcome.WRONG_OUTPUT, f"{sync.where}: {describe(mine, {})}")
        return None


def _option(field_: Field, calibration: Calibration, symbolic: bool, free_functions: bool) -> str:
    """The formats are the original's: what a candidate rounds to another one is lost for good."""
    formats = calibration.formats
    words = [str(field_.fold), *(name for name in ("half", "bfloat") if name in formats)]
    if formats and "float" not in formats:
        words.append("double-only")
    return " ".join([*words, *(["symbolic"] if symbolic else []), *(["free-functions"] if free_functions else [])])


def _summary(observer: AlgebraObserver) -> str:
    """What was found by buffer; those without any rounding error, inputs among them, are only counted."""
    told = [f"{observer.names[key]}: {said(a)}" for key, a in observer.accounts.items() if any(a.largest) or a.level]
    plain = sum(a.elements for a in observer.accounts.values() if not any(a.largest) and not a.level)
    return "; ".join([*told, *([f"{plain:,} numbers without rounding errors are the same"] if plain else [])])
