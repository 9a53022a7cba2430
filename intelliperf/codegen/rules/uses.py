"""Where the sources use a function, in clang's tree; what a word outside of all functions means is not known."""

from __future__ import annotations

import contextlib
import re

from intelliperf.codegen.rules.problem import NotApplicable, Problem
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import blanked
from intelliperf.codegen.syntax.tree import Node

Use = tuple[str, int]  # path, offset of the name
_UNRESOLVED = ("UnresolvedLookupExpr", "UnresolvedMemberExpr")  # calls in templates, whatever they will mean


def uses_of(problem: Problem, function: str) -> set[Use]:
    """All that may be one. Raises `NotApplicable` where a function that has the word in it does not parse."""
    word = re.compile(rf"\b{re.escape(function)}\b".encode())
    found: set[Use] = set()
    for path, text in problem.task.sources.items():
        mentions = [match.start() for match in word.finditer(outline.encoded(blanked(text)))]
        regions = outline.functions(text)
        inside = {offset: [one for one in regions if one.start <= offset < one.end] for offset in mentions}
        around = dict.fromkeys(outline.filter_name(text, region) for held in inside.values() for region in held)
        roots = [root for name in around for root in problem.declarations(path, name)]
        outside = [offset for offset, held in inside.items() if not held]
        if outside:
            with contextlib.suppress(NotApplicable):
                roots += problem.declarations(path, "")
        found |= {(path, node.start_offset) for root in roots for node in root.everything() if is_use(node, function)}
        found |= {
            (path, offset)
            for offset in outside
            if not any(root.start_offset <= offset < root.end_offset for root in roots)
        }
    return found


def is_use(node: Node, function: str) -> bool:
    if node.kind in _UNRESOLVED:
        return node.name == function
    reference = node.reference
    of_function = reference is not None and ("Function" in reference.kind or "Method" in reference.kind)
    return of_function and reference is not None and reference.name == function
