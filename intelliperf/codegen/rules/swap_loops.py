"""Device functions that repeat a compare-and-swap until a sum or an extreme is in memory.

`do { assumed = old; old = atomicCAS(p, assumed, bits(fmax(value, number(assumed)))); } while (assumed != old);` puts
the greater one of `value` and what `p` leads to there, in whatever order such calls come. So does a loop that swaps
`value` itself in, as long as it is greater than what was last seen there.
"""

from __future__ import annotations

from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.statements import callee_name, pointee
from intelliperf.codegen.rules.swap_exits import REINTERPRETED, extreme_by_swaps, plain, source_of
from intelliperf.codegen.rules.wave import Operation
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS, INTEGERS
from intelliperf.codegen.syntax.tree import Node

_EXTREMES = {"fmax": "Maximizes", "fmaxf": "Maximizes", "max": "Maximizes"} | {
    "fmin": "Minimizes", "fminf": "Minimizes", "min": "Minimizes"
}  # fmt: skip


def combined_by_swaps(function: Node) -> Operation | None:
    """What a call of `function(address, value)` does to memory, where that is all it does."""
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    if len(parameters) != 2 or pointee(parameters[0].canonical) != parameters[1].canonical.removeprefix("const "):
        return None
    if parameters[1].canonical.removeprefix("const ") not in INTEGERS | FLOATS:
        return None
    swaps = [node for node in function.everything() if callee_name(node) == "atomicCAS" and len(node.children) == 4]
    if len(swaps) == 1 and (extreme := extreme_by_swaps(function, swaps[0], parameters)) is not None:
        return extreme
    if len(swaps) != 1 or not _repeats(function, swaps[0]) or not _nothing_else(function, swaps[0]):
        return None
    address, assumed, new = (child.bare() for child in swaps[0].children[1:])
    if assumed.reference is None or source_of(function, address) != parameters[0].id:
        return None
    return _operation(plain(new), parameters[1].id, assumed.reference.id)


def _operation(new: Node, value: str, assumed: str) -> Operation | None:
    name = callee_name(new)
    sides = new.children[1:] if name else new.children
    named = [reference.id if (reference := plain(side).reference) is not None else "" for side in sides]
    if sorted(named) != sorted((value, assumed)):
        return None
    if name in _EXTREMES:
        return Operation(_EXTREMES[name], f"{name}({{a}}, {{b}})", "")
    if new.kind == "BinaryOperator" and new.opcode == "+":
        return Operation("Adds", "{a} + {b}", "")
    return None


def _repeats(function: Node, swap: Node) -> bool:
    """Is `old = atomicCAS(…, assumed, …)` repeated until `old` is `assumed`, which it was set to before?"""
    loop = next((up for up in swap.ancestors() if up.kind in ("DoStmt", "WhileStmt", "ForStmt")), None)
    if loop is None or loop.kind != "DoStmt" or swap.parent is None:
        return False
    test = loop.children[1].bare()
    sides = [side.bare().reference for side in test.children] if test.opcode == "!=" else []
    assumed = swap.children[2].bare().reference
    names = {side.id for side in sides if side is not None}
    if assumed is None or assumed.id not in names or len(names) != 2:
        return False
    (old,) = names - {assumed.id}
    writes = [(written(node), node) for node in loop.children[0].everything()]
    stores = [(name, node) for name, node in writes if name is not None]
    kept = [node for name, node in stores if name == assumed.id]
    swapped = [node for name, node in stores if name == old]
    if len(stores) != 2 or len(kept) != 1 or len(swapped) != 1 or any(node.opcode != "=" for _, node in stores):
        return False
    before = kept[0].children[1].bare().reference
    in_order = kept[0].start_offset < swapped[0].start_offset
    return in_order and before is not None and before.id == old and swapped[0].children[1].bare() is swap


def _is_plain_call(name: str) -> bool:
    return name in _EXTREMES or REINTERPRETED.fullmatch(name) is not None


def _nothing_else(function: Node, swap: Node) -> bool:
    """Does the function declare variables, repeat the swap and return, and nothing besides?"""
    inside = next(child for child in function.children if child.kind == "CompoundStmt")
    kinds = [child.kind for child in inside.children]
    if [kind for kind in kinds if kind not in ("DeclStmt", "ReturnStmt", "NullStmt")] != ["DoStmt"]:
        return False
    own = {node.id for node in inside.everything() if node.kind == "VarDecl"}
    for node in inside.everything():
        if node.kind == "CallExpr" and node is not swap and not _is_plain_call(callee_name(node)):
            return False
        if (changed := written(node)) is not None and changed not in own:
            return False
        if node.kind in ("IfStmt", "BreakStmt", "LambdaExpr", "CXXMemberCallExpr", "CXXOperatorCallExpr"):
            return False
    returns = [child for child in inside.children if child.kind == "ReturnStmt"]
    return all(child is inside.children[-1] for child in returns)
