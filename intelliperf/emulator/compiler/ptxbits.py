"""PTX instructions of bits in registers: shifts, masks, fields, tables of three inputs."""

from __future__ import annotations

from intelliperf.emulator.compiler.ptxarithmetic import read_operand
from intelliperf.emulator.compiler.ptxwriter import Unknown, Writer, bits_of, is_signed, type_of


def shift(words: list[str], operands: list[str], writer: Writer) -> None:
    """Amounts beyond the width give zeros, or the sign's bits."""
    kind = type_of(words[-1])
    left, signed = words[0] == "shl", is_signed(words[-1])
    limit = int(kind[1:]) - 1
    amount = writer.read(operands[2], "i32")
    kept = writer.call("i32", "llvm.umin.i32", ("i32", amount), ("i32", str(limit)))
    wide = kept if kind == "i32" else writer.put(f"{'zext' if limit > 31 else 'trunc'} i32 {kept} to {kind}")
    value = read_operand(writer, operands[1], words[-1])
    moved = writer.put(f"{'shl' if left else 'ashr' if signed else 'lshr'} {kind} {value}, {wide}")
    if left or not signed:
        inside = writer.put(f"icmp ule i32 {amount}, {limit}")
        moved = writer.put(f"select i1 {inside}, {kind} {moved}, {kind} 0")
    writer.write(operands[0], moved, kind, signed)


def funnel(words: list[str], operands: list[str], writer: Writer) -> None:
    if words[-1] != "b32" or words[1] not in ("l", "r") or len(words) > 4:
        raise Unknown(".".join(words))
    low, high, amount = (writer.read(operand, "i32") for operand in operands[1:4])
    name = "fshl" if words[1] == "l" else "fshr"  # they wrap
    made = writer.call("i32", f"llvm.{name}.i32", ("i32", high), ("i32", low), ("i32", amount))
    if "clamp" in words:
        beyond = writer.put(f"icmp ugt i32 {amount}, 31")
        made = writer.put(f"select i1 {beyond}, i32 {low if words[1] == 'l' else high}, i32 {made}")
    writer.write(operands[0], made, "i32")


def logic(words: list[str], operands: list[str], writer: Writer) -> None:
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


def find_highest(words: list[str], operands: list[str], writer: Writer) -> None:
    """The position of the highest bit that is not the sign; all ones if there is none."""
    kind = type_of(words[-1])
    value = read_operand(writer, operands[1], words[-1])
    if is_signed(words[-1]):
        sign = writer.put(f"ashr {kind} {value}, {bits_of(words[-1]) - 1}")
        value = writer.put(f"xor {kind} {value}, {sign}")
    zeros = writer.call(kind, f"llvm.ctlz.{kind}", (kind, value), ("i1", "false"))
    narrow = zeros if kind == "i32" else writer.put(f"trunc {kind} {zeros} to i32")
    if "shiftamt" not in words:
        narrow = writer.put(f"sub i32 {bits_of(words[-1]) - 1}, {narrow}")
    else:
        none = writer.put(f"icmp eq {kind} {value}, 0")
        narrow = writer.put(f"select i1 {none}, i32 -1, i32 {narrow}")
    writer.write(operands[0], narrow, "i32")


def extract_wide(words: list[str], operands: list[str], writer: Writer) -> None:
    """bfe and bfi of any width: the runtime's functions."""
    kind = type_of(words[-1])
    count = 3 if words[0] == "bfi" else 2
    places = [("i32", writer.read(operand, "i32")) for operand in operands[-2:]]
    values = [(kind, writer.read(operand, kind)) for operand in operands[1:count]]
    suffix = words[-1] if words[0] == "bfe" else f"u{kind[1:]}"
    writer.write(operands[0], writer.call(kind, f"__simt_ptx_{words[0]}_{suffix}", *values, *places), kind)


def _ones_from(writer: Writer, amount: str) -> str:
    """All ones shifted left by the low five bits of `amount`."""
    return writer.put(f"shl i32 -1, {writer.put(f'and i32 {amount}, 31')}")


def _too_far(words: list[str], amount: str, writer: Writer) -> str:
    """Whether an amount is beyond the width, which `wrap` never is."""
    if words[1] not in ("clamp", "wrap"):
        raise Unknown(".".join(words))
    return writer.put(f"icmp ugt i32 {amount}, 31") if words[1] == "clamp" else "false"


def make_mask(words: list[str], operands: list[str], writer: Writer) -> None:
    """As many ones as the second amount says, from the position that the first says."""
    if words[2:] != ["b32"]:
        raise Unknown(".".join(words))
    position, width = (writer.read(operand, "i32") for operand in operands[1:3])
    near, short = (writer.put(f"and i32 {amount}, 31") for amount in (position, width))
    last = writer.put(f"add i32 {near}, {short}")
    beyond = writer.put(f"or i1 {writer.put(f'icmp ugt i32 {last}, 31')}, {_too_far(words, width, writer)}")
    above = writer.put(f"select i1 {beyond}, i32 0, i32 {_ones_from(writer, last)}")
    ones = writer.put(f"and i32 {_ones_from(writer, position)}, {writer.put(f'xor i32 {above}, -1')}")
    writer.write(operands[0], writer.put(f"select i1 {_too_far(words, position, writer)}, i32 0, i32 {ones}"), "i32")


def extend(words: list[str], operands: list[str], writer: Writer) -> None:
    """The low bits, as many as the amount says, with zeros or their sign above."""
    if words[2:] not in (["u32"], ["s32"]):
        raise Unknown(".".join(words))
    value, amount = (writer.read(operand, "i32") for operand in operands[1:3])
    low = writer.put(f"and i32 {value}, {writer.put(f'xor i32 {_ones_from(writer, amount)}, -1')}")
    if is_signed(words[-1]):
        unused = writer.put(f"and i32 {writer.put(f'sub i32 0, {amount}')}, 31")
        signed = writer.put(f"ashr i32 {writer.put(f'shl i32 {value}, {unused}')}, {unused}")
        none = writer.put(f"icmp eq i32 {writer.put(f'and i32 {amount}, 31')}, 0")
        low = writer.put(f"select i1 {none}, i32 0, i32 {signed}")
    writer.write(operands[0], writer.put(f"select i1 {_too_far(words, amount, writer)}, i32 {value}, i32 {low}"), "i32")


HANDLERS = {
    **dict.fromkeys(("shl", "shr"), shift),
    **dict.fromkeys(("bfe", "bfi"), extract_wide),
    "shf": funnel,
    "lop3": logic,
    "bfind": find_highest,
    "bmsk": make_mask,
    "szext": extend,
}
