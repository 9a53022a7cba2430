"""The parent's side of the wire protocol against children that lie, stall, die and talk nonsense."""

from __future__ import annotations

import json
import os
import socket
import struct
from pathlib import Path

import pytest

from intelliperf.errors import ProtocolError
from intelliperf.interception.arena import SharedArena, open_shared_arena
from intelliperf.interception.messages import Dispatch, End, Transfer
from intelliperf.interception.wire import Channel, Deadline, PeerClosed, PeerTimeout
from intelliperf.protocols import SharedBuffer

HELLO = {
    "type": "hello", "protocol": 1, "backend": "emulator", "pid": 1, "device": "MI300X", "wave_size": 64,
    "memory": "shared", "arena_base": 4096, "arena_bytes": 8192, "kernels": {},
}  # fmt: skip
DISPATCH = {
    "type": "dispatch", "index": 0, "nth": 0, "kernel": "k", "grid": [1, 1, 1], "block": [64, 1, 1],
    "dynamic_lds": 0, "target": True, "status": 0,
    "arguments": [{"index": 0, "hex": "0010000000000000", "pointers": [{"offset": 0, "allocation": 1, "at": 0}]}],
    "allocations": [{"id": 1, "base": 4096, "size": 16, "kind": "device", "sequence": 1, "name": None}],
}  # fmt: skip


ALLOCATION = DISPATCH["allocations"][0]


def shared(handle: str) -> dict[str, object]:
    return {"handle": handle, "bytes": 4096, "at": 64, "style": "legacy"}


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    channel = Channel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


def framed(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


def message(value: object) -> bytes:
    return framed(json.dumps(value).encode())


def soon() -> Deadline:
    return Deadline.after(0.2)


def test_a_hello_brings_its_descriptor(ends):
    channel, child = ends
    descriptor = os.memfd_create("arena")
    socket.send_fds(child, [message(HELLO)], [descriptor])
    os.close(descriptor)
    hello, descriptors = channel.hello(soon())
    assert (hello.device, hello.wave_size, len(descriptors)) == ("MI300X", 64, 1)
    os.close(descriptors[0])


def test_messages_become_records_in_order(ends):
    channel, child = ends
    transfer = {"type": "transfer", "operation": "memcpy_htod", "bytes": 4}
    child.sendall(message(DISPATCH) + message(transfer) + message({"type": "end", "dispatches": 1}))
    dispatch = channel.next(soon())
    assert isinstance(dispatch, Dispatch)
    assert dispatch.arguments[0].pointers[0].allocation == dispatch.allocations[0].id
    assert channel.next(soon()) == Transfer("memcpy_htod", 4)
    assert channel.next(soon()) == End(1)


def compact(**changes: object) -> bytes:
    return framed(json.dumps({**DISPATCH, **changes}, separators=(",", ":")).encode())


def test_repeated_messages_become_the_same_objects_and_changed_ones_do_not(ends):
    channel, child = ends
    moved = {**ALLOCATION, "size": 32}
    other = [{"index": 0, "hex": "1010000000000000", "pointers": [{"offset": 0, "allocation": 1, "at": 16}]}]
    child.sendall(
        compact()
        + compact(index=7, nth=3)
        + compact(index=8, arguments=other)
        + compact(index=9, allocations=[moved])
        + compact(index=10, grid=[2, 1, 1])
        + compact(index=11, allocations=[{**ALLOCATION, "id": 2}])
    )
    first, again, argued, resized, regridded = (channel.next(soon()) for _ in range(5))
    assert (again.index, again.nth) == (7, 3)
    assert again.arguments is first.arguments and again.allocations is first.allocations
    assert argued.allocations is first.allocations and argued.arguments[0].pointers[0].at == 16
    assert resized.allocations[0].size == 32 and resized.arguments == first.arguments
    assert (regridded.grid, regridded.index, first.grid) == ((2, 1, 1), 10, (1, 1, 1))
    with pytest.raises(ProtocolError, match="points to no allocation"):
        channel.next(soon())


def test_arguments_are_held_to_allocations_that_are_known_already(ends):
    channel, child = ends
    stray = [{"index": 0, "hex": "0010000000000000", "pointers": [{"offset": 0, "allocation": 5, "at": 0}]}]
    child.sendall(compact() + compact(index=1, arguments=stray))
    channel.next(soon())
    with pytest.raises(ProtocolError, match="points to no allocation"):
        channel.next(soon())


def test_a_message_may_arrive_byte_by_byte(ends):
    channel, child = ends
    for byte in message({"type": "end", "dispatches": 3}):
        child.send(bytes([byte]))
    assert channel.next(soon()) == End(3)


def test_another_version_is_rejected_by_its_number(ends):
    channel, child = ends
    child.sendall(message({**HELLO, "protocol": 7}))
    with pytest.raises(ProtocolError, match="version 7"):
        channel.hello(soon())


MALFORMED = {
    "not JSON": framed(b"{nonsense"),
    "not an object": framed(b"[1, 2]"),
    "not UTF-8": framed(b'{"type": "\xff"}'),
    "NaN": framed(b'{"type": "end", "dispatches": NaN}'),
    "deep nesting": framed(b"[" * 100_000),
    "a huge number": framed(b'{"type": "end", "dispatches": ' + b"9" * 10_000 + b"}"),
    "a length of zero": struct.pack("<I", 0),
    "an oversized length": struct.pack("<I", 0xFFFFFFFF),
    "an unknown type": message({"type": "surprise"}),
    "a negative count": message({"type": "end", "dispatches": -1}),
    "a boolean count": message({"type": "end", "dispatches": True}),
    "a missing key": message({k: v for k, v in DISPATCH.items() if k != "grid"}),
    "a flat extent": message({**DISPATCH, "grid": [1, 1]}),
    "a lone number for a list": message({**DISPATCH, "allocations": 3}),
    "a pointer to nowhere": message({**DISPATCH, "allocations": []}),
    "arguments that are not hexadecimal": message(
        {**DISPATCH, "arguments": [{"index": 0, "hex": "zz", "pointers": []}]}
    ),
    "a handle of another length": message({**DISPATCH, "allocations": [{**ALLOCATION, "shared": shared("ab" * 65)}]}),
    "a handle that is not hexadecimal": message({**DISPATCH, "allocations": [{**ALLOCATION, "shared": shared("zz")}]}),
    "a handle without its object": message({**DISPATCH, "allocations": [{**ALLOCATION, "shared": "ab" * 32}]}),
    "a copy that nobody asked for": message({"type": "copied", "allocation": 1, "base": 4096}),
    "two allocations with one id": message({**DISPATCH, "allocations": DISPATCH["allocations"] * 2}),
}


def test_a_handle_stands_for_a_buffer_that_is_not_copied(ends):
    channel, child = ends
    child.sendall(message({**DISPATCH, "allocations": [{**ALLOCATION, "base": 0, "shared": shared("ab" * 32)}]}))
    (allocation,) = channel.next(soon()).allocations
    assert allocation.shared == SharedBuffer(b"\xab" * 32, 4096, 64, "legacy")


def test_a_child_may_be_asked_for_a_copy_and_must_answer_for_that_buffer(ends):
    channel, child = ends
    child.sendall(message({"type": "copied", "allocation": 3, "base": 4096}))
    assert channel.copy(3, soon()) == 4096
    (length,) = struct.unpack("<I", child.recv(4))
    assert json.loads(child.recv(length)) == {"type": "copy", "allocation": 3}
    child.sendall(message({"type": "copied", "allocation": 4, "base": 4096}))
    with pytest.raises(ProtocolError, match="copy of buffer 3"):
        channel.copy(3, soon())


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_messages_are_protocol_errors(ends, name):
    channel, child = ends
    child.sendall(MALFORMED[name])
    with pytest.raises(ProtocolError) as error:
        channel.next(soon())
    assert not isinstance(error.value, (PeerClosed, PeerTimeout))


def test_a_message_cut_short_ends_as_a_closed_connection(ends):
    channel, child = ends
    child.sendall(message(DISPATCH)[:-5])
    child.close()
    with pytest.raises(PeerClosed):
        channel.next(soon())


def test_a_silent_child_runs_into_the_deadline(ends):
    channel, child = ends
    child.sendall(message(DISPATCH)[:10])
    with pytest.raises(PeerTimeout):
        channel.next(Deadline.after(0.05))


def test_descriptors_outside_the_hello_are_refused_and_closed(ends):
    channel, child = ends
    before = len(list(Path("/proc/self/fd").iterdir()))
    descriptor = os.memfd_create("extra")
    socket.send_fds(child, [message({"type": "end", "dispatches": 0})], [descriptor])
    os.close(descriptor)
    with pytest.raises(ProtocolError, match="descriptors"):
        channel.next(soon())
    channel.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before - 1


def arena(size: int, announced: int, sealing: bool = True) -> SharedArena:
    descriptor = os.memfd_create("arena", os.MFD_ALLOW_SEALING if sealing else 0)
    os.ftruncate(descriptor, size)
    os.pwrite(descriptor, b"content", 100)
    return SharedArena(descriptor, 0x1000, announced)


@pytest.mark.parametrize("sealing", [True, False])
def test_an_arena_is_read_by_the_childs_addresses(sealing):
    opened = arena(8192, 8192, sealing)
    assert bytes(opened.read(0x1000 + 100, 7)) == b"content"
    opened.close()


def test_what_is_spoilt_is_garbage_but_for_its_zeros_and_its_neighbours():
    opened = arena(8192, 8192)
    opened.spoil(0x1000 + 102, 10)
    assert bytes(opened.read(0x1000 + 100, 14)) == b"co" + b"\xd3" * 5 + bytes(7)
    with pytest.raises(ProtocolError):
        opened.spoil(0x1000 + 8190, 3)
    opened.close()


@pytest.mark.parametrize(("base", "size"), [(0xFFF, 1), (0x1000, 8193), (0x1000 + 8192, 1), (0x1000, -1), (1 << 63, 8)])
def test_nothing_outside_the_arena_can_be_read(base, size):
    opened = arena(8192, 8192)
    with pytest.raises(ProtocolError):
        opened.read(base, size)
    opened.close()


def test_an_arena_that_is_smaller_than_announced_is_refused():
    with pytest.raises(ProtocolError, match="announced"):
        arena(4096, 1 << 40)


def test_a_child_cannot_shrink_a_sealed_arena_under_the_reader():
    opened = arena(8192, 8192)
    with pytest.raises(PermissionError):
        os.ftruncate(opened._descriptor, 0)
    opened.close()


def test_a_shrunk_unsealable_arena_reads_short_and_does_not_kill_the_reader():
    opened = arena(8192, 8192, sealing=False)
    os.ftruncate(opened._descriptor, 0)
    with pytest.raises(ProtocolError, match="shorter"):
        opened.read(0x1000, 8192)
    opened.close()


def test_an_arena_must_be_a_memory_file():
    reader, writer = os.pipe()
    os.close(writer)
    with pytest.raises(ProtocolError):
        open_shared_arena({"arena_base": 0, "arena_bytes": 16}, [reader])
    with pytest.raises(ProtocolError):
        open_shared_arena({"arena_base": "0", "arena_bytes": 16}, [])
