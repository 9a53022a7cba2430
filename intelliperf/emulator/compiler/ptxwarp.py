"""PTX instructions in which lanes take part together: shuffles, votes, matches, reductions, barriers."""

from __future__ import annotations

from intelliperf.emulator.compiler.ptxarithmetic import HANDLERS as ARITHMETIC
from intelliperf.emulator.compiler.ptxwriter import Unknown, Writer, is_signed, slot, type_of

# The runtime's collectives and barrier reductions (runtime/abi.h).
_SHUFFLE, _BALLOT, _SYNC_WAVE, _MATCH_ANY, _MATCH_ALL, _ACTIVE_MASK, _YIELD = 0, 4, 5, 6, 7, 8, 9
_BARRIER_REDUCE = {"popc": 0, "and": 1, "or": 2}
_SHUFFLE_MODES = {"up": 0, "down": 1, "bfly": 2, "idx": 3}


def _together(writer: Writer, operation: int, mask: str, value: str, lane: str = "0") -> str:
    return writer.call(
        "i64", "__simt_collective",
        ("i32", str(operation)), ("i64", mask), ("i64", value), ("i32", lane), ("i32", "32"),
    )  # fmt: skip


def _mask(words: list[str], operands: list[str], writer: Writer) -> str:
    """The lanes that take part; all that are there where the instruction names none (before sm_70)."""
    if "sync" not in words:
        return "0"
    return writer.put(f"zext i32 {writer.read(operands[-1], 'i32')} to i64")


def shuffle(words: list[str], operands: list[str], writer: Writer) -> None:
    mode = next((_SHUFFLE_MODES[word] for word in words if word in _SHUFFLE_MODES), None)
    if mode is None or words[-1] != "b32":
        raise Unknown(".".join(words))
    names = operands[0].split("|")
    arguments = [("i32", str(mode)), *(("i32", writer.read(operand, "i32")) for operand in operands[2:4])]
    chosen = writer.call("i32", "__simt_ptx_shuffle_source", *arguments)
    lane = writer.put(f"and i32 {chosen}, 31")
    inside = writer.put(f"icmp ne i32 {writer.put(f'and i32 {chosen}, 32')}, 0")
    value = writer.put(f"zext i32 {writer.read(operands[1], 'i32')} to i64")
    moved = _together(writer, _SHUFFLE, _mask(words, operands, writer), value, lane)
    writer.write(names[0].strip(), writer.put(f"trunc i64 {moved} to i32"), "i32")
    if len(names) == 2:
        writer.write(names[1].strip(), inside, "i1")


def vote(words: list[str], operands: list[str], writer: Writer) -> None:
    mode = next((word for word in words if word in ("all", "any", "uni", "ballot")), None)
    if mode is None:
        raise Unknown(".".join(words))
    mask = _mask(words, operands, writer)
    asked = writer.read(operands[1], "i1")
    yes = _together(writer, _BALLOT, mask, writer.put(f"zext i1 {asked} to i64"))
    if mode == "ballot":
        writer.write(operands[0], writer.put(f"trunc i64 {yes} to i32"), "i32")
        return
    if mode == "any":
        writer.write(operands[0], writer.put(f"icmp ne i64 {yes}, 0"), "i1")
        return
    refused = writer.put(f"zext i1 {writer.put(f'xor i1 {asked}, true')} to i64")
    no = writer.put(f"icmp eq i64 {_together(writer, _BALLOT, mask, refused)}, 0")
    if mode == "uni":
        no = writer.put(f"or i1 {no}, {writer.put(f'icmp eq i64 {yes}, 0')}")
    writer.write(operands[0], no, "i1")


def match(words: list[str], operands: list[str], writer: Writer) -> None:
    kind = type_of(words[-1])
    if "sync" not in words or kind not in ("i32", "i64"):
        raise Unknown(".".join(words))
    names = operands[0].split("|")
    value = writer.read(operands[1], kind)
    wide = value if kind == "i64" else writer.put(f"zext i32 {value} to i64")
    operation = _MATCH_ALL if "all" in words else _MATCH_ANY
    same = writer.put(f"trunc i64 {_together(writer, operation, _mask(words, operands, writer), wide)} to i32")
    writer.write(names[0].strip(), same, "i32")
    if len(names) == 2:
        writer.write(names[1].strip(), writer.put(f"icmp ne i32 {same}, 0"), "i1")


def reduce(words: list[str], operands: list[str], writer: Writer) -> None:
    """Each lane visits the values of all."""
    operation, kind = words[2], words[-1]
    if words[1] != "sync" or operation not in ("add", "min", "max", "and", "or", "xor") or type_of(kind) != "i32":
        raise Unknown(".".join(words))
    mask = writer.read(operands[2], "i32")
    wide = writer.put(f"zext i32 {mask} to i64")
    value = writer.put(f"zext i32 {writer.read(operands[1], 'i32')} to i64")
    total, other, left = (f"%reduced.{writer.count}.{name}" for name in ("total", "other", "left"))
    writer.slots |= {total: "i32", other: "i32", left: "i32"}
    identity = {"and": "-1", "min": "2147483647" if is_signed(kind) else "-1",
                "max": "-2147483648" if is_signed(kind) else "0"}.get(operation, "0")  # fmt: skip
    writer.write(total, identity, "i32")
    writer.write(left, mask, "i32")
    head, body, after = writer.label(), writer.label(), writer.label()
    writer.do(f"br label %{head}")
    writer.begin(head)
    rest = writer.read(left, "i32")
    writer.do(f"br i1 {writer.put(f'icmp ne i32 {rest}, 0')}, label %{body}, label %{after}")
    writer.begin(body)
    lane = writer.call("i32", "llvm.cttz.i32", ("i32", rest), ("i1", "true"))
    found = _together(writer, _SHUFFLE, wide, value, lane)
    writer.write(other, writer.put(f"trunc i64 {found} to i32"), "i32")
    ARITHMETIC[operation]([operation, kind], [total, total, other], writer)
    writer.write(left, writer.put(f"and i32 {rest}, {writer.put(f'sub i32 {rest}, 1')}"), "i32")
    writer.do(f"br label %{head}")
    writer.begin(after)
    writer.write(operands[0], writer.read(total, "i32"), "i32")


def active_mask(words: list[str], operands: list[str], writer: Writer) -> None:
    active = _together(writer, _ACTIVE_MASK, "0", "1")
    writer.write(operands[0], writer.put(f"trunc i64 {active} to i32"), "i32")


def barrier(words: list[str], operands: list[str], writer: Writer) -> None:
    """bar and barrier: of the block, of a warp, with a reduction, or named and of some threads."""
    kept = [word for word in words[1:] if word not in ("cta", "aligned")]
    if kept == ["warp", "sync"]:
        mask = writer.put(f"zext i32 {writer.read(operands[0], 'i32')} to i64")
        _together(writer, _SYNC_WAVE, mask, "0")
    elif kept == ["sync"] and len(operands) == 1:
        writer.call("void", "__simt_barrier")
    elif kept in (["sync"], ["arrive"]) and len(operands) == 2:
        number, threads = (writer.read(operand, "i32") for operand in operands)
        waits = "1" if kept == ["sync"] else "0"
        writer.call("void", "__simt_named_barrier", ("i32", number), ("i32", threads), ("i32", waits))
    elif kept[:1] == ["red"] and len(kept) == 3 and len(operands) == 3:
        asked = writer.put(f"zext i1 {writer.read(operands[2], 'i1')} to i32")
        made = writer.call("i32", "__simt_barrier_reduce", ("i32", str(_BARRIER_REDUCE[kept[1]])), ("i32", asked))
        if kept[2] == "pred":
            writer.write(operands[0], writer.put(f"icmp ne i32 {made}, 0"), "i1")
        else:
            writer.write(operands[0], made, "i32")
    else:
        raise Unknown(".".join(words))


# Bits of an element and its number in the runtime, by type.
_MATRIX_TYPES = {"f16": (16, 0), "bf16": (16, 1), "tf32": (32, 2), "s8": (8, 3), "u8": (8, 4)}


def multiply_matrices(words: list[str], operands: list[str], writer: Writer) -> None:
    """mma of 16 by 8: how many 32-bit registers each factor has follows from its depth and type."""
    if words[1:3] != ["sync", "aligned"] or words[4:6] != ["row", "col"] or len(words) != 10:
        raise Unknown(".".join(words))
    depth, to, kind, addend = int(words[3].removeprefix("m16n8k")), words[6], words[7], words[9]
    bits, number = _MATRIX_TYPES[kind]
    if words[8] != kind or to != addend or to not in (("s32",) if bits == 8 else ("f32", "f16")):
        raise Unknown(".".join(words))
    depth_registers = depth * bits // 128
    if depth_registers not in (1, 2) or depth * bits % 128:
        raise Unknown(".".join(words))
    sums = 2 if to == "f16" else 4
    places = []
    for i, (operand, count) in enumerate(
        zip(operands, (sums, 2 * depth_registers, depth_registers, sums), strict=True)
    ):
        names = [part.strip() for part in operand.strip("{}").split(",")]
        if len(names) != count:
            raise Unknown(".".join(words))
        register = f"matrix{i}.{writer.count}"
        writer.slots[register] = f"[{count} x i32]"
        places.append((f"%s{slot(register)}", names))
    for place, names in places[1:]:
        for i, name in enumerate(names):
            at = writer.put(f"getelementptr i32, ptr {place}, i64 {i}")
            writer.do(f"store i32 {writer.read(name, 'i32')}, ptr {at}, align 4")
    values = [("ptr", place) for place, _ in places]
    halves = "1" if to == "f16" else "0"
    writer.call("void", "__simt_ptx_mma", ("i32", str(number)), ("i32", str(depth_registers)), ("i32", halves), *values)
    for i, name in enumerate(places[0][1]):
        at = writer.put(f"getelementptr i32, ptr {places[0][0]}, i64 {i}")
        writer.write(name, writer.put(f"load i32, ptr {at}, align 4"), "i32")


def sleep(words: list[str], operands: list[str], writer: Writer) -> None:
    _together(writer, _YIELD, "0", "0")


def trap(words: list[str], operands: list[str], writer: Writer) -> None:
    writer.call("void", "__simt_trap")


HANDLERS = {
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "redux": reduce,
    "activemask": active_mask,
    "mma": multiply_matrices,
    **dict.fromkeys(("bar", "barrier"), barrier),
    "nanosleep": sleep,
    **dict.fromkeys(("trap", "brkpt"), trap),
}
