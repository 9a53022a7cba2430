"""Inline PTX of more than one instruction's worth: registers, arithmetic, comparisons, loads and stores, as LLVM IR.

A statement becomes a function of its inputs in which every operand and every register that it declares is a
stack slot; the optimiser inlines it and turns the slots back into values. What is not in the tables is left
alone and refused by name afterwards. Source: NVIDIA's PTX ISA.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_FLOATS = {"f32": "float", "f64": "double"}
_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor", "shl": "shl"}
_FLOAT_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
            "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}  # fmt: skip
_FLOAT_UNARY = {"ex2": "exp2", "lg2": "log2", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "abs": "fabs"}
_HINTS = frozenset(
    {"global", "shared", "local", "const", "volatile", "relaxed", "acquire", "release", "weak", "gpu", "sys", "cta",
     "nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "rn", "approx", "ftz", "full",
     "L1::evict_last", "L1::evict_first", "L1::no_allocate", "L2::128B", "L2::256B", "wrap"}
)  # fmt: skip
_READ_AGAIN = frozenset({"volatile", "relaxed", "acquire"})
_NO_EFFECT = frozenset({"prefetch", "prefetchu", "membar", "fence", "discard", "applypriority"})
_OPERAND = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|[^,\s]+")
_REGISTER = re.compile(r"\.reg\s+\.(\w+)\s+(.+)$")
_PLACE = re.compile(r"\[\s*(\$\d+|\w+)\s*(?:\+\s*(\d+))?\s*\]$")
_WIDTHS = {"pred": "i1", "f32": "float", "f64": "double"}


class Unknown(Exception):
    """An instruction or a form of one that the tables do not have."""


@dataclass
class _Writer:
    """The body of the function that stands for one statement."""

    slots: dict[str, str]  # operand ($0) or register name: IR type
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def read(self, operand: str, wanted: str) -> str:
        """A value of IR type `wanted`: bits are kept, wider integers cut and narrower ones filled with zeros."""
        if operand.startswith("0f") and wanted == "float":
            bits = self.put(f"bitcast i32 {int(operand[2:], 16)} to float")
            return bits
        if operand.startswith("0d") and wanted == "double":
            return self.put(f"bitcast i64 {int(operand[2:], 16)} to double")
        if re.fullmatch(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?", operand) and wanted not in ("float", "double"):
            value = int(operand.rstrip("U"), 0)
            return str(value % (1 << int(wanted[1:])))
        if operand not in self.slots:
            raise Unknown(operand)
        kind = self.slots[operand]
        return self._as(self.put(f"load {kind}, ptr %s{_slot(operand)}"), kind, wanted)

    def write(self, operand: str, value: str, kind: str) -> None:
        if operand == "_":
            return
        if operand not in self.slots:
            raise Unknown(operand)
        wanted = self.slots[operand]
        self.lines.append(f"  store {wanted} {self._as(value, kind, wanted)}, ptr %s{_slot(operand)}")

    def _as(self, value: str, kind: str, wanted: str) -> str:
        if kind == wanted:
            return value
        if kind == "ptr" or wanted == "ptr":
            return self.put(f"{'ptrtoint' if kind == 'ptr' else 'inttoptr'} {kind} {value} to {wanted}")
        if kind in ("float", "double"):
            whole = "i32" if kind == "float" else "i64"
            return self._as(self.put(f"bitcast {kind} {value} to {whole}"), whole, wanted)
        if wanted in ("float", "double"):
            whole = "i32" if wanted == "float" else "i64"
            return self.put(f"bitcast {whole} {self._as(value, kind, whole)} to {wanted}")
        step = "trunc" if int(kind[1:]) > int(wanted[1:]) else "zext"
        return self.put(f"{step} {kind} {value} to {wanted}")


def ptx_function(name: str, text: str, outputs: list[str], inputs: list[tuple[str, int | None]]) -> str:
    """An IR function for the instructions in `text`; raises `Unknown`.

    `outputs` are IR types; `inputs` are types with the number of the output that the operand shares, or None.
    """
    slots = {f"${i}": kind for i, kind in enumerate(outputs)}
    plain = len(outputs)
    start: list[str] = []
    for number, (kind, tied) in enumerate(inputs):
        place = tied if tied is not None else plain
        plain += 1
        slots.setdefault(f"${place}", kind)
        start.append(f"  store {kind} %a{number}, ptr %s{_slot(f'${place}')}")
    writer = _Writer(slots)
    for statement in _statements(text):
        _translate(statement, writer)
    result = "void" if not outputs else outputs[0] if len(outputs) == 1 else "{ " + ", ".join(outputs) + " }"
    parameters = ", ".join(f"{kind} %a{i}" for i, (kind, _) in enumerate(inputs))
    body = [f"  %s{_slot(slot)} = alloca {kind}" for slot, kind in slots.items()]
    return "\n".join(
        (f"define internal {result} @{name}({parameters}) alwaysinline {{", *body, *start, *writer.lines,
         *_returned(outputs, result), "}", "")
    )  # fmt: skip


def _returned(outputs: list[str], result: str) -> list[str]:
    if not outputs:
        return ["  ret void"]
    loads = [f"  %r{i} = load {kind}, ptr %s{_slot(f'${i}')}" for i, kind in enumerate(outputs)]
    if len(outputs) == 1:
        return [*loads, f"  ret {result} %r0"]
    made, whole = [], "poison"
    for i, kind in enumerate(outputs):
        made.append(f"  %w{i} = insertvalue {result} {whole}, {kind} %r{i}, {i}")
        whole = f"%w{i}"
    return [*loads, *made, f"  ret {result} {whole}"]


def _slot(name: str) -> str:
    return name.replace("$", "_").replace("%", "p.")


def _statements(text: str) -> list[str]:
    body = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text).strip()
    if body.startswith("{") and body.rstrip("; \t\n").endswith("}"):
        body = body.rstrip("; \t\n")[1:-1]
    return [" ".join(part.split()) for part in body.split(";") if part.strip()]


def _translate(statement: str, writer: _Writer) -> None:
    if declared := _REGISTER.match(statement):
        kind = _WIDTHS.get(declared[1]) or f"i{_bits(declared[1])}"
        for register in declared[2].split(","):
            writer.slots[register.strip()] = kind
        return
    instruction, _, rest = statement.partition(" ")
    words = instruction.split(".")
    operands = _OPERAND.findall(rest)
    if words[0] in _NO_EFFECT:
        return
    if words[0] in ("ld", "ldu", "st"):
        _memory(words, operands, writer)
        return
    handler = _HANDLERS.get(words[0])
    if handler is None:
        raise Unknown(instruction)
    try:
        handler([word for word in words if word not in _HINTS], operands, writer)
    except (IndexError, ValueError) as error:
        raise Unknown(instruction) from error


def _bits(kind: str) -> int:
    if not re.fullmatch(r"[busf](?:8|16|32|64)", kind):
        raise Unknown(kind)
    return int(kind[1:])


def _type(kind: str) -> str:
    return _WIDTHS.get(kind) or f"i{_bits(kind)}"


def _memory(words: list[str], operands: list[str], writer: _Writer) -> None:
    if "param" in words or "shared" in words or "shared::cta" in words:
        raise Unknown(".".join(words))  # a shared address is an offset, no pointer
    kept = [word for word in words[1:] if word not in _HINTS]
    lanes = int(kept[0][1]) if kept[0] in ("v2", "v4") else 1
    kind = _type(kept[-1])
    if len(kept) != (2 if lanes > 1 else 1):
        raise Unknown(".".join(words))
    values, place = (operands[1], operands[0]) if words[0] == "st" else (operands[0], operands[1])
    found = _PLACE.match(place)
    if not found:
        raise Unknown(place)
    pointer = writer.put(f"getelementptr i8, ptr {writer.read(found[1], 'ptr')}, i64 {found[2] or 0}")
    names = [part.strip() for part in values.strip("{}").split(",")]
    vector = kind if lanes == 1 else f"<{lanes} x {kind}>"
    align = lanes * (8 if kind in ("i64", "double") else 4 if kind in ("i32", "float") else int(kind[1:]) // 8)
    if words[0] != "st":
        again = "volatile " if _READ_AGAIN.intersection(words) else ""
        whole = writer.put(f"load {again}{vector}, ptr {pointer}, align {align}")
        for i, name in enumerate(names):
            element = whole if lanes == 1 else writer.put(f"extractelement {vector} {whole}, i32 {i}")
            if kept[-1] in ("s8", "s16"):
                element, loaded = writer.put(f"sext {kind} {element} to i32"), "i32"
            else:
                loaded = kind
            writer.write(name, element, loaded)
        return
    whole = "poison"
    for i, name in enumerate(names):
        element = writer.read(name, kind)
        whole = element if lanes == 1 else writer.put(f"insertelement {vector} {whole}, {kind} {element}, i32 {i}")
    writer.lines.append(f"  store {vector} {whole}, ptr {pointer}, align {align}")


def _arithmetic(words: list[str], operands: list[str], writer: _Writer) -> None:
    operation, kind = words[0], _type(words[-1])
    carries, with_carry = "cc" in words, operation in ("addc", "subc")
    first, second = writer.read(operands[1], kind), writer.read(operands[2], kind)
    rest = [word for word in words[1:-1] if word != "cc"]
    if kind in ("float", "double"):
        if rest or operation not in _FLOAT_BINARY:
            raise Unknown(".".join(words))
        writer.write(operands[0], writer.put(f"{_FLOAT_BINARY[operation]} {kind} {first}, {second}"), kind)
        return
    if carries or with_carry:
        if kind != "i32" or rest:
            raise Unknown(".".join(words))
        minus = operation.startswith("sub")
        wide = [writer.put(f"zext i32 {value} to i64") for value in (first, second)]
        total = writer.put(f"{'sub' if minus else 'add'} i64 {wide[0]}, {wide[1]}")
        if with_carry:
            carry = writer.put(f"zext i1 {writer.read('%carry', 'i1')} to i64")
            total = writer.put(f"{'sub' if minus else 'add'} i64 {total}, {carry}")
        if carries:
            writer.slots["%carry"] = "i1"
            high = writer.put(f"lshr i64 {total}, 32")
            writer.write("%carry", writer.put(f"trunc i64 {high} to i1"), "i1")
        writer.write(operands[0], writer.put(f"trunc i64 {total} to i32"), "i32")
        return
    if operation == "mul":
        _product(words, operands, writer, None)
        return
    if rest or operation not in _BINARY:
        raise Unknown(".".join(words))
    writer.write(operands[0], writer.put(f"{_BINARY[operation]} {kind} {first}, {second}"), kind)


def _product(words: list[str], operands: list[str], writer: _Writer, addend: str | None) -> None:
    kind, part = _type(words[-1]), words[1]
    if len(words) != 3 or part not in ("lo", "hi", "wide"):
        raise Unknown(".".join(words))
    double = f"i{2 * int(kind[1:])}"
    extend = "sext" if words[-1][0] == "s" else "zext"
    wide = [writer.put(f"{extend} {kind} {writer.read(o, kind)} to {double}") for o in operands[1:3]]
    value, made = writer.put(f"mul {double} {wide[0]}, {wide[1]}"), double
    if part != "wide":
        if part == "hi":
            value = writer.put(f"lshr {double} {value}, {kind[1:]}")
        value, made = writer.put(f"trunc {double} {value} to {kind}"), kind
    if addend is not None:
        value = writer.put(f"add {made} {value}, {writer.read(addend, made)}")
    writer.write(operands[0], value, made)


def _multiply_add(words: list[str], operands: list[str], writer: _Writer) -> None:
    if words[-1] not in _FLOATS:
        _product(words, operands, writer, operands[3])
        return
    if len(words) != 2:
        raise Unknown(".".join(words))
    kind = _FLOATS[words[-1]]
    values = ", ".join(f"{kind} {writer.read(operand, kind)}" for operand in operands[1:4])
    writer.write(operands[0], writer.put(f"call {kind} @llvm.fma.{words[-1]}({values})"), kind)


def _shift_right(words: list[str], operands: list[str], writer: _Writer) -> None:
    kind = _type(words[-1])
    amount = writer.read(operands[2], "i32")
    limit = int(kind[1:]) - 1
    signed = words[-1][0] == "s"
    kept = writer.put(f"call i32 @llvm.umin.i32(i32 {amount}, i32 {limit})")
    wide = kept if kind == "i32" else writer.put(f"{'zext' if limit > 31 else 'trunc'} i32 {kept} to {kind}")
    value = writer.read(operands[1], kind)
    moved = writer.put(f"{'ashr' if signed else 'lshr'} {kind} {value}, {wide}")
    if not signed:
        inside = writer.put(f"icmp ule i32 {amount}, {limit}")
        moved = writer.put(f"select i1 {inside}, {kind} {moved}, {kind} 0")
    writer.write(operands[0], moved, kind)


def _shift_left(words: list[str], operands: list[str], writer: _Writer) -> None:
    kind = _type(words[-1])
    amount = writer.read(operands[2], "i32")
    limit = int(kind[1:]) - 1
    kept = writer.put(f"and i32 {amount}, {limit}")
    wide = kept if kind == "i32" else writer.put(f"{'zext' if limit > 31 else 'trunc'} i32 {kept} to {kind}")
    moved = writer.put(f"shl {kind} {writer.read(operands[1], kind)}, {wide}")
    inside = writer.put(f"icmp ule i32 {amount}, {limit}")
    writer.write(operands[0], writer.put(f"select i1 {inside}, {kind} {moved}, {kind} 0"), kind)


def _funnel(words: list[str], operands: list[str], writer: _Writer) -> None:
    if words[2:] != ["b32"] or words[1] not in ("l", "r"):  # "wrap" is what llvm's functions do
        raise Unknown(".".join(words))
    low, high, amount = (writer.read(operand, "i32") for operand in operands[1:4])
    name = "fshl" if words[1] == "l" else "fshr"
    writer.write(operands[0], writer.put(f"call i32 @llvm.{name}.i32(i32 {high}, i32 {low}, i32 {amount})"), "i32")


def _logic(words: list[str], operands: list[str], writer: _Writer) -> None:
    table = int(operands[4], 0)
    inputs = [writer.read(operand, "i32") for operand in operands[1:4]]
    flipped = [writer.put(f"xor i32 {value}, -1") for value in inputs]
    total = "0"
    for row in range(8):
        if table >> row & 1:
            a, b, c = (inputs[i] if row >> (2 - i) & 1 else flipped[i] for i in range(3))
            term = writer.put(f"and i32 {writer.put(f'and i32 {a}, {b}')}, {c}")
            total = writer.put(f"or i32 {total}, {term}")
    writer.write(operands[0], total, "i32")


def _unary(words: list[str], operands: list[str], writer: _Writer) -> None:
    kind = _type(words[-1])
    value = writer.read(operands[1], kind)
    operation = words[0]
    if operation == "mov":
        made = value
    elif operation == "not":
        made = writer.put(f"xor {kind} {value}, -1")
    elif operation == "neg":
        made = writer.put(f"fneg {kind} {value}" if kind in ("float", "double") else f"sub {kind} 0, {value}")
    elif operation in ("rcp", "rsqrt") and words[-1] in _FLOATS:
        root = writer.put(f"call {kind} @llvm.sqrt.{words[-1]}({kind} {value})") if operation == "rsqrt" else value
        made = writer.put(f"fdiv {kind} 1.0, {root}")
    elif operation in _FLOAT_UNARY and words[-1] in _FLOATS:
        made = writer.put(f"call {kind} @llvm.{_FLOAT_UNARY[operation]}.{words[-1]}({kind} {value})")
    elif operation == "brev":
        made = writer.put(f"call {kind} @llvm.bitreverse.{kind}({kind} {value})")
    elif operation in ("popc", "clz"):
        name, more = ("ctpop", "") if operation == "popc" else ("ctlz", ", i1 false")
        counted = writer.put(f"call {kind} @llvm.{name}.{kind}({kind} {value}{more})")
        made, kind = (counted, kind) if kind == "i32" else (writer.put(f"trunc {kind} {counted} to i32"), "i32")
    else:
        raise Unknown(".".join(words))
    writer.write(operands[0], made, kind)


def _move(words: list[str], operands: list[str], writer: _Writer) -> None:
    """One value, or a wide register from or to the two halves that stand in braces."""
    kind = _type(words[-1])
    if not any(operand.startswith("{") for operand in operands):
        _unary(words, operands, writer)
        return
    half, width = f"i{int(kind[1:]) // 2}", int(kind[1:]) // 2
    names = [part.strip() for operand in operands if operand.startswith("{") for part in operand.strip("{}").split(",")]
    low, high = names
    if operands[0].startswith("{"):
        whole = writer.read(operands[1], kind)
        for name, value in ((low, whole), (high, writer.put(f"lshr {kind} {whole}, {width}"))):
            writer.write(name, writer.put(f"trunc {kind} {value} to {half}"), half)
        return
    parts = [writer.put(f"zext {half} {writer.read(name, half)} to {kind}") for name in names]
    moved = writer.put(f"shl {kind} {parts[1]}, {width}")
    writer.write(operands[0], writer.put(f"or {kind} {moved}, {parts[0]}"), kind)


def _least_or_most(words: list[str], operands: list[str], writer: _Writer) -> None:
    kind = _type(words[-1])
    prefix = {"s": "s", "u": "u", "f": ""}[words[-1][0]]
    suffix = "num" if words[-1][0] == "f" else ""
    name = f"llvm.{prefix}{words[0]}{suffix}.{words[-1] if suffix else kind}"
    values = ", ".join(f"{kind} {writer.read(operand, kind)}" for operand in operands[1:3])
    writer.write(operands[0], writer.put(f"call {kind} @{name}({values})"), kind)


def _compare(words: list[str], operands: list[str], writer: _Writer) -> None:
    if len(words) != 3 or words[1] not in _COMPARE:
        raise Unknown(".".join(words))
    kind, relation = _type(words[-1]), _COMPARE[words[1]]
    values = f"{writer.read(operands[1], kind)}, {writer.read(operands[2], kind)}"
    if kind in ("float", "double"):
        made = writer.put(f"fcmp {'une' if relation == 'ne' else 'o' + relation} {kind} {values}")
    else:
        sign = "" if relation in ("eq", "ne") else "s" if words[-1][0] == "s" else "u"
        made = writer.put(f"icmp {sign}{relation} {kind} {values}")
    writer.write(operands[0], made, "i1")


def _select(words: list[str], operands: list[str], writer: _Writer) -> None:
    kind = _type(words[-1])
    yes, no = (writer.read(operand, kind) for operand in operands[1:3])
    chosen = writer.put(f"select i1 {writer.read(operands[3], 'i1')}, {kind} {yes}, {kind} {no}")
    writer.write(operands[0], chosen, kind)


_HANDLERS = {
    **dict.fromkeys(("add", "sub", "addc", "subc", "mul", "div", "and", "or", "xor"), _arithmetic),
    **dict.fromkeys(("mad", "fma"), _multiply_add),
    **dict.fromkeys(("not", "neg", "rcp", "rsqrt", "brev", "popc", "clz", *_FLOAT_UNARY), _unary),
    **dict.fromkeys(("min", "max"), _least_or_most),
    "mov": _move,
    "shr": _shift_right,
    "shl": _shift_left,
    "shf": _funnel,
    "lop3": _logic,
    "setp": _compare,
    "selp": _select,
}
