"""What the bytes of a buffer mean, and numpy views of them.

Floating-point elements are decoded to float64 for comparison; every other element is compared by
its bits. bfloat16 has no numpy type and is widened by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from intelliperf.interception.messages import Element

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

POISONS = (0xA5, 0x5A)  # what fresh memory is filled with

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_SIGNED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_NUMPY_FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}
# Vector and complex types are structs of one scalar: what that scalar is.
_VECTOR = re.compile(r"(?:struct )?(?:make_)?(u?char|u?short|u?int|u?long|u?longlong|float|double|half)[1234]$")
_COMPLEX = re.compile(r"(float|double)complex|complex<\s*(float|double)", re.IGNORECASE)
_VECTOR_SCALARS = {
    "float": ("float", 4), "double": ("float", 8), "half": ("float", 2),
    "char": ("signed", 1), "uchar": ("unsigned", 1), "short": ("signed", 2), "ushort": ("unsigned", 2),
    "int": ("signed", 4), "uint": ("unsigned", 4), "long": ("signed", 8), "ulong": ("unsigned", 8),
    "longlong": ("signed", 8), "ulonglong": ("unsigned", 8),
}  # fmt: skip


@dataclass(frozen=True)
class Scalar:
    """The unit of comparison: its name for people, its size in bytes, and how its bits read."""

    name: str
    size: int
    encoding: str  # "float", "bfloat", "signed", "unsigned", "bits"

    @property
    def floating(self) -> bool:
        return self.encoding in ("float", "bfloat")

    @property
    def epsilon(self) -> float:
        """Distance from 1 to the next value, relative; 0 for what is compared by its bits."""
        if self.encoding == "bfloat":
            return 2.0**-7
        return {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}[self.size] if self.encoding == "float" else 0.0

    def floats(self, raw: Bytes) -> Floats:
        """Values of a floating scalar."""
        with np.errstate(invalid="ignore"):  # numpy complains of signalling NaN, which any bytes may be
            if self.encoding == "bfloat":
                return (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
            return raw.view(_NUMPY_FLOATS[self.size]).astype(np.float64)

    def encode(self, values: Floats) -> Bytes:
        """The bytes of values, rounded to this type; the reverse of `floats`."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.encoding == "bfloat":
                return (_bfloat_bits(values) >> 16).astype(np.uint16).view(np.uint8)
            return values.astype(_NUMPY_FLOATS[self.size]).view(np.uint8)

    def bits(self, raw: Bytes) -> NDArray[np.unsignedinteger]:
        return raw.view(_UNSIGNED[self.size])

    def show(self, raw: Bytes) -> str:
        """One element for people."""
        if self.floating:
            return f"{float(self.floats(raw)[0]):.{17 if self.size == 8 else 9}g}"
        if self.encoding == "bits":
            return "0x" + raw.tobytes()[::-1].hex()
        table = _SIGNED if self.encoding == "signed" else _UNSIGNED
        return str(int(raw.view(table[self.size])[0]))


BYTE = Scalar("byte", 1, "bits")
FLOAT32 = Scalar("float", 4, "float")
FLOAT64 = Scalar("double", 8, "float")


def round_to_bfloat(values: Floats) -> Floats:
    """Values as they come back from a bfloat16."""
    with np.errstate(over="ignore", invalid="ignore"):
        return _bfloat_bits(values).view(np.float32).astype(np.float64)


def _bfloat_bits(values: Floats) -> NDArray[np.uint32]:
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return np.where(np.isnan(values), 0x7FC00000, rounded).astype(np.uint32)


def scalar_of(element: Element | None) -> Scalar:
    """The scalar that an element consists of; `BYTE` where the signature does not tell."""
    if element is None:
        return BYTE
    name = element.name.removeprefix("const ").strip()
    if element.encoding == "float":
        if element.size == 2 and ("bf" in name.lower() or "bfloat" in name.lower()):
            return Scalar(name, 2, "bfloat")
        return Scalar(name, element.size, "float") if element.size in _NUMPY_FLOATS else BYTE
    if element.encoding in ("signed", "unsigned", "boolean", "char") and element.size in _UNSIGNED:
        encoding = "signed" if element.encoding in ("signed", "char") else "unsigned"
        return Scalar(name, element.size, encoding)
    found = _scalar_of_struct(name, element.size)
    if found is BYTE and element.of is not None:
        bfloat = element.of.encoding == "bfloat"
        return Scalar(element.of.name, 2, "bfloat") if bfloat else scalar_of(element.of)
    return found


def _scalar_of_struct(name: str, size: int) -> Scalar:
    if "bfloat16" in name and size == 2:
        return Scalar(name, 2, "bfloat")
    if name in ("__half", "half") and size == 2:
        return Scalar(name, 2, "float")
    if vector := _VECTOR.search(name):
        encoding, width = _VECTOR_SCALARS[vector[1]]
        return Scalar(vector[1], width, encoding) if size % width == 0 else BYTE
    if found := _COMPLEX.search(name):
        base = (found[1] or found[2]).lower()
        return FLOAT32 if base == "float" else FLOAT64
    return BYTE
