"""Running sums that one thread forms over what its block left in LDS are formed by all of its threads.

`if (t == 0) for (k = 0; k < blockDim.x; ++k) { c = x[k]; x[k] = sum; sum += c; }` becomes a scan by shuffles, of which
each thread stores its own element. Proof obligations: a barrier stands right before; all threads of the block come by;
blocks are whole groups of lanes; the loop goes through as many elements as the block has threads and does nothing but
to add them up and to store the sums, which begin with 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from intelliperf.codegen.rules import groups
from intelliperf.codegen.rules.declarations import declare, unused_name
from intelliperf.codegen.rules.guards import remove_statement, statement_end
from intelliperf.codegen.rules.lanes import initializer, written
from intelliperf.codegen.rules.polynomials import Algebra, atom, constant
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite
from intelliperf.codegen.rules.relabel import kernel_of
from intelliperf.codegen.rules.tree_reduction import check_before, one_thread
from intelliperf.codegen.rules.trees import (
    block_width,
    check_whole_block,
    counter,
    is_barrier,
    is_width,
    joined,
    lds_element,
    same,
    uses,
)
from intelliperf.codegen.rules.wave_aggregate_atomics import FLOATS
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence

_MOST = groups.LANES * groups.LANES


@dataclass(frozen=True)
class _Scan:
    """`total`: the one thread's variable, which has the sum of all in the end; None where it has none.

    `before`: each element gets the sum of those before it, without its own.
    """

    guard: Node
    loop: Node
    source: Node
    target: Node
    total: Node | None
    before: bool
    type: str


class BlockScan:
    name = "block_scan"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[int] = set()
        return problem.rewrite_lines(
            "Let all threads of a block form the running sums that one thread formed",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[int]) -> str:
        place = problem.place(evidence)
        kernel = kernel_of(place)
        found = _scan(problem, place, kernel, evidence.line)
        if found.loop.start_offset not in done:
            _apply(problem, place, kernel, found)
            done.add(found.loop.start_offset)
        rounding = " (floating-point numbers are added up in another order)" if found.type in FLOATS else ""
        return f"{found.source.name} in {kernel.name}, line {found.loop.line}{rounding}"


def _scan(problem: Problem, place: Place, kernel: Node, line: int) -> _Scan:
    for guard in kernel.walk():
        if guard.kind != "IfStmt" or guard.begin is None or guard.end is None or len(guard.children) != 2:
            continue
        if not (guard.begin.line <= line <= guard.end.line and one_thread(kernel, guard.children[0])):
            continue
        then = guard.children[1]
        inner = then.children if then.kind == "CompoundStmt" else [then]
        loops = [node for node in then.walk() if node.kind in ("ForStmt", "WhileStmt", "DoStmt")]
        if len(loops) != 1 or not any(loops[0] is statement for statement in inner):
            raise NotApplicable(f"{place}: what one thread does on line {guard.line} is not one loop")
        found = _of_loop(problem, place, kernel, guard, loops[0])
        _check_around(problem, place, kernel, found, inner)
        return found
    raise NotApplicable(f"{place} is not left to one thread of a block")


def _of_loop(problem: Problem, place: Place, kernel: Node, guard: Node, loop: Node) -> _Scan:
    begun = counter(loop)
    if begun is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} declares no counter")
    variable, initial = begun
    algebra = Algebra(kernel)
    algebra.free.add(variable.id)
    body = loop.children[4]
    statements = body.children if body.kind == "CompoundStmt" else [body]
    first = algebra.polynomial(initial)
    found = _through_memory(kernel, algebra, guard, loop, statements, variable) if same(first, constant(1)) else None
    if found is None and same(first, constant(0)):
        found = _through_variable(place, _Turn(kernel, algebra, variable), guard, loop, statements)
    if found is None:
        raise NotApplicable(f"{place}: the loop on line {loop.line} does more than to form running sums of LDS")
    _check_turns(problem, place, kernel, algebra, loop, variable)
    if found.before and found.type in FLOATS:
        raise NotApplicable(f"{place}: sums of floating-point numbers before the element are not told by a difference")
    return found


def _check_turns(problem: Problem, place: Place, kernel: Node, algebra: Algebra, loop: Node, variable: Node) -> None:
    width = block_width(problem, place, kernel)
    if width % groups.LANES or width > _MOST:
        raise NotApplicable(f"{place}: blocks of {width} threads are not whole groups of {groups.LANES}")
    test, step = loop.children[2].bare(), loop.children[3].bare()
    counts = step.kind == "UnaryOperator" and step.opcode == "++"
    sides = test.children if test.kind == "BinaryOperator" and test.opcode == "<" and counts else []
    if not sides or not same(algebra.polynomial(sides[0]), atom(variable.id)):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not count up by one")
    if not is_width(problem, algebra, sides[1], width):
        raise NotApplicable(f"{place}: the loop on line {loop.line} does not end with the block's width")


def _through_memory(
    kernel: Node, algebra: Algebra, guard: Node, loop: Node, statements: Sequence[Node], variable: Node
) -> _Scan | None:
    """`x[k] += x[k - 1]`"""
    parts = joined(statements[0]) if len(statements) == 1 else None
    if parts is None or parts[2] != "{a} + {b}":
        return None
    here, there = (lds_element(kernel, part) for part in parts[:2])
    if here is None or there is None or here[0] is not there[0]:
        return None
    at, before = (algebra.polynomial(element[1]) for element in (here, there))
    if not same(at, atom(variable.id)) or not same(before, atom(variable.id) - constant(1)):
        return None
    return _Scan(guard, loop, here[0], here[0], None, False, _plain(parts[0]))


@dataclass
class _Turn:
    """What the statements of a turn, taken one by one, have come to."""

    kernel: Node
    algebra: Algebra
    variable: Node
    kept: dict[str, Node] = field(default_factory=dict)  # arrays by the variables that their elements were read into
    total: Node | None = None  # a name of the sum
    source: Node | None = None
    target: Node | None = None
    stored_first: bool = False
    direct: bool = False  # is the element added as it is read, and not from a variable?
    kind: str = ""

    def takes(self, statement: Node) -> bool:
        if statement.kind == "DeclStmt":
            return self._keeps(statement)
        node = statement.bare()
        array = self._element(node.children[0]) if node.kind == "BinaryOperator" and node.opcode == "=" else None
        if array is not None:
            self.kind = _plain(node.children[0].bare())
            return self._stores(array, node.children[1].bare())
        parts = joined(node)
        return parts is not None and parts[2] == "{a} + {b}" and self._adds(parts[0], parts[1])

    def _element(self, expression: Node) -> Node | None:
        found = lds_element(self.kernel, expression)
        return (
            found[0] if found is not None and same(self.algebra.polynomial(found[1]), atom(self.variable.id)) else None
        )

    def _keeps(self, statement: Node) -> bool:
        declared = statement.children[0]
        initial = initializer(declared)
        array = self._element(initial) if initial is not None and len(statement.children) == 1 else None
        if array is None or self.target is not None or _plain(declared) != _plain_array(array):
            return False
        self.kept[declared.id] = array
        return True

    def _stores(self, array: Node, value: Node) -> bool:
        if self.target is not None or not self._is_total(value):
            return False
        self.target, self.stored_first = array, self.source is None
        return True

    def _adds(self, total: Node, other: Node) -> bool:
        if self.source is not None or not self._is_total(total):
            return False
        name = other.reference
        self.source = self.kept.get(name.id) if name is not None else self._element(other)
        self.direct = name is None
        return self.source is not None

    def _is_total(self, name: Node) -> bool:
        if name.kind != "DeclRefExpr" or name.reference is None:
            return False
        known = self.total.reference if self.total is not None else name.reference
        self.total = name
        return known is not None and known.id == name.reference.id


def _through_variable(place: Place, turn: _Turn, guard: Node, loop: Node, statements: Sequence[Node]) -> _Scan | None:
    """`y[k] = sum; sum += x[k]` and the other way round; an element may be kept in a variable first."""
    taken = all(turn.takes(statement) for statement in statements)
    if not taken or turn.total is None or turn.total.reference is None or turn.source is None or turn.target is None:
        return None
    if turn.stored_first and turn.direct and turn.source is turn.target:
        return None  # adds what has just been stored
    name = turn.total.reference
    owner = next((node for node in guard.walk() if node.kind == "VarDecl" and node.id == name.id), None)
    if owner is None or not _begins_with_nothing(guard, loop, owner):
        raise NotApplicable(f"{place}: {name.name} does not begin with 0 right before line {loop.line}")
    if len({turn.kind, _plain(owner), _plain_array(turn.source), _plain_array(turn.target)}) != 1:
        raise NotApplicable(f"{place}: the sums of line {loop.line} are not of the elements' own type")
    return _Scan(guard, loop, turn.source, turn.target, owner, turn.stored_first, turn.kind)


def _begins_with_nothing(guard: Node, loop: Node, variable: Node) -> bool:
    initial = initializer(variable)
    literal = initial.bare() if initial is not None else None
    zero = literal is not None and literal.kind in ("IntegerLiteral", "FloatingLiteral") and float(literal.value) == 0
    changed = [n for n in guard.walk() if written(n) == variable.id and n.start_offset < loop.start_offset]
    return zero and not changed


def _plain(node: Node) -> str:
    return node.canonical.replace("const ", "").replace("volatile ", "").strip()


def _plain_array(declared: Node) -> str:
    return _plain(declared).split("[")[0].strip()


def _check_around(problem: Problem, place: Place, kernel: Node, found: _Scan, inner: Sequence[Node]) -> None:
    """Raise `NotApplicable` where the threads do not come by together, or the arrays are used before the loop."""
    check_whole_block(place, kernel, found.guard)
    check_before(place, found.guard)
    if any(geometry.block[1:] != (1, 1) for geometry in problem.task.finding.profile.geometries):
        raise NotApplicable(f"{place}: the blocks have more than one dimension")
    for array in {id(each): each for each in (found.source, found.target)}.values():
        for name in uses(kernel, array):
            if found.guard.start_offset <= name.start_offset < found.loop.start_offset:
                raise NotApplicable(f"{place}: line {name.line} uses {array.name} before the loop")
    for statement in inner:
        if statement.start_offset < found.loop.start_offset and statement.kind != "DeclStmt":
            raise NotApplicable(f"{place}: line {statement.line} does something before the loop")


def _apply(problem: Problem, place: Place, kernel: Node, found: _Scan) -> None:
    source, guard, loop = problem.source(place.path), found.guard, found.loop
    if guard.in_macro or loop.in_macro:
        raise NotApplicable(f"{place}: the loop on line {loop.line} is written by a macro")
    cuda = problem.dialect.cuda
    inner = declare(problem, source, kernel.start_offset, "group_running_sum", partial(_of_group, cuda))
    helper = declare(problem, source, kernel.start_offset, "block_running_sum", partial(_of_block, inner))
    indent = source.indentation(guard.start_offset)
    own, upto, all_ = (unused_name(problem, base) for base in ("own_element", "running_sum", "block_sum"))
    result = f"{upto} - {own}" if found.before else upto
    lines = [
        f"const {found.type} {own} = {found.source.name}[threadIdx.x];",
        f"{found.type} {all_};",
        f"const {found.type} {upto} = {helper}({own}, {all_});",
        f"{found.target.name}[threadIdx.x] = {result};",
    ]
    if not _meets_at_once(kernel, found):
        lines.append("__syncthreads();")
    source.insert(guard.start_offset, "".join(f"{line}\n{indent}" for line in lines))
    if found.total is not None:
        source.replace(loop.start_offset, statement_end(source, loop.children[4]), f"{found.total.name} = {all_};")
    elif loop.parent is guard or loop.parent is not None and len(loop.parent.children) == 1:
        source.replace(guard.start_offset, statement_end(source, guard), "")
    else:
        remove_statement(source, loop)


def _meets_at_once(kernel: Node, found: _Scan) -> bool:
    """Does a barrier follow, before anybody looks at the sums?"""
    arrays = {id(each): each for each in (found.source, found.target)}.values()
    later = [
        name
        for array in arrays
        for name in uses(kernel, array)
        if found.loop.end_offset < name.start_offset < found.guard.end_offset
    ]
    siblings = found.guard.parent.children if found.guard.parent is not None else []
    after = [node for node in siblings if node.start_offset > found.guard.start_offset]
    return not later and bool(after) and is_barrier(after[0])


def _of_group(cuda: bool, name: str) -> str:
    return groups.scan(name, "{a} + {b}", cuda)


def _of_block(inner: str, name: str) -> str:
    return f"""\
// Adds up a value over the whole groups of {groups.LANES} lanes of a block, for each thread up to its own.
template <typename T>
static __device__ T {name}(T value, T& all) {{
  __shared__ T sums[{groups.LANES}];
  const unsigned int lane = threadIdx.x % {groups.LANES}, group = threadIdx.x / {groups.LANES};
  value = {inner}(value);
  if (lane == {groups.LANES - 1}) sums[group] = value;
  __syncthreads();
  if (group == 0) {{
    const T sum = {inner}(lane < blockDim.x / {groups.LANES} ? sums[lane] : T(0));
    sums[lane] = sum;
  }}
  __syncthreads();
  all = sums[blockDim.x / {groups.LANES} - 1];
  return group > 0 ? sums[group - 1] + value : value;
}}
"""
