"""Contended atomics become one atomic per wave and distinct address.

Right for any address pattern and any control flow: the lanes that are active at the call and
share an address are one possible order of the same atomic operations. The call's text stays
but for the callee; a helper goes above the function.
"""

from __future__ import annotations

import re

from intelliperf.codegen.rules.declarations import declare
from intelliperf.codegen.rules.methods import definitions
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.statements import callee, callee_name, calls, is_constant, pointee, value_used
from intelliperf.codegen.rules.wave import OPERATIONS, aggregated_atomic
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, Metric, SourceEvidence

INTEGERS = frozenset(("int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"))
FLOATS = frozenset(("float", "double"))
# Below this many lanes on one address per request there is nothing to combine.
MIN_LANES_PER_ADDRESS = 1.5


class WaveAggregateAtomics:
    name = "wave_aggregate_atomics"

    def rewrite(self, problem: Problem) -> Rewrite:
        return problem.rewrite_lines(
            "Combine the atomics of a wave on one address before memory sees them",
            lambda evidence: [self._line(problem, evidence)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence) -> str:
        """Edit one blamed line; returns what was done, in words."""
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION):
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} is not an atomic access")
        pays(evidence)
        place = problem.place(evidence)
        same_call = atomic_calls(problem, place)
        function = callee_name(same_call[0])
        types = {element_type(call) for call in same_call}
        returns = any(value_used(call) for call in same_call)
        floats = sorted(types & FLOATS)
        if floats and (returns or not function.endswith("Add")):
            what = "whose result is used" if returns else "that orders floating-point values (NaN)"
            raise NotApplicable(f"{place}: a {floats[0]} {function} {what} has no exact aggregate")
        constant = function.endswith(("Add", "Sub")) and all(is_constant(call.children[2]) for call in same_call)
        self._edit(problem, place, same_call[0], returns, constant)
        rounding = f" (reassociates {floats[0]} additions: results differ by rounding)" if floats else ""
        return f"{function} at {place}{rounding}"

    def _edit(self, problem: Problem, place: Place, call: Node, returns: bool, constant: bool) -> None:
        source = problem.source(place.path)
        target = callee(call)
        if target is None or target.in_macro:
            raise NotApplicable(f"{place}: the atomic is written by a macro")
        function = callee_name(call)
        if source.slice(target.start_offset, target.end_offset).lstrip(":").strip() != function:
            raise NotApplicable(f"{place}: {function} is called with explicit template arguments")
        dialect = problem.dialect
        name = declare(
            problem,
            source,
            call.start_offset,
            helper_name(function, returns, constant),
            lambda name: aggregated_atomic(name, function, returns, constant, dialect),
        )
        source.replace(target.start_offset, target.end_offset, name)


def pays(evidence: SourceEvidence) -> None:
    known = evidence.quantities
    if Metric.ATOMIC_SERIALIZATION not in known or Metric.ATOMIC_REQUESTS not in known:
        return
    requests = known[Metric.ATOMIC_REQUESTS].value
    shared = known[Metric.ATOMIC_SERIALIZATION].value / requests if requests else 0.0
    if shared < MIN_LANES_PER_ADDRESS:
        raise NotApplicable(
            f"{evidence.file.name}:{evidence.line}: an atomic reaches memory with {shared:.2f} lanes of a wave "
            "for each address: nothing is left to combine, or the compiler combines them already"
        )


def atomic_calls(problem: Problem, place: Place) -> list[Node]:
    """The one atomic call of the blamed line, once for each instantiation. Raises `NotApplicable`."""
    found = [
        call
        for function in place.functions
        for call in calls(function, frozenset(OPERATIONS))
        if call.line == place.evidence.line and call.begin is not None
    ]
    if not found:
        raise NotApplicable(_why_none(place))
    if any(call.in_macro for call in found):
        raise NotApplicable(f"{place}: the atomic is written by a macro")
    offsets = sorted({call.start_offset for call in found})
    if len(offsets) > 1:
        found = [call for call in found if call.begin and call.begin.column == place.evidence.column]
        if not found:
            raise NotApplicable(f"{place} has {len(offsets)} atomics and the evidence does not say which one")
    if own := _own_definition(problem, found[0]):
        raise NotApplicable(f"{place}: {callee_name(found[0])} has a definition of the project's own in {own}")
    return found


def _own_definition(problem: Problem, call: Node) -> str:
    """The file in which the project defines what is called; empty where its functions of that name are overloads."""
    name, target = callee_name(call), callee(call)
    paths = [path for path, text in problem.task.sources.items() if defines(text, name)]
    if not paths or target is None or target.reference is None:
        return next(iter(paths), "")
    kinds = {function.type for function in definitions(problem, name)}
    return paths[0] if target.reference.type in kinds else ""


# Why atomics without an entry in `OPERATIONS` stay as they are.
SINGLE = {
    "atomicExch": "which of several exchanges comes last is the result",
    "atomicCAS": "each depends on the one before, unless a function only swaps a sum or an extreme into memory",
    "atomicInc": "it wraps round at a limit, so that several steps are not one sum",
    "atomicDec": "it wraps round at a limit, so that several steps are not one sum",
}


def _why_none(place: Place) -> str:
    for function in place.functions:
        for call in function.everything():
            name = callee_name(call) if call.line == place.evidence.line else ""
            if name in SINGLE:
                return f"{place}: {name} cannot be combined: {SINGLE[name]}"
            if name.endswith("_system"):
                return f"{place}: every step of {name} is seen by the host and other devices, which may wait for one"
            if name.endswith("_block"):
                return f"{place}: {name} is of one block, which no rule combines"
    return f"{place} has no call of {', '.join(OPERATIONS)} on it"


def defines(text: str, function: str) -> bool:
    return function in text and any(region.name == function for region in outline.functions(text))


def element_type(call: Node) -> str:
    """The type that the atomic works on. Raises `NotApplicable` for types without shuffles."""
    if len(call.children) != 3:
        raise NotApplicable(f"line {call.line}: the atomic takes a memory scope or order")
    address = call.children[1]
    element = pointee(address.canonical)
    if element not in INTEGERS | FLOATS:  # a name of the program's, which its overload tells
        target = callee(call)
        taken = re.search(r"\(([\w ]+) \*", target.reference.type if target and target.reference else "")
        element = taken[1] if taken else element
    if element not in INTEGERS | FLOATS:
        raise NotApplicable(f"line {call.line}: lanes cannot exchange values behind a {address.type}")
    return element


def snake_case(function: str) -> str:
    return re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), function)


def helper_name(function: str, returns: bool, constant: bool) -> str:
    return f"wave_{snake_case(function)}{'_fetch' if returns else ''}{'_same' if constant else ''}"
