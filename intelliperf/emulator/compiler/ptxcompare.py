"""PTX instructions that compare, and that choose by a comparison. One handler per family of instructions."""

from __future__ import annotations

from intelliperf.emulator.compiler.ptxarithmetic import read_operand
from intelliperf.emulator.compiler.ptxwriter import FLOATS, Unknown, Writer, is_signed, type_of

_COMPARE = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
            "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}  # fmt: skip
_UNORDERED = {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord",
              "nan": "uno"}  # fmt: skip


def _relation(relation: str, kind: str, first: str, second: str, writer: Writer) -> str:
    whole = "float" if kind in ("f16", "bf16") else type_of(kind)
    if whole in ("float", "double"):
        if relation in _UNORDERED:
            return writer.put(f"fcmp {_UNORDERED[relation]} {whole} {first}, {second}")
        ordered = "one" if relation == "ne" else f"o{_COMPARE[relation]}"
        return writer.put(f"fcmp {ordered} {whole} {first}, {second}")
    name = _COMPARE[relation]
    sign = "" if name in ("eq", "ne") else "s" if is_signed(kind) else "u"
    return writer.put(f"icmp {sign}{name} {whole} {first}, {second}")


def _compared(words: list[str], operands: list[str], kind: str, writer: Writer) -> str:
    """The i1 of setp and set: a comparison, perhaps combined with a predicate."""
    rest = [word for word in words[1 : words.index(kind)] if word != "ftz"]
    if not rest or rest[0] not in _COMPARE | _UNORDERED or kind.endswith("x2") or len(rest) > 2:
        raise Unknown(".".join(words))
    made = _relation(
        rest[0], kind, read_operand(writer, operands[1], kind), read_operand(writer, operands[2], kind), writer
    )
    if len(rest) == 2:
        if rest[1] not in ("and", "or", "xor"):
            raise Unknown(".".join(words))
        made = writer.put(f"{rest[1]} i1 {made}, {writer.read(operands[3], 'i1')}")
    return made


def compare(words: list[str], operands: list[str], writer: Writer) -> None:
    names = operands[0].split("|")
    made = _compared(words, operands, words[-1], writer)
    writer.write(names[0], made, "i1")
    if len(names) == 2:
        if len(operands) > 3:
            raise Unknown(".".join(words))
        writer.write(names[1], writer.put(f"xor i1 {made}, true"), "i1")


def set_register(words: list[str], operands: list[str], writer: Writer) -> None:
    made = _compared(words[:-2] + words[-1:], operands, words[-1], writer)
    if words[-2] == "f32":
        writer.write(operands[0], writer.put(f"select i1 {made}, float 1.0, float 0.0"), "float")
    else:
        writer.write(operands[0], writer.put(f"sext i1 {made} to i32"), "i32")


def select(words: list[str], operands: list[str], writer: Writer) -> None:
    kind = type_of(words[-1])
    yes, no = (writer.read(operand, kind) for operand in operands[1:3])
    chosen = writer.put(f"select i1 {writer.read(operands[3], 'i1')}, {kind} {yes}, {kind} {no}")
    writer.write(operands[0], chosen, kind)


def select_by_sign(words: list[str], operands: list[str], writer: Writer) -> None:
    kind, by = type_of(words[-2]), words[-1]
    yes, no = (writer.read(operand, kind) for operand in operands[1:3])
    value = writer.read(operands[3], type_of(by))
    chosen = writer.put(f"fcmp oge float {value}, 0.0" if by == "f32" else f"icmp sge i32 {value}, 0")
    writer.write(operands[0], writer.put(f"select i1 {chosen}, {kind} {yes}, {kind} {no}"), kind)


def test_property(words: list[str], operands: list[str], writer: Writer) -> None:
    classes = {"finite": 0x1F8, "infinite": 0x204, "number": 0x3FC, "notanumber": 0x3, "normal": 0x108,
               "subnormal": 0x90}  # fmt: skip
    kind = FLOATS[words[-1]]
    arguments = ((kind, writer.read(operands[1], kind)), ("i32", str(classes[words[1]])))
    writer.write(operands[0], writer.call("i1", f"llvm.is.fpclass.{words[-1]}", *arguments), "i1")


HANDLERS = {
    "setp": compare,
    "set": set_register,
    "selp": select,
    "slct": select_by_sign,
    "testp": test_property,
}
