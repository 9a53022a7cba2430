"""Buffers of a paused CUDA program: how they come here, and what a comparison on the device says of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.nvidia

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
CHUNK = 4096
# Holds copies of files in device memory and prints a handle for each, until its input ends.
_HOLDER = """
import ctypes, pathlib, sys
from intelliperf.cuda.driver_api import driver
driver, context = driver(), ctypes.c_void_p()
driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
driver.cuCtxSetCurrent(context)
for name in sys.argv[1:]:
    content, address = pathlib.Path(name).read_bytes(), ctypes.c_uint64()
    handle = (ctypes.c_ubyte * 64)()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_uint64(len(content))) == 0
    assert driver.cuMemcpyHtoD_v2(address, content, ctypes.c_uint64(len(content))) == 0
    assert driver.cuIpcGetMemHandle(handle, address) == 0
    print(bytes(handle).hex(), flush=True)
sys.stdin.read()
"""


def planted(encoding: str, size: int, count: int) -> tuple[bytes, bytes]:
    """Two buffers that differ here and there, by little, by much, and by a NaN and an infinity."""
    draw = np.random.default_rng(size)
    if encoding == "bits":
        left = draw.integers(0, 256, size * count, dtype=np.uint8)
        right = left.copy()
        right[draw.integers(0, left.size, 9)] ^= 0x10
        return left.tobytes(), right.tobytes()
    values = draw.normal(size=count)
    near = values * (1 + draw.choice([0.0, 0.0, 1e-3, 3e-2], count))
    near[5], near[count // 2], values[7], near[7] = np.nan, np.inf, np.nan, np.nan
    if encoding == "bfloat":
        return tuple(
            (one.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes() for one in (values, near)
        )  # type: ignore[return-value]
    kind = {2: np.float16, 4: np.float32, 8: np.float64}[size]
    return values.astype(kind).tobytes(), near.astype(kind).tobytes()


@pytest.mark.parametrize(
    ("encoding", "size"),
    [("bits", 1), ("bits", 2), ("bits", 4), ("bits", 8), ("float", 2), ("bfloat", 2), ("float", 4), ("float", 8)],
)
def test_the_device_finds_what_numpy_finds(tmp_path: Path, encoding: str, size: int) -> None:
    from intelliperf.cuda import driver_api
    from intelliperf.cuda.comparing import DeviceComparer
    from intelliperf.cuda.probe import device_record
    from intelliperf.protocols import Numbers, SharedBuffer
    from intelliperf.validation.buffers.elements import Scalar

    contents = planted(encoding, size, 5003)  # neither whole chunks nor whole 16-byte words
    paths = []
    for number, content in enumerate(contents):
        paths.append(tmp_path / f"{number}")
        paths[-1].write_bytes(content)
    argv = [sys.executable, "-c", _HOLDER, *map(str, paths)]
    comparer = DeviceComparer(device_record("", driver_api.attributes()).architecture)
    numbers = Numbers(encoding, size, 1e-2, 1e-9)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as holder:
        assert holder.stdin is not None and holder.stdout is not None
        handles = [bytes.fromhex(holder.stdout.readline()) for _ in paths]
        length = len(contents[0])
        left, right = (SharedBuffer(handle, length, 0, "CUDA") for handle in handles)
        found = comparer.differing(left, right, length, CHUNK, numbers)
        same = comparer.differing(left, left, length, CHUNK, numbers)
        part = comparer.copy(SharedBuffer(handles[1], length, 17, "CUDA"), 100).view
        holder.stdin.close()
    comparer.close()
    assert same == ()
    assert part is not None and bytes(part) == contents[1][17:117]
    assert found is not None and sum(one.elements for one in found) > 0
    scalar = Scalar("", size, encoding)
    for one in found:
        a, b = (np.frombuffer(c[one.number * CHUNK : (one.number + 1) * CHUNK], np.uint8) for c in contents)
        differs = scalar.bits(a) != scalar.bits(b)
        assert (one.elements, one.first) == (np.count_nonzero(differs), np.flatnonzero(differs)[0])
        if encoding == "bits":
            assert one.beyond == one.elements
            continue
        x, y = scalar.floats(a), scalar.floats(b)
        finite = np.isfinite(x) & np.isfinite(y)
        specials = np.count_nonzero(~finite & ~(np.isnan(x) & np.isnan(y)))
        gaps = np.abs(x - y)[finite]
        far = np.count_nonzero(gaps > numbers.atol + numbers.rtol * np.abs(x[finite]))
        assert (one.specials, one.beyond, one.absolute) == (specials, far + specials, gaps.max())
        assert one.relative == pytest.approx((gaps / np.abs(x[finite])).max())
        spacing = np.abs(x[finite]) * scalar.epsilon
        assert one.ulps == pytest.approx((gaps / spacing).max(), rel=1.0)
    unequal = {
        n for n in range(-(-length // CHUNK)) if contents[0][n * CHUNK :][:CHUNK] != contents[1][n * CHUNK :][:CHUNK]
    }
    assert {one.number for one in found} == unequal


def test_every_kind_of_memory_can_be_read(tmp_path: Path) -> None:
    from intelliperf.cuda.backend import CudaBackend
    from intelliperf.interception.messages import Dispatch, End
    from intelliperf.interception.wire import Deadline
    from intelliperf.processes.sandbox import UNCONFINED
    from intelliperf.records import Application, Interception, Kernel
    from intelliperf.validation.runs.side import Side, SideRun

    program = tmp_path / "kinds"
    source = PROGRAMS / "kinds_of_memory.cu"
    subprocess.run(["nvcc", "-arch=native", "-o", str(program), str(source), "-lcuda"], check=True)
    backend = CudaBackend(tmp_path / "device")
    application = Application((str(program),), tmp_path, tmp_path)
    deadline = Deadline.after(60.0)
    run = SideRun("kinds", application, Interception(kernels=("*",)))
    with Side(run, backend, Kernel("fill", "fill"), tmp_path / "logs", UNCONFINED) as side:
        side.connect(deadline)
        while not isinstance(dispatch := side.next(deadline), Dispatch):
            pass
        factors = {"plain": 1, "pitched": 2, "pool": 3, "managed": 4, "mapped": 5, "pinned": 6, "symbol": 7}
        seen = {}
        for allocation in dispatch.allocations:
            words = np.frombuffer(side.read(allocation), dtype=np.int32)[:3000]
            assert bytes(side.copied(allocation, deadline)) == bytes(side.read(allocation))
            factor = next((f for f in factors.values() if np.array_equal(words, f * np.arange(words.size))), None)
            if factor is not None:
                seen[factor] = (allocation.kind, allocation.shared is not None)
        assert seen == {
            1: ("device", True), 2: ("device", True), 3: ("pool", False), 4: ("managed", False),
            5: ("mapped", False), 6: ("pinned", False), 7: ("symbol", False),
        }  # fmt: skip
        side.proceed()
        while not isinstance(end := side.next(deadline), End):
            pass
        assert end.uncovered == ("texture memory (arrays)",)
