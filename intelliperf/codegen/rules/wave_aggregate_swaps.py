"""Sums and extremes that a device function swaps into memory are combined by the wave first.

What atomics do not know (the greatest double, the least float) is written as a loop round a compare-and-swap, which
every lane of a wave repeats until it is its turn. Lanes with the same address combine their values in registers, and
the last one of them calls the function. Proof obligations: the function does nothing but put a sum or an extreme of
its value in the place of what is there, and what it returns is not used.
"""

from __future__ import annotations

from intelliperf.codegen.rules.declarations import declare
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.statements import callee, callee_name, value_used
from intelliperf.codegen.rules.swap_loops import combined_by_swaps
from intelliperf.codegen.rules.wave import Operation, combined_call
from intelliperf.codegen.rules.wave_aggregate_atomics import pays, snake_case
from intelliperf.codegen.rules.wrappers import calling, is_kernel
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import AccessKind, SourceEvidence


class WaveAggregateSwaps:
    name = "wave_aggregate_swaps"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[int] = set()
        return problem.rewrite_lines(
            "Combine what the lanes of a wave swap into one address before memory sees it",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[int]) -> str:
        if evidence.access not in (AccessKind.ATOMIC, AccessKind.REDUCTION):
            raise NotApplicable(f"{evidence.file.name}:{evidence.line} is not an atomic access")
        pays(evidence)
        inner = problem.place(evidence)
        function = inner.functions[0]
        operation = combined_by_swaps(function) if not is_kernel(function) else None
        if operation is None or len(inner.functions) != 1:
            raise NotApplicable(f"{inner} is not in a function that only swaps a sum or an extreme into memory")
        place = calling(problem, inner, function)
        call = _call(place, function.name)
        if call.start_offset not in done:
            done.add(call.start_offset)
            _edit(problem, place, call, operation)
        sums = " (sums are added up in another order)" if operation.verb == "Adds" else ""
        return f"{function.name} at {place}{sums}"


def _call(place: Place, name: str) -> Node:
    """The one call of the function on the kernel's line. Raises `NotApplicable`."""
    found = [
        node
        for kernel in place.functions
        for node in kernel.everything()
        if node.kind == "CallExpr" and callee_name(node) == name and node.line == place.evidence.line
    ]
    if len({call.start_offset for call in found}) != 1:
        raise NotApplicable(f"{place}: {name} is called {len(found)} times on this line")
    if any(value_used(call) for call in found):
        raise NotApplicable(f"{place}: what {name} returns is used")
    if any(call.in_macro for call in found):
        raise NotApplicable(f"{place}: the call of {name} is written by a macro")
    return found[0]


def _edit(problem: Problem, place: Place, call: Node, operation: Operation) -> None:
    source, target, name = problem.source(place.path), callee(call), callee_name(call)
    if target is None or source.slice(target.start_offset, target.end_offset) != name:
        raise NotApplicable(f"{place}: {name} is called by another name")
    helper = declare(
        problem,
        source,
        call.start_offset,
        f"wave_{snake_case(name).lstrip('_')}",
        lambda helper: combined_call(helper, name, operation, problem.dialect),
    )
    source.replace(target.start_offset, target.end_offset, helper)
