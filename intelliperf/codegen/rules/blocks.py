"""How large the blocks are that a kernel is launched with, at every launch that the sources hold.

By tree-sitter, over all sources that are compiled for the device: nothing else can name a kernel. A use of its name
that is not a launch (an address taken, a macro's argument) or a size that is not a constant ends the proof.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from intelliperf.codegen.rules.local_names import declared_names, is_local, may_be_set
from intelliperf.codegen.rules.problem import NotApplicable
from intelliperf.codegen.syntax.outline import encoded

_BY_CALL = ("hipLaunchKernelGGL", "hipExtLaunchKernelGGL")
_CONFIGURATION = 5  # arguments of these before the kernel's own: kernel, grid, block, dynamic LDS, stream
_OPTIONAL = "optional_parameter_declaration"
_PARAMETERS = ("parameter_declaration", _OPTIONAL)
_ADDRESS = ("cast_expression", "pointer_expression")
_SETTING_UP = r"(?:::)?(?:cuda|hip)Func(?:SetCacheConfig|SetSharedMemConfig|SetAttribute)"
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    **{"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b},
    "<<": lambda a, b: a << min(b, 32),
}
_WHOLE_NUMBERS = ("int", "unsigned", "unsigned int", "size_t", "long", "unsigned long")
DIM3 = re.compile(r"(?:\w+::)*dim3")


def launched_threads(sources: Mapping[str, str], kernel: str) -> tuple[int, ...]:
    """Threads per block at each launch of any kernel with that name, in order. Raises `NotApplicable`."""
    program = Program(sources)
    return tuple(program.threads(launch) for launch in program.launches(kernel))


@dataclass(frozen=True)
class Launch:
    """One launch; offsets of its nodes are bytes of the source's encoded text."""

    path: str
    grid: Node
    block: Node
    arguments: tuple[Node, ...]
    function: Node | None  # around it

    def __str__(self) -> str:
        return f"{self.path}:{self.block.start_point[0] + 1}"


class _Here(NamedTuple):
    """A definition: of which name, seen from which function, written where."""

    name: str
    function: int
    start: int


class Program:
    """All sources, parsed."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        parser = Parser(Language(tree_sitter_cuda.language()))
        self._roots = {path: parser.parse(encoded(text)).root_node for path, text in sources.items()}

    def launches(self, kernel: str) -> tuple[Launch, ...]:
        """Every launch of a kernel of that name. Raises `NotApplicable` where it is used otherwise, or not at all."""
        found = tuple(self._launches(kernel))
        if not found:
            raise NotApplicable(f"no launch of {kernel} is in the sources that are compiled for the device")
        return found

    def _launches(self, kernel: str) -> Iterator[Launch]:
        for path, root in self._roots.items():
            for node in walk(root):
                if node.type == "preproc_arg" and re.search(rf"\b{re.escape(kernel)}\b", text_of(node)):
                    raise NotApplicable(f"{path}:{node.start_point[0] + 1}: a macro names {kernel}")
                if node.type != "identifier" or text_of(node) != kernel or _declares(node) or _is_called(node):
                    continue
                if (
                    is_local(node)
                    or _is_set_up(node)
                    or any(_is_parameter(function, kernel) for function in _functions_around(node))
                ):
                    continue
                yield _launch(path, kernel, node)

    def threads(self, launch: Launch) -> int:
        """Raises `NotApplicable` where the block size is not a constant."""
        return math.prod(self._extents(launch, launch.block, frozenset()))

    def extents(self, launch: Launch) -> tuple[int, ...]:
        """Threads of a block in each dimension that is given. Raises `NotApplicable` where one is not a constant."""
        return self._extents(launch, launch.block, frozenset())

    def grid(self, launch: Launch) -> tuple[int, ...]:
        """Blocks in each dimension that is given. Raises `NotApplicable` where one is not a constant."""
        try:
            return self._extents(launch, launch.grid, frozenset())
        except NotApplicable:
            raise NotApplicable(f"{launch}: the grid ({text_of(launch.grid)}) is not a constant") from None

    def _extents(self, launch: Launch, node: Node, through: frozenset[_Here]) -> tuple[int, ...]:
        """`through`: the definitions that have led to `node`."""
        if node.type == "parenthesized_expression":
            return self._extents(launch, node.named_children[0], through)
        if node.type == "call_expression" and text_of(field_of(node, "function")) == "dim3":
            return self._each(launch, field_of(node, "arguments"), through)
        if node.type in ("argument_list", "initializer_list", "parameter_list"):
            return self._each(launch, node, through)
        if node.type == "cast_expression" and text_of(field_of(node, "type")) in _WHOLE_NUMBERS:
            return self._extents(launch, field_of(node, "value"), through)
        if node.type == "parameter_declaration":  # as `dim3 block(WIDTH, HEIGHT);` is read, which could be a function
            return self._extents(launch, field_of(node, "type"), through)
        if node.type == "number_literal" and (literal := re.fullmatch(r"(\d+)[uUlL]*", text_of(node))):
            return (int(literal[1]),)
        if node.type == "binary_expression":
            operation = _ARITHMETIC.get(text_of(field_of(node, "operator")))
            parts = [self._extents(launch, field_of(node, side), through) for side in ("left", "right")]
            if operation is not None and all(len(part) == 1 for part in parts) and parts[1] != (0,):
                return (operation(parts[0][0], parts[1][0]),)
        if node.type in ("identifier", "qualified_identifier", "type_identifier"):
            name = text_of(node).rpartition("::")[2]
            # What a function passes on to itself is what others have passed to it.
            found = {
                self._extents(scope, value, through | {here})
                for scope, value in self._definitions(launch, name)
                if (here := _Here(name, scope.function.id if scope.function else 0, value.start_byte)) not in through
            }
            if not found:
                raise NotApplicable(f"{launch}: the block size ({name}) is defined in a circle")
            if len(found) > 1:
                raise NotApplicable(f"{launch}: the block size ({name}) is not the same for all callers")
            return found.pop()
        raise NotApplicable(f"{launch}: the block size ({text_of(node)}) is not a constant")

    def _each(self, launch: Launch, arguments: Node, through: frozenset[_Here]) -> tuple[int, ...]:
        parts = [self._extents(launch, part, through) for part in arguments.named_children]
        if not parts or any(len(part) != 1 for part in parts):
            raise NotApplicable(f"{launch}: the block size ({text_of(arguments)}) is not a constant")
        return tuple(part[0] for part in parts)

    def _definitions(self, launch: Launch, name: str) -> list[tuple[Launch, Node]]:
        """The value of the one variable or macro of that name that the launch can mean and nobody changes.

        Of a parameter those that all callers pass. Each comes with the launch as seen from where it is written.
        """
        if launch.function is not None:
            inside = [value for value, _ in definitions(launch.function, name)]
            handed_on = may_be_set(self._roots.values(), launch.function, name)
            changed = handed_on or is_changed(launch.function, name)
            if len(inside) == 1 and not changed:
                return [(launch, inside[0])]
            if not inside and not handed_on and (value := _assigned_once(launch.function, name)) is not None:
                return [(launch, value)]
            passed = _is_parameter(launch.function, name)
            if passed and not inside and not changed:
                return self._passed(launch, launch.function, name)
            if launch.function.type == "lambda_expression" and not (inside or passed or changed):
                return self._definitions(replace(launch, function=_function_around(launch.function)), name)
            if inside or passed:
                raise NotApplicable(f"{launch}: the block size ({name}) is not a constant")
        outside = [
            value
            for root in self._roots.values()
            for value, constant in definitions(root, name)
            if constant and _function_around(value) is None
        ]
        if len(outside) != 1:
            raise NotApplicable(f"{launch}: the block size ({name}) is not one constant of the sources")
        return [(dataclasses.replace(launch, function=None), outside[0])]

    def _passed(self, launch: Launch, function: Node, name: str) -> list[tuple[Launch, Node]]:
        """What is passed for a parameter wherever the sources name the function, which its own file alone declares."""
        declarator = function.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        called = text_of(field_of(declarator, "declarator")) if declarator is not None else ""
        declined = NotApplicable(f"{launch}: the block size ({name}) is a parameter whose callers are not all known")
        if declarator is None or not re.fullmatch(r"\w+", called):
            raise declined
        parameters = [one for one in field_of(declarator, "parameters").named_children if one.type != "comment"]
        at = next((n for n, one in enumerate(parameters) if name in map(text_of, _names(one))), None)
        if at is None or any(one.type not in _PARAMETERS for one in parameters):
            raise declined
        found: list[tuple[Launch, Node]] = []
        homes: set[str] = set()  # files that declare the function: a second one makes it known to host code, too
        for path, root in self._roots.items():
            for node in walk(root):
                if node.type == "preproc_arg" and re.search(rf"\b{called}\b", text_of(node)):
                    raise declined
                if node.type not in ("identifier", "field_identifier") or text_of(node) != called:
                    continue
                if _declares(node):
                    homes.add(path)
                    continue
                call = _whole(node).parent
                arguments = call.child_by_field_name("arguments") if call is not None and _is_called(node) else None
                given = arguments.named_children if arguments is not None else []
                left_out = parameters[len(given) :]
                if arguments is None or len(given) > len(parameters) or any(map(_has_no_default, left_out)):
                    raise declined
                if at < len(given):
                    found.append((dataclasses.replace(launch, function=_function_around(node)), given[at]))
                else:
                    found.append(
                        (dataclasses.replace(launch, function=None), field_of(parameters[at], "default_value"))
                    )
        if not found or len(homes) != 1 or function.parent is None or function.parent.type != "translation_unit":
            raise declined
        return found


def definitions(root: Node, name: str) -> Iterator[tuple[Node, bool]]:
    """Values, and whether they are constants by their own declaration."""
    for node in walk(root):
        if node.type == "init_declarator" and text_of(field_of(node, "declarator")) == name:
            qualifiers = [child for child in (node.parent or node).children if child.type == "type_qualifier"]
            yield field_of(node, "value"), any(text_of(word) in ("const", "constexpr") for word in qualifiers)
        elif node.type == "function_declarator" and text_of(field_of(node, "declarator")) == name:
            if _is_dim3_of_names(node):
                yield field_of(node, "parameters"), False
        elif node.type == "field_declaration" and node.child_by_field_name("default_value") is not None:
            if text_of(field_of(node, "declarator")) == name:
                qualifiers = [child for child in node.children if child.type == "type_qualifier"]
                constant = any(text_of(word) in ("const", "constexpr") for word in qualifiers)
                yield field_of(node, "default_value"), constant
        elif node.type == "enumerator" and text_of(field_of(node, "name")) == name:
            if node.child_by_field_name("value") is not None:
                yield field_of(node, "value"), True
        elif node.type == "preproc_def" and text_of(field_of(node, "name")) == name:
            yield _macro_value(node), True


def _is_dim3_of_names(declarator: Node) -> bool:
    """`dim3 block(WIDTH, HEIGHT);` inside a function, which the parser takes for a function's declaration."""
    declaration = declarator.parent
    if declaration is None or declaration.type != "declaration" or _function_around(declaration) is None:
        return False
    parameters = field_of(declarator, "parameters").named_children
    plain = all(one.type == "parameter_declaration" and len(one.children) == 1 for one in parameters)
    return DIM3.fullmatch(text_of(field_of(declaration, "type"))) is not None and bool(parameters) and plain


def _names(parameter: Node) -> Iterator[Node]:
    """Of a parameter, without what its type or default value names."""
    declarator = parameter.child_by_field_name("declarator")
    yield from declared_names(declarator) if declarator is not None else ()


def _macro_value(definition: Node) -> Node:
    """The body of a macro as an expression of its own."""
    text = text_of(field_of(definition, "value")) if definition.child_by_field_name("value") else ""
    tree = Parser(Language(tree_sitter_cuda.language())).parse(encoded(f"int value = {text.strip()};"))
    values = [field_of(node, "value") for node in walk(tree.root_node) if node.type == "init_declarator"]
    return values[0] if len(values) == 1 else definition


def is_changed(function: Node, name: str) -> bool:
    """Assigned, counted, or with its address taken."""
    return any(True for _ in _changes(function, name))


def _changes(function: Node, name: str) -> Iterator[Node]:
    for node in walk(function):
        target = None
        if node.type == "assignment_expression":
            target = field_of(node, "left")
        elif node.type in ("update_expression", "pointer_expression"):
            target = field_of(node, "argument")
        if target is not None and re.match(rf"{re.escape(name)}\b", text_of(target)):
            yield node


def _assigned_once(function: Node, name: str) -> Node | None:
    """The value of a variable that is declared without one and assigned in one place: it has no other."""
    declared = any(
        node.type == "declaration" and any(text_of(part) == name for part in node.children_by_field_name("declarator"))
        for node in walk(function)
    )
    changes = list(_changes(function, name)) if declared else []
    if len(changes) != 1 or changes[0].type != "assignment_expression":
        return None
    (change,) = changes
    plain = text_of(field_of(change, "left")) == name and text_of(field_of(change, "operator")) == "="
    return field_of(change, "right") if plain else None


def _is_parameter(function: Node, name: str) -> bool:
    return any(
        node.type in _PARAMETERS
        and _function_around(node) == function  # and not of a lambda in it
        and not _is_declared_within(node)
        and any(leaf.type == "identifier" and text_of(leaf) == name for leaf in _without_default(node))
        for node in walk(function)
    )


def _without_default(parameter: Node) -> Iterator[Node]:
    if parameter.type != _OPTIONAL:
        yield from walk(parameter)
    elif (declarator := parameter.child_by_field_name("declarator")) is not None:
        yield from walk(declarator)


def _has_no_default(parameter: Node) -> bool:
    return parameter.type != _OPTIONAL


def _is_declared_within(parameter: Node) -> bool:
    """Of a function that a body declares, as `vector<float> a(N * N);` is read: it gives nothing a name."""
    node = parameter.parent
    while node is not None and node.type not in ("declaration", "lambda_expression", "function_definition"):
        node = node.parent
    return node is not None and node.type == "declaration" and _function_around(node) is not None


def _whole(name: Node) -> Node:
    """With its qualification and template arguments."""
    node = name
    while node.parent is not None and node.parent.type in ("template_function", "qualified_identifier"):
        node = node.parent
    return node


def _wrapped(node: Node) -> Node:
    """With what HIP writes around the name of an instance, lest its comma part a macro's arguments."""
    while node.parent is not None:
        listed = node.parent if node.parent.type == "argument_list" else None
        call = listed.parent if listed is not None and len(listed.named_children) == 1 else None
        named = call.child_by_field_name("function") if call is not None else None
        if node.parent.type == "parenthesized_expression":
            node = node.parent
        elif call is not None and named is not None and text_of(named) == "HIP_KERNEL_NAME":
            node = call
        else:
            break
    return node


def _is_set_up(name: Node) -> bool:
    """Is it handed to a function of the API that sets what all its launches prefer?"""
    node = _whole(name)
    while node.parent is not None and node.parent.type in ("parenthesized_expression", *_ADDRESS):
        node = node.parent
    listed = node.parent if node.parent is not None and node.parent.type == "argument_list" else None
    call = listed.parent if listed is not None else None
    called = text_of(field_of(call, "function")) if call is not None and call.type == "call_expression" else ""
    if called.startswith("reinterpret_cast<") and call is not None:
        return _is_set_up(call)
    return re.fullmatch(_SETTING_UP, called) is not None


def _is_called(name: Node) -> bool:
    """As a function is: no kernel can be, so that it is an overload of that name."""
    node = _whole(name)
    call = node.parent
    return (
        call is not None
        and call.type == "call_expression"
        and call.child_by_field_name("function") == node
        and not any(child.type == "kernel_call_syntax" for child in call.children)
    )


def _launch(path: str, kernel: str, name: Node) -> Launch:
    place = f"{path}:{name.start_point[0] + 1}"
    node = _whole(name)
    call = node.parent
    if call is not None and call.type == "call_expression" and call.child_by_field_name("function") == node:
        for child in call.children:
            if child.type == "kernel_call_syntax" and len(child.named_children) > 1:
                grid, block, *_ = child.named_children
                arguments = tuple(field_of(call, "arguments").named_children)
                return Launch(path, grid, block, arguments, _function_around(name))
    node = _wrapped(node)
    call = node.parent
    if call is not None and call.type == "argument_list" and call.named_children[0] == node:
        outer = call.parent
        launches = outer is not None and text_of(field_of(outer, "function")) in _BY_CALL
        if launches and len(call.named_children) >= _CONFIGURATION:
            _, grid, block, _, _, *passed = call.named_children
            return Launch(path, grid, block, tuple(passed), _function_around(name))
    raise NotApplicable(f"{place}: {kernel} is used otherwise than in a launch")


def _declares(name: Node) -> bool:
    """Is this the name in a function's own declarator?"""
    node: Node | None = name
    while node is not None and node.parent is not None:
        if node.parent.type == "function_declarator":
            return node.parent.child_by_field_name("declarator") == node
        if node.parent.type not in ("qualified_identifier", "template_function"):
            return False
        node = node.parent
    return False


def _function_around(node: Node) -> Node | None:
    current = node.parent
    while current is not None and current.type not in ("function_definition", "lambda_expression"):
        current = current.parent
    return current


def _functions_around(node: Node) -> Iterator[Node]:
    function = _function_around(node)
    while function is not None:
        yield function
        function = _function_around(function)


def field_of(node: Node, name: str) -> Node:
    found = node.child_by_field_name(name)
    if found is None:
        raise NotApplicable(f"line {node.start_point[0] + 1} cannot be read")
    return found


def walk(node: Node) -> Iterator[Node]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")
