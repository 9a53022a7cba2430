"""Python sources that hold Triton kernels: what a name stands for, and which jit functions a kernel reaches.

Nothing is imported or run: names are followed through the syntax trees of the project's own files.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath

SUFFIX = ".py"
JIT = frozenset({"triton.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.Lambda)
_MOST_BYTES = 1 << 20  # a longer file is data
_UNKNOWN = "?"


class Unparsable(Exception):
    """A text that Python, or this Python, does not take; one line."""


@dataclass(frozen=True, eq=False)
class Module:
    """`bindings`: name → what the module's own level binds it to, as dotted names; `_UNKNOWN` if not an import."""

    path: str
    text: str
    tree: ast.Module
    bindings: Mapping[str, frozenset[str]]

    @cached_property
    def functions(self) -> tuple[JitFunction, ...]:
        """All jit functions of the file, also those in functions and classes."""
        return tuple(_jit_functions(self))

    def is_data(self, name: str) -> bool:
        """Does the module's level bind the name by assignments alone? A local variable may have the same name."""
        defined = (*_FUNCTIONS, ast.ClassDef)
        made = any(isinstance(node, defined) and node.name == name for node in _module_level(self.tree))
        return self.bindings.get(name) == frozenset({_UNKNOWN}) and not made and _stores(self.tree, name) > 0

    def dotted(self, node: ast.AST) -> str | None:
        """`tl.math.exp` → "triton.language.math.exp" where imports alone say so; None otherwise."""
        words: list[str] = []
        while isinstance(node, ast.Attribute):
            words.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        bound = self.bindings.get(node.id, frozenset())
        if len(bound) != 1 or _UNKNOWN in bound:
            return None
        (base,) = bound
        return ".".join([base, *reversed(words)])


@dataclass(frozen=True, eq=False)
class JitFunction:
    module: Module
    node: ast.FunctionDef
    qualified: str  # "make.kernel" for one defined inside `make`

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def first_line(self) -> int:
        """With its decorators."""
        return min([self.node.lineno, *(item.lineno for item in self.node.decorator_list)])

    @property
    def last_line(self) -> int:
        return self.node.end_lineno or self.node.lineno

    @cached_property
    def parameters(self) -> tuple[ast.arg, ...]:
        every = self.node.args
        rest = [item for item in (every.vararg, every.kwarg) if item is not None]
        return (*every.posonlyargs, *every.args, *every.kwonlyargs, *rest)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Parameters that are known when the kernel is compiled."""
        return frozenset(item.arg for item in self.parameters if _is_constexpr(item.annotation, self.module))

    @cached_property
    def locals(self) -> frozenset[str]:
        """Names that the function binds, its parameters included."""
        stored = {n.id for n in ast.walk(self.node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        return frozenset(stored | {item.arg for item in self.parameters})


@dataclass(frozen=True)
class Program:
    """The project's Python files, by project-relative path."""

    modules: Mapping[str, Module]
    _reached: dict[tuple[JitFunction, ...], tuple[JitFunction, ...]] = field(default_factory=dict)

    def functions(self) -> tuple[JitFunction, ...]:
        return tuple(function for path in sorted(self.modules) for function in self.modules[path].functions)

    def kernels(self, name: str, file: Path | None = None) -> tuple[JitFunction, ...]:
        """The functions that a launched kernel's name may stand for; of `file` alone where that has one.

        A launched kernel is a jit function, also where its decorator is one of the project's own making.
        """
        wanted = plain_name(name)
        named = tuple(function for function in self.functions() if function.name == wanted)
        if file is None:
            return named
        there = tuple(function for function in named if is_file(file, function.module.path))
        holders = [module for path, module in self.modules.items() if is_file(file, path)]
        return there or tuple(f for module in holders for f in _defined(module, wanted)) or named

    def reached(self, roots: Iterable[JitFunction]) -> tuple[JitFunction, ...]:
        """The roots and all jit functions that their bodies name, at any depth."""
        key = tuple(roots)
        if key not in self._reached:
            found = list(key)
            for function in found:  # grows while it is walked
                found += [other for other in self.named_by(function) if other not in found]
            self._reached[key] = tuple(found)
        return self._reached[key]

    def named_by(self, function: JitFunction) -> list[JitFunction]:
        found: list[JitFunction] = []
        for node in body_nodes(function.node):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                found += self.jit_named(function, node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in function.constants:
                found += self._given(node.func.id)
        return found

    def jit_named(self, function: JitFunction, node: ast.Name | ast.Attribute) -> list[JitFunction]:
        """The project's jit functions that a name in the body of `function` stands for."""
        module = function.module
        if isinstance(node, ast.Name):
            if node.id in function.locals:
                return []
            own = [other for other in module.functions if other.name == node.id]
            if own:
                return own
        dotted = module.dotted(node)
        if dotted is not None:
            return self._at(module, dotted)
        # A method of a jit class: any of that name.
        if isinstance(node, ast.Attribute):
            return [f for f in self.functions() if f.name == node.attr and "." in f.qualified]
        return []

    def _at(self, importer: Module, dotted: str) -> list[JitFunction]:
        """The jit function `name` of the project's module that "package.module.name" stands for."""
        holder, _, name = dotted.rpartition(".")
        path = self._file_of(importer, holder)
        if path is None:
            return []
        module = self.modules[path]
        own = [function for function in module.functions if function.qualified == name]
        if own:
            return own
        further = module.bindings.get(name, frozenset())  # imported there from elsewhere
        return [f for other in further if other not in (_UNKNOWN, dotted) for f in self._at(module, other)]

    def _file_of(self, importer: Module, dotted: str) -> str | None:
        """The project's file of a module. A leading "." stands for the importer's own directory, ".." for the next."""
        found = module_files(importer.path, dotted, self.modules)
        return found[0] if found else None

    def _given(self, parameter: str) -> list[JitFunction]:
        """Jit functions that some call hands over under this keyword."""
        found: list[JitFunction] = []
        for module in self.modules.values():
            names = [
                keyword.value
                for node in ast.walk(module.tree)
                if isinstance(node, ast.Call)
                for keyword in node.keywords
                if keyword.arg == parameter and isinstance(keyword.value, (ast.Name, ast.Attribute))
            ]
            for value in names:
                own = [f for f in module.functions if isinstance(value, ast.Name) and f.name == value.id]
                dotted = module.dotted(value)
                found += own or (self._at(module, dotted) if dotted else [])
        return found


def _defined(module: Module, name: str) -> Iterator[JitFunction]:
    """Decorated functions of that name on the module's level."""
    for node in module.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and node.decorator_list:
            yield JitFunction(module, node, name)


def plain_name(kernel: str) -> str:
    """`reduce` from what a profile may call it: "reduce", "pkg.ops.reduce", "reduce_0d1d2"."""
    return kernel.partition("(")[0].rpartition(".")[2]


def is_file(file: Path, path: str) -> bool:
    """Is `file`, in any copy of the project, the one at the relative `path`?"""
    name = file.as_posix()
    return name == path or name.endswith(f"/{path}")


@lru_cache(maxsize=128)  # both versions of a project have most of their files in common
def parse(path: str, text: str) -> Module:
    """Raises `Unparsable`."""
    if len(text) > _MOST_BYTES:
        raise Unparsable(f"the text has {len(text):,} characters; at most {_MOST_BYTES:,} are read")
    try:
        text.encode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings: Python says so itself
            tree = ast.parse(text)
    except UnicodeEncodeError as error:
        raise Unparsable("the text is not UTF-8") from error
    except SyntaxError as error:
        raise Unparsable(f"line {error.lineno or '?'}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(f"Python does not read it: {type(error).__name__}") from error
    try:
        return Module(path, text, tree, _bindings(tree, PurePosixPath(path)))
    except RecursionError as error:
        raise Unparsable("expressions nested too deeply") from error


def program(sources: Mapping[str, str]) -> Program:
    """The Python files among the sources; those that do not parse are left out."""
    modules: dict[str, Module] = {}
    for path, text in sources.items():
        if path.endswith(SUFFIX):
            try:
                modules[path] = parse(path, text)
            except Unparsable:
                continue
    return Program(modules)


def imports(module: Module) -> frozenset[str]:
    """Dotted names of all that the file imports, at any place of it."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for _, dotted in _imported(node, PurePosixPath(module.path)):
                found.add(dotted)
    return frozenset(found)


def module_files(importer: str, dotted: str, paths: Iterable[str]) -> list[str]:
    """Those of the project's `paths` that the dotted name of a module may stand for, the nearest first."""
    place = PurePosixPath(importer).parent
    if dotted.startswith("/"):  # from a relative import: see `_imported`
        tails = _tails(dotted[1:].replace(".", "/"))
        return [tail for tail in tails if tail in set(paths)]
    tails = _tails(dotted.replace(".", "/"))
    near = [str(place / tail) for tail in tails]
    known = set(paths)
    found = [path for path in (*near, *tails) if path in known]
    found += sorted(path for path in known if any(path.endswith(f"/{tail}") for tail in tails) and path not in found)
    return found


def _tails(path: str) -> tuple[str, str]:
    return f"{path}.py", f"{path}/__init__.py"


def body_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """All nodes of the body, without decorators, parameters and annotations of the signature."""
    for statement in function.body:
        yield from ast.walk(statement)


def _bindings(tree: ast.Module, path: PurePosixPath) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}

    def bind(name: str, target: str) -> None:
        found.setdefault(name, set()).add(target)

    for node in _module_level(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, dotted in _imported(node, path):
                bind(name, dotted)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            bind(node.name, _UNKNOWN)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bind(node.id, _UNKNOWN)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bind(node.name, _UNKNOWN)
    for inner in ast.walk(tree):
        if isinstance(inner, (ast.Global, ast.Nonlocal)):
            for name in inner.names:
                bind(name, _UNKNOWN)
    _follow_aliases(tree, found)
    return {name: frozenset(targets) for name, targets in found.items()}


def _follow_aliases(tree: ast.Module, found: dict[str, set[str]]) -> None:
    """`tl = triton.language` on the module's level is an import by another word."""
    for node in tree.body:
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        stand_in = Module("", "", tree, {known: frozenset(targets) for known, targets in found.items()})
        dotted = stand_in.dotted(node.value) if isinstance(node.value, (ast.Attribute, ast.Name)) else None
        if dotted is not None and found[name] == {_UNKNOWN} and _stores(tree, name) == 1:
            found[name] = {dotted}


def _stores(tree: ast.Module, name: str) -> int:
    nodes = (node for node in _module_level(tree) if isinstance(node, ast.Name) and node.id == name)
    return sum(not isinstance(node.ctx, ast.Load) for node in nodes)


def _module_level(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes outside functions and classes; those themselves, but not what is in them."""
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _module_level(child)


def _imported(node: ast.Import | ast.ImportFrom, path: PurePosixPath) -> Iterator[tuple[str, str]]:
    """Name that is bound → dotted name. Relative imports begin with "/" and the directory, as "/kernels/util.name"."""
    if isinstance(node, ast.Import):
        for item in node.names:
            yield (item.asname, item.name) if item.asname else (item.name.partition(".")[0],) * 2
        return
    base = node.module or ""
    if node.level:
        place = path.parent
        for _ in range(node.level - 1):
            place = place.parent
        base = "/" + "/".join(filter(None, [place.as_posix().removeprefix("."), base.replace(".", "/")]))
    for item in node.names:
        yield item.asname or item.name, f"{base}.{item.name}"


def _is_constexpr(annotation: ast.expr | None, module: Module) -> bool:
    if annotation is None:
        return False
    if isinstance(annotation, ast.Constant):
        return isinstance(annotation.value, str) and annotation.value.rpartition(".")[2] == "constexpr"
    named = annotation.attr if isinstance(annotation, ast.Attribute) else getattr(annotation, "id", "")
    return named == "constexpr" or (module.dotted(annotation) or "").endswith(".constexpr")


def _jit_functions(module: Module) -> Iterator[JitFunction]:
    wrapped = {name for call in ast.walk(module.tree) if isinstance(call, ast.Call) for name in _wrapped(call, module)}
    waiting: list[tuple[ast.AST, str]] = [(module.tree, "")]
    while waiting:
        holder, prefix = waiting.pop(0)
        for child in ast.iter_child_nodes(holder):
            if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                waiting.append((child, prefix))
                continue
            name = f"{prefix}{child.name}"
            waiting.append((child, f"{name}."))
            if isinstance(child, ast.FunctionDef) and (_is_jit(child, module) or child.name in wrapped):
                yield JitFunction(module, child, name)


def _is_jit(function: ast.FunctionDef, module: Module) -> bool:
    return any(is_jit_decorator(item, module) for item in function.decorator_list)


def is_jit_decorator(decorator: ast.expr, module: Module) -> bool:
    """`@triton.jit`, `@jit`, `@triton.jit(noinline=True)`; also one of the project that hands on to it by name."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (module.dotted(named) or "") in JIT


def _wrapped(call: ast.Call, module: Module) -> list[str]:
    """Functions that are made kernels by a call: `kernel = triton.jit(body)`, `triton.jit(...)(body)`."""
    named = call.func.func if isinstance(call.func, ast.Call) else call.func
    if (module.dotted(named) or "") not in JIT:
        return []
    return [item.id for item in call.args if isinstance(item, ast.Name)]
