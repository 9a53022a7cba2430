"""Constants that a function uses but does not declare."""

from __future__ import annotations

import re
from collections.abc import Callable

from intelliperf.codegen.rules.lanes import Lane, Launch, initializer
from intelliperf.codegen.rules.problem import NotApplicable, Problem


def outside_constant(problem: Problem) -> Callable[[str], int | None]:
    """Values of constants that are declared outside functions, looked up in the project's units."""

    def value(name: str) -> int | None:
        for path, text in problem.task.sources.items():
            if not re.search(rf"\b(?:constexpr|const)\b[^;{{}}]*\b{re.escape(name)}\b\s*(?:=|\{{)", text):
                continue
            try:
                roots = problem.declarations(path, name)
            except NotApplicable:
                continue
            for root in roots:
                initial = initializer(root) if root.kind == "VarDecl" and root.name == name else None
                if initial is None:
                    continue
                return Lane(Launch((1, 1, 1), (1, 1, 1), value), (0, 0, 0), frozenset()).value(initial)
        return None

    return value
