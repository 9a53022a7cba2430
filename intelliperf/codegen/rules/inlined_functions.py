"""A device function in the place of its call: as a tree for what is proven of it, and as text.

`void note(int* a, int v) { if (v < 0) return; atomicAdd(a, 1); atomicMax(a + 1, v); }` becomes a block of statements in
the kernel's own words, in which an early return is an `if` around the rest.
"""

from __future__ import annotations

import copy
import dataclasses
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import statement_end
from intelliperf.codegen.rules.lanes import written
from intelliperf.codegen.rules.lds_arrays import is_shared
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, body
from intelliperf.codegen.rules.statements import callee, callee_name, value_used
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.rules.wave import OPERATIONS
from intelliperf.codegen.rules.wrappers import EFFECTS, Atomic, calling, copied, is_kernel, substituted
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence

_DEEPER = "\x01"  # marks the lines after it as those of an inner block
_SIMPLE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")


@dataclass(frozen=True)
class Inlined:
    """A function that a kernel calls once. `atomics` of it, each with its own call in the function's text."""

    place: Place  # of the call
    call: Node
    function: Node
    given: Mapping[str, Node]  # arguments by their parameters' ids
    kernel: Node  # a copy that holds the function's statements instead of the call
    statements: Node  # in that copy
    atomics: tuple[tuple[Atomic, Node], ...]
    inside: Source
    outside: Source

    def atomics_in_place(self) -> list[tuple[Node, Node]]:
        """Each atomic's call in `kernel`, with its own call in the function's text."""
        return [(atomic.call, own) for atomic, own in self.atomics]

    def write(self, problem: Problem, changes: list[tuple[int, int, str]]) -> None:
        """The statements for the call, with `changes` of the function's text."""
        changes = [*_guard_changes(self.place, self.inside, self.function), *changes]
        declared = self._names(problem, changes)
        statements = _edited(self.inside, body(self.function), changes).rstrip()
        closing = len(_guards(self.function))
        indent = self.outside.indentation(self.call.start_offset)
        end = statement_end(self.outside, self.call)
        if "\n" not in statements:
            line = " ".join((*declared, statements.strip().replace(_DEEPER, ""), *["}"] * closing))
            self.outside.replace(self.call.start_offset, end, f"{{ {line} }}")
            return
        lines = [*declared, *textwrap.dedent(statements.strip("\n")).split("\n")]
        inner, depth = "", 1
        for each in lines:
            inner += f"{indent}{'  ' * depth}{each.replace(_DEEPER, '')}\n" if each.strip() else "\n"
            depth += each.count(_DEEPER)
        inner += "".join(f"{indent}{'  ' * (depth - number)}}}\n" for number in range(1, closing + 1))
        self.outside.replace(self.call.start_offset, end, f"{{\n{inner}{indent}}}")

    def _names(self, problem: Problem, changes: list[tuple[int, int, str]]) -> list[str]:
        """Declarations of parameters that cannot be named by their arguments; adds what the others are named by."""
        inside = {node.name for node in self.function.everything() if node.kind == "VarDecl"}
        dropped = [(start, end) for start, end, _ in changes]
        changed = {written(node) for node in self.function.everything()}
        declared = []
        for parameter in (child for child in self.function.children if child.kind == "ParmVarDecl"):
            uses = [
                node
                for node in body(self.function).everything()
                if node.reference is not None and node.reference.id == parameter.id
                and not any(start <= node.start_offset < end for start, end in dropped)
            ]  # fmt: skip
            argument = self.given[parameter.id]
            text = self.outside.slice(argument.start_offset, argument.end_offset)
            alike = _plain(argument.canonical) == _plain(parameter.canonical.removesuffix(" &"))
            apart = parameter.id not in changed and not set(re.findall(r"\w+", text)) & inside
            if any(node.in_macro for node in uses):
                raise NotApplicable(f"{self.place}: {self.function.name} names {parameter.name} in a macro")
            if not uses and any(node.kind in EFFECTS for node in argument.walk()):
                raise NotApplicable(f"{self.place}: {self.function.name} gets what a call returns")
            if not uses:
                continue
            if not (_SIMPLE.fullmatch(text) and alike and apart):
                if parameter.canonical.endswith(("&", "]")):
                    raise NotApplicable(f"{self.place}: {self.function.name} gets {parameter.name} by reference")
                name = unused_name(problem, parameter.name)
                declared.append(f"{parameter.canonical} {name}".replace("* ", "*") + f" = {text};")
                text = name
            changes += [
                (node.start_offset, node.end_offset, text) for node in {n.start_offset: n for n in uses}.values()
            ]
        return declared


def inlined(problem: Problem, evidence: SourceEvidence) -> Inlined | None:
    """The device function around a blamed atomic, in its call's place; None where a kernel's own atomic is blamed.

    Raises `NotApplicable`.
    """
    inner = problem.place(evidence)
    function = inner.functions[0]
    if is_kernel(function):
        return None
    if len(inner.functions) != 1 or function.kind != "FunctionDecl":
        raise NotApplicable(f"{inner}: the atomic is in a method, or in several instantiations of a function")
    place = calling(problem, inner, function)
    if len(place.functions) != 1:
        raise NotApplicable(f"{place}: the kernel has several instantiations")
    (kernel,) = place.functions
    calls = [node for node in kernel.everything() if node.kind == "CallExpr" and _calls(node, function)]
    if len({node.start_offset for node in calls}) != 1 or len(calls) != 1:
        raise NotApplicable(f"{place}: the kernel calls {function.name} {len(calls)} times")
    (call,) = calls
    _check(place, function, kernel, call)
    parameters = [child for child in function.children if child.kind == "ParmVarDecl"]
    given = dict(zip((one.id for one in parameters), call.children[1:], strict=True))
    whole = copied(kernel, kernel.parent, {id(call): (_statements(function), given)})
    made = next(node for node in whole.everything() if node.kind == "CompoundStmt" and node.begin is call.begin)
    inside, outside = problem.source(inner.path), problem.source(place.path)
    own = [node for node in body(function).everything() if _is_atomic(node)]
    new = [node for node in made.everything() if _is_atomic(node)]
    here = dataclasses.replace(place, functions=(whole,))
    found = []
    for atomic, copied_ in zip(own, new, strict=True):
        if len(atomic.children) == 3:
            address, operand = (substituted(inside, outside, part, given) for part in atomic.children[1:])
            found.append((Atomic(here, copied_, address, operand), atomic))
    return Inlined(place, call, function, given, whole, made, tuple(found), inside, outside)


def _calls(node: Node, function: Node) -> bool:
    target = callee(node)
    alike = target is None or target.reference is None or target.reference.type == function.type
    return callee_name(node) == function.name and alike  # a name may have several overloads


def _is_atomic(node: Node) -> bool:
    return node.kind == "CallExpr" and callee_name(node) in OPERATIONS


def _check(place: Place, function: Node, kernel: Node, call: Node) -> None:
    """Raise `NotApplicable` where the function's text would mean something else in the kernel."""
    name = function.name
    if call.in_macro or body(function).in_macro or value_used(call) or call.parent is None:
        raise NotApplicable(f"{place}: the call of {name} is not a statement")
    if sum(child.kind == "ParmVarDecl" for child in function.children) != len(call.children) - 1 or any(
        argument.kind == "CXXDefaultArgExpr" for argument in call.children[1:]
    ):
        raise NotApplicable(f"{place}: {name} is called with arguments of its own default")
    if any(parent.kind in ("FunctionTemplateDecl", "NamespaceDecl") for parent in function.ancestors()):
        raise NotApplicable(f"{place}: {name} is a template, or in a namespace")
    guards = {id(jump) for guard in _guards(function) for jump in exits(guard)}
    if any(jump.kind in ("ReturnStmt", "GotoStmt") and id(jump) not in guards for jump in exits(body(function))):
        raise NotApplicable(f"{place}: {name} returns otherwise than by a plain guard of what follows")
    own = {node.id for node in function.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
    theirs = {node.name for node in kernel.everything() if node.kind in ("VarDecl", "ParmVarDecl")}
    for node in body(function).everything():
        if node.kind == "VarDecl" and (is_shared(node) or node.storage == "static"):
            raise NotApplicable(f"{place}: {name} has variables that outlive a call")
        if node.kind in ("LambdaExpr", "CXXThisExpr", "LabelStmt"):
            raise NotApplicable(f"{place}: {name} holds a {node.kind}, which is not followed")
        outer = node.reference is not None and node.reference.id not in own
        if outer and node.reference is not None and node.reference.name in theirs:
            raise NotApplicable(f"{place}: {node.reference.name} means one thing in {name} and another in the kernel")


def _guards(function: Node) -> list[Node]:
    """`if (…) return;` among the function's own statements."""
    found = []
    for statement in body(function).children:
        if statement.kind == "IfStmt" and len(statement.children) == 2 and not {"hasInit", "hasVar"} & statement.flags:
            branch = statement.children[1]
            inner = branch.children if branch.kind == "CompoundStmt" else [branch]
            if len(inner) == 1 and inner[0].kind == "ReturnStmt":
                found.append(statement)
    return found


def _statements(function: Node) -> Node:
    """The function's body with guards around the rest instead of returns."""
    whole = body(function)
    guards = {id(guard) for guard in _guards(function)}

    def nested(statements: Sequence[Node]) -> Node:
        block = copy.copy(whole)
        block.children = []
        for number, statement in enumerate(statements):
            if id(statement) in guards:
                around = copy.copy(statement)
                around.children = [statement.children[0], nested(statements[number + 1 :])]
                block.children.append(around)
                break
            block.children.append(statement)
        return block

    return nested(whole.children)


def _guard_changes(place: Place, source: Source, function: Node) -> list[tuple[int, int, str]]:
    found = []
    for guard in _guards(function):
        test = guard.children[0]
        if guard.in_macro or test.in_macro:
            raise NotApplicable(f"{place}: the condition on line {guard.line} is written by a macro")
        negated = test.bare().kind == "UnaryOperator" and test.bare().opcode == "!"
        kept = test.bare().children[0] if negated else test
        opened, closed = ("if (", ")") if negated else ("if (!(", "))")
        found += [
            (guard.start_offset, kept.start_offset, opened),
            (kept.end_offset, statement_end(source, guard), f"{closed} {{{_DEEPER}"),
        ]
    return found


def _edited(source: Source, whole: Node, changes: Sequence[tuple[int, int, str]]) -> str:
    """The text between the braces of `whole`."""
    text, at = "", whole.start_offset + 1
    for start, end, new in sorted(changes):
        text += source.slice(at, start) + new
        at = end
    return text + source.slice(at, whole.end_offset - 1)


def _plain(canonical: str) -> str:
    return canonical.replace("const ", "").removesuffix("const").removesuffix("__restrict").strip()
