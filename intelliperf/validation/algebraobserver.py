"""Compares the shadows of two paused runs, buffer by buffer, and says when a difference may prove nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from intelliperf.errors import ToolchainError
from intelliperf.interception.messages import Allocation, Hello
from intelliperf.interception.wire import Deadline, PeerTimeout
from intelliperf.protocols import ShadowedMemory, ShadowPart, ShadowState
from intelliperf.records import NO_FLOATS, Outcome
from intelliperf.sentences import counted
from intelliperf.validation.algebrawords import different, unseen
from intelliperf.validation.buffers.algebra import NOTHING, Account, Level, Shaded, compare, planted
from intelliperf.validation.buffers.compare import CHUNK_BYTES, as_bytes
from intelliperf.validation.buffers.elements import BYTE, FLOAT32, FLOAT64, Mask, Scalar
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.buffers.tolerance import Allowance, Steadiness
from intelliperf.validation.buffers.totals import is_float, shaded_total
from intelliperf.validation.calibration import Calibration, Launched, scalars
from intelliperf.validation.runs.events import Divergence
from intelliperf.validation.runs.lockstep import Paused, Sync
from intelliperf.validation.runs.pairing import Key, Pairing, describe, key_of
from intelliperf.validation.runs.reach import chosen

_NEARLY_EQUAL = 8.0
_BYTES = {"float": 4, "double": 8, "half": 2, "bfloat": 2}
_DECISIONS = 2  # comparisons of a candidate that rounding decides, for one more than the original has


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
    decisions: int = 0  # of the original, that rounding makes

    def explains(self, account: Account) -> bool:
        near = account.worst is None or account.worst.units <= self.largest
        return bool(self.text) and near and (not self.own or account.exact_unseen)

    def covers(self, account: Account) -> bool:
        """Are all numbers the same, and as exact, but for at most as many as rounding decides in the original?

        A variance that is all rounding is zero where the original's came out negative, and what it is elsewhere.
        """
        return account.different <= self.decisions and account.same_exact_enough


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
        text = f"rounding alone decides {original.undecided} comparisons of the original"
        return Doubt(text, decisions=original.undecided)
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
class Decisions:
    """Comparisons that rounding alone decides, launch by launch."""

    latest: int = -1  # the number of the point of comparison
    until: tuple[int, int] = (0, 0)  # how many there were by then, in the original and in the candidate

    def since(self, number: int, original: int, candidate: int) -> int:
        """In both since the point before; 0 where that is not known, or where they are more than another order makes.

        A candidate that calculates less exactly has more of them than the original.
        """
        mine, theirs = original - self.until[0], candidate - self.until[1]
        follows = self.latest == number - 1
        self.latest, self.until = number, (original, candidate)
        return mine + theirs if follows and theirs <= _DECISIONS * (mine + 1) else 0


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
    decided: int = 0  # comparisons that rounding alone decided in both launches, see `Decisions.since`
    decisions: Decisions = field(default_factory=Decisions)
    apart: dict[Launched, float] = field(default_factory=dict)  # how far apart they may come out, by launch
    sure: set[Launched] = field(default_factory=set)  # the same numbers there, as exact as the original's
    controls: set[Key] = field(default_factory=set)  # buffers in which a planted number was noticed
    endless: dict[tuple[int, Key], Mask] = field(default_factory=dict)  # see `Account.endless`, per byte
    # At the next point: bytes of a buffer, None for all, that the original's own order decides.
    undecided: Mapping[Key, Mask | None] = field(default_factory=dict)
    left_out: set[Key] = field(default_factory=set)  # what cannot be compared element by element

    def compare(
        self, sync: Sync, base: Paused, other: Paused, pairing: Pairing, deadline: Deadline
    ) -> Divergence | None:
        states = [_state(paused) for paused in (base, other)]
        if states[0] is None or states[1] is None:
            return None
        self.shaded = True
        self.compared += 1
        self.decided = self.decisions.since(sync.number, states[0].undecided, states[1].undecided)
        self.choices |= bool(states[0].choices or states[1].choices)
        self.free |= bool(states[0].free or states[1].free)
        self.doubt = doubts(states[0], states[1], (base.side.hello, other.side.hello))
        known = scalars(base.dispatch, base.side.hello)
        named = {id: name for id, (name, _) in known.items()}
        due = chosen(sync, base)
        for mine, theirs in pairing.pairs:
            key = key_of(mine)
            if due is not None and mine.id not in due:
                continue
            if self._left_out(base, key) or mine.size != theirs.size:
                self.left_out.add(key)
                continue
            if key in self.undecided and self.undecided[key] is None:
                continue
            account = self._buffer(base, other, (mine, theirs), deadline)
            divergence = self._taken(sync, (base, other), (mine, describe(mine, named), mine.id in named), account)
            if divergence is not None:
                return divergence
            if account.elements:
                self.scalars[key] = known.get(mine.id, ("", BYTE))[1]
                covered = sum(_BYTES[kind] for kind in account.kinds) * account.elements
                self.whole[key] = self.whole.get(key, True) and len(account.kinds) == 1 and covered == mine.size
        return self._totals(sync, base, other, named)

    def _totals(self, sync: Sync, base: Paused, other: Paused, named: Mapping[int, str]) -> Divergence | None:
        """Of the copies behind this point of which the host needs the total alone."""
        for copy in sync.totals:
            places = base.allocation(copy.mine[0]), other.allocation(copy.theirs[0])
            if places[0] is None or places[1] is None or not is_float(copy.total):
                continue
            mine, theirs = (
                _shaded_part(paused, one, at, size)
                for paused, one, (_, at, size) in zip((base, other), places, (copy.mine, copy.theirs), strict=True)
                if one is not None
            )
            account = shaded_total(self.field_, copy.total, (mine, theirs), self.symbolic)
            told = f"the total of {describe(places[0], named)}"
            divergence = self._taken(sync, (base, other), (places[0], told, True), account)
            if divergence is not None:
                return divergence
            if account.elements:
                self.scalars[key_of(places[0])] = FLOAT64 if copy.total.element == "double" else FLOAT32
                self.whole[key_of(places[0])] = True
        return None

    def _taken(
        self, sync: Sync, sides: tuple[Paused, Paused], buffer: tuple[Allocation, str, bool], account: Account
    ) -> Divergence | None:
        """Into what is known of the buffer; its name for people, and whether that is the best there is."""
        if not account.elements:
            return None
        (base, other), (mine, name, best) = sides, buffer
        key = key_of(mine)
        self.names[key] = name if best else self.names.get(key, name)
        if account.level is Level.DIFFERENT:
            if not self.doubt.explains(account):
                beyond = account.worst is not None and account.worst.units > self.doubt.largest
                told = unseen(account, self.doubt.text) if self.doubt.own and not beyond else different(account)
                data = f", {base.dispatch.alteration}" if base.dispatch.alteration else ""
                text = f"{sync.where}{data}: {self.names[key]}: {told}"
                return Divergence(other.side.label, Outcome.WRONG_OUTPUT, text)
            self.doubtful[key] = self.doubtful.get(key, NOTHING).joined(account)
        if account.endless:
            self.endless[sync.number, key] = _bytes_at(account.endless, mine.size)
            account = replace(account, endless=())
        self.accounts[key] = self.accounts.get(key, NOTHING).joined(account)
        launch = base.dispatch.index, base.dispatch.alteration, key
        self.apart[launch] = account.beside_all
        if account.exact_enough if account.level is not Level.DIFFERENT else self.doubt.covers(account):
            self.sure.add(launch)
        return None

    def doubtfully(self) -> str:
        """Why differences prove nothing, and how many there are; empty where there are none."""
        found = self.doubtful.values()
        if not found:
            return ""
        different, elements = sum(a.different for a in found), sum(a.elements for a in found)
        return f"{self.doubt.text}: {different:,} of {elements:,} numbers are not proven for it"

    def why_nothing(self) -> str:
        """Why no buffer was compared algebraically."""
        if not self.compared:
            return "no launch was compared"
        if self.left_out:
            buffers = counted(len(self.left_out), "buffer")
            return f"no floats in what can be compared; left out: {buffers} of varying order, content or size"
        return NO_FLOATS

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
            mask = self._undefined(base.dispatch.index, key_of(mine), start, size)
            account = account.joined(compare(self.field_, sides[0], sides[1], mask, self.symbolic))
        return account

    def _undefined(self, launch: int, key: Key, start: int, size: int) -> Mask | None:
        mask = self.calibration.undefined.get(launch, key, start, size)
        undecided = self.undecided.get(key)
        if undecided is None or undecided.size < start + size:
            return mask
        part = undecided[start : start + size]
        return part if mask is None else mask | part

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


def _bytes_at(places: Sequence[tuple[int, int]], size: int) -> Mask:
    found = np.zeros(size, dtype=np.bool_)
    for start, length in places:
        found[start : start + length] = True
    return found


def _state(paused: Paused) -> ShadowState | None:
    memory = paused.side.memory
    return memory.shadow_state() if isinstance(memory, ShadowedMemory) else None


def _shaded(paused: Paused, one: Allocation) -> bool:
    memory = paused.side.memory
    return isinstance(memory, ShadowedMemory) and memory.shaded(one.base, one.size)


def _shaded_part(paused: Paused, one: Allocation, at: int, size: int) -> Shaded:
    content = as_bytes(paused.content(one.id))[at : at + size]
    return Shaded(at, content, *(_parts(paused, one, at, size, unit) for unit in (4, 2)))


def _parts(paused: Paused, one: Allocation, start: int, size: int, unit: int) -> tuple[ShadowPart, ...]:
    memory = paused.side.memory
    if not isinstance(memory, ShadowedMemory):
        return ()
    parts = memory.shadows(one.base + start, size, unit)
    return tuple(replace(part, start=part.start + start) for part in parts)
