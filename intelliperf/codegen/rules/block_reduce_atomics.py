"""An atomic of all threads of a block on one address becomes a block reduction and one atomic.

Proof obligations, each checked on the tree: the address is the same for all threads and stays
so; nothing else in the kernel touches its pointer, or only elements with other constant indices;
the place after the outermost divergent statement around the atomic is reached by all threads of
the block. Guards stay: threads that they keep out contribute the operation's identity. A single
leading `if (…) return;` becomes a guard around the rest of the kernel.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from intelliperf.codegen.rules.block_plans import ReductionPlan, enclosing_kernel, reduction_plan
from intelliperf.codegen.rules.declarations import declare, unused_name
from intelliperf.codegen.rules.fewer_blocks import cap_launches, walk_elements, walk_of
from intelliperf.codegen.rules.guards import enclose_rest, statement_end
from intelliperf.codegen.rules.inlined_functions import Inlined, inlined
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.statements import callee, callee_name, calls, value_used
from intelliperf.codegen.rules.wave import block_atomic
from intelliperf.codegen.rules.wave_aggregate_atomics import (
    FLOATS,
    element_type,
    snake_case,
)
from intelliperf.codegen.rules.wrappers import Atomic, atomics, is_kernel, is_wrapper, own_text
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Declaration, SourceEvidence

_INTEGER_LIMITS = {
    "int": ("2147483647", "-2147483647 - 1"),
    "unsigned int": ("4294967295u", "0u"),
    "long long": ("9223372036854775807ll", "-9223372036854775807ll - 1"),
    "unsigned long long": ("18446744073709551615ull", "0ull"),
}
_SUPPORTED = (
    "atomicAdd",
    "unsafeAtomicAdd",
    "atomicSub",
    "atomicMin",
    "atomicMax",
    "atomicAnd",
    "atomicOr",
    "atomicXor",
)


@dataclass(frozen=True)
class _Share:
    """What each thread collects for one atomic."""

    atomic: Atomic
    plan: ReductionPlan
    types: frozenset[str]
    instantiations: int
    function: Inlined | None = None  # that the atomic is in, with `own` as its call there
    own: Node | None = None

    @property
    def told(self) -> str:
        where = f"line {self.own.line} of {self.function.function.name}" if self.own and self.function else ""
        at = f"{self.atomic.place} ({where})" if where else f"{self.atomic.place}"
        return f"{callee_name(self.atomic.call)} at {at}"

    @property
    def rounding(self) -> str:
        return " (reassociates floating-point additions: results differ by rounding)" if self.types & FLOATS else ""


_Where = tuple[str, int, int]
_Known = dict[tuple[str, int], tuple[list[_Share], list[tuple[Node, NotApplicable]]] | NotApplicable]


def _where(evidence: SourceEvidence) -> _Where:
    return evidence.file.as_posix(), evidence.line, evidence.column


class BlockReduceAtomics:
    name = "block_reduce_atomics"

    def rewrite(self, problem: Problem) -> Rewrite:
        capped: list[int] = []
        joined, refused = _together(problem, capped)

        def line(evidence: SourceEvidence) -> list[str]:
            if (known := _where(evidence)) in joined:
                return [joined[known]]
            if known in refused:
                raise refused[known]
            return [self._line(problem, evidence, capped)]

        made = problem.rewrite_lines(
            "Reduce over the block in registers and LDS, then issue one atomic per block", line
        )
        if not capped:
            return made
        return replace(made, declares=Declaration(geometry=True, reason=f"{capped[0]} blocks walk over the elements"))

    def _line(self, problem: Problem, evidence: SourceEvidence, capped: list[int]) -> str:
        share = _direct(problem, evidence)
        with contextlib.suppress(NotApplicable), problem.all_or_nothing():
            capped.append(_apply_walking(problem, [share]))
            return f"{share.told}, by {capped[0]} blocks that walk over the elements{share.rounding}"
        _apply(problem, [share])
        return f"{share.told}{share.rounding}"


def _direct(problem: Problem, evidence: SourceEvidence) -> _Share:
    """An atomic of the kernel itself, or of a function that does nothing but this."""
    if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION):
        raise NotApplicable(f"{evidence.file.name}:{evidence.line} is not an atomic access")
    seen = atomics(problem, evidence)
    _check_kind(seen[0].place, [one.call for one in seen])
    plans = [reduction_plan(problem, one.place, one.call) for one in seen]
    if len({plan.span for plan in plans}) != 1:
        raise NotApplicable(f"{seen[0].place}: the instantiations of the kernel need different rewrites")
    return _Share(seen[0], plans[0], frozenset(element_type(one.call) for one in seen), len(seen))


def _check_kind(place: Place, calls: Sequence[Node]) -> None:
    """Raise `NotApplicable` for atomics whose operands cannot be put together in any order."""
    function = callee_name(calls[0])
    if any(value_used(call) for call in calls):
        raise NotApplicable(f"{place}: the old value that {function} returns is used")
    if {element_type(call) for call in calls} & FLOATS and not function.endswith("Add"):
        raise NotApplicable(f"{place}: a floating-point {function} has no exact reduction (NaN)")


def _together(problem: Problem, capped: list[int]) -> tuple[dict[_Where, str], dict[_Where, NotApplicable]]:
    """Rewrites the atomics that are collected over the same statements: what was done, and not, by the blamed place."""
    refused: dict[_Where, NotApplicable] = {}
    groups: dict[tuple[str, object], list[tuple[_Where, _Share]]] = {}
    functions: _Known = {}
    for evidence in problem.task.evidence:
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION):
            continue
        try:
            found = _of_function(problem, evidence, functions) or [_direct(problem, evidence)]
        except NotApplicable as reason:
            refused[_where(evidence)] = reason
            continue
        for share in found:
            groups.setdefault((share.atomic.place.path, share.plan.span), []).append((_where(evidence), share))
    done: dict[_Where, str] = {}
    for members in groups.values():
        known_calls = {share.atomic.call: share for _, share in members}
        more = [one for share in known_calls.values() for one in _in_other_branches(problem, share)]
        shares = list(({one.atomic.call: one for one in more} | known_calls).values())
        if len(shares) == 1 and shares[0].function is None:
            continue
        try:
            with problem.all_or_nothing():
                most = _apply_group(problem, shares)
        except NotApplicable as reason:
            refused.update((known, reason) for known, share in members if share.function is not None)
            continue
        capped += [most] if most else []
        by = f", by {most} blocks that walk over the elements" if most else ""
        done.update((known, f"{share.told}{by}{share.rounding}") for known, share in members)
    return done, refused


def _in_other_branches(problem: Problem, share: _Share) -> list[_Share]:
    """Atomics like it in other branches of an `if`: compilers may make one of them, which has one line's name."""
    atomic = share.atomic
    if share.function is not None or share.instantiations != 1 or not is_kernel(_function_of(atomic.call)):
        return []
    found = []
    for call in calls(_function_of(atomic.call), frozenset((callee_name(atomic.call),))):
        if not _other_branch(atomic.call, call) or element_type(call) != element_type(atomic.call):
            continue
        with contextlib.suppress(NotApplicable):
            _check_kind(atomic.place, [call])
            plan = reduction_plan(problem, atomic.place, call)
            if plan.span == share.plan.span:
                text = own_text(problem.source(atomic.place.path), atomic.place, call)
                found.append(_Share(Atomic(atomic.place, call, *text), plan, share.types, 1))
    return found


def _function_of(call: Node) -> Node:
    return next(up for up in call.ancestors() if up.kind in ("FunctionDecl", "CXXMethodDecl"))


def _other_branch(one: Node, other: Node) -> bool:
    """Does an `if` choose between the two?"""
    above = {id(up): child for child, up in zip((one, *one.ancestors()), one.ancestors(), strict=False)}
    for child, up in zip((other, *other.ancestors()), other.ancestors(), strict=False):
        if id(up) in above:
            branches = up.children[1:] if up.kind == "IfStmt" else []
            return child is not above[id(up)] and all(
                any(b is side for b in branches) for side in (child, above[id(up)])
            )
    return False


def _apply_group(problem: Problem, shares: Sequence[_Share]) -> int:
    """Returns how many blocks walk over the elements; 0: the grid stays."""
    most = 0
    with contextlib.suppress(NotApplicable), problem.all_or_nothing():
        most = _apply_walking(problem, shares)
    if not most:
        _apply(problem, shares)
    if problem.source(shares[0].atomic.place.path).overlaps():
        raise NotApplicable(f"{shares[0].atomic.place}: two rewrites of the same statement")
    return most


def _of_function(problem: Problem, evidence: SourceEvidence, known: _Known) -> list[_Share]:
    """Atomics of a device function that does more than one thing. Raises `NotApplicable`."""
    inner = problem.place(evidence)
    if (
        evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION)
        or is_kernel(inner.functions[0])
        or is_wrapper(inner.functions[0])
    ):
        return []
    key = (inner.path, inner.functions[0].start_offset)
    if key not in known:
        known[key] = _shares(problem, evidence)
    made = known[key]
    if isinstance(made, NotApplicable):
        raise made
    shares, reasons = made
    here = [share for share in shares if share.own is not None and share.own.line == evidence.line]
    if not here:
        otherwise = NotApplicable(f"{inner} holds no sum or extreme that atomics put into memory")
        raise next((reason for own, reason in reasons if own.line == evidence.line), otherwise)
    return here


def _shares(
    problem: Problem, evidence: SourceEvidence
) -> tuple[list[_Share], list[tuple[Node, NotApplicable]]] | NotApplicable:
    """What a block can collect of the atomics of a function, and why not the others."""
    try:
        function = inlined(problem, evidence)
    except NotApplicable as reason:
        return reason
    assert function is not None
    inside = {id(node) for node in function.statements.everything()} - {id(function.statements)}
    reasons: list[tuple[Node, NotApplicable]] = []
    shares: list[_Share] = []
    for atomic, own in function.atomics:
        try:
            _check_kind(atomic.place, [atomic.call])
            plan = reduction_plan(problem, atomic.place, atomic.call)
            if id(plan.region) in inside:
                raise NotApplicable(f"{atomic.place}: not all threads of a block call {function.function.name}")
            types = frozenset((element_type(atomic.call),))
            shares.append(_Share(atomic, plan, types, 1, function, own))
        except NotApplicable as reason:
            reasons.append((own, reason))
    if len({share.plan.span for share in shares}) > 1:
        return NotApplicable(
            f"{function.place}: the atomics of {function.function.name} are collected over different statements"
        )
    return shares, reasons


def _identity(place: Place, function: str, types: set[str]) -> str:
    if function == "atomicAnd":
        return "-1"
    if function not in ("atomicMin", "atomicMax"):
        return "0"
    if len(types) != 1 or (only := next(iter(types))) not in _INTEGER_LIMITS:
        raise NotApplicable(f"{place}: {function} has no identity that fits all instantiations")
    return _INTEGER_LIMITS[only][function == "atomicMax"]


def _contribution(function: str, name: str, element: str, cast: bool) -> tuple[str, str]:
    """Text before and after the operand that adds it to the thread's own part."""
    opened, closed = (f"static_cast<{element}>(", ")") if cast else ("", "")
    symbols = {
        "atomicAdd": "+=",
        "unsafeAtomicAdd": "+=",
        "atomicSub": "+=",
        "atomicAnd": "&=",
        "atomicOr": "|=",
        "atomicXor": "^=",
    }
    if function in symbols:
        return f"{name} {symbols[function]} {opened}", closed
    return f"{name} = {function.removeprefix('atomic').lower()}({name}, static_cast<{element}>(", "))"


def _apply_walking(problem: Problem, shares: Sequence[_Share]) -> int:
    """With a grid that fills the device; returns how many blocks that is. Raises `NotApplicable`."""
    place, kernel = shares[0].atomic.place, enclosing_kernel(shares[0].atomic.place, shares[0].plan.call)
    others = [node for node in kernel.walk() if node.kind == "CallExpr" and "tomic" in callee_name(node)]
    if len(others) != len(shares) or any(share.instantiations != 1 for share in shares):
        raise NotApplicable(f"{place}: the kernel has other atomics, too, or several instantiations")
    walk = walk_of(problem, place, kernel)
    most = cap_launches(problem, place, kernel)
    around = _collect(problem, shares, problem.source(place.path).indentation(walk.declared.start_offset))
    walk_elements(problem, problem.source(place.path), place, kernel, walk, around)
    return most


def _apply(problem: Problem, shares: Sequence[_Share]) -> None:
    plan, place, atomic = shares[0].plan, shares[0].atomic.place, shares[0].atomic
    source = problem.source(place.path)
    if plan.region is plan.call:
        helper = _helper(problem, shares[0])
        source.replace(plan.call.start_offset, plan.call.end_offset, f"{helper}({atomic.address}, {atomic.operand})")
        return
    indent = source.indentation((plan.guard or plan.region).start_offset)
    declared, flush = _collect(problem, shares, indent)
    if plan.guard is not None:
        enclose_rest(source, str(place), plan.guard, plan.region.end_offset - 1, (declared, flush))
        return
    source.insert(plan.region.start_offset, declared + indent)
    source.insert(statement_end(source, plan.region), f"\n{indent}{flush}")


def _collect(problem: Problem, shares: Sequence[_Share], indent: str) -> tuple[str, str]:
    """The thread's shares instead of the atomics: their declarations, and what adds up the block's shares."""
    declared, flush = [], []
    texts: dict[Node, tuple[str, str]] = {}
    for number, share in enumerate(shares):
        call, place = share.plan.call, share.atomic.place
        function = callee_name(call)
        helper = _helper(problem, share)
        part = unused_name(problem, f"block_part_{number + 1}" if number else "block_part")
        cast = call.children[2].bare().canonical != element_type(call)
        texts[call] = _contribution(function, part, share.plan.element, cast)
        declared.append(
            f"{share.plan.element} {part} = {_identity(place, function, set(share.types))};"
            f"  // this thread's share of *({share.atomic.address})\n"
        )
        flush.append(f"{helper}({share.atomic.address}, {part});")
        if share.function is None:
            before, after = texts[call]
            text = f"{before}{share.atomic.operand}{after}"
            problem.source(place.path).replace(call.start_offset, call.end_offset, text)
    for function_ in {id(share.function): share.function for share in shares if share.function is not None}.values():
        changes = []
        for atomic, own in function_.atomics:
            if atomic.call in texts:
                before, after = texts[atomic.call]
                operand = own.children[2]
                changes += [
                    (own.start_offset, operand.start_offset, before),
                    (operand.end_offset, own.end_offset, after),
                ]
        function_.write(problem, changes)
    return indent.join(declared), f"\n{indent}".join(flush)


def _helper(problem: Problem, share: _Share) -> str:
    """The name of the device function that combines a block's shares."""
    place, plan = share.atomic.place, share.plan
    call, function, dialect = plan.call, callee_name(plan.call), problem.dialect
    if callee(call) is None or call.in_macro or plan.region.in_macro:
        raise NotApplicable(f"{place}: the atomic or its surroundings come from a macro")
    identity = _identity(place, function, set(share.types))
    return declare(
        problem,
        problem.source(place.path),
        call.start_offset,
        "block_" + snake_case(function),
        lambda name: block_atomic(name, function, identity, dialect),
    )
