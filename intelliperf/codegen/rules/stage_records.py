"""Records of several words, one for each thread, are moved through LDS by neighbouring threads together.

Thread t works on the record t of an array: the fields of a structure, or elements t*K … t*K + K - 1. Each access of a
wave lies a record apart. The block copies its records to LDS first, word by word, works on them there, and copies them
back if it wrote any. Proof obligations: nothing in the kernel touches the array but at the thread's own record; every
thread within the guard does so; blocks are not larger than the copy at every launch; threads leave only by the guard.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

from intelliperf.codegen.rules.addresses import Access, Addresses, accesses
from intelliperf.codegen.rules.block_plans import check_no_barrier_after, written_element
from intelliperf.codegen.rules.block_sizes import blocks_of
from intelliperf.codegen.rules.blocks import Program
from intelliperf.codegen.rules.declarations import unused_name
from intelliperf.codegen.rules.guards import enclose_rest
from intelliperf.codegen.rules.lanes import initializer
from intelliperf.codegen.rules.lds_arrays import ELEMENT_BYTES
from intelliperf.codegen.rules.polynomials import GRID_THREAD, Algebra, Polynomial
from intelliperf.codegen.rules.problem import NotApplicable, Place, Problem, Rewrite, body
from intelliperf.codegen.rules.relabel import global_access
from intelliperf.codegen.rules.statements import callee_name
from intelliperf.codegen.rules.uniformity import LOOPS, condition, exits
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.tree import Node
from intelliperf.records import SourceEvidence

MAX_TILE_BYTES = 32 * 1024  # two such blocks fit into 64 KiB
MIN_USED = 0.5  # of a record: copying whole ones must not move much more than was asked for
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_OPPOSITE = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}
_CONDITIONAL = ("IfStmt", "ConditionalOperator", "SwitchStmt", "LambdaExpr", *LOOPS)


@dataclass(frozen=True)
class Records:
    """The array, by its parameter, and the accesses to the thread's record with the element that each is."""

    root: str
    name: str
    length: int  # elements of a record; 1 for a structure
    bytes: int  # of a record
    word: int  # bytes that are moved at a time
    moved_as: str  # the type of a word: a floating-point one where a field is, so that numbers stay numbers
    uses: tuple[tuple[Access, int], ...]
    stores: bool


@dataclass(frozen=True)
class Guard:
    """The `if` that keeps threads without a record out; None where all have one."""

    statement: Node | None
    leaves: bool
    count: str  # of records, or of what is counted in steps of `step`
    spare: int = 0  # what of it is not enough for one thread more
    step: int = 1
    leaves_later: Node | None = None  # where threads with a record may leave

    def words(self, each: int) -> str:
        """`each` for every thread that has a record, as a wide number; 0 or less where none has one."""
        total, more = f"static_cast<long long>({self.count})", self.step - 1 - self.spare
        if more:
            total = f"({total} {'+' if more > 0 else '-'} {abs(more)})"
        return f"{total} * {each}" if self.step == 1 else f"{total} / {self.step} * {each}"


class StageRecords:
    name = "stage_records"

    def rewrite(self, problem: Problem) -> Rewrite:
        done: set[str] = set()
        return problem.rewrite_lines(
            "Move records through LDS, by neighbouring threads together",
            lambda evidence: [self._line(problem, evidence, done)],
        )

    def _line(self, problem: Problem, evidence: SourceEvidence, done: set[str]) -> str:
        place, kernel = global_access(problem, evidence)
        if len(place.functions) > 1:
            raise NotApplicable(f"{place}: the kernel is a template with {len(place.functions)} instantiations")
        guard = _guard(problem, place, kernel)
        reasons: list[str] = []
        told: list[str] = []
        for records in _records(problem, place, kernel, guard, reasons):
            try:
                if records.root not in done:
                    with problem.all_or_nothing():
                        _apply(problem, place, kernel, records, guard)
                    done.add(records.root)
            except NotApplicable as reason:
                reasons.append(str(reason))
                continue
            back = ", written back as a whole" if records.stores else ""
            told.append(f"{records.name}, {records.bytes} bytes for each thread{back}")
        if not told:
            raise NotApplicable("; ".join(dict.fromkeys(reasons)) or f"{place} accesses no array of records")
        return " and ".join(told)


def _guard(problem: Problem, place: Place, kernel: Node) -> Guard:
    """Raises `NotApplicable` where threads are kept out in another way than by comparing their number."""
    algebra, top = Algebra(kernel, blocks_of(problem, kernel)), body(kernel)
    returns = [jump for jump in exits(kernel) if jump.kind in ("ReturnStmt", "GotoStmt")]
    statement, leaves = None, False
    if returns:
        statement = next((node for node in top.children if any(part is returns[0] for part in node.walk())), None)
        leaves = True
        branch = statement.children[1] if statement is not None and statement.kind == "IfStmt" else None
        plain = branch is returns[0] or (branch is not None and branch.children == [returns[0]])
        if any(jump.kind == "GotoStmt" for jump in returns):
            raise NotApplicable(f"{place}: the kernel has a goto")
        if not plain or statement is None or len(statement.children) != 2:
            raise NotApplicable(f"{place}: threads leave the kernel on line {returns[0].line}")
        check_no_barrier_after(problem, place, top, statement)
    elif top.children and top.children[-1].kind == "IfStmt" and len(top.children[-1].children) == 2:
        statement = top.children[-1]
    if statement is None:
        return Guard(None, False, "")
    guard = _bounded(algebra, statement, leaves)
    if guard is None and leaves:
        raise NotApplicable(f"{place}: line {statement.line} does not compare the thread's number with a count")
    later = min(returns[1:], key=lambda jump: jump.start_offset, default=None)
    return dataclasses.replace(guard, leaves_later=later) if guard else Guard(None, False, "")


def _bounded(algebra: Algebra, statement: Node, leaves: bool) -> Guard | None:
    """A comparison of `step * number + spare` with a count; None for another condition."""
    test = statement.children[0].bare()
    opcode = test.opcode if len(test.children) == 2 else ""
    sides = [algebra.polynomial(child) for child in test.children] if opcode in _MIRRORED else []
    number, count = sides if len(sides) == 2 else (None, None)
    if statement.in_macro or number is None or count is None:
        return None
    if "threadIdx.x" in count.atoms:
        number, count, opcode = count, number, _MIRRORED[opcode]
    if leaves:
        opcode = _OPPOSITE[opcode]
    step = number.factor_of("threadIdx.x").terms
    rest = number - GRID_THREAD * Polynomial(step)
    spare = rest.terms.get((), 0)
    if opcode not in ("<", "<=") or set(step) != {()} or step[()] < 1 or set(rest.terms) - {()} or spare < 0:
        return None
    if any(name.startswith(("threadIdx", "blockIdx")) for name in count.atoms):
        return None
    return Guard(statement, leaves, algebra.text(count), spare - (opcode == "<="), step[()])


def _records(problem: Problem, place: Place, kernel: Node, guard: Guard, reasons: list[str]) -> Iterator[Records]:
    """Of all arrays of the line; `reasons` gets why others are none."""
    algebra = Algebra(kernel, blocks_of(problem, kernel))
    addresses = Addresses(algebra)
    found = list(accesses(body(kernel)))
    parameters = {child.id: child for child in kernel.children if child.kind == "ParmVarDecl"}
    lines = {place.evidence.line, *_references(algebra, kernel, place.evidence.line)}
    for root in dict.fromkeys(addresses.element(item.place).root for item in found if item.place.line in lines):
        if root not in parameters:
            reasons.append(f"{place}: the access does not go through a pointer parameter")
            continue
        mine = [item for item in found if addresses.element(item.place).root == root]
        try:
            records = _of_array(problem, place, kernel, guard, parameters[root], mine)
        except NotApplicable as reason:
            reasons.append(str(reason))
            continue
        yield records


def _references(algebra: Algebra, kernel: Node, line: int) -> Iterator[int]:
    """Where the references that a line uses are bound."""
    for node in kernel.everything():
        if node.line == line and node.kind == "DeclRefExpr" and node.reference is not None:
            declared = algebra.declared.get(node.reference.id)
            if declared is not None and declared.canonical.endswith("&"):
                yield declared.line


def _of_array(
    problem: Problem, place: Place, kernel: Node, guard: Guard, parameter: Node, mine: list[Access]
) -> Records:
    name, addresses = parameter.name, Addresses(Algebra(kernel, blocks_of(problem, kernel)))
    lengths: set[int] = set()
    uses: list[tuple[Access, int]] = []
    for item in mine:
        index = addresses.element(item.place).index
        step = index.factor_of("threadIdx.x") if index is not None else Polynomial({})
        length = step.terms.get((), 0) if set(step.terms) == {()} else 0
        rest = index - GRID_THREAD * step if index is not None else step
        offset = rest.terms.get((), 0)
        if length < 1 or set(rest.terms) - {()} or not 0 <= offset < length or item.atomic:
            raise NotApplicable(f"{place}: line {item.place.line} touches {name} other than at the thread's own record")
        lengths.add(length)
        uses.append((item, offset))
    if len(lengths) != 1:
        raise NotApplicable(f"{place}: {name} is taken for records of different lengths")
    (length,) = lengths
    for item in mine:
        if "bound member function" in item.whole.type:
            raise NotApplicable(f"{place}: line {item.place.line} calls a method of {name}, which is not followed")
    _check_no_other_use(place, kernel, parameter, mine)
    left = guard.leaves_later
    if left is not None and any(item.stores for item in mine):
        raise NotApplicable(f"{place}: threads leave the kernel on line {left.line}, and records of {name} change")
    first = [item for item in mine if left is None or item.place.start_offset < left.start_offset]
    if not any(_always(item.place, guard, kernel) for item in first):
        raise NotApplicable(f"{place}: not every thread touches its record of {name}")
    element = re.sub(r"\b(?:const|volatile|struct|class) ", "", mine[0].place.canonical)
    if element in ELEMENT_BYTES:
        word, moved_as = ELEMENT_BYTES[element], element
        size, used = word * length, len({offset for _, offset in uses}) * word
    else:
        size, word, moved_as, fields = _layout(problem, place, element)
        size *= length
        touched = {item.whole.name.removeprefix(".") for item in mine if item.whole is not item.place}
        whole = any(item.whole is item.place for item in mine)
        used = size if whole else sum(fields.get(field, 0) for field in touched)
    if size <= word or size == length * word == word:
        raise NotApplicable(f"{place}: {name} has one word for each thread, not a record")
    if used < MIN_USED * size:
        raise NotApplicable(f"{place}: the kernel uses {used} of the {size} bytes of a record of {name}")
    return Records(parameter.id, name, length, size, word, moved_as, tuple(uses), any(item.stores for item in mine))


def _always(node: Node, guard: Guard, kernel: Node) -> bool:
    """Does every thread that the guard lets through come by?"""
    for parent in node.ancestors():
        if parent is guard.statement:
            return not any(part is node for part in parent.children[0].walk())
        if parent is kernel:
            return guard.statement is None or guard.leaves
        if parent.kind in _CONDITIONAL or (parent.kind == "BinaryOperator" and parent.opcode in ("&&", "||")):
            first = condition(parent) + (parent.children[:1] if parent.kind == "ForStmt" else [])
            if parent.kind == "LambdaExpr" or not any(part is node for tested in first for part in tested.walk()):
                return False
    return False


def _check_no_other_use(place: Place, kernel: Node, parameter: Node, mine: list[Access]) -> None:
    """Raise `NotApplicable` where the array could be reached by another way than the accesses that are known."""
    inside = {id(node) for item in mine for node in item.place.walk()}
    pending, seen = [parameter.id], set()
    while pending:
        identity = pending.pop()
        seen.add(identity)
        for node in kernel.everything():
            if node.reference is None or node.reference.id != identity or id(node) in inside:
                continue
            holder = next((up for up in node.ancestors() if up.kind in ("VarDecl", "CompoundStmt")), None)
            if holder is None or holder.kind != "VarDecl" or initializer(holder) is None:
                raise NotApplicable(f"{place}: line {node.line} uses {parameter.name} as a whole")
            if not holder.canonical.rstrip("const ").endswith("*"):
                raise NotApplicable(f"{place}: line {node.line} uses {parameter.name} as a whole")
            if holder.id not in seen:
                pending.append(holder.id)
    for node in body(kernel).everything():
        if node.kind == "CallExpr" and re.search("sync|barrier|fence", callee_name(node)):
            raise NotApplicable(f"{place}: the kernel has {callee_name(node)} on line {node.line}")


def _layout(problem: Problem, place: Place, element: str) -> tuple[int, int, str, dict[str, int]]:
    """Bytes of a structure, of a word of it, the word's type, and the bytes of its fields. Raises `NotApplicable`."""
    name = element.split("::")[-1]
    for path, text in problem.task.sources.items():
        if not re.search(rf"\b{re.escape(name)}\b", text):
            continue
        try:
            roots = problem.declarations(path, name)
        except NotApplicable:
            continue
        for root in roots:
            for node in root.walk():
                fields = [child for child in node.children if child.kind == "FieldDecl"]
                if node.kind == "CXXRecordDecl" and fields and node.name == name:
                    _check_plain(place, element, node)
                    return _sized(place, element, [(field.name, field.canonical) for field in fields])
    for text in problem.task.sources.values():
        if (members := outline.members(text, name)) is not None:
            return _sized(place, element, members)
    raise NotApplicable(f"{place}: how the fields of {element} lie in memory is not known")


def _check_plain(place: Place, element: str, record: Node) -> None:
    for child in record.children:
        if child.kind in ("CXXMethodDecl", "CXXDestructorDecl") and "virtual" in child.flags:
            raise NotApplicable(f"{place}: {element} has virtual functions")
        if "Attr" in child.kind or "isBitfield" in child.flags:
            raise NotApplicable(f"{place}: {element} is declared with attributes or bit fields")


def _sized(place: Place, element: str, fields: list[tuple[str, str]]) -> tuple[int, int, str, dict[str, int]]:
    kinds: set[str] = set()
    at, widest, sizes = 0, 1, {}
    for name, kind in fields:
        match = re.fullmatch(r"(?:const )?([\w ]+?)((?: ?\[\d+\])*)", kind)
        word = ELEMENT_BYTES.get(match[1]) if match else None
        if match is None or word is None:
            raise NotApplicable(f"{place}: how {name} of {element}, a {kind}, lies in memory is not known")
        size = word
        for bound in re.findall(r"\d+", match[2]):
            size *= int(bound)
        at = -(-at // word) * word + size
        widest, sizes[name] = max(widest, word), size
        kinds.add(match[1])
    word = min(widest, 8)
    moved_as = {4: "float", 8: "double"}.get(word, "") if kinds & {"float", "double", "float2", "float4"} else ""
    return -(-at // widest) * widest, word, moved_as or _WORDS[word], sizes


def _apply(problem: Problem, place: Place, kernel: Node, records: Records, guard: Guard) -> None:
    source, top = problem.source(place.path), body(kernel)
    threads = _threads(problem, place, kernel)
    if any(item.place.in_macro for item, _ in records.uses) or top.in_macro:
        raise NotApplicable(f"{place}: the access to {records.name} is written by a macro")
    words = records.bytes // records.word
    stride = words | 1 if records.word >= 4 else words  # an odd number of words: no bank conflicts
    if threads * stride * records.word > min(MAX_TILE_BYTES, problem.task.device.limits.lds_bytes_per_block):
        raise NotApplicable(f"{place}: {threads} records of {records.bytes} bytes are too much for LDS")
    element = written_element(place, kernel, records.name).replace("const ", "")
    structure = records.length == 1
    keys = (f"block_{records.name}", "word", f"{records.name}_words")
    tile, cell, view = (unused_name(problem, key) for key in keys)
    kind = records.moved_as
    moved, target = (view, f"{tile}_words") if structure else (records.name, tile)
    own = unused_name(problem, f"own_{records.name}")
    for item, offset in records.uses:
        slot = f"{tile}[threadIdx.x * {stride}{f' + {offset}' if offset else ''}]"
        source.replace(item.place.start_offset, item.place.end_offset, own if structure else slot)
    first = next((child for child in top.children if child.begin is not None), top)
    indent = source.indentation(first.start_offset)
    begin, end = unused_name(problem, "first_word"), unused_name(problem, "end_of_words")
    inside = f"{cell} < blockDim.x * {words}" + (f" && {begin} + {cell} < {end}" if guard.count else "")
    step = f"for (unsigned int {cell} = threadIdx.x; {inside}; {cell} += blockDim.x)"
    there = f"{target}[{cell} / {words} * {stride} + {cell} % {words}]" if stride != words else f"{target}[{cell}]"
    access = f"{moved}[{begin} + {cell}]"
    constant = "" if records.stores else "const "
    opening = [
        f"// The block's records of {records.name} go through LDS, moved by neighbouring threads word by word.",
        f"__shared__ {kind if structure else element} {target}[{threads} * {stride}];",
        *([f"{constant}{kind}* {view} = reinterpret_cast<{constant}{kind}*>({records.name});"] if structure else []),
        f"const long long {begin} = static_cast<long long>(blockIdx.x) * blockDim.x * {words};",
        *([f"const long long {end} = {guard.words(words)};"] if guard.count else []),
        f"{step} {there} = {access};",
        "__syncthreads();",
    ]
    if structure:
        slot = f"{target} + threadIdx.x * {stride}"
        opening.append(f"{constant}{element}& {own} = *reinterpret_cast<{constant}{element}*>({slot});")
    source.insert(top.start_offset + 1, "".join(f"\n{indent}{line}" for line in opening))
    if not records.stores:
        return
    added, last = f"__syncthreads();\n{indent}{step} {access} = {there};", top.end_offset - 1
    if guard.statement is not None and guard.leaves:
        enclose_rest(source, str(place), guard.statement, last, ("", added))
        return
    line = source.data.rfind(b"\n", 0, last) + 1
    alone = not source.data[line:last].strip()
    source.insert(line if alone else last, f"{'' if alone else chr(10)}{indent}{added}\n")


def _threads(problem: Problem, place: Place, kernel: Node) -> int:
    program = Program(problem.task.sources)
    widths = []
    for launch in program.launches(kernel.name):
        width, *others = program.extents(launch)
        if any(other != 1 for other in others):
            raise NotApplicable(f"{launch}: the blocks have more than one dimension")
        widths.append(width)
    return max(widths)
