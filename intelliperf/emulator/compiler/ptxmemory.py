"""PTX instructions that touch memory: loads, stores, atomics, copies, address spaces."""

from __future__ import annotations

import re

from intelliperf.emulator.compiler.ptxwriter import FLOATS, Unknown, Writer, is_signed, type_of

_PLACE = re.compile(r"\[\s*([\w%$.]+)\s*(?:\+\s*(-?\w+|\$\d+))?\s*\]$")
_READ_AGAIN = frozenset({"volatile", "relaxed", "acquire", "release", "mmio"})
_FENCE_BLOCK, _FENCE_ACQUIRE, _FENCE_RELEASE = 1, 4, 8  # FenceCode of runtime/abi.h
_ORDERS = frozenset(
    {"relaxed", "acquire", "release", "acq_rel", "weak", "gpu", "sys", "cluster", "cta", "volatile", "mmio"}
)
_CACHES = frozenset({"nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "noftz", "vec"})
_SPACES = frozenset({"global", "shared", "shared::cta", "local", "const", "generic"})
_ATOMICS = {"add": "add", "and": "and", "or": "or", "xor": "xor", "exch": "xchg", "inc": "uinc_wrap",
            "dec": "udec_wrap"}  # fmt: skip
_SHARED_BASE = "load ptr, ptr @__simt_shared_range, align 8"


def _bare(words: list[str]) -> list[str]:
    """The words after the name that say what is done, without where, in which order and through which cache."""
    known = _ORDERS | _CACHES | _SPACES
    return [word for word in words[1:] if word not in known and not re.match(r"L[12]::", word)]


def _is_shared(words: list[str]) -> bool:
    if "param" in words or "shared::cluster" in words:
        raise Unknown(".".join(words))
    return "shared" in words or "shared::cta" in words


def shared_pointer(writer: Writer, offset: str) -> str:
    """Addresses of shared memory count from its beginning; 32 bits of them may be negative."""
    kind = writer.slots.get(offset, "i32")
    wide = writer.put(f"sext i32 {writer.read(offset, 'i32')} to i64") if kind != "i64" else writer.read(offset, "i64")
    return writer.put(f"getelementptr i8, ptr {writer.put(_SHARED_BASE)}, i64 {wide}")


def pointer(words: list[str], place: str, writer: Writer) -> str:
    found = _PLACE.match(place)
    if not found:
        raise Unknown(place)
    base = shared_pointer(writer, found[1]) if _is_shared(words) else writer.read(found[1], "ptr")
    if not found[2]:
        return base
    return writer.put(f"getelementptr i8, ptr {base}, i64 {writer.read_signed(found[2], 'i64')}")


def _memory_type(kind: str) -> tuple[str, int]:
    whole = type_of(kind)
    return whole, {"float": 4, "double": 8}.get(whole) or int(whole[1:]) // 8


def _fence(words: list[str], wanted: int, writer: Writer) -> None:
    """The half of an access's own order that stands before it (release) or after it (acquire)."""
    order = {"acquire": _FENCE_ACQUIRE, "release": _FENCE_RELEASE, "acq_rel": _FENCE_ACQUIRE | _FENCE_RELEASE}
    code = sum({order[word] & wanted for word in words if word in order})
    if code:
        writer.call("void", "__simt_fence", ("i32", str(code | (_FENCE_BLOCK if "cta" in words else 0))))


def fence_code(instruction: str) -> int | None:
    """What `fence` and `membar` order; None for those of other proxies, which order nothing here."""
    words = instruction.split(".")
    if "proxy" in words or "mbarrier_init" in words:
        return None
    half = {"acquire": _FENCE_ACQUIRE, "release": _FENCE_RELEASE}
    code = next((half[word] for word in words if word in half), _FENCE_ACQUIRE | _FENCE_RELEASE)
    return code | (_FENCE_BLOCK if "cta" in words else 0)


def fence(words: list[str], operands: list[str], writer: Writer) -> None:
    code = fence_code(".".join(words))
    if code is not None:
        writer.call("void", "__simt_fence", ("i32", str(code)))


def load_or_store(words: list[str], operands: list[str], writer: Writer) -> None:
    kept = _bare(words)
    lanes = int(kept[0][1:]) if re.fullmatch(r"v[248]", kept[0]) else 1
    kind, size = _memory_type(kept[-1])
    if len(kept) != (2 if lanes > 1 else 1):
        raise Unknown(".".join(words))
    values, place = (operands[1], operands[0]) if words[0] == "st" else (operands[0], operands[1])
    at = pointer(words, place, writer)
    names = [part.strip() for part in values.strip("{}").split(",")]
    vector = kind if lanes == 1 else f"<{lanes} x {kind}>"
    again = "volatile " if _READ_AGAIN.intersection(words) else ""
    if words[0] != "st":
        whole = writer.put(f"load {again}{vector}, ptr {at}, align {lanes * size}")
        for i, name in enumerate(names):
            element = whole if lanes == 1 else writer.put(f"extractelement {vector} {whole}, i32 {i}")
            writer.write(name, element, kind, is_signed(kept[-1]))
        _fence(words, _FENCE_ACQUIRE, writer)
        return
    _fence(words, _FENCE_RELEASE, writer)
    whole = "poison"
    for i, name in enumerate(names):
        element = writer.read(name, kind)
        whole = element if lanes == 1 else writer.put(f"insertelement {vector} {whole}, {kind} {element}, i32 {i}")
    writer.do(f"store {again}{vector} {whole}, ptr {at}, align {lanes * size}")


def atomic(words: list[str], operands: list[str], writer: Writer) -> None:
    """atom gives the old value, red does not."""
    _fence(words, _FENCE_RELEASE, writer)
    _exchange(words, operands, writer)
    _fence(words, _FENCE_ACQUIRE, writer)


def _exchange(words: list[str], operands: list[str], writer: Writer) -> None:
    kept = _bare(words)
    if len(kept) != 2 or kept[-1] in ("f16", "bf16", "f16x2", "bf16x2"):
        raise Unknown(".".join(words))
    operation, kind = kept[0], type_of(kept[1])
    wanted, rest = (operands[0], operands[1:]) if words[0] == "atom" else ("_", operands)
    at = pointer(words, rest[0], writer)
    whole = {"float": "i32", "double": "i64"}.get(kind, kind)
    if operation == "cas":
        values = ", ".join(f"{whole} {writer.read(operand, whole)}" for operand in rest[1:3])
        pair = writer.put(f"cmpxchg ptr {at}, {values} monotonic monotonic")
        made = writer.put(f"extractvalue {{ {whole}, i1 }} {pair}, 0")
        writer.write(wanted, made, whole)
        return
    if kept[1] in FLOATS and operation not in ("add", "exch"):
        raise Unknown(".".join(words))
    verb = _ATOMICS.get(operation) or ("" if operation not in ("min", "max") else operation)
    if not verb:
        raise Unknown(".".join(words))
    if operation in ("min", "max"):
        verb = verb if is_signed(kept[1]) else f"u{verb}"
    if operation == "add" and kept[1] in FLOATS:
        verb, whole = "fadd", kind
    made = writer.put(f"atomicrmw {verb} ptr {at}, {whole} {writer.read(rest[1], whole)} monotonic")
    if wanted != "_":
        writer.write(wanted, made, whole)


def copy_async(words: list[str], operands: list[str], writer: Writer) -> None:
    """A copy in the background is made at once: a later wait finds it complete."""
    if words[1:3] != ["async", words[2]] or "bulk" in words or "mbarrier" in words:
        raise Unknown(".".join(words))
    if words[2] in ("commit_group", "wait_group", "wait_all"):
        return
    if "shared::cluster" in words or not _is_shared(words) or "global" not in words or len(operands) > 4:
        raise Unknown(".".join(words))
    to, source = pointer(["st", "shared"], operands[0], writer), pointer(["ld", "global"], operands[1], writer)
    size = int(operands[2], 0)
    if size not in (4, 8, 16):
        raise Unknown(".".join(words))
    if len(operands) == 3:
        vector = f"<{size // 4} x i32>" if size > 4 else "i32"
        value = writer.put(f"load {vector}, ptr {source}, align {size}")
        writer.do(f"store {vector} {value}, ptr {to}, align {size}")
        return
    length = writer.put(f"zext i32 {writer.read(operands[3], 'i32')} to i64")
    writer.call("void", "llvm.memset.p0.i64", ("ptr", to), ("i8", "0"), ("i64", str(size)), ("i1", "false"))
    writer.call("void", "llvm.memcpy.p0.p0.i64", ("ptr", to), ("ptr", source), ("i64", length), ("i1", "false"))


def convert_address(words: list[str], operands: list[str], writer: Writer) -> None:
    """Global, local and constant addresses are what they are generically; shared ones count from the beginning."""
    space = [word for word in words[1:-1] if word != "to"]
    if len(space) != 1 or space[0] not in _SPACES | {"param"}:
        raise Unknown(".".join(words))
    if not _is_shared(words):
        writer.write(operands[0], writer.read(operands[1], "i64"), "i64")
        return
    if "to" in words:
        base = writer.put(f"ptrtoint ptr {writer.put(_SHARED_BASE)} to i64")
        made = writer.put(f"sub i64 {writer.read(operands[1], 'i64')}, {base}")
    else:
        made = writer.put(f"ptrtoint ptr {shared_pointer(writer, operands[1])} to i64")
    writer.write(operands[0], made, "i64")


def in_space(words: list[str], operands: list[str], writer: Writer) -> None:
    if words[1] not in ("shared", "shared::cta", "global"):
        raise Unknown(".".join(words))
    shared = writer.call("i32", "__simt_is_shared", ("ptr", writer.read(operands[1], "ptr")))
    relation = "eq" if words[1] == "global" else "ne"
    writer.write(operands[0], writer.put(f"icmp {relation} i32 {shared}, 0"), "i1")


def load_matrix(words: list[str], operands: list[str], writer: Writer) -> None:
    """Rows of 16 bytes, given by lanes, are dealt out to the warp, two 16-bit elements to a lane and matrix."""
    shape = words[1:]
    count = next((int(word[1]) for word in shape if re.fullmatch(r"x[124]", word)), 0)
    if not count or not {"sync", "aligned", "m8n8", "b16"} <= set(shape) or not _is_shared(words):
        raise Unknown(".".join(words))
    own = writer.put(f"ptrtoint ptr {pointer(words, operands[1], writer)} to i64")
    lane = writer.call("i32", "__simt_ptx_laneid")
    row, part = writer.put(f"lshr i32 {lane}, 2"), writer.put(f"and i32 {lane}, 3")
    offset = writer.put(f"zext i32 {writer.put(f'shl i32 {part}, 2')} to i64")
    for i, name in enumerate(part.strip() for part in operands[0].strip("{}").split(",")):
        giver = writer.put(f"add i32 {row}, {8 * i}")
        begin = writer.put(f"inttoptr i64 {_from_lane(writer, own, giver)} to ptr")
        value = writer.put(f"load i32, ptr {writer.put(f'getelementptr i8, ptr {begin}, i64 {offset}')}, align 4")
        if "trans" in words:
            value = _transposed(writer, value, row, part)
        writer.write(name, value, "i32")


def _from_lane(writer: Writer, value: str, lane: str) -> str:
    return writer.call(
        "i64", "__simt_collective", ("i32", "0"), ("i64", "4294967295"), ("i64", value), ("i32", lane), ("i32", "32")
    )


def _transposed(writer: Writer, value: str, row: str, part: str) -> str:
    """Lane 4r+c has elements (r, 2c) and (r, 2c+1) and gets (2c, r) and (2c+1, r)."""
    wide = writer.put(f"zext i32 {value} to i64")
    half = writer.put(f"shl i32 {writer.put(f'and i32 {row}, 1')}, 4")
    found = []
    for i in range(2):
        giver = writer.put(f"add i32 {writer.put(f'shl i32 {part}, 3')}, {writer.put(f'lshr i32 {row}, 1')}")
        giver = writer.put(f"add i32 {giver}, {4 * i}")
        both = writer.put(f"trunc i64 {_from_lane(writer, wide, giver)} to i32")
        found.append(writer.put(f"and i32 {writer.put(f'lshr i32 {both}, {half}')}, 65535"))
    return writer.put(f"or i32 {writer.put(f'shl i32 {found[1]}, 16')}, {found[0]}")


HANDLERS = {
    **dict.fromkeys(("ld", "ldu", "st"), load_or_store),
    **dict.fromkeys(("atom", "red"), atomic),
    **dict.fromkeys(("fence", "membar"), fence),
    "cp": copy_async,
    "cvta": convert_address,
    "isspacep": in_space,
    "ldmatrix": load_matrix,
}
