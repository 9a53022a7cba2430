"""What rules for Triton kernels share: the blamed line's kernel, its statements as text, what depends on what."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from intelliperf.codegen.rules.problem import NotApplicable, Problem
from intelliperf.codegen.syntax.source import Source
from intelliperf.project import pythonsource
from intelliperf.project.pythonsource import JitFunction, Program, Unparsable, body_nodes
from intelliperf.records import SourceEvidence

PREFIX = "triton_"  # of the names of rules for Triton: all others are for C++
_EFFECTS = re.compile(
    r"store\w*|atomic_\w+|scatter|debug_barrier|device_print|device_assert|inline_asm_elementwise|print"
)


def is_python(problem_files: Collection[str]) -> bool:
    return any(path.endswith(pythonsource.SUFFIX) for path in problem_files)


@dataclass(frozen=True, eq=False)
class Kernel:
    """A jit function with the file that it is edited in."""

    function: JitFunction
    source: Source
    program: Program

    @property
    def node(self) -> ast.FunctionDef:
        return self.function.node

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.source.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The node's bytes in the file."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._line_starts[node.lineno - 1] + node.col_offset, self._line_starts[end_line - 1] + end_column

    def text(self, node: ast.expr | ast.stmt) -> str:
        """As the file spells it; on one line."""
        spelled = self.source.slice(*self.span(node))
        return spelled if "\n" not in spelled else ast.unparse(node)

    def operand(self, node: ast.expr) -> str:
        """The text, in brackets where an operator beside it could take it apart."""
        text = self.text(node)
        plain = isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript))
        return text if plain else f"({text})"

    def lines(self, first: int, last: int) -> str:
        """Lines `first` to `last` (from 1), without the last one's end."""
        text = self.source.slice(self._line_starts[first - 1], self._line_starts[last] - 1)
        return text.replace("\r\n", "\n").removesuffix("\r")

    def replace_lines(self, first: int, last: int, text: str) -> None:
        end = self._line_starts[last] - 1
        end -= self.source.data[end - 1 : end] == b"\r"
        self.source.replace(self._line_starts[first - 1], min(end, len(self.source.data)), text)

    def replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        self.source.replace(*self.span(node), text)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """Statements of the kernel's own level, without its docstring."""
        first = self.node.body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        return self.node.body[1:] if documented else list(self.node.body)

    @property
    def indentation(self) -> str:
        return self.source.indentation(self.span(self.node.body[0])[0])

    def fresh(self, *wanted: str) -> str:
        """The first of the names that nothing in the file has; numbered where all are taken."""
        taken = set(re.findall(r"\w+", self.source.text))
        free = [name for name in (*wanted, *(f"{wanted[-1]}_{n}" for n in range(2, 99))) if name not in taken]
        return free[0]

    def called(self, node: ast.AST) -> str:
        """The last word of what a call calls in Triton's language, or as a method; "" for anything else."""
        if not isinstance(node, ast.Call):
            return ""
        dotted = self.function.module.dotted(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "float" and not self._is_bound("float"):
            return "float"
        if dotted is not None:
            head, _, last = dotted.rpartition(".")
            return last if head in ("triton.language", "triton.language.math", "triton") else ""
        return node.func.attr if isinstance(node.func, ast.Attribute) else ""

    def _is_bound(self, name: str) -> bool:
        return name in self.function.locals or name in self.function.module.bindings

    def is_constexpr(self, node: ast.expr) -> bool:
        """Is the value known at compile time?"""
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and not self._is_library(n)]
        return all(n.id in self.function.constants for n in names)

    def _is_library(self, name: ast.Name) -> bool:
        return name.id not in self.function.locals and self.function.module.dotted(name) is not None

    @property
    def tl(self) -> str:
        """How the file spells Triton's language."""
        for name, bound in self.function.module.bindings.items():
            if bound == {"triton.language"} and name not in self.function.locals:
                return name
        raise NotApplicable(f"{self.source.path} does not import triton.language under a name")

    def definitions(self, name: str) -> list[ast.stmt]:
        """All statements of the function that bind the name."""
        return [n for n in body_nodes(self.node) if isinstance(n, ast.stmt) and name in written(n, deep=False)]

    def definition(self, name: str) -> ast.expr | None:
        """The expression that the name stands for; None unless it is bound once, by a plain assignment."""
        found = self.definitions(name)
        if len(found) != 1 or name in {item.arg for item in self.function.parameters}:
            return None
        (statement,) = found
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return statement.value if isinstance(statement.targets[0], ast.Name) else None
        return statement.value if isinstance(statement, ast.AnnAssign) else None

    def has_effects(self, node: ast.AST) -> bool:
        """Does running it change memory, print, wait, or end the kernel?"""
        for inner in ast.walk(node):
            if isinstance(inner, (ast.While, ast.Return)):
                return True
            if isinstance(inner, ast.Call) and (_EFFECTS.fullmatch(word_of(inner)) or self._helper_has_effects(inner)):
                return True
        return False

    def _helper_has_effects(self, call: ast.Call) -> bool:
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            return False
        helpers = self.program.reached(self.program.jit_named(self.function, call.func))
        return any(
            isinstance(n, ast.While) or isinstance(n, ast.Call) and _EFFECTS.fullmatch(word_of(n))
            for helper in helpers
            for n in body_nodes(helper.node)
        )

    def where(self, node: ast.expr | ast.stmt) -> str:
        return f"{self.source.path}:{node.lineno}"


def kernel_at(problem: Problem, evidence: SourceEvidence) -> Kernel:
    """The jit function around a blamed line. Raises `NotApplicable`."""
    path = problem.relative(evidence.file)
    text = problem.task.sources[path]
    if not path.endswith(pythonsource.SUFFIX):
        raise NotApplicable(f"{path} is not a Python file")
    if "\r" in text.replace("\r\n", "\n") or "\f" in text:
        raise NotApplicable(f"{path} has unusual line ends")
    try:
        pythonsource.parse(path, text)
    except Unparsable as error:
        raise NotApplicable(f"{path} cannot be read: {error}") from error
    program = pythonsource.program(problem.task.sources)
    known = [*program.modules[path].functions, *program.kernels(evidence.kernel.name, evidence.kernel.file)]
    around = [f for f in known if f.module.path == path and f.first_line <= evidence.line <= f.last_line]
    if not around:
        raise NotApplicable(f"{path}:{evidence.line} is not inside a jit function")
    innermost = max(around, key=lambda function: function.first_line)
    return Kernel(innermost, problem.source(path), program)


def launched_kernel_at(problem: Problem, evidence: SourceEvidence) -> Kernel:
    """Likewise; the function has to be the kernel itself, whose program ids and arguments are those of the launch."""
    kernel = kernel_at(problem, evidence)
    if kernel.function.name != pythonsource.plain_name(evidence.kernel.name):
        raise NotApplicable(
            f"{kernel.source.path}:{evidence.line} lies in {kernel.function.name}, which is not a kernel"
        )
    return kernel


def statement_at(kernel: Kernel, line: int) -> tuple[ast.stmt, list[ast.stmt]]:
    """The innermost statement on a line, and the list of statements that holds it. Raises `NotApplicable`."""
    holder: list[ast.stmt] = kernel.node.body
    while True:
        found = [s for s in holder if s.lineno <= line <= (s.end_lineno or s.lineno)]
        if len(found) != 1:
            raise NotApplicable(f"{kernel.source.path}:{line} holds {len(found) or 'no'} statements")
        (statement,) = found
        inner = [
            block
            for name in ("body", "orelse")
            for block in [getattr(statement, name, [])]
            if block and block[0].lineno <= line <= (block[-1].end_lineno or block[-1].lineno)
        ]
        if not inner:
            return statement, holder
        (holder,) = inner


def word_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def argument(call: ast.Call, position: int, *names: str) -> ast.expr | None:
    """An argument by its place or name."""
    if position < len(call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg in names), None)


def read(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def written(node: ast.AST, deep: bool = True) -> set[str]:
    """Names that a statement binds; with `deep` also those that statements inside it bind."""
    if deep:
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
        targets = [node.target]
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def program_ids(kernel: Kernel, node: ast.AST | None = None) -> Iterator[tuple[ast.Call, int]]:
    """Calls of program_id with their axes. Raises `NotApplicable` for an axis that is not a literal."""
    for call in ast.walk(node) if node is not None else body_nodes(kernel.node):
        if kernel.called(call) == "program_id" and isinstance(call, ast.Call):
            axis = argument(call, 0, "axis")
            if not isinstance(axis, ast.Constant) or type(axis.value) is not int:
                raise NotApplicable(f"{kernel.where(call)}: the axis of program_id is not a literal")
            yield call, axis.value


def depends(kernel: Kernel, roots: Collection[ast.AST]) -> frozenset[str]:
    """Names whose values depend on one of the expressions, through assignments, loops and conditions."""
    marked = {id(inner) for root in roots for inner in ast.walk(root) if isinstance(inner, ast.expr)}
    found: set[str] = set()

    def concerned(node: ast.AST) -> bool:
        return any(id(n) in marked for n in ast.walk(node)) or bool(read(node) & found)

    while True:
        before = len(found)
        for statement in (n for n in body_nodes(kernel.node) if isinstance(n, ast.stmt)):
            head = getattr(statement, "test", None) or getattr(statement, "iter", None)
            if head is not None and concerned(head):
                found |= written(statement)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and concerned(statement):
                found |= written(statement, deep=False)
        if len(found) == before:
            return frozenset(found)


def carried(statements: Sequence[ast.stmt], names: Collection[str]) -> str | None:
    """A name of these that is read before the statements have bound it: its value would come from the round before."""
    bound: set[str] = set()
    for statement in statements:
        wanted = read(statement)
        if isinstance(statement, (ast.For, ast.If, ast.While)):
            head = statement.iter if isinstance(statement, ast.For) else statement.test
            mine = written(statement, deep=False)
            told = carried([*statement.body], set(names) - bound - mine)
            told = told or carried([*statement.orelse], set(names) - bound - mine)
            wanted = read(head) | ({told} if told else set())
        if isinstance(statement, ast.AugAssign):
            wanted |= written(statement, deep=False)
        early = wanted & (set(names) - bound)
        if early:
            return sorted(early)[0]
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            bound |= written(statement, deep=False)
    return None


def pointer_of(kernel: Kernel, statement: ast.stmt, address: ast.expr) -> str:
    """The argument that an address begins with. Raises `NotApplicable`."""
    node = address
    while True:
        bound = kernel.definition(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node = node.left
        elif bound is not None:
            node = bound
        else:
            break
    names = {item.arg for item in kernel.function.parameters} - kernel.function.constants
    if isinstance(node, ast.Name) and node.id in names and not kernel.definitions(node.id):
        return node.id
    raise NotApplicable(f"{kernel.where(statement)}: the address begins with no argument")


def blocks_of(kernel: Kernel, statements: Sequence[ast.stmt], first_line: int) -> list[str]:
    """The text of each statement with the comments above it, from `first_line` on. Raises `NotApplicable`."""
    found = []
    at = first_line
    for statement in statements:
        if statement.lineno < at:
            raise NotApplicable(f"{kernel.where(statement)}: several statements share a line")
        last = statement.end_lineno or statement.lineno
        found.append(kernel.lines(at, last))
        at = last + 1
    return found


def indented(text: str, by: str = "    ") -> str:
    return "\n".join(f"{by}{line}" if line.strip() else line for line in text.split("\n"))


def refuse_spread_strings(kernel: Kernel, statements: Sequence[ast.stmt]) -> None:
    """A string over several lines would change with its indentation."""
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno != node.lineno:
                raise NotApplicable(f"{kernel.where(node)}: a string over several lines")
