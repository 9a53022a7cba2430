"""Constants that are the block's size in the kernel's words, as `TILE` in `blockIdx.x * TILE + threadIdx.x`."""

from __future__ import annotations

import re

from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.polynomials import ANY_BLOCKS, Blocks
from intelliperf.codegen.rules.problem import NotApplicable, Problem
from intelliperf.codegen.syntax.tree import Node


def blocks_of(problem: Problem, kernel: Node) -> Blocks:
    """How large the blocks are at every launch; unknown where they differ or are not constant."""
    program = Program(problem.task.sources)
    try:
        found = {program.extents(launch) for launch in program.launches(kernel.name)}
    except NotApplicable:
        return ANY_BLOCKS
    if len(found) != 1:
        return ANY_BLOCKS
    sizes = {axis: size for axis, size in zip("xyz", found.pop(), strict=False) if size > 1}
    constant = outside_constant(problem)
    known = {
        node.reference.id: value
        for node in kernel.everything()
        if node.kind == "DeclRefExpr" and node.reference is not None and node.reference.kind == "VarDecl"
        and node.canonical.startswith("const ") and _is_defined_once(problem, node.reference.name)
        and (value := constant(node.reference.name)) is not None
    }  # fmt: skip
    own = {node.id for node in kernel.everything() if node.kind == "VarDecl"}
    return Blocks(sizes, {identity: value for identity, value in known.items() if identity not in own})


def _is_defined_once(problem: Problem, name: str) -> bool:
    """So that no other namespace's constant of that name is taken for it."""
    defined = re.compile(rf"\b(?:constexpr|const)\b[^;{{}}]*\b{re.escape(name)}\b\s*(?:=|\{{)")
    return sum(len(defined.findall(text)) for text in problem.task.sources.values()) == 1
