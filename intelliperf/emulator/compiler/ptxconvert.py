"""PTX's cvt: between integers, floats of all widths and pairs of 16-bit floats."""

from __future__ import annotations

from intelliperf.emulator.compiler.ptxarithmetic import narrowed, saturated, widened
from intelliperf.emulator.compiler.ptxwriter import FLOATS, Unknown, Writer, bits_of, is_signed

_TO_INTEGER = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_TO_NEAREST = frozenset({"rn", "ftz", "sat"})


def convert(words: list[str], operands: list[str], writer: Writer) -> None:
    if words[-2:-1] == ["f32"] and words[-1].endswith("x2") or len(words) < 3:
        raise Unknown(".".join(words))
    to, source, rest = words[-2], words[-1], frozenset(words[1:-2])
    if to in ("f16x2", "bf16x2") and source == "f32" and rest <= _TO_NEAREST | {"relu"} and len(operands) == 3:
        _pair(to, rest, operands, writer)
    elif to == "tf32" and source == "f32" and rest == {"rna"}:
        bits = writer.put(f"add i32 {writer.read(operands[1], 'i32')}, 4096")
        writer.write(operands[0], writer.put(f"and i32 {bits}, -8192"), "i32")
    elif source in (*FLOATS, "f16", "bf16"):
        _from_float(words, operands, writer)
    elif to in (*FLOATS, "f16", "bf16"):
        _from_integer(words, operands, writer)
    else:
        _between_integers(words, operands, writer)


def _pair(to: str, rest: frozenset[str], operands: list[str], writer: Writer) -> None:
    """The first value goes to the upper half."""
    made = []
    for operand in operands[1:]:
        value = writer.read(operand, "float")
        if "sat" in rest:
            value = saturated(writer, value, "float")
        if "relu" in rest:
            value = writer.call("float", "llvm.maxnum.f32", ("float", value), ("float", "0.0"))
        made.append(writer.put(f"zext i16 {narrowed(writer, value, to.removesuffix('x2'))} to i32"))
    writer.write(operands[0], writer.put(f"or i32 {writer.put(f'shl i32 {made[0]}, 16')}, {made[1]}"), "i32")


def _from_float(words: list[str], operands: list[str], writer: Writer) -> None:
    to, source, rest = words[-2], words[-1], frozenset(words[1:-2])
    kind = FLOATS.get(source, "float")
    value = (
        writer.read(operands[1], kind) if source in FLOATS else widened(writer, writer.read(operands[1], "i16"), source)
    )
    whole = [word for word in rest if word in _TO_INTEGER]
    if whole:
        value = writer.call(kind, f"llvm.{_TO_INTEGER[whole[0]]}.{'f64' if kind == 'double' else 'f32'}", (kind, value))
    if to not in (*FLOATS, "f16", "bf16"):
        if not whole:
            raise Unknown(".".join(words))
        made = f"i{bits_of(to)}"
        name = f"llvm.fpto{'s' if is_signed(to) else 'u'}i.sat.{made}.{'f64' if kind == 'double' else 'f32'}"
        writer.write(operands[0], writer.call(made, name, (kind, value)), made, is_signed(to))
        return
    if not rest <= _TO_NEAREST | set(_TO_INTEGER) | {"relu"}:
        raise Unknown(".".join(words))
    if "sat" in rest:
        value = saturated(writer, value, kind)
    if to in ("f16", "bf16"):
        if kind == "double":
            raise Unknown(".".join(words))
        writer.write(operands[0], narrowed(writer, value, to), "i16")
        return
    wanted = FLOATS[to]
    if wanted != kind:
        value = writer.put(f"{'fpext' if wanted == 'double' else 'fptrunc'} {kind} {value} to {wanted}")
    writer.write(operands[0], value, wanted)


def _from_integer(words: list[str], operands: list[str], writer: Writer) -> None:
    to, source, rest = words[-2], words[-1], frozenset(words[1:-2])
    if not rest <= _TO_NEAREST or (to in ("f16", "bf16") and bits_of(source) > 16):
        raise Unknown(".".join(words))
    kind, wanted = f"i{bits_of(source)}", FLOATS.get(to, "float")
    verb = "sitofp" if is_signed(source) else "uitofp"
    value = writer.put(f"{verb} {kind} {writer.read(operands[1], kind)} to {wanted}")
    if "sat" in rest:
        value = saturated(writer, value, wanted)
    if to in FLOATS:
        writer.write(operands[0], value, wanted)
    else:
        writer.write(operands[0], narrowed(writer, value, to), "i16")


def _between_integers(words: list[str], operands: list[str], writer: Writer) -> None:
    to, source, rest = words[-2], words[-1], frozenset(words[1:-2])
    if not rest <= {"sat"}:
        raise Unknown(".".join(words))
    kind, made = f"i{bits_of(source)}", f"i{bits_of(to)}"
    value = writer.read(operands[1], kind)
    if rest:
        value, kind = _kept_within(to, source, value, writer), "i128"
    elif bits_of(to) > bits_of(source):
        writer.write(
            operands[0], writer.put(f"{'sext' if is_signed(source) else 'zext'} {kind} {value} to {made}"), made
        )
        return
    narrow = value if kind == made else writer.put(f"trunc {kind} {value} to {made}")
    writer.write(operands[0], narrow, made, is_signed(to))


def _kept_within(to: str, source: str, value: str, writer: Writer) -> str:
    wide = writer.put(f"{'sext' if is_signed(source) else 'zext'} i{bits_of(source)} {value} to i128")
    bits = bits_of(to)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed(to) else (0, (1 << bits) - 1)
    for relation, limit in (("slt", low), ("sgt", high)):
        beyond = writer.put(f"icmp {relation} i128 {wide}, {limit}")
        wide = writer.put(f"select i1 {beyond}, i128 {limit}, i128 {wide}")
    return wide


HANDLERS = {"cvt": convert}
