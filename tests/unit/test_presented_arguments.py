"""A Triton kernel's arguments, as the driver hands them to the runtime."""

from __future__ import annotations

import struct

import pytest

from intelliperf.interception.messages import parse_hello
from intelliperf.python.site.intelliperf_presented.arguments import UnknownArgument, address, described, flat, packed


class Tensor:
    def data_ptr(self) -> int:
        return 0x1000


def test_constants_are_left_out_and_tuples_taken_apart() -> None:
    types = ["*fp32", "constexpr", ("i32", ("i64", "constexpr")), "fp64"]
    values = [Tensor(), 64, (1, (2, 3)), 4.0]
    found = [(kind, name) for _, kind, name in flat(values, types, ["x", "BLOCK", "shape", "scale"])]
    assert found == [("*fp32", "x"), ("i32", "shape[0]"), ("i64", "shape[1][0]"), ("fp64", "scale")]


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (Tensor(), "*fp16", struct.pack("<Q", 0x1000)),
        (None, "*i32", bytes(8)),
        (7, "*i32", struct.pack("<Q", 7)),
        (-1, "i32", b"\xff\xff\xff\xff"),
        (1.0, "fp16", b"\x00\x3c"),
        (1.0, "bf16", b"\x80\x3f"),
        (True, "i1", b"\x01"),
    ],
)
def test_an_argument_has_the_bytes_of_its_type(value: object, kind: str, expected: bytes) -> None:
    assert packed(value, kind) == expected


def test_what_is_no_argument_names_itself() -> None:
    with pytest.raises(UnknownArgument, match="nvTmaDesc"):
        packed(0, "nvTmaDesc")
    with pytest.raises(TypeError, match="data_ptr"):
        address("text")


def test_types_are_described_as_validation_reads_them() -> None:
    parameters = described(["*bf16", "constexpr", "i32"], ["x", "BLOCK", "n"])
    message = {
        "type": "hello", "protocol": 1, "backend": "emulator", "device": "MI300X", "wave_size": 64, "memory": "arena",
        "kernels": {"k": {"parameters": parameters}},
    }  # fmt: skip
    x, n, *scratch = parse_hello(message).kernels["k"]
    assert x.pointer and x.element is not None and (x.element.name, x.element.size) == ("bfloat16", 2)
    assert (n.name, n.type, n.size, n.pointer) == ("n", "int32", 4, False)
    assert [one.name for one in scratch] == ["global_scratch", "profile_scratch"]
