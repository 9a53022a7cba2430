"""PTX instructions of registers alone: arithmetic and bits. One handler per family of instructions."""

from __future__ import annotations

from intelliperf.emulator.compiler.ptxwriter import FLOATS, HALVES, Unknown, Writer, is_signed, type_of

_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
_FLOAT_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_FLOAT_UNARY = {"ex2": "exp2", "lg2": "log2", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "abs": "fabs"}
# As fesetround() is told by the runtime; the nearest is what LLVM's own instructions do.
_ROUNDINGS = {"rz": 0, "rm": 1, "rp": 2}
_ROUNDED = {"add": 0, "sub": 1, "mul": 2, "div": 3, "fma": 4, "mad": 4, "sqrt": 5, "rcp": 6}
_CARRY = "%carry"


def read_operand(writer: Writer, operand: str, kind: str) -> str:
    """An operand of PTX type `kind`; 16-bit floats come as floats (a pair is not read at once)."""
    if kind in ("f16", "bf16"):
        return widened(writer, writer.read(operand, "i16"), kind)
    return writer.read_signed(operand, type_of(kind)) if is_signed(kind) else writer.read(operand, type_of(kind))


def widened(writer: Writer, bits: str, kind: str) -> str:
    """The float that 16 bits stand for."""
    if kind == "f16":
        return writer.call("float", "__simt_ptx_from_f16", ("i16", bits))
    high = writer.put(f"shl i32 {writer.put(f'zext i16 {bits} to i32')}, 16")
    return writer.put(f"bitcast i32 {high} to float")


def narrowed(writer: Writer, value: str, kind: str) -> str:
    """16 bits of the nearest such float."""
    return writer.call("i16", f"__simt_ptx_to_{kind}", ("float", value))


def saturated(writer: Writer, value: str, kind: str) -> str:
    """Between 0 and 1; 0 for what is not a number."""
    name = "f32" if kind == "float" else "f64"
    least = writer.call(kind, f"llvm.maxnum.{name}", (kind, value), (kind, "0.0"))
    return writer.call(kind, f"llvm.minnum.{name}", (kind, least), (kind, "1.0"))


def _halves(words: list[str], operands: list[str], writer: Writer) -> bool:
    """Arithmetic of 16-bit floats and of pairs of them, computed in float and rounded once."""
    kind = words[-1]
    if kind not in HALVES:
        return False
    if any(word not in ("rn", "ftz", "sat", "relu", "NaN", "noftz") for word in words[1:-1]):
        raise Unknown(".".join(words))
    single, pair = kind.removesuffix("x2"), kind.endswith("x2")
    values = [writer.read(operand, type_of(kind)) for operand in operands[1:]]
    made = []
    for i in range(2 if pair else 1):
        parts = []
        for value in values:
            part = value
            if pair:
                moved = writer.put(f"lshr i32 {value}, {16 * i}") if i else value
                part = writer.put(f"trunc i32 {moved} to i16")
            parts.append(widened(writer, part, single))
        result = _float_result(words, parts, writer)
        if "sat" in words:
            result = saturated(writer, result, "float")
        if "relu" in words:
            result = writer.call("float", "llvm.maxnum.f32", ("float", result), ("float", "0.0"))
        made.append(narrowed(writer, result, single))
    if not pair:
        writer.write(operands[0], made[0], "i16")
        return True
    low, high = (writer.put(f"zext i16 {part} to i32") for part in made)
    high = writer.put(f"shl i32 {high}, 16")
    writer.write(operands[0], writer.put(f"or i32 {high}, {low}"), "i32")
    return True


def _float_result(words: list[str], parts: list[str], writer: Writer) -> str:
    operation = words[0]
    if operation in ("add", "sub", "mul"):
        return writer.put(f"{_FLOAT_BINARY[operation]} float {parts[0]}, {parts[1]}")
    if operation in ("fma", "mad"):
        return writer.call("float", "__simt_ptx_fma_to_odd", *(("float", part) for part in parts))
    if operation in ("min", "max"):
        return writer.call("float", f"llvm.{operation}num.f32", ("float", parts[0]), ("float", parts[1]))
    if operation == "neg":
        return writer.put(f"fneg float {parts[0]}")
    if operation == "tanh":
        return writer.call("float", "tanhf", ("float", parts[0]))
    if operation in ("abs", "ex2"):
        return writer.call("float", f"llvm.{_FLOAT_UNARY[operation]}.f32", ("float", parts[0]))
    raise Unknown(".".join(words))


def _rounded(words: list[str], operands: list[str], writer: Writer) -> bool:
    """What is rounded another way than to the nearest is the runtime's."""
    found = [word for word in words if word in _ROUNDINGS]
    if not found or words[-1] not in FLOATS or words[0] not in _ROUNDED:
        return False
    kind = FLOATS[words[-1]]
    values = [(kind, writer.read(operand, kind)) for operand in operands[1:]]
    values += [(kind, "0.0")] * (3 - len(values))
    chosen = [("i32", str(_ROUNDED[words[0]])), ("i32", str(_ROUNDINGS[found[0]]))]
    made = writer.call(kind, f"__simt_ptx_rounded_{words[-1]}", *chosen, *values)
    writer.write(operands[0], saturated(writer, made, kind) if "sat" in words else made, kind)
    return True


def arithmetic(words: list[str], operands: list[str], writer: Writer) -> None:
    if _halves(words, operands, writer) or _rounded(words, operands, writer):
        return
    operation, kind = words[0], type_of(words[-1])
    if "cc" in words or operation in ("addc", "subc"):
        _with_carry(words, operands, writer)
        return
    rest = [word for word in words[1:-1] if word != "sat"]
    first, second = (read_operand(writer, operand, words[-1]) for operand in operands[1:3])
    if kind in ("float", "double"):
        if rest or operation not in _FLOAT_BINARY:
            raise Unknown(".".join(words))
        made = writer.put(f"{_FLOAT_BINARY[operation]} {kind} {first}, {second}")
        writer.write(operands[0], saturated(writer, made, kind) if "sat" in words else made, kind)
        return
    if operation == "mul":
        product(words, operands, writer)
        return
    if rest:
        raise Unknown(".".join(words))
    if "sat" in words:
        prefix = "s" if is_signed(words[-1]) else "u"
        made = writer.call(kind, f"llvm.{prefix}{operation}.sat.{kind}", (kind, first), (kind, second))
    elif operation in ("div", "rem"):
        made = _quotient(operation, words[-1], first, second, writer)
    elif operation in _BINARY:
        made = writer.put(f"{_BINARY[operation]} {kind} {first}, {second}")
    else:
        raise Unknown(".".join(words))
    writer.write(operands[0], made, kind, is_signed(words[-1]))


def _quotient(operation: str, kind: str, first: str, second: str, writer: Writer) -> str:
    """A division by zero has some value on the device and does not end the program."""
    whole = type_of(kind)
    zero = writer.put(f"icmp eq {whole} {second}, 0")
    divisor = writer.put(f"select i1 {zero}, {whole} 1, {whole} {second}")
    return writer.put(f"{'s' if is_signed(kind) else 'u'}{operation} {whole} {first}, {divisor}")


def _with_carry(words: list[str], operands: list[str], writer: Writer, first: str | None = None) -> None:
    """Sums that take the carry, leave it or both; `first` stands for the first operand if it is given."""
    kind = type_of(words[-1])
    if kind not in ("i32", "i64"):
        raise Unknown(".".join(words))
    double, width = f"i{2 * int(kind[1:])}", kind[1:]
    minus = words[0].startswith("sub")
    verb = "sub" if minus else "add"
    left = first if first is not None else writer.read(operands[1], kind)
    values = [left, writer.read(operands[-1], kind)]
    wide = [writer.put(f"zext {kind} {value} to {double}") for value in values]
    total = writer.put(f"{verb} {double} {wide[0]}, {wide[1]}")
    if words[0] in ("addc", "subc", "madc"):
        carry = writer.put(f"zext i1 {writer.read(_CARRY, 'i1')} to {double}")
        total = writer.put(f"{verb} {double} {total}, {carry}")
    if "cc" in words:
        writer.slots[_CARRY] = "i1"
        writer.write(_CARRY, writer.put(f"trunc {double} {writer.put(f'lshr {double} {total}, {width}')} to i1"), "i1")
    writer.write(operands[0], writer.put(f"trunc {double} {total} to {kind}"), kind)


def product(words: list[str], operands: list[str], writer: Writer) -> None:
    """mul and mad of integers: the low or high half or all of it."""
    kind = type_of(words[-1])
    part = next((word for word in words if word in ("lo", "hi", "wide")), "")
    if not part or any(word not in ("lo", "hi", "wide", "cc") for word in words[1:-1]):
        raise Unknown(".".join(words))
    double = f"i{2 * int(kind[1:])}"
    extend = "sext" if is_signed(words[-1]) else "zext"
    wide = [writer.put(f"{extend} {kind} {read_operand(writer, o, words[-1])} to {double}") for o in operands[1:3]]
    value, made = writer.put(f"mul {double} {wide[0]}, {wide[1]}"), double
    if part != "wide":
        if part == "hi":
            value = writer.put(f"lshr {double} {value}, {kind[1:]}")
        value, made = writer.put(f"trunc {double} {value} to {kind}"), kind
    if "cc" in words or words[0] == "madc":
        _with_carry(words, operands, writer, value)
        return
    if words[0] == "mad":
        value = writer.put(f"add {made} {value}, {writer.read_signed(operands[3], made)}")
    writer.write(operands[0], value, made)


def multiply_add(words: list[str], operands: list[str], writer: Writer) -> None:
    if _halves(words, operands, writer) or _rounded(words, operands, writer):
        return
    if words[-1] not in FLOATS:
        product(words, operands, writer)
        return
    if any(word != "sat" for word in words[1:-1]):
        raise Unknown(".".join(words))
    kind = FLOATS[words[-1]]
    made = writer.call(kind, f"llvm.fma.{words[-1]}", *((kind, writer.read(o, kind)) for o in operands[1:4]))
    writer.write(operands[0], saturated(writer, made, kind) if "sat" in words else made, kind)


def product_24(words: list[str], operands: list[str], writer: Writer) -> None:
    if words[1:-1] != ["lo"] or words[-1] not in ("u32", "s32"):
        raise Unknown(".".join(words))
    right = "ashr" if is_signed(words[-1]) else "lshr"
    parts = []
    for operand in operands[1:3]:
        high = writer.put(f"shl i32 {writer.read(operand, 'i32')}, 8")
        parts.append(writer.put(f"{right} i32 {high}, 8"))
    made = writer.put(f"mul i32 {parts[0]}, {parts[1]}")
    if words[0] == "mad24":
        made = writer.put(f"add i32 {made}, {writer.read(operands[3], 'i32')}")
    writer.write(operands[0], made, "i32")


def absolute_difference(words: list[str], operands: list[str], writer: Writer) -> None:
    kind = type_of(words[-1])
    first, second = (read_operand(writer, operand, words[-1]) for operand in operands[1:3])
    less = writer.put(f"icmp {'s' if is_signed(words[-1]) else 'u'}lt {kind} {first}, {second}")
    up, down = writer.put(f"sub {kind} {second}, {first}"), writer.put(f"sub {kind} {first}, {second}")
    apart = writer.put(f"select i1 {less}, {kind} {up}, {kind} {down}")
    writer.write(operands[0], writer.put(f"add {kind} {apart}, {writer.read(operands[3], kind)}"), kind)


def unary(words: list[str], operands: list[str], writer: Writer) -> None:
    if words[0] != "mov" and (_halves(words, operands, writer) or _rounded(words, operands, writer)):
        return
    kind = type_of(words[-1])
    value = read_operand(writer, operands[1], words[-1]) if words[-1] not in HALVES else writer.read(operands[1], kind)
    operation = words[0]
    if operation == "mov":
        made = value
    elif operation == "not":
        made = writer.put(f"xor {kind} {value}, -1")
    elif operation == "cnot":
        made = writer.put(f"zext i1 {writer.put(f'icmp eq {kind} {value}, 0')} to {kind}")
    elif operation == "neg":
        made = writer.put(f"fneg {kind} {value}" if kind in ("float", "double") else f"sub {kind} 0, {value}")
    elif operation == "abs" and words[-1] not in FLOATS:
        made = writer.call(kind, f"llvm.abs.{kind}", (kind, value), ("i1", "false"))
    elif operation in ("rcp", "rsqrt") and words[-1] in FLOATS:
        root = writer.call(kind, f"llvm.sqrt.{words[-1]}", (kind, value)) if operation == "rsqrt" else value
        made = writer.put(f"fdiv {kind} 1.0, {root}")
    elif operation == "tanh" and kind == "float":
        made = writer.call("float", "tanhf", ("float", value))
    elif operation in _FLOAT_UNARY and words[-1] in FLOATS:
        made = writer.call(kind, f"llvm.{_FLOAT_UNARY[operation]}.{words[-1]}", (kind, value))
    elif operation == "brev":
        made = writer.call(kind, f"llvm.bitreverse.{kind}", (kind, value))
    elif operation in ("popc", "clz"):
        more = [("i1", "false")] if operation == "clz" else []
        counted = writer.call(kind, f"llvm.{'ctlz' if more else 'ctpop'}.{kind}", (kind, value), *more)
        made, kind = (counted, kind) if kind == "i32" else (writer.put(f"trunc {kind} {counted} to i32"), "i32")
    else:
        raise Unknown(".".join(words))
    writer.write(operands[0], made, kind, is_signed(words[-1]))


def move(words: list[str], operands: list[str], writer: Writer) -> None:
    """One value, or a wide register from or to the parts that stand in braces."""
    kind = type_of(words[-1])
    if not any(operand.startswith("{") for operand in operands):
        unary(words, operands, writer)
        return
    into = operands[0].startswith("{")
    names = [part.strip() for part in operands[0 if into else 1].strip("{}").split(",")]
    width = int(kind[1:]) // len(names)
    part_kind = f"i{width}"
    if into:
        whole = writer.read(operands[1], kind)
        for i, name in enumerate(names):
            moved = writer.put(f"lshr {kind} {whole}, {width * i}") if i else whole
            writer.write(name, writer.put(f"trunc {kind} {moved} to {part_kind}"), part_kind)
        return
    total = "0"
    for i, name in enumerate(names):
        wide = writer.put(f"zext {part_kind} {writer.read(name, part_kind)} to {kind}")
        moved = writer.put(f"shl {kind} {wide}, {width * i}") if i else wide
        total = writer.put(f"or {kind} {total}, {moved}")
    writer.write(operands[0], total, kind)


def least_or_most(words: list[str], operands: list[str], writer: Writer) -> None:
    if _halves(words, operands, writer):
        return
    if len(words) != 2:
        raise Unknown(".".join(words))
    kind, number = type_of(words[-1]), words[-1] in FLOATS
    prefix, suffix = ("", "num") if number else ("s" if is_signed(words[-1]) else "u", "")
    name = f"llvm.{prefix}{words[0]}{suffix}.{words[-1] if number else kind}"
    made = read_operand(writer, operands[1], words[-1])
    for operand in operands[2:]:
        made = writer.call(kind, name, (kind, made), (kind, read_operand(writer, operand, words[-1])))
    writer.write(operands[0], made, kind, is_signed(words[-1]))


def copy_sign(words: list[str], operands: list[str], writer: Writer) -> None:
    kind = FLOATS[words[-1]]
    sign, value = (writer.read(operand, kind) for operand in operands[1:3])  # the sign stands first
    writer.write(operands[0], writer.call(kind, f"llvm.copysign.{words[-1]}", (kind, value), (kind, sign)), kind)


def of_the_runtime(words: list[str], operands: list[str], writer: Writer) -> None:
    """Whole instructions of 32-bit words that the runtime has, by their full name."""
    name = _RUNTIME[".".join(words)]
    values = [("i32", writer.read(operand, "i32")) for operand in operands[1:]]
    writer.write(operands[0], writer.call("i32", f"__simt_ptx_{name}", *values), "i32")


_RUNTIME = {
    "prmt.b32": "prmt", "fns.b32": "fns",
    **{f"dp4a.{a}.{b}": f"dp4a_{a[0]}{b[0]}" for a in ("u32", "s32") for b in ("u32", "s32")},
    "vabsdiff4.u32.u32.u32": "vabsdiff4", "vabsdiff4.u32.u32.u32.add": "vabsdiff4_add",
}  # fmt: skip

HANDLERS = {
    **dict.fromkeys(("add", "sub", "addc", "subc", "mul", "div", "rem", "and", "or", "xor"), arithmetic),
    **dict.fromkeys(("mad", "fma", "madc"), multiply_add),
    **dict.fromkeys(("not", "cnot", "neg", "rcp", "rsqrt", "brev", "popc", "clz", "tanh", *_FLOAT_UNARY), unary),
    **dict.fromkeys(("min", "max"), least_or_most),
    **dict.fromkeys(("mul24", "mad24"), product_24),
    **dict.fromkeys(("prmt", "fns", "dp4a", "vabsdiff4"), of_the_runtime),
    "sad": absolute_difference,
    "mov": move,
    "copysign": copy_sign,
}
