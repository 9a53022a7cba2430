"""Elements that a grid of one dimension brings into another order go through LDS, one tile after another.

`r = i / cols; c = i % cols; out[c * rows + r] = in[i]` reads neighbours and stores far apart; a permutation of more
dimensions does the same. Blocks take tiles of 32 by 32 elements instead: some rows of i's count, some neighbours of
each. Values are worked out and left in LDS by rows, and stored by columns, or the other way round. Every element below
the number of threads in the grid is in one tile, whatever the length of a row is; it is taken from the divisions of i
that make neighbours nearest. Proof obligations: the kernel knows its threads by i alone; the store is the last thing
that it does, and its index and guards are computed from i, parameters and constants alone.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from intelliperf.codegen.rules.constants import outside_constant
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.element_order import LANES, Order, Sectors, element_variable, extent, orders, sectors
from intelliperf.codegen.rules.guards import line_starts
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES, is_shared
from intelliperf.codegen.rules.polynomials import Polynomial
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import check_relabelling, global_access
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.transpose_through_lds import Path, needed_variables, second_half, store_path, stored_type
from intelliperf.codegen.rules.uniformity import exits
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence

SIDE = 32  # of a tile: smaller ones would have more to work out for each element
WORTH_IT = 0.75  # of the sectors of all accesses


class TilePermutation:
    name = "tile_permutation"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[str] = set()
        return problem.rewrite_lines(
            "Bring elements into their new order tile by tile, through LDS",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[str]) -> str:
        place, kernel = global_access(problem, evidence)
        if kernel.name in done:
            return f"the elements of {kernel.name}"
        number = element_variable(problem, place, kernel)
        _check_kernel(problem, place, kernel)
        path = store_path(place, kernel, any_line=True)
        if path.turn is not None:
            raise NotApplicable(f"{place}: the kernel ends with a loop")
        needed = needed_variables(place, kernel, path)
        order, by_rows, before, after = _best(problem, place, kernel, number, path)
        _write(problem, place, kernel, number, path, needed, order, by_rows)
        done.add(kernel.name)
        return f"the elements of {kernel.name}, {before} → {after} sectors for {LANES} of them"


def _check_kernel(problem: Problem, place: Place, kernel: Node) -> None:
    check_relabelling(problem, place, kernel, of_blocks=True)
    for node in kernel.everything():
        if node.kind == "VarDecl" and is_shared(node):
            raise NotApplicable(f"{place}: the kernel uses LDS ({node.name})")
        if node.kind == "CallExpr" and "sync" in callee_name(node):
            raise NotApplicable(f"{place}: the kernel has a barrier on line {node.line}")
    if any(jump.kind in ("GotoStmt", "IndirectGotoStmt") for jump in exits(kernel)):
        raise NotApplicable(f"{place}: the kernel has a goto")


def _best(problem: Problem, place: Place, kernel: Node, number: Node, path: Path) -> tuple[Order, bool, int, int]:
    """The order, whether values are worked out by rows, and the sectors before and after. Raises `NotApplicable`."""
    value = outside_constant(problem)
    guards = [guard for guard, _ in path.levels if guard is not None]

    def touched(step: int) -> Sectors:
        return sectors(kernel, value, step, guards, path.leave)

    plain = touched(1)
    found: list[tuple[int, int, Order, bool]] = []
    for order in orders(kernel, number):
        apart = touched(extent(order.across))
        down = extent(order.down) if order.down is not None else 0
        ways = ((plain.loads + apart.stores, True), (apart.loads + plain.stores, False))
        after, by_rows = min(ways, key=lambda way: way[0])
        found.append((after, -down, order, by_rows))
    before = plain.loads + plain.stores
    if not found or not before:
        raise NotApplicable(f"{place}: the kernel does not divide the element's number by a length of rows")
    after, _, order, by_rows = min(found, key=lambda each: each[:2])
    if after > WORTH_IT * before:
        raise NotApplicable(
            f"{place}: {LANES} elements would touch {after} memory sectors instead of {before} tile by tile, "
            "which is not worth a barrier"
        )
    return order, by_rows, before, after


def _write(
    problem: Problem,
    place: Place,
    kernel: Node,
    number: Node,
    path: Path,
    needed: set[str],
    order: Order,
    by_rows: bool,
) -> None:
    source, whole, target = problem.source(place.path), body(kernel), path.target
    element, size = stored_type(place, kernel, target), ELEMENT_BYTES.get(target.canonical)
    initial = initializer(number)
    if size is None or initial is None:
        raise NotApplicable(f"{place}: elements of type {target.canonical} have an unknown size")
    if SIDE * (SIDE + 1) * size > problem.task.device.limits.lds_bytes_per_block:
        raise NotApplicable(f"{place}: a tile of {SIDE * (SIDE + 1) * size} bytes is more LDS than the device has")
    if target.in_macro or whole.in_macro or path.store.in_macro:
        raise NotApplicable(f"{place}: the store is written by a macro")
    names = _Names(*(unused_name(problem, str(each.default)) for each in dataclasses.fields(_Names)))
    kind = "unsigned long long" if "long" in initial.bare().canonical else "unsigned int"
    made = f"static_cast<{initial.bare().canonical.removeprefix('const ')}>({names.element})"
    value = f"{names.tile}[{names.row}][{names.column}]"

    def renamed(node: Node, text: str) -> str:
        if any(part is number for part in node.walk()):
            end = node.end_offset
            text = source.slice(node.start_offset, initial.start_offset) + made + source.slice(initial.end_offset, end)
        return " ".join(text.split())

    again = second_half(source, place, path, needed, renamed, value)
    indent = source.indentation(whole.children[0].start_offset)
    step = "\t" if "\t" in indent else "  " if len(indent) <= 2 else indent
    down = _product(kernel, order.down, kind) if order.down is not None else ""
    before = [
        f"// Tiles of {SIDE} by {SIDE} elements, so that neighbours load neighbours, and store neighbours.",
        f"__shared__ {element} {names.tile}[{SIDE}][{SIDE} + 1];",
        *names.opening(kind, _product(kernel, order.across, kind), down, step),
    ]
    before += [f"{step}{line}" for line in names.cells(by_rows, step)]
    after = ["}", "__syncthreads();", *names.cells(not by_rows, step), *(f"{step}{line}" for line in again)]
    after += ["}", "__syncthreads();  // before the next tile"]
    source.insert(whole.start_offset + 1, "".join(f"\n{indent}{line}" for line in before))
    end = whole.end_offset - 1
    line = source.data.rfind(b"\n", 0, end) + 1
    alone = not source.data[line:end].strip()
    for offset in line_starts(source, whole.start_offset + 1, line if alone else end):
        source.insert(offset, step * 2)
    source.replace(initial.start_offset, initial.end_offset, made)
    if path.leave is not None:
        leaves = next(node for node in path.leave.children[1].walk() if node.kind == "ReturnStmt")
        source.replace(leaves.start_offset, leaves.end_offset, "continue")
    source.replace(target.start_offset, target.end_offset, value)
    ending = [*(f"{indent}{step}{text}" for text in after), f"{indent}}}"]
    source.insert(line if alone else end, ("" if alone else "\n") + "".join(f"{text}\n" for text in ending))


@dataclass(frozen=True)
class _Names:
    tile: str = "tile"
    elements: str = "elements"
    across: str = "across"
    down: str = "down"
    tiles_across: str = "tiles_across"
    tiles: str = "tiles"
    at: str = "tile_number"
    turn: str = "turn"
    tile_row: str = "row_of_tiles"
    tile_column: str = "column_of_tiles"
    first: str = "first_element"
    rows: str = "rows_left"
    columns: str = "columns_left"
    cell: str = "cell"
    row: str = "tile_row"
    column: str = "tile_column"
    element: str = "element"

    def cells(self, by_rows: bool, step: str) -> list[str]:
        """The beginning of a loop over the elements of a tile."""
        first, second = (self.row, self.column) if by_rows else (self.column, self.row)
        outside = f"{self.row} >= {self.rows} || {self.column} >= {self.columns} || {self.element} >= {self.elements}"
        row = f"static_cast<unsigned long long>({self.row}) * {self.across}"
        return [
            f"for (unsigned int {self.cell} = threadIdx.x; {self.cell} < {SIDE * SIDE}; {self.cell} += blockDim.x) {{",
            f"{step}const unsigned int {first} = {self.cell} / {SIDE}, {second} = {self.cell} % {SIDE};",
            f"{step}const unsigned long long {self.element} = {self.first} + {row} + {self.column};",
            f"{step}if ({outside}) continue;",
        ]

    def opening(self, kind: str, across: str, down: str, step: str) -> list[str]:
        """What comes before the tiles, and the beginning of the loop over them; `across` and `down` as the program has
        them, the second empty where all rows are counted through.
        """
        wide, one = "static_cast<unsigned long long>", "1u" if kind == "unsigned int" else "1ull"
        threads = "gridDim.x * blockDim.x" if kind == "unsigned int" else f"{wide}(gridDim.x) * blockDim.x"
        rows = f"max({one}, {down})" if down else f"({self.elements} - 1) / {self.across} + 1"
        tile = f"{self.at} - {self.turn} * {self.tiles}"
        return [
            f"const {kind} {self.elements} = {threads};",
            f"const {kind} {self.across} = min({self.elements}, max({one}, {across}));",
            f"const {kind} {self.down} = {f'min({self.elements}, {rows})' if down else rows};",
            f"const {kind} {self.tiles_across} = ({self.across} - 1) / {SIDE} + 1;",
            f"const {kind} {self.tiles} = {self.tiles_across} * (({self.down} - 1) / {SIDE} + 1);",
            f"for ({kind} {self.at} = blockIdx.x;; {self.at} += gridDim.x) {{",
            f"{step}const {kind} {self.turn} = {self.at} / {self.tiles};",
            f"{step}const {kind} {self.tile_row} = ({tile}) / {self.tiles_across};",
            f"{step}const {kind} {self.tile_column} = {tile} - {self.tile_row} * {self.tiles_across};",
            f"{step}const {kind} {self.rows} = {self.down} - {self.tile_row} * {SIDE};",
            f"{step}const {kind} {self.columns} = {self.across} - {self.tile_column} * {SIDE};",
            f"{step}unsigned long long {self.first} = {wide}({self.turn}) * {self.down} * {self.across};",
            f"{step}if ({self.first} >= {self.elements}) break;",
            f"{step}{self.first} += {wide}({self.tile_row}) * {SIDE} * {self.across} + {self.tile_column} * {SIDE};",
        ]


def _product(kernel: Node, polynomial: Polynomial, kind: str) -> str:
    """The one term of the polynomial as a number of that type; whatever its value is, all elements are counted."""
    ((monomial, factor),) = polynomial.terms.items()
    parameters = {child.id: child.name for child in kernel.children if child.kind == "ParmVarDecl"}
    parts = [each.partition(".") for each in monomial]
    names = [f"{parameters[owner]}.{rest}" if rest else parameters[owner] for owner, _, rest in parts]
    suffix = "u" if kind == "unsigned int" else "ull"
    factors = [*([f"{factor}{suffix}"] if factor > 1 or not names else []), *names]
    return " * ".join([f"static_cast<{kind}>({factors[0]})" if names else factors[0], *factors[1:]])
