"""What a candidate may change in host functions once it declares other geometry or kernels.

With `geometry`: launch configurations, and the variables that serve nothing but launch configurations.
With `kernels` also: whole launches, and allocation, clearing and release of scratch memory under names
that the function did not use before. Everything else of a host function is frozen.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator

from tree_sitter import Node

from intelliperf.records import Declaration
from intelliperf.validation.edits.source import Item, Source, leaves, walk

_LAUNCH_CALLS = frozenset(
    ("hipLaunchKernelGGL", "hipLaunchKernel", "hipLaunchCooperativeKernel", "cudaLaunchKernel")
    + ("cudaLaunchCooperativeKernel", "hipExtLaunchKernelGGL")
)
_CONFIGURATION_ARGUMENTS = slice(1, 4)  # of hipLaunchKernelGGL: grid, block, dynamic LDS
_SCRATCH = re.compile(r"(?:hip|cuda)(?:Malloc|Free|Memset)(?:Async)?$")
_CHECKS = re.compile(r"(?:hip|cuda)(?:GetLastError|PeekAtLastError)$")
_HARMLESS = frozenset(("dim3", "min", "max", "ceil", "std::min", "std::max", "int", "unsigned", "size_t", "sizeof"))
_ACTING = ("assignment_expression", "update_expression", "lambda_expression", "comma_expression", "new_expression") + (
    "delete_expression",
    "throw_expression",
    "co_await_expression",
    "compound_statement",
)
_STATEMENTS = ("expression_statement", "declaration")

Range = tuple[int, int]


def difference(old: tuple[Source, Item], new: tuple[Source, Item], declares: Declaration) -> str | None:
    """What in a host function changed beyond what is declared, for people; None if nothing."""
    before, after = _words(old[1].node), _words(new[1].node)
    zones = _zones(*old, declares, set()), _zones(*new, declares, {text for text, _ in before})
    effect = _side_effect(new, zones[1], old)
    if effect is not None:
        return effect
    texts = [text for text, _ in before], [text for text, _ in after]
    for tag, i, j, k, m in difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for row, zone, source, start, end in ((before, zones[0], old, i, j), (after, zones[1], new, k, m)):
            outside = _outside(row, zone, start, end, alone=i == j or k == m)
            if outside is not None:
                line = outside.start_point[0] + 1
                return f"line {line} of host function {source[1].name} ({source[0].text(outside)!r})"
    return None


def _outside(row: list[tuple[str, Node]], zones: list[Range], start: int, end: int, alone: bool) -> Node | None:
    """The first word of `row[start:end]` that is not free to change.

    What was only added or only removed may also be read as shifted, while the word that comes in at one end is the
    one that goes out at the other: `int a; int b;` after `int b;` has a new `int a;` or a new `a; int`.
    """

    def inside(at: int, to: int) -> bool:
        return all(_inside(node, zones) for _, node in row[at:to])

    first = next((node for _, node in row[start:end] if not _inside(node, zones)), None)
    if first is None or not alone:
        return first
    for step in (-1, 1):
        at, to = start, end
        while 0 < at < to < len(row) and row[min(at, at + step)][0] == row[min(to, to + step)][0]:
            at, to = at + step, to + step
            if inside(at, to):
                return None
    return first


def _side_effect(new: tuple[Source, Item], zones: list[Range], old: tuple[Source, Item]) -> str | None:
    """The first added call, assignment or the like in what is free to change: a launch computes, it does not act."""
    source, item = new
    before = Counter(old[0].text(node) for node in walk(old[1].node) if _acts(old[0], node))
    for node in walk(item.node):
        if not _inside(node, zones) or not _acts(source, node):
            continue
        before[source.text(node)] -= 1
        if before[source.text(node)] < 0:
            line = node.start_point[0] + 1
            return f"line {line} of host function {item.name} ({source.text(node)!r}: more than a launch)"
    return None


def _acts(source: Source, node: Node) -> bool:
    if node.type == "call_expression":
        if any(child.type == "kernel_call_syntax" for child in node.children):
            return False
        called = source.text(node.child_by_field_name("function"))
        if called in _LAUNCH_CALLS or called in _HARMLESS or re.match(r"(?:static|reinterpret)_cast<", called):
            return False
        if _SCRATCH.match(called) or _CHECKS.match(called):
            return _within_another(source, node)
        return not (called.isupper() and any(_acts_as_check(source, inner) for inner in walk(node)))
    return node.type in _ACTING


def _within_another(source: Source, call: Node) -> bool:
    """Does the call stand in a launch, or in a call other than that of a macro like CHECK( )?"""
    node = call.parent
    while node is not None and node.type not in _STATEMENTS:
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        if node.type == "kernel_call_syntax" or called is not None and not source.text(called).isupper():
            return True
        node = node.parent
    return False


def _acts_as_check(source: Source, node: Node) -> bool:
    """What a macro like CHECK( ) is put round: a launch, a piece of scratch memory, the last error."""
    if node.type != "call_expression":
        return node.type == "kernel_call_syntax"
    called = source.text(node.child_by_field_name("function"))
    return called in _LAUNCH_CALLS or _SCRATCH.match(called) is not None or _CHECKS.match(called) is not None


def _words(node: Node) -> list[tuple[str, Node]]:
    return [((leaf.text or b"").decode("utf-8", "surrogateescape"), leaf) for leaf in leaves(node)]


def _inside(node: Node, zones: list[Range]) -> bool:
    return any(start <= node.start_byte and node.end_byte <= end for start, end in zones)


def _zones(source: Source, item: Item, declares: Declaration, known: set[str]) -> list[Range]:
    zones = list(_configurations(source, item.node)) if declares.geometry or declares.kernels else []
    zones += _private_variables(source, item.node, zones)
    if declares.kernels:
        zones += _scratch_and_launches(source, item.node, known)
    return zones


def _configurations(source: Source, function: Node) -> Iterator[Range]:
    for node in walk(function):
        if node.type == "kernel_call_syntax":
            yield node.start_byte, node.end_byte
        elif node.type == "call_expression" and source.text(node.child_by_field_name("function")) in _LAUNCH_CALLS:
            arguments = node.child_by_field_name("arguments")
            for argument in arguments.named_children[_CONFIGURATION_ARGUMENTS] if arguments else ():
                yield argument.start_byte, argument.end_byte


def _private_variables(source: Source, function: Node, zones: list[Range]) -> list[Range]:
    """Declarations and assignments of variables that are used in launch configurations only."""
    uses: dict[str, list[Node]] = {}
    for leaf in leaves(function):
        if leaf.type == "identifier":
            uses.setdefault(source.text(leaf), []).append(leaf)
    found: list[Range] = []
    for _ in range(4):  # variables that serve variables that serve a launch
        grown = list(found)
        for statement in walk(function):
            names = _defined(source, statement)
            if not names or (span := (statement.start_byte, statement.end_byte)) in grown:
                continue
            others = [[n for n in uses.get(name, ()) if not _inside(n, [span])] for name in names]
            private = all(_inside(n, zones + found) for used in others for n in used)
            if private and any(others) and not _calls(statement):
                grown.append(span)
        if grown == found:
            break
        found = grown
    return found


def _defined(source: Source, statement: Node) -> list[str]:
    """The variables that a plain declaration defines; none where it defines something else, too."""
    if statement.type != "declaration":
        return []
    kinds = ("init_declarator", "identifier", "function_declarator")
    declared = [child for child in statement.children_by_field_name("declarator") if child.type in kinds]
    names = [child.child_by_field_name("declarator") or child for child in declared]
    plain = len(declared) == len(statement.children_by_field_name("declarator"))
    return [source.text(name) for name in names] if plain and all(n.type == "identifier" for n in names) else []


def _calls(statement: Node) -> bool:
    """Does it call anything but a constructor of dim3 or a minimum, maximum or ceiling?"""
    for node in walk(statement):
        if node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is None or (called.text or b"").decode("utf-8", "surrogateescape") not in _HARMLESS:
                return True
        elif node.type in ("lambda_expression", "assignment_expression", "update_expression"):
            return True
    return False


def _scratch_and_launches(source: Source, function: Node, known: set[str]) -> list[Range]:
    found = []
    for statement in walk(function):
        if statement.type not in _STATEMENTS:
            continue
        called = [
            source.text(node.child_by_field_name("function"))
            for node in walk(statement)
            if node.type == "call_expression"
        ]
        launches = any(node.type == "kernel_call_syntax" for node in walk(statement)) or any(
            name in _LAUNCH_CALLS for name in called
        )
        scratch = any(_SCRATCH.match(name) for name in called) and _touches_only_new(source, statement, known)
        checked = bool(called) and all(_CHECKS.match(name) or name.isupper() for name in called)
        pointer = statement.type == "declaration" and not called and _declares_new_pointer(source, statement, known)
        if launches or scratch or checked or pointer:
            found.append((statement.start_byte, statement.end_byte))
    return found


def _touches_only_new(source: Source, statement: Node, known: set[str]) -> bool:
    """The first argument of the scratch call names nothing that the function knew before."""
    for node in walk(statement):
        if node.type == "call_expression" and _SCRATCH.match(source.text(node.child_by_field_name("function"))):
            arguments = node.child_by_field_name("arguments")
            first = arguments.named_children[0] if arguments and arguments.named_children else None
            names = [source.text(leaf) for leaf in leaves(first) if leaf.type == "identifier"] if first else []
            return bool(names) and not Counter(names).keys() & known
    return False


def _declares_new_pointer(source: Source, statement: Node, known: set[str]) -> bool:
    pointers = [node for node in walk(statement) if node.type == "pointer_declarator"]
    names = [source.text(leaf) for pointer in pointers for leaf in leaves(pointer) if leaf.type == "identifier"]
    values = [source.text(n.child_by_field_name("value")) for n in walk(statement) if n.type == "init_declarator"]
    return bool(names) and not set(names) & known and all(v in ("nullptr", "NULL", "0") for v in values)
