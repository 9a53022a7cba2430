"""Calls: mathematical functions, collectives, copies of memory, and functions that were not inlined."""

from __future__ import annotations

import re

from intelliperf.emulator.ir.memory import call_arguments
from intelliperf.emulator.ir.module import Instruction
from intelliperf.emulator.ir.shadow import functions as known
from intelliperf.emulator.ir.shadow.memory import FLOATS
from intelliperf.emulator.ir.shadow.operations import is_number, known_format, scalar
from intelliperf.emulator.ir.shadow.state import VECTOR, State
from intelliperf.emulator.ir.shadow.values import NOTHING, ZERO, Shadow
from intelliperf.emulator.ir.text import CALLEE, pointer_operand, suffixed, type_of

SHADOW_SUFFIX = "$shadowed"
_MEMORY = re.compile(r"(?:llvm\.)?(memcpy|memmove|memset)(?:\.|$)")
RETURNED = 63  # where a function's result is laid; arguments by their number
_SHUFFLES = 4  # the first of the collectives
_RETURNED = re.compile(
    r"(?<![-%\w.$])(?:call|invoke) (?!=)"
    r"(?:(?:fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|fastcc|ccc|noundef|nofpclass\([^)]*\)) )*"
)
_FINE = re.compile(
    r"llvm\.(?:lifetime|assume|dbg|experimental\.noalias|prefetch|invariant|trap|is\.fpclass|expect)|__simt_"
)
_MATRIX = re.compile(r"__simt_ptx_mma|__simt_matrix")
_TO_ODD = re.compile(r"_ZN6__simtL?\d+(narrow|fused)_to_oddE")  # of dropins/include/simt/small_formats.h
_TWO_RESULTS = re.compile(r"llvm\.(?:frexp|modf|sincos)")


def returned_kind(text: str) -> str:
    found = _RETURNED.search(text)  # behind the result's name, which may be %call
    return type_of(text[found.end() :]) if found else ""


def rewrite_call(state: State, i: Instruction, body: str) -> None:
    """Writes the call, and what it means for shadows."""
    found = None if " asm " in i.text else CALLEE.search(i.text)
    if found is None or found[1] is None:
        state.emit.out.append(i.text)
        if found is not None:
            state.lose("a call through a pointer")
        return
    name, arguments = found[1], call_arguments(i.text, found.end() - 1)
    if _TO_ODD.match(name):
        _rounded_to_odd(state, i, name, arguments)
        return
    if name in state.around.defined:
        _own_function(state, i, name, arguments)
        return
    if name == "__simt_collective":
        _collective(state, i, arguments)
        return
    memory = _MEMORY.match(name)
    if memory:
        _copy(state, memory[1], arguments)
    state.emit.out.append(i.text)
    if _MATRIX.match(name):
        state.lose("a matrix instruction")
    kind = returned_kind(i.text)
    if i.result and is_number(kind):
        _function(state, i, kind, name, arguments)
    elif not memory and not _FINE.match(name) and _takes_numbers(state, name, arguments):
        state.lose(f"a call of {name}")


def _takes_numbers(state: State, name: str, arguments: list[str]) -> bool:
    """Whether numbers may go through a function that nothing is known of."""
    if name.startswith("llvm.") and not _TWO_RESULTS.match(name):
        return False
    return any(type_of(argument) in FLOATS for argument in arguments)


def _rounded_to_odd(state: State, i: Instruction, name: str, arguments: list[str]) -> None:
    """On the way to a narrower format: the number itself, or a product and a sum."""
    x = [state.shadow("double", argument.split()[-1]) for argument in arguments]
    state.emit.out.append(i.text)
    made = state.emit.add(state.emit.multiply(x[0], x[1]), x[2]) if len(x) == 3 else x[0]
    state.has[i.result or ""] = [made]


def _own_function(state: State, i: Instruction, name: str, arguments: list[str]) -> None:
    text = i.text.replace(f"@{name}(", f"@{suffixed(name, SHADOW_SUFFIX)}(", 1)
    for number, argument in enumerate(arguments):
        kind, value = type_of(argument), argument.split()[-1]
        if kind in FLOATS and number < RETURNED:
            give(state, number, kind, value)
        elif is_number(kind):
            state.lose("vectors given to a function that is not inlined")
    state.emit.out.append(text.replace("tail call", "call", 1) if i.marker == "tail" else text)
    kind = returned_kind(i.text)
    if i.result and kind in FLOATS and i.opcode == "call":
        state.has[i.result] = [taken(state, RETURNED, kind, i.result)]
    elif is_number(kind):
        state.lose("vectors taken from a function that is not inlined")


def give(state: State, number: int, kind: str, value: str) -> None:
    """Lay the shadow of an argument or result where the other function looks for it at once."""
    shadow = state.shadow(kind, value)
    given = f"i32 {number}, {state.parts(shadow)}, double {state.double(kind, value)}"
    state.emit.line(f"call void @__simt_shadow_give({given})")


def taken(state: State, number: int, kind: str, value: str) -> Shadow:
    return state.call("taken", f"i32 {number}, double {state.double(kind, value)}")


def _copy(state: State, verb: str, arguments: list[str]) -> None:
    where, length = pointer_operand(arguments[0]), arguments[2].split()[-1]
    if verb == "memset":
        state.emit.line(f"call void @__simt_shadow_clear(ptr {where}, i64 {length})")
    else:
        source = pointer_operand(arguments[1])
        state.emit.line(f"call void @__simt_shadow_copy(ptr {where}, ptr {source}, i64 {length})")


def _collective(state: State, i: Instruction, arguments: list[str]) -> None:
    operation, value = arguments[0].split()[-1], arguments[2].split()[-1]
    carried = i.result in state.carriers and operation.isdigit() and int(operation) < _SHUFFLES
    if not carried:
        state.emit.out.append(i.text)  # of a matrix product, the runtime sets the shadows where it leaves the sums
        return
    given = state.spilled("given", state.has[value][0] if value in state.has else NOTHING)
    got = state.place("got")
    text = i.text.replace("@__simt_collective(", f"@__simt_shadow_collective({given}, ptr {got}, ", 1)
    state.emit.out.append(text)
    state.has[i.result or ""] = [state.emit.filled(got)]


# -- mathematical functions -----------------------------------------------------------------------


def _function(state: State, i: Instruction, kind: str, symbol: str, arguments: list[str]) -> None:
    name = known.plain_name(symbol, scalar(kind))
    values = [re.sub(r"^(?:noundef |nofpclass\([^)]*\) )*", "", a[len(type_of(a)) :].strip()) for a in arguments]
    types = [type_of(argument) for argument in arguments]
    vector, result = VECTOR.match(kind), i.result or ""
    if vector is None:
        shadows = [state.shadow(t, v) if t in FLOATS else NOTHING for t, v in zip(types, values, strict=True)]
        made = _scalar(state, kind, name, result, values, shadows)
        state.has[result] = [made if made is not None else _unknown(state, kind, symbol, result)]
        return
    columns = [state.lanes(t, v) for t, v in zip(types, values, strict=True)]
    lanes = []
    for number in range(int(vector[1])):
        concrete = [state.element(t, v, number) for t, v in zip(types, values, strict=True)]
        this = state.element(kind, result, number)
        made = _scalar(state, vector[2], name, this, concrete, [column[number] for column in columns])
        lanes.append(made if made is not None else _unknown(state, vector[2], symbol, this))
    state.has[result] = lanes


def _unknown(state: State, kind: str, symbol: str, value: str) -> Shadow:
    state.lose(f"a call of {symbol}")
    return state.embedded(kind, value)


def _scalar(state: State, kind: str, name: str, result: str, values: list[str], x: list[Shadow]) -> Shadow | None:
    """The result's shadow; None for a function that is not known."""
    emit = state.emit
    if name in ("fma", "fmuladd"):
        made = emit.add(emit.multiply(x[0], x[1]), x[2])
        return known_format(state, kind, result, made) if kind in ("half", "bfloat") else made
    if name in known.CHOICES:
        return _choice(state, kind, name, result, values, x)
    if name in ("fabs", "copysign"):
        return _signed(state, kind, name, result, values, x)
    if name in known.UNARY:
        if state.around.needs.exponents is False and name in known.NEED_EXPONENTS:
            return None
        return state.call(name, f"{state.parts(x[0])}, {state.wide}")
    if name in known.TURNS:
        return state.call("turns", f"{state.spilled('x', x[0])}, i32 {known.TURNS[name]}, {state.wide}")
    if name in known.WHOLE:
        exact = emit.make(f"call double @llvm.{name}.f64(double {x[0].d})")
        state.chosen(emit.make(f"fcmp une double {exact}, {state.double(kind, result)}"))
        return state.embedded(kind, result)
    if name in known.SCALINGS:
        return state.call("scale", f"{state.spilled('x', x[0])}, i32 {values[1]}")
    if name == "fdim":
        above = emit.make(f"fcmp ogt {kind} {values[0]}, {values[1]}")
        state.chosen(emit.make(f"xor i1 {above}, {state.compared('ogt', x[0], x[1])}"))
        return emit.choose(above, emit.subtract(x[0], x[1]), ZERO)
    return _two_arguments(state, kind, name, result, values, x)


def _two_arguments(
    state: State, kind: str, name: str, result: str, values: list[str], x: list[Shadow]
) -> Shadow | None:
    if name == "powi":
        power = state.call("integer", f"i64 {state.emit.make(f'sext i32 {values[1]} to i64')}, i32 0")
        concrete = state.emit.make(f"sitofp i32 {values[1]} to double")
        both = f"{state.spilled('x', x[0])}, {state.spilled('y', power)}"
        return state.call("pow", f"{both}, double {concrete}, {state.wide}")
    if name not in ("pow", "atan2", "hypot", "fmod", "remainder"):
        return None
    both = f"{state.spilled('x', x[0])}, {state.spilled('y', x[1])}"
    if name == "pow":
        return state.call("pow", f"{both}, double {state.double(kind, values[1])}, {state.wide}")
    if name in ("fmod", "remainder"):
        state.chosen(None)
        return state.call("fmod", f"{both}, double {state.double(kind, result)}, {state.wide}")
    return state.call(name, f"{both}, {state.wide}")


def _choice(state: State, kind: str, name: str, result: str, values: list[str], x: list[Shadow]) -> Shadow:
    """Of the two the one that the program took."""
    first = state.emit.make(f"fcmp oeq {kind} {result}, {values[0]}")
    second = state.emit.make(f"fcmp oeq {kind} {result}, {values[1]}")
    exact = state.compared("olt" if "min" in name else "ogt", x[1], x[0])
    both = state.emit.make(f"fcmp oeq {kind} {values[0]}, {values[1]}")
    other = state.emit.make(f"and i1 {first}, {exact}")
    wrong = state.emit.make(f"and i1 {second}, {state.emit.make(f'xor i1 {exact}, true')}")
    apart = state.emit.make(f"fcmp one double {x[0].d}, {x[1].d}")
    differs = state.emit.make(f"and i1 {apart}, {state.emit.make(f'or i1 {other}, {wrong}')}")
    tie = state.emit.make(f"and i1 {both}, {apart}")
    state.chosen(state.emit.make(f"or i1 {differs}, {tie}"))
    return state.emit.choose(first, x[0], x[1])


def _signed(state: State, kind: str, name: str, result: str, values: list[str], x: list[Shadow]) -> Shadow:
    if name == "fabs":
        below = (
            state.emit.make(f"fcmp olt {kind} {values[0]}, 0.0")
            if kind != "half"
            else (state.emit.make(f"fcmp olt half {values[0]}, 0xH0000"))
        )
        exact = state.compared("olt", x[0], ZERO)
        state.chosen(state.emit.make(f"xor i1 {below}, {exact}"))
        return state.emit.choose(below, state.emit.negative(x[0]), x[0])
    same = state.emit.make(f"fcmp oeq {kind} {result}, {values[0]}")
    state.chosen(None)
    return state.emit.choose(same, x[0], state.emit.negative(x[0]))
