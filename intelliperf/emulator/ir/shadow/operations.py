"""The instructions that have to do with floating-point numbers, each with what it means for shadows."""

from __future__ import annotations

import re
from collections.abc import Callable

from intelliperf.emulator.ir.module import Instruction
from intelliperf.emulator.ir.shadow.carriers import moved_by
from intelliperf.emulator.ir.shadow.memory import FLOATS, INTEGERS
from intelliperf.emulator.ir.shadow.state import NUMBER_OF_BITS, VECTOR, Lanes, State
from intelliperf.emulator.ir.shadow.values import NOTHING, Emitter, Shadow
from intelliperf.emulator.ir.text import NAME, pointer_operand, split_top, type_of

_REPLACING = {"max": "sgt", "min": "slt", "umax": "ugt", "umin": "ult"}  # of numbers, by their bits
_ACCESS = re.compile(r"^(?:load|store|atomicrmw|cmpxchg) (?:atomic |volatile |weak )*")
_COPIED = re.compile(r"i64$|i128$|<\d+ x (?:i8|i16|i32|i64)>$")
_BINARY: dict[str, Callable[[Emitter, Shadow, Shadow], Shadow]] = {
    "fadd": Emitter.add, "fsub": Emitter.subtract, "fmul": Emitter.multiply,
}  # fmt: skip
_NARROW = {"half": "half", "bfloat": "bfloat", "float": "single"}  # formats that the original must have, too


def operand(text: str) -> tuple[str, str]:
    """Type and value."""
    kind = type_of(text)
    return kind, text.strip()[len(kind) :].strip()


def is_number(kind: str) -> bool:
    return kind in FLOATS or VECTOR.match(kind) is not None


def scalar(kind: str) -> str:
    vector = VECTOR.match(kind)
    return vector[2] if vector else kind


def known_format(state: State, kind: str, value: str, shadow: Shadow) -> Shadow:
    """A number rounded to a format: where the original has no such format, what is lost there is lost for good."""
    if kind not in _NARROW:
        return shadow
    allowed = state.emit.make(f"icmp ne i64 {state.emit.state(_NARROW[kind])}, 0")
    a = state.emit.make(f"select i1 {allowed}, i64 {shadow.a}, i64 -1")
    return state.call("known", f"{state.parts(shadow._replace(a=a))}, double {state.double(kind, value)}")


def binary(state: State, i: Instruction, body: str) -> None:
    kind, _ = operand(body.split(None, 1)[1])
    if not is_number(kind):
        return
    left, right = split_top(body.split(None, 1)[1][len(kind) :])
    pairs = zip(state.lanes(kind, left), state.lanes(kind, right), strict=True)
    made = [_BINARY[i.opcode](state.emit, x, y) for x, y in pairs]
    state.has[i.result or ""] = _formatted(state, kind, i.result or "", made)


def _formatted(state: State, kind: str, value: str, made: Lanes) -> Lanes:
    if scalar(kind) not in ("half", "bfloat"):
        return made
    if kind in FLOATS:
        return [known_format(state, kind, value, made[0])]
    return [known_format(state, scalar(kind), state.element(kind, value, n), one) for n, one in enumerate(made)]


def fdiv(state: State, i: Instruction, body: str) -> None:
    kind, _ = operand(body[5:])
    if not is_number(kind):
        return
    left, right = split_top(body[5:][len(kind) :])
    made = []
    for number, (x, y) in enumerate(zip(state.lanes(kind, left), state.lanes(kind, right), strict=True)):
        divisor = right if kind in FLOATS else state.element(kind, right, number)
        made.append(quotient(state, x, y, state.double(scalar(kind), divisor)))
    state.has[i.result or ""] = _formatted(state, kind, i.result or "", made)


def quotient(state: State, x: Shadow, y: Shadow, divisor: str) -> Shadow:
    both = f"{state.spilled('x', x)}, {state.spilled('y', y)}"
    return state.call("divide", f"{both}, double {divisor}, {state.wide}")


def frem(state: State, i: Instruction, body: str) -> None:
    kind, _ = operand(body[5:])
    if kind not in FLOATS:
        return
    x, y = (state.shadow(kind, value) for value in split_top(body[5:][len(kind) :]))
    both = f"{state.spilled('x', x)}, {state.spilled('y', y)}"
    state.chosen(None)
    made = state.call("fmod", f"{both}, double {state.double(kind, i.result or '')}, {state.wide}")
    state.has[i.result or ""] = [made]


def fneg(state: State, i: Instruction, body: str) -> None:
    kind, value = operand(body[5:])
    if is_number(kind):
        state.has[i.result or ""] = [state.emit.negative(one) for one in state.lanes(kind, value)]


def fcmp(state: State, i: Instruction, body: str) -> None:
    predicate, rest = body[5:].split(None, 1)
    kind, values = operand(rest)
    if kind not in FLOATS or predicate in ("ord", "uno", "true", "false"):
        return
    x, y = (state.shadow(kind, value) for value in split_top(values))
    exact = state.compared(predicate, x, y)
    state.chosen(state.emit.make(f"xor i1 {i.result}, {exact}"))


def select(state: State, i: Instruction, body: str) -> None:
    condition, left, right = split_top(body[7:])
    kind, x = operand(left)
    y = operand(right)[1]
    if not is_number(kind) and i.result not in state.carriers:
        return
    how, by = operand(condition)
    pairs = enumerate(zip(state.lanes(kind, x), state.lanes(kind, y), strict=True))
    made = []
    for number, (one, other) in pairs:
        this = by if how == "i1" else state.element(how, by, number)
        made.append(state.emit.choose(this, one, other))
    state.has[i.result or ""] = made


def freeze(state: State, i: Instruction, body: str) -> None:
    _, value = operand(body[7:])
    if value in state.has:
        state.has[i.result or ""] = state.has[value]


def load(state: State, i: Instruction, body: str) -> None:
    kind, place = split_top(_ACCESS.sub("", body))[:2]
    pointer, result = pointer_operand(place), i.result or ""
    vector = VECTOR.match(kind)
    if kind in FLOATS:
        state.has[result] = [state.load(pointer, kind, result)]
    elif vector:
        size = FLOATS[vector[2]]
        lanes = []
        for number in range(int(vector[1])):
            at = state.emit.make(f"getelementptr i8, ptr {pointer}, i64 {size * number}") if number else pointer
            lanes.append(state.load(at, vector[2], state.element(kind, result, number)))
        state.has[result] = lanes
    else:
        if kind in NUMBER_OF_BITS and result in state.carriers:
            state.has[result] = [state.load_bits(pointer, kind, result)]
        state.loaded[result] = pointer


def store(state: State, i: Instruction, body: str) -> None:
    parts = split_top(_ACCESS.sub("", body))
    (kind, value), pointer = operand(parts[0]), pointer_operand(parts[1])
    vector = VECTOR.match(kind)
    if kind in FLOATS:
        shadow = state.shadow(kind, value)
        state.store(pointer, kind, value, shadow)
    elif vector:
        for number, shadow in enumerate(state.lanes(kind, value)):
            at = state.emit.make(f"getelementptr i8, ptr {pointer}, i64 {FLOATS[vector[2]] * number}")
            state.store(at, vector[2], state.element(kind, value, number), shadow)
    elif value in state.loaded and _COPIED.match(kind):
        # Through a register: what it was loaded from may have been overwritten since, but then its bits differ.
        size = state.around.layout.size(kind)
        state.emit.line(f"call void @__simt_shadow_copy(ptr {pointer}, ptr {state.loaded[value]}, i64 {size})")
    elif kind in ("i32", "i64") and (value in state.has or not value.startswith("%")):
        state.store(pointer, kind, value, state.has[value][0] if value in state.has else NOTHING)
    elif kind == "i16" and value in state.has:
        state.store(pointer, kind, value, state.has[value][0])


def bitcast(state: State, i: Instruction, body: str) -> None:
    source, _, target = body[8:].partition(" to ")
    (kind, value), target, result = operand(source), target.strip(), i.result or ""
    if kind in FLOATS and target in INTEGERS:
        state.chosen(None)
        if result in state.carriers:
            state.has[result] = [state.shadow(kind, value)]
    elif target in FLOATS and value in state.has:
        known = state.has[value][0]
        state.has[result] = [state.call("known", f"{state.parts(known)}, double {state.double(target, result)}")]
    elif is_number(kind) and is_number(target) and scalar(kind) == scalar(target):
        state.has[result] = state.lanes(kind, value)


def passed(state: State, i: Instruction, body: str) -> None:
    """zext and trunc of what may be bits."""
    value = operand(body.split(None, 1)[1].partition(" to ")[0])[1]
    if i.result in state.carriers and value in state.has:
        state.has[i.result or ""] = state.has[value]


def masked(state: State, i: Instruction, body: str) -> None:
    """Bits of which a mask leaves all that are set, as of a number that was extended before lanes exchanged it."""
    if moved_by(i) != 0 or i.result not in state.carriers:
        return
    kind, value = operand(body[4:].partition(",")[0])
    if value in state.has:
        kept = state.emit.make(f"icmp eq {kind} {i.result}, {value}")
        state.has[i.result] = [state.emit.choose(kept, state.has[value][0], NOTHING)]


def widened(state: State, i: Instruction, body: str) -> None:
    source = body.split(None, 1)[1].partition(" to ")[0]
    kind, value = operand(source)
    if is_number(kind):
        state.has[i.result or ""] = state.lanes(kind, value)


def fptrunc(state: State, i: Instruction, body: str) -> None:
    source, _, target = body[8:].partition(" to ")
    kind, value = operand(source)
    target, result = target.strip(), i.result or ""
    if not is_number(kind):
        return
    made = []
    for number, one in enumerate(state.lanes(kind, value)):
        concrete = result if target in FLOATS else state.element(target, result, number)
        made.append(known_format(state, scalar(target), concrete, one))
    state.has[result] = made


def from_integer(state: State, i: Instruction, body: str) -> None:
    source, _, target = body[7:].partition(" to ")
    kind, value = operand(source)
    width = re.match(r"i(\d+)$", kind)
    if target.strip() not in FLOATS or not width or int(width[1]) > 64:
        return
    unsigned = i.opcode == "uitofp"
    wide = value
    if kind != "i64":
        wide = state.emit.make(f"{'zext' if unsigned else 'sext'} {kind} {value} to i64")
    state.has[i.result or ""] = [state.call("integer", f"i64 {wide}, i32 {int(unsigned)}")]


def to_integer(state: State, i: Instruction, body: str) -> None:
    source, _, target = body[7:].partition(" to ")
    kind, value = operand(source)
    target = target.strip()
    if kind not in FLOATS or not re.match(r"i\d+$", target):
        return
    shadow = state.shadow(kind, value)
    exact = state.emit.make(f"call {target} @llvm.{i.opcode}.sat.{target}.f64(double {shadow.d})")
    state.chosen(state.emit.make(f"icmp ne {target} {exact}, {i.result}"))


def atomicrmw(state: State, i: Instruction, body: str) -> None:
    parts = split_top(_ACCESS.sub("", body))
    verb, _, rest = parts[0].partition(" ")
    pointer, result = pointer_operand(rest), i.result or ""
    kind, value = parts[1].split()[:2]
    if kind in FLOATS:
        _atomic_float(state, verb, pointer, kind, value, result)
    elif verb == "xchg" and kind in NUMBER_OF_BITS and (value in state.has or result in state.carriers):
        state.has[result] = [state.load_bits(pointer, kind, result)]
        state.store(pointer, kind, value, state.shadow(kind, value))
    elif verb in _REPLACING and kind in NUMBER_OF_BITS and (value in state.has or result in state.carriers):
        before = state.load_bits(pointer, kind, result)
        state.has[result] = [before]
        replaces = state.emit.make(f"icmp {_REPLACING[verb]} {kind} {value}, {result}")
        new = state.emit.make(f"select i1 {replaces}, {kind} {value}, {kind} {result}")
        state.store(pointer, kind, new, state.emit.choose(replaces, state.shadow(kind, value), before))


def _atomic_float(state: State, verb: str, pointer: str, kind: str, value: str, result: str) -> None:
    old, shadow = state.load(pointer, kind, result), state.shadow(kind, value)
    state.has[result] = [old]
    if verb in ("fadd", "fsub"):
        new = state.emit.make(f"{verb} {kind} {result}, {value}")
        made = (
            known_format(state, kind, new, _BINARY[verb](state.emit, old, shadow))
            if kind != "float"
            else (_BINARY[verb](state.emit, old, shadow))
        )
    elif verb == "xchg":
        new, made = value, shadow
    else:
        less = state.emit.make(f"fcmp {'olt' if 'min' in verb else 'ogt'} {kind} {value}, {result}")
        exact = state.compared("olt" if "min" in verb else "ogt", shadow, old)
        state.chosen(state.emit.make(f"xor i1 {less}, {exact}"))
        new = state.emit.make(f"select i1 {less}, {kind} {value}, {kind} {result}")
        made = state.emit.choose(less, shadow, old)
    state.store(pointer, kind, new, made)


def cmpxchg(state: State, i: Instruction, body: str) -> None:
    parts = split_top(_ACCESS.sub("", body))
    pointer, result = pointer_operand(parts[0]), i.result or ""
    kind, value = parts[2].split()[:2]
    if kind not in NUMBER_OF_BITS or not (result in state.carriers or value in state.has):
        return
    old = state.emit.make(f"extractvalue {{ {kind}, i1 }} {result}, 0")
    done = state.emit.make(f"extractvalue {{ {kind}, i1 }} {result}, 1")
    # What was there before: the operation may have replaced it, but not its record.
    before = state.load_bits(pointer, kind, old)
    state.has[result] = [before]
    new = state.emit.make(f"select i1 {done}, {kind} {value}, {kind} {old}")
    state.store(pointer, kind, new, state.emit.choose(done, state.shadow(kind, value), before))


def extractvalue(state: State, i: Instruction, body: str) -> None:
    found = re.search(rf"(%{NAME}), 0$", body)
    if found and found[1] in state.has and i.result in state.carriers:
        state.has[i.result or ""] = state.has[found[1]]


def extractelement(state: State, i: Instruction, body: str) -> None:
    vector, index = split_top(body[15:])
    kind, value = operand(vector)
    if not is_number(kind):
        return
    lanes, at = state.lanes(kind, value), index.split()[-1]
    if at.isdigit():
        state.has[i.result or ""] = [lanes[int(at)]]
        return
    made = lanes[0]
    for number, lane in enumerate(lanes[1:], 1):
        here = state.emit.make(f"icmp eq {index.split()[0]} {at}, {number}")
        made = state.emit.choose(here, lane, made)
    state.has[i.result or ""] = [made]


def insertelement(state: State, i: Instruction, body: str) -> None:
    vector, element, index = split_top(body[14:])
    kind, value = operand(vector)
    if not is_number(kind):
        return
    lanes, new = list(state.lanes(kind, value)), state.shadow(*operand(element))
    at = index.split()[-1]
    for number, lane in enumerate(lanes):
        if at.isdigit():
            lanes[number] = new if int(at) == number else lane
        else:
            here = state.emit.make(f"icmp eq {index.split()[0]} {at}, {number}")
            lanes[number] = state.emit.choose(here, new, lane)
    state.has[i.result or ""] = lanes


def shufflevector(state: State, i: Instruction, body: str) -> None:
    left, right, mask = split_top(body[14:])
    kind, value = operand(left)
    if not is_number(kind):
        return
    lanes = [*state.lanes(kind, value), *state.lanes(*operand(right))]
    count = int(re.match(r"<(\d+) x", mask)[1])  # type: ignore[index]
    chosen = re.findall(r"i32 (\w+)", mask.partition("> ")[2]) or ["0"] * count
    state.has[i.result or ""] = [lanes[int(one)] if one.isdigit() else lanes[0] for one in chosen]


OPERATIONS: dict[str, Callable[[State, Instruction, str], None]] = {
    "fadd": binary, "fsub": binary, "fmul": binary, "fdiv": fdiv, "frem": frem, "fneg": fneg, "fcmp": fcmp,
    "select": select, "freeze": freeze, "load": load, "store": store, "bitcast": bitcast, "zext": passed,
    "trunc": passed, "and": masked, "fpext": widened, "fptrunc": fptrunc, "sitofp": from_integer,
    "uitofp": from_integer,
    "fptosi": to_integer, "fptoui": to_integer, "atomicrmw": atomicrmw, "cmpxchg": cmpxchg,
    "extractvalue": extractvalue, "extractelement": extractelement, "insertelement": insertelement,
    "shufflevector": shufflevector,
}  # fmt: skip
