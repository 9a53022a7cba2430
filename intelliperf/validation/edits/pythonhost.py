"""All of a Python file but the bodies of kernels: it runs, so it has to stay as it is.

With `geometry` declared, launches may have other grids, block sizes, warps and stages: integers and plain arithmetic
of what is read there already, and only where they flow into launches and nowhere else. Comments, blank lines and
layout are free, but for those that Python or the system reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from intelliperf.project.pythonsource import JitFunction, Module, Program
from intelliperf.validation.edits import pythonwords as words

_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF8 = ("utf-8", "utf8", "utf-8-sig")
_CONFIG = ("triton.Config", "triton.runtime.autotuner.Config", "triton.runtime.Config")
_OUTSIDE = (
    "changes code outside kernels; there only the grids and integer constants of launches may differ "
    "(--allow-geometry), as literals or plain arithmetic of what is read there already"
)
_PURE_CALLS = frozenset(
    {"numel", "size", "stride", "dim", "cdiv", "min", "max", "int", "len", "next_power_of_2", "num_elements"}
)


@dataclass
class HostChange:
    """`refusal` with its line; `geometry` where launches alone differ, and at which line first."""

    refusal: str = ""
    geometry_line: int | None = None


def read_comments(old: str, new: str) -> str:
    """Comments that are not comments: Python's own encoding of the file, and the system's interpreter. "" if equal."""
    before, after = (text.partition("\n")[0].rstrip("\r") for text in (old, new))
    if before != after and (before.startswith("#!") or after.startswith("#!")):
        return "line 1: the interpreter that the system starts is another"
    for number, line in enumerate(new.split("\n")[:2], 1):
        named = _CODING.match(line)
        if named is not None and named[1].lower().replace("_", "-") not in _UTF8:
            return f"line {number}: the file says that it is encoded as {named[1]}, so Python would read another text"
    return ""


def compare(
    old: Module,
    new: Module,
    pairs: Collection[tuple[JitFunction, JitFunction]],
    fresh: Collection[JitFunction],
    program: Program,
) -> HostChange:
    """`pairs`: functions whose bodies may differ. `fresh`: functions that the new text alone has, judged elsewhere."""
    free = {id(function.node) for pair in pairs for function in pair}
    left_out = {id(function.node) for function in fresh}
    walk = _Walk(old, new, free, left_out, _Geometry(old, program))
    walk.nodes(old.tree, new.tree)
    return walk.change


@dataclass
class _Walk:
    """Both trees side by side, down to the first difference that nothing allows."""

    old: Module
    new: Module
    free: Collection[int]
    left_out: Collection[int]
    geometry: _Geometry
    change: HostChange = field(default_factory=HostChange)

    def nodes(self, old: ast.AST, new: ast.AST) -> None:
        if self.change.refusal or self._same(old, new):
            return
        if type(old) is type(new) and self.geometry.allows(old, new):
            self.change.geometry_line = self.change.geometry_line or getattr(new, "lineno", 1)
            return
        if type(old) is not type(new):
            self._refuse(new if hasattr(new, "lineno") else old)
            return
        for name in old._fields:
            if name == "body" and id(old) in self.free and id(new) in self.free:
                continue
            self._values(old, new, getattr(old, name, None), getattr(new, name, None))

    def _values(self, old: ast.AST, new: ast.AST, before: object, after: object) -> None:
        if isinstance(before, ast.AST) and isinstance(after, ast.AST):
            self.nodes(before, after)
        elif isinstance(before, list) and isinstance(after, list):
            kept = [item for item in after if id(item) not in self.left_out]
            if len(before) != len(kept):
                self._refuse(_first_unlike(before, kept) or new)
                return
            for one, other in zip(before, kept, strict=True):
                self._values(old, new, one, other)
        elif type(before) is not type(after) or before != after:
            self._refuse(new if hasattr(new, "lineno") else old)

    def _same(self, old: ast.AST, new: ast.AST) -> bool:
        """Of what holds no kernels, which have bodies of their own."""
        return not (hasattr(old, "body") or hasattr(new, "body")) and ast.dump(old) == ast.dump(new)

    def _refuse(self, node: ast.AST) -> None:
        if self.change.refusal:
            return
        line = getattr(node, "lineno", 1)
        self.change.refusal = f"line {line}: {_described(node)} {_OUTSIDE}"


def _first_unlike(before: list[ast.AST], after: list[ast.AST]) -> ast.AST | None:
    for one, other in zip(before, after, strict=False):
        if isinstance(other, ast.AST) and ast.dump(one) != ast.dump(other):
            return other
    more = after[len(before) :] or before[len(after) :]
    return next((item for item in more if isinstance(item, ast.AST)), None)


def _described(node: ast.AST) -> str:
    named = {
        ast.Import: "an import",
        ast.ImportFrom: "an import",
        ast.arguments: "a signature",
        ast.arg: "a parameter or its annotation",
        ast.FunctionDef: "the function {name}",
        ast.ClassDef: "the class {name}",
        ast.keyword: "the keyword {arg}",
    }.get(type(node), "`{text}`")
    text = ast.unparse(node).split("\n")[0][:60] if isinstance(node, (ast.expr, ast.stmt)) else type(node).__name__
    return named.format(name=getattr(node, "name", ""), arg=getattr(node, "arg", ""), text=text)


@dataclass
class _Geometry:
    """Which differences only launch the same kernels otherwise."""

    module: Module
    program: Program
    _scopes: dict[int, _Scope] = field(default_factory=dict)
    _parents: dict[int, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.module.tree):
            for child in ast.iter_child_nodes(node):
                self._parents[id(child)] = node

    def allows(self, old: ast.AST, new: ast.AST) -> bool:
        if isinstance(old, ast.List) and isinstance(new, ast.List):
            return self._configurations(old, new)
        if isinstance(old, ast.ListComp) and isinstance(new, ast.ListComp):
            return self._generated(old, new)
        if isinstance(old, ast.Call) and isinstance(new, ast.Call):
            return self._launch(old, new)
        if isinstance(old, ast.Assign) and isinstance(new, ast.Assign):
            return self._assigned(old, new)
        return False

    # ---- lists of configurations ------------------------------------------------------------------

    def _configurations(self, old: ast.List, new: ast.List) -> bool:
        if not old.elts or not new.elts or not all(self._is_config(item) for item in (*old.elts, *new.elts)):
            return False
        allowed = {shape for item in old.elts if (shape := _config_shape(item)) is not None}
        return all(_config_shape(item) in allowed for item in new.elts) and bool(allowed)

    def _is_config(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.module.dotted(node.func) in _CONFIG

    def _generated(self, old: ast.ListComp, new: ast.ListComp) -> bool:
        """`[triton.Config({"B": b}) for b in (64, 128)]`, or for rows of numbers: the numbers may be others."""
        if not self._is_config(old.elt) or len(old.generators) != len(new.generators):
            return False
        for one, other in zip(old.generators, new.generators, strict=True):
            width = _integers_in_each(one.iter)
            if width is not None and width == _integers_in_each(other.iter):
                one, other = ast.comprehension(one.target, one.iter, one.ifs, 0), other
                if ast.dump(one.target) != ast.dump(other.target) or _dumps(one.ifs) != _dumps(other.ifs):
                    return False
            elif ast.dump(one) != ast.dump(other):
                return False
        return ast.dump(old.elt) == ast.dump(new.elt)

    # ---- launches ---------------------------------------------------------------------------------

    def _launched(self, call: ast.Call) -> tuple[JitFunction, ...]:
        if not isinstance(call.func, ast.Subscript):
            return ()
        named = call.func.value
        if isinstance(named, ast.Name):
            own = tuple(f for f in self.module.functions if f.name == named.id)
            if own:
                return own
        word = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
        return tuple(f for f in self.program.functions() if f.name == word)

    def _launch(self, old: ast.Call, new: ast.Call) -> bool:
        kernels = self._launched(old)
        if not kernels or not isinstance(new.func, ast.Subscript) or not isinstance(old.func, ast.Subscript):
            return False
        if ast.dump(old.func.value) != ast.dump(new.func.value) or not self._grid(old.func.slice, new.func.slice, old):
            return False
        constants = frozenset.intersection(*(kernel.constants for kernel in kernels))
        names = [item.arg for item in kernels[0].parameters]
        if len(old.args) != len(new.args) or len(old.args) > len(names):
            return False
        for name, one, other in zip(names, old.args, new.args, strict=False):
            if ast.dump(one) != ast.dump(other) and not (name in constants and self._sizes(one, other, old)):
                return False
        if not self._options(old, new):
            return False
        before, after = ([k for k in call.keywords if k.arg not in words.OPTIONS] for call in (old, new))
        return _keywords_agree(before, after, constants, lambda one, other: self._sizes(one, other, old))

    def _options(self, old: ast.Call, new: ast.Call) -> bool:
        """None is a size of the data, so that what a name gives may become any other number that is plain."""
        before, after = ({k.arg: k.value for k in call.keywords if k.arg in words.OPTIONS} for call in (old, new))
        differ = [
            value
            for name in before.keys() | after.keys()
            for one, other in [(before.get(name), after.get(name))]
            if one is None or other is None or ast.dump(one) != ast.dump(other)
            for value in (one, other)
        ]
        return all(value is None or self._plain(value, old) for value in differ)

    def _sizes(self, old: ast.expr, new: ast.expr, place: ast.AST) -> bool:
        """Literals or arithmetic: a name alone may stand for a choice, or for a size of the data."""
        named = isinstance(old, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple)) or isinstance(new, ast.Tuple)
        return not named and self._plain(old, place) and self._plain(new, place)

    def _grid(self, old: ast.expr, new: ast.expr, place: ast.AST) -> bool:
        if ast.dump(old) == ast.dump(new):
            return True
        if isinstance(old, ast.Lambda) and isinstance(new, ast.Lambda):
            return ast.dump(old.args) == ast.dump(new.args) and self._plain(new.body, place, _lambda_names(old))
        return self._plain(old, place) and self._plain(new, place)

    def _plain(self, node: ast.expr, place: ast.AST, names: Collection[str] = ()) -> bool:
        """Arithmetic of integers and of what the function that launches reads already."""
        known = self._known(place)
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Tuple):
            return all(self._plain(item, place, names) for item in node.elts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)):
            return self._plain(node.left, place, names) and self._plain(node.right, place, names)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
            return isinstance(node.slice, ast.Constant)
        if isinstance(node, ast.Call):
            return self._pure_call(node) and not node.keywords and all(self._plain(a, place, names) for a in node.args)
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and ast.dump(node) in known

    def _pure_call(self, node: ast.Call) -> bool:
        dotted = self.module.dotted(node.func)
        if dotted is not None:
            return dotted in words.HOST_FUNCTIONS
        named = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return named in _PURE_CALLS and named not in self.module.bindings

    def _known(self, place: ast.AST) -> frozenset[str]:
        return self._scope(place).expressions

    # ---- values that flow into launches -----------------------------------------------------------

    def _assigned(self, old: ast.Assign, new: ast.Assign) -> bool:
        if len(old.targets) != 1 or _dumps(old.targets) != _dumps(new.targets):
            return False
        (target,) = old.targets
        if not isinstance(target, ast.Tuple):
            return self._one_assigned(target, old.value, new.value, old)
        lists = target.elts, _elements(old.value), _elements(new.value)
        if not len(lists[0]) == len(lists[1]) == len(lists[2]):
            return False
        changed = [
            (name, one, other) for name, one, other in zip(*lists, strict=True) if ast.dump(one) != ast.dump(other)
        ]
        return all(self._one_assigned(name, one, other, old) for name, one, other in changed)

    def _one_assigned(self, target: ast.expr, old: ast.expr, new: ast.expr, place: ast.AST) -> bool:
        if not isinstance(target, ast.Name) or not self._only_for_launches(target.id, place):
            return False
        return _both_integers(old, new) or self._grid(old, new, place)

    def _only_for_launches(self, name: str, place: ast.AST) -> bool:
        """Is every use of the name in its scope inside a launch's grid or a constant of it?"""
        scope = self._scope(place)
        uses = [n for n in ast.walk(scope.node) if isinstance(n, ast.Name) and n.id == name]
        loads = [use for use in uses if isinstance(use.ctx, ast.Load)]
        exported = scope.node is self.module.tree and self._read_elsewhere(name)
        return bool(loads) and not exported and all(self._in_launch(use, 8) for use in loads)

    def _read_elsewhere(self, name: str) -> bool:
        others = (module for module in self.program.modules.values() if module.path != self.module.path)
        return any(re.search(rf"\b{re.escape(name)}\b", module.text) for module in others)

    def _in_launch(self, use: ast.AST, deepest: int) -> bool:
        """Inside the brackets of a launch, the value of one of its constants, or a grid that is only for launches."""
        child, node = use, self._parents.get(id(use))
        while node is not None and deepest:
            if isinstance(node, ast.Subscript) and child is node.slice:
                call = self._parents.get(id(node))
                return isinstance(call, ast.Call) and call.func is node and bool(self._launched(call))
            if isinstance(node, ast.keyword):
                call = self._parents.get(id(node))
                return isinstance(call, ast.Call) and self._is_constant(call, node.arg)
            if isinstance(node, ast.Call) and child in node.args and (kernels := self._launched(node)):
                names = [item.arg for item in kernels[0].parameters]
                at = next(n for n, item in enumerate(node.args) if item is child)
                return at < len(names) and self._is_constant(node, names[at])
            if isinstance(node, ast.Assign) and child is node.value and len(node.targets) == 1:
                target = node.targets[0]
                return isinstance(target, ast.Name) and self._grid_of_launches(target.id, node, deepest - 1)
            if isinstance(node, (ast.stmt, ast.FunctionDef)) and not isinstance(node, ast.Expr):
                return False
            child, node = node, self._parents.get(id(node))
        return False

    def _is_constant(self, call: ast.Call, name: str | None) -> bool:
        kernels = self._launched(call)
        return bool(kernels) and all(name in kernel.constants | words.OPTIONS for kernel in kernels)

    def _grid_of_launches(self, name: str, place: ast.AST, deepest: int) -> bool:
        scope = self._scope(place)
        loads = [
            n for n in ast.walk(scope.node) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        ]
        return bool(loads) and all(self._in_launch(use, deepest) for use in loads)

    def _scope(self, place: ast.AST) -> _Scope:
        node: ast.AST | None = place
        while node is not None and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
            node = self._parents.get(id(node))
        found = node or self.module.tree
        if id(found) not in self._scopes:
            self._scopes[id(found)] = _Scope(found, frozenset(_expressions(found)))
        return self._scopes[id(found)]


@dataclass(frozen=True, eq=False)
class _Scope:
    node: ast.AST
    expressions: frozenset[str]  # dumps of all that the scope reads


def _expressions(scope: ast.AST) -> Iterator[str]:
    for node in ast.walk(scope):
        read = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load)
        if read and not any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
            yield ast.dump(node)


def _config_shape(node: ast.expr) -> tuple[object, ...] | None:
    """A configuration without its integers; None where it holds what runs."""
    if not isinstance(node, ast.Call) or len(node.args) > 1:
        return None
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    table = node.args[0] if node.args else given.pop("kwargs", None)
    if not isinstance(table, ast.Dict) or None in given:
        return None
    if not all(isinstance(key, ast.Constant) for key in table.keys):
        return None
    names = sorted(str(key.value) for key in table.keys if isinstance(key, ast.Constant))
    values = [ast.dump(v) for v in table.values if not _is_integer(v)]
    rest = sorted((str(name), ast.dump(v)) for name, v in given.items() if name not in words.OPTIONS)
    if any(name in words.OPTIONS and not _is_integer(value) for name, value in given.items()):
        return None
    return tuple(names), tuple(values), tuple(rest)


def _keywords_agree(
    old: list[ast.keyword],
    new: list[ast.keyword],
    free: Collection[str],
    sizes: Callable[[ast.expr, ast.expr], bool],
) -> bool:
    before, after = ({item.arg: item.value for item in given} for given in (old, new))
    if len(before) != len(old) or len(after) != len(new):
        return False
    return before.keys() == after.keys() and all(
        ast.dump(one) == ast.dump(after[name]) or name in free and sizes(one, after[name])
        for name, one in before.items()
    )


def _both_integers(one: ast.expr, other: ast.expr) -> bool:
    return _is_integer(one) and _is_integer(other)


def _is_integer(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _integers_in_each(node: ast.expr) -> int | None:
    """Of a literal list of integers 0, of one of rows the length of each; None where anything else is in it."""
    items = _elements(node)
    whole = all(_is_integer(number) for item in items for number in _elements(item) or [item])
    widths = {len(_elements(item)) for item in items}
    return widths.pop() if whole and len(widths) == 1 else None


def _elements(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.List, ast.Tuple)) else []


def _dumps(nodes: Collection[ast.AST]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _lambda_names(node: ast.Lambda) -> frozenset[str]:
    return frozenset(item.arg for item in node.args.args)
