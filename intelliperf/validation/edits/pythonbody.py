"""The body of a Triton kernel: may it say what it says? Each answer is one line, with the line's number.

Free is what the original's own code names, and what is known to be harmless (see `pythonwords`). The rest is refused,
because Triton runs Python while it compiles a body, and because a run cannot show everything that a body can do.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from intelliperf.project.pythonsource import JitFunction, Program, body_nodes
from intelliperf.validation.edits import pythonmeaning as meaning
from intelliperf.validation.edits import pythonwords as words

_FORMS = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Pass, ast.Name),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.Attribute, ast.Constant),
    *(
        ast.Subscript,
        ast.Slice,
        ast.Tuple,
        ast.List,
        ast.operator,
        ast.unaryop,
        ast.boolop,
        ast.cmpop,
        ast.expr_context,
    ),
)
_MOST_NODES = 20_000


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What the original's kernel and all that it reaches name."""

    functions: tuple[JitFunction, ...]
    program: Program

    @cached_property
    def dotted(self) -> frozenset[str]:
        return frozenset(name for f in self.functions for n in body_nodes(f.node) if (name := f.module.dotted(n)))

    @cached_property
    def attributes(self) -> frozenset[str]:
        return frozenset(n.attr for n in self._nodes() if isinstance(n, ast.Attribute))

    @cached_property
    def globals(self) -> frozenset[tuple[str, str]]:
        """(file, name) of what is bound outside the functions."""
        return frozenset(
            (f.module.path, n.id)
            for f in self.functions
            for n in body_nodes(f.node)
            if isinstance(n, ast.Name) and n.id not in f.locals
        )

    @cached_property
    def forms(self) -> frozenset[type[ast.AST]]:
        return frozenset(type(node) for node in self._nodes())

    @cached_property
    def keywords(self) -> frozenset[str]:
        """Keywords with their values, as `sem='relaxed'`."""
        return frozenset(ast.unparse(n) for n in self._nodes() if isinstance(n, ast.keyword))

    @cached_property
    def strings(self) -> frozenset[str]:
        return frozenset(n.value for n in self._nodes() if isinstance(n, ast.Constant) and isinstance(n.value, str))

    def _nodes(self) -> Iterator[ast.AST]:
        for function in self.functions:
            yield from body_nodes(function.node)


def refusal(old: JitFunction | None, new: JitFunction, had: Vocabulary, program: Program) -> str:
    """`old` is None for a function that the candidate adds. `program`: the project as the candidate has it."""
    if sum(1 for _ in body_nodes(new.node)) > _MOST_NODES:
        return f"line {new.node.lineno}: {new.name} is too long to be read"
    for node in body_nodes(new.node):
        told = (
            _form(node, had)
            or _name(node, old, new, had, program)
            or _attribute(node, new, had, program)
            or _text(node, had, old)
        )
        if told:
            return f"line {getattr(node, 'lineno', new.node.lineno)}: {told}"
    return meaning.refusal(new, had.functions, had.keywords)


def _form(node: ast.AST, had: Vocabulary) -> str:
    if isinstance(node, _FORMS) or type(node) in had.forms and not isinstance(node, (ast.Import, ast.ImportFrom)):
        return _target(node, had)
    return f"the candidate adds {_FORM_NAMES.get(type(node), type(node).__name__)} to the body of a kernel"


_FORM_NAMES: dict[type[ast.AST], str] = {
    ast.Import: "an import",
    ast.ImportFrom: "an import",
    ast.Global: "a global statement",
    ast.Nonlocal: "a nonlocal statement",
    ast.FunctionDef: "a function",
    ast.ClassDef: "a class",
    ast.Lambda: "a lambda",
    ast.JoinedStr: "a formatted string",
    ast.FormattedValue: "a formatted string",
    ast.With: "a with block",
    ast.Try: "a try block",
    ast.Raise: "a raise statement",
    ast.Assert: "an assertion",
    ast.Delete: "a del statement",
    ast.ListComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.NamedExpr: "an assignment inside an expression",
    ast.Starred: "a starred argument",
    ast.Dict: "a dictionary",
    ast.Await: "an await",
    ast.Yield: "a yield",
}


def _target(node: ast.AST, had: Vocabulary) -> str:
    if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        return f"the candidate writes to `{ast.unparse(node)}`, which is not a local variable"
    if isinstance(node, ast.keyword) and node.arg is None:
        return "the candidate hands over keywords by a dictionary"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        return "the candidate adds a formatted string" if isinstance(node.left.value, str) else ""
    return ""


def _name(node: ast.AST, old: JitFunction | None, new: JitFunction, had: Vocabulary, program: Program) -> str:
    if not isinstance(node, ast.Name):
        return ""
    name, module = node.id, new.module
    if not isinstance(node.ctx, ast.Load):
        before = old.locals if old is not None else frozenset()
        taken = name in module.bindings and not module.is_data(name)
        hides = taken or name in words.BUILTINS or (module.path, name) in had.globals
        return (
            f"the candidate rebinds {name}, which is a name of the whole file" if hides and name not in before else ""
        )
    if name in new.locals or (module.path, name) in had.globals:
        return ""
    if name in words.BANNED:
        return f"the candidate adds {words.BANNED[name]}: {name}"
    if name.startswith("__"):
        return f"the candidate names {name}"
    if name not in module.bindings:
        return "" if name in words.BUILTINS else f"the candidate names {name}, which no kernel of the original does"
    if program.jit_named(new, node) or _constant(name, new):
        return ""
    dotted = module.dotted(node)
    if dotted is None:
        return f"the candidate reads the global {name}, which the original's kernel does not"
    return _library(dotted, had)


def _constant(name: str, function: JitFunction) -> bool:
    """`NAME = tl.constexpr(64)` on the module's level, bound once."""
    found = [
        node.value
        for node in function.module.tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id == name
    ]
    stores = [
        n
        for n in ast.walk(function.module.tree)
        if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
    ]
    if len(found) != 1 or len(stores) != 1 or not isinstance(found[0], ast.Call):
        return False
    call = found[0]
    literal = len(call.args) == 1 and isinstance(call.args[0], ast.Constant)
    return literal and (function.module.dotted(call.func) or "").endswith("triton.language.constexpr")


def _attribute(node: ast.AST, new: JitFunction, had: Vocabulary, program: Program) -> str:
    if not isinstance(node, ast.Attribute):
        return ""
    if node.attr.startswith("_"):
        return "" if node.attr in had.attributes else f"the candidate looks into {node.attr}"
    base = node
    while isinstance(base.value, ast.Attribute):
        base = base.value
    local = isinstance(base.value, ast.Name) and base.value.id in new.locals
    dotted = None if local else new.module.dotted(node)
    if dotted is not None:
        return "" if program.jit_named(new, node) else _library(dotted, had)
    if node.attr in words.ATTRIBUTES or node.attr in had.attributes:
        return ""
    if node.attr in words.BANNED:
        return f"the candidate adds {words.BANNED[node.attr]}: {node.attr}"
    return f"the candidate reads .{node.attr}, which is not known to be harmless"


def _library(dotted: str, had: Vocabulary) -> str:
    """A name of a library: one that the original's kernel uses, or one of the known ones."""
    if dotted in had.dotted or dotted in words.HOST_FUNCTIONS or dotted in words.NUMBERS:
        return ""
    if any(used.startswith(f"{dotted}.") for used in had.dotted):
        return ""  # the beginning of one of these
    if dotted in ("triton", "triton.language", "triton.language.math", "math"):
        return ""
    head, _, last = dotted.rpartition(".")
    if head == "triton.language" and last in words.FUNCTIONS | words.TYPES:
        return ""
    if head == "triton.language.math" and last in words.MATH:
        return ""
    holder, _, attribute = head.rpartition(".")
    if holder == "triton.language" and attribute in words.TYPES and last in words.ATTRIBUTES:
        return ""
    banned = next((word for word in dotted.split(".") if word in words.BANNED), None)
    if banned is not None:
        return f"the candidate adds {words.BANNED[banned]}: {banned}"
    return f"the candidate names {dotted}, which is not known to be harmless"


def _text(node: ast.AST, had: Vocabulary, old: JitFunction | None) -> str:
    """Strings: Triton finds a function in its text by the first line that begins with `def`."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (str, bytes)):
        return ""
    value = node.value
    if isinstance(value, bytes):
        return "the candidate adds bytes"
    if value in had.strings:
        return ""
    if (node.end_lineno or node.lineno) != node.lineno:
        return "a string over several lines, which Triton and Python may read differently"
    if ">>>" in value:
        return "a string that a test runner would execute"
    return ""


def signature_refusal(new: JitFunction, like: Iterable[JitFunction]) -> str:
    """A helper that the candidate adds: decorated as the original's kernels are, without defaults, on the top level."""
    where = f"line {new.first_line}: the function {new.name} that the candidate adds"
    decorators = [ast.dump(item) for item in new.node.decorator_list]
    plain = {ast.dump(item) for known in like for item in known.node.decorator_list if not isinstance(item, ast.Call)}
    if "." in new.qualified or new.node not in new.module.tree.body[1:]:
        return f"{where} is not on the top level of the file, behind its first statement"
    if new.name.startswith(("__", "test", "pytest")) or hasattr(builtins, new.name):
        return f"{where} has a name that Python or a test runner looks for"
    if len(decorators) != 1 or decorators[0] not in plain:
        return f"{where} is decorated otherwise than the kernel"
    every = new.node.args
    if every.defaults or every.kw_defaults or every.vararg or every.kwarg or new.node.returns:
        return f"{where} has defaults or annotations, which run"
    known = {ast.dump(item.annotation) for known in like for item in known.parameters if item.annotation is not None}
    for item in new.parameters:
        if item.annotation is not None and ast.dump(item.annotation) not in known:
            return f"{where} has an annotation that no kernel of the original has, and it runs"
    return ""
