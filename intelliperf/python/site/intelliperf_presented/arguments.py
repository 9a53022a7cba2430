"""A kernel's arguments as bytes, and what the JIT knows of their types, in the order of the code object's own."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

_FORMATS = {
    "i1": "?", "i8": "b", "u1": "?", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q",
    "fp16": "e", "fp32": "f", "f32": "f", "fp64": "d",
}  # fmt: skip
# Triton's names of elements → ours, their size in bytes, and how they are encoded.
_ELEMENTS = {
    "i1": ("bool", 1, "boolean"), "i8": ("int8", 1, "signed"), "i16": ("int16", 2, "signed"),
    "i32": ("int32", 4, "signed"), "i64": ("int64", 8, "signed"), "u1": ("bool", 1, "boolean"),
    "u8": ("uint8", 1, "unsigned"), "u16": ("uint16", 2, "unsigned"), "u32": ("uint32", 4, "unsigned"),
    "u64": ("uint64", 8, "unsigned"), "fp16": ("half", 2, "float"), "bf16": ("bfloat16", 2, "float"),
    "fp32": ("float", 4, "float"), "f32": ("float", 4, "float"), "fp64": ("double", 8, "float"),
    "fp8e4nv": ("fp8e4nv", 1, "unknown"), "fp8e5": ("fp8e5", 1, "unknown"), "fp8e4b8": ("fp8e4b8", 1, "unknown"),
    "fp8e5b16": ("fp8e5b16", 1, "unknown"), "fp8e4b15": ("fp8e4b15", 1, "unknown"),
}  # fmt: skip
SCRATCH = ("global_scratch", "profile_scratch")  # Triton's AMD kernels end with these two


class UnknownArgument(TypeError):
    """An argument of a type that no kernel argument is made of here."""


def flat(values: Sequence[Any], types: Sequence[Any], names: Sequence[str]) -> Iterator[tuple[Any, str, str]]:
    """Value, type and name of each argument that the kernel takes: without constants, tuples and descriptors apart."""
    for value, kind, name in zip(values, types, names):  # the JIT may pass further values
        if kind == "constexpr":
            continue
        if isinstance(kind, (tuple, list)):
            inner = value if value is not None else len(kind) * [None]
            yield from flat(inner, kind, [f"{name}[{index}]" for index in range(len(kind))])
        elif kind.startswith("tensordesc"):
            yield from _descriptor(value, kind, name)
        else:
            yield value, kind, name


def _descriptor(value: Any, kind: str, name: str) -> Iterator[tuple[Any, str, str]]:
    """A tensor descriptor made on the host: pointer, shape, strides, flags, and shape and strides once more."""
    element = kind.split("<", 1)[1].split("[", 1)[0]
    shape = value.shape if value is not None else _rank(kind) * [0]
    strides = value.strides if value is not None else _rank(kind) * [0]
    yield (value.base if value is not None else None), f"*{element}", name
    for number, size in enumerate(shape):
        yield size, "i64", f"{name}.shape[{number}]"
    for number, stride in enumerate(strides):
        yield stride, "i64", f"{name}.strides[{number}]"
    yield getattr(value, "padding", "") == "nan", "i1", f"{name}.nan"
    if _has_rounding_flag():
        yield bool(getattr(value, "round_f32_to_tf32", False)), "i1", f"{name}.tf32"
    for number, size in enumerate(shape):
        yield size, "i32", f"{name}.shape[{number}]"
    for number, stride in enumerate(strides):
        yield stride, "i64", f"{name}.strides[{number}]"


def _has_rounding_flag() -> bool:
    """Since Triton 3.7."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return hasattr(TensorDescriptor, "round_f32_to_tf32")


def _rank(kind: str) -> int:
    return kind.split("[", 1)[1].split("]", 1)[0].count(",") + 1


def address(value: Any) -> int:
    """What a pointer argument points to. Raises `TypeError` as Triton's own launcher does."""
    if value is None:
        return 0
    if isinstance(value, int):
        return value
    pointer = getattr(value, "data_ptr", None)
    if pointer is None:
        raise TypeError("Pointer argument must be either uint64 or have data_ptr method")
    return int(pointer())


def packed(value: Any, kind: str) -> bytes:
    """The bytes of one argument. Raises `UnknownArgument`."""
    if kind.startswith("*"):
        return struct.pack("<Q", address(value))
    if kind == "bf16":  # cut off, as Triton's own launcher does
        return struct.pack("<f", value)[2:]
    if kind not in _FORMATS:
        raise UnknownArgument(f"an argument of type {kind}")
    return struct.pack("<" + _FORMATS[kind], value)


def scratch(pointers: Sequence[int]) -> list[bytes]:
    return [struct.pack("<Q", pointer) for pointer in pointers]


def described(types: Sequence[Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The entries of the emulator's metadata, one per argument that the kernel takes."""
    found = [(kind, name) for _, kind, name in flat(len(types) * [None], types, names)]
    found += [("*i8", name) for name in SCRATCH]
    return [{"index": index, **_entry(kind, name)} for index, (kind, name) in enumerate(found)]


def _entry(kind: str, name: str) -> dict[str, Any]:
    pointer = kind.startswith("*")
    target = kind.lstrip("*").removeprefix("k")  # *k: constant behind the pointer
    known = _ELEMENTS.get(target)
    element = {"name": known[0], "bytes": known[1], "encoding": known[2]} if known else None
    return {
        "name": name,
        "type": f"{element['name']}*" if pointer and element else str(element["name"]) if element else kind,
        "size": 8 if pointer else known[1] if known else 8,
        "pointer": pointer,
        "const": kind.startswith("*k"),
        "restrict": False,
        "element": element if pointer else None,
        "number": {"bytes": known[1], "encoding": known[2]} if known else None,
        "fields": [],
    }
