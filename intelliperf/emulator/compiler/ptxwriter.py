"""The LLVM IR that stands for one statement of inline PTX: operands and registers are stack slots."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

FLOATS = {"f32": "float", "f64": "double"}
HALVES = {"f16": 16, "bf16": 16, "f16x2": 32, "bf16x2": 32}
_WIDTHS = {"pred": "i1", **FLOATS}
_INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)U?")
_REAL = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
_INDEX = re.compile(r"(n?tid|n?ctaid)\.([xyz])")
# A launch has no clusters here, so that each block is one: its position is the block's, within it there is one block.
_CLUSTER_INDEX = re.compile(r"(n?clusterid|cluster_n?ctaid)\.([xyz])")
_CLUSTER = {"clusterid": "ctaid", "nclusterid": "nctaid", "cluster_ctaid": 0, "cluster_nctaid": 1}
_CONSTANTS = {"cluster_ctarank": 0, "cluster_nctarank": 1, "is_explicit_cluster": 0}
_INDEX_OFFSETS = {"ctaid": 0, "ntid": 16, "nctaid": 32}  # in runtime/abi.h's Grid
# Registers of the device: the runtime's function, what it returns and how much of that is the register.
_SPECIAL = {
    **{name: (f"__simt_ptx_{name}", "i32", "i32", 0) for name in (
        "laneid", "warpid", "nwarpid", "smid", "nsmid",
        "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge")},
    "clock": ("__simt_clock", "i64", "i32", 0),
    "clock_hi": ("__simt_clock", "i64", "i32", 32),
    "clock64": ("__simt_clock", "i64", "i64", 0),
    "globaltimer": ("__simt_wall_clock", "i64", "i64", 0),
    "globaltimer_lo": ("__simt_wall_clock", "i64", "i32", 0),
    "globaltimer_hi": ("__simt_wall_clock", "i64", "i32", 32),
    "dynamic_smem_size": ("__simt_dynamic_shared_size", "i32", "i32", 0),
}  # fmt: skip


class Unknown(Exception):
    """An instruction or a form of one that the tables do not have."""


def bits_of(kind: str) -> int:
    """Width of an integer type of PTX. Raises `Unknown`."""
    if not re.fullmatch(r"[busf](?:8|16|32|64)", kind):
        raise Unknown(kind)
    return int(kind[1:])


def type_of(kind: str) -> str:
    """The IR type that a register of PTX type `kind` is kept in; raises `Unknown`."""
    if kind in HALVES:
        return f"i{HALVES[kind]}"
    return _WIDTHS.get(kind) or f"i{bits_of(kind)}"


def is_signed(kind: str) -> bool:
    return kind[0] == "s"


def constant(value: float, kind: str) -> str:
    """A number as LLVM writes it: the bits of the double that it is."""
    if kind == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


@dataclass
class Writer:
    """The body of the function that stands for one statement."""

    slots: dict[str, str]  # operand ($0) or register name: IR type
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def do(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self) -> str:
        self.count += 1
        return f"l{self.count}"

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """`body` for an i1 that is true."""
        then, after = self.label(), self.label()
        self.do(f"br i1 {condition}, label %{then}, label %{after}")
        self.begin(then)
        body()
        self.do(f"br label %{after}")
        self.begin(after)

    def call(self, result: str, name: str, *arguments: tuple[str, str]) -> str:
        """A call of a runtime function or intrinsic; arguments are (type, value)."""
        listed = ", ".join(f"{kind} {value}" for kind, value in arguments)
        if result == "void":
            self.do(f"call void @{name}({listed})")
            return ""
        return self.put(f"call {result} @{name}({listed})")

    def read(self, operand: str, wanted: str) -> str:
        """A value of IR type `wanted`: bits are kept, wider integers cut and narrower ones filled with zeros."""
        if operand.startswith("!") and wanted == "i1":
            return self.put(f"xor i1 {self.read(operand[1:], 'i1')}, true")
        if operand in self.slots:
            kind = self.slots[operand]
            return self._as(self.put(f"load {kind}, ptr %s{slot(operand)}"), kind, wanted)
        if wanted in ("float", "double"):
            return self._number(operand, wanted)
        if _INTEGER.fullmatch(operand):
            value = (
                int(operand.rstrip("U"), 0) if not re.fullmatch(r"-?0\d+U?", operand) else int(operand.rstrip("U"), 8)
            )
            return str(value % (1 << int(wanted[1:]))) if wanted != "i1" else str(int(value != 0))
        if operand == "WARP_SZ":
            return "32"
        if operand.startswith("%"):
            return self._special(operand[1:], wanted)
        raise Unknown(operand)

    def read_signed(self, operand: str, kind: str) -> str:
        """Like `read`, from a wider register or of its own width; a narrower one is filled with its sign."""
        found = self.slots.get(operand, kind)
        if found.startswith("i") and kind.startswith("i") and int(found[1:]) < int(kind[1:]):
            return self.put(f"sext {found} {self.read(operand, found)} to {kind}")
        return self.read(operand, kind)

    def write(self, operand: str, value: str, kind: str, signed: bool = False) -> None:
        if operand == "_":
            return
        if operand not in self.slots:
            raise Unknown(operand)
        wanted = self.slots[operand]
        if signed and wanted[0] == kind[0] == "i" and int(wanted[1:]) > int(kind[1:]):
            value, kind = self.put(f"sext {kind} {value} to {wanted}"), wanted
        self.lines.append(f"  store {wanted} {self._as(value, kind, wanted)}, ptr %s{slot(operand)}")

    def _number(self, operand: str, wanted: str) -> str:
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", operand):
            return constant(struct.unpack("<f", struct.pack("<I", int(operand[2:], 16)))[0], wanted)
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", operand):
            return constant(struct.unpack("<d", struct.pack("<Q", int(operand[2:], 16)))[0], wanted)
        if _REAL.fullmatch(operand):
            return constant(float(operand), wanted)
        raise Unknown(operand)

    def _special(self, name: str, wanted: str) -> str:
        if found := _CLUSTER_INDEX.fullmatch(name):
            meaning = _CLUSTER[found[1]]
            return str(meaning) if isinstance(meaning, int) else self._special(f"{meaning}.{found[2]}", wanted)
        if name in _CONSTANTS:
            return str(_CONSTANTS[name])
        if found := _INDEX.fullmatch(name):
            axis = 4 * "xyz".index(found[2])
            if found[1] == "tid":
                base, offset = self.put("call ptr @__simt_thread()"), axis
            else:
                base, offset = "@__simt_grid", _INDEX_OFFSETS[found[1]] + axis
            place = self.put(f"getelementptr i8, ptr {base}, i64 {offset}")
            return self._as(self.put(f"load i32, ptr {place}, align 4"), "i32", wanted)
        if name not in _SPECIAL:
            raise Unknown(name)
        function, returned, kind, above = _SPECIAL[name]
        value = self.put(f"call {returned} @{function}()")
        if above:
            value = self.put(f"lshr {returned} {value}, {above}")
        return self._as(self._as(value, returned, kind), kind, wanted)

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


def slot(name: str) -> str:
    return re.sub(r"[^\w.]", lambda mark: {"$": "_", "%": "p."}.get(mark[0], "."), name)
