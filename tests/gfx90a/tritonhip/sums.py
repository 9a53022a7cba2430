"""A program of Triton's on an AMD GPU without PyTorch: what that gives to Triton's driver is given here."""

import ctypes
import struct

import triton
import triton.language as tl
from triton.backends.amd.driver import HIPDriver, HIPLauncher, HIPUtils

COUNT, BLOCK = 1000, 256
HIP = ctypes.CDLL("libamdhip64.so.5")


@triton.jit
def add(x, y, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def total(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + at * 0, tl.load(x + at, mask=at < count, other=0.0))


class Floats:
    """On the device; what Triton asks of a tensor."""

    dtype = "float32"

    def __init__(self, values):
        self.count = len(values)
        place = ctypes.c_void_p()
        assert HIP.hipMalloc(ctypes.byref(place), ctypes.c_size_t(4 * self.count)) == 0
        self.place = place.value
        content = struct.pack(f"{self.count}f", *values)
        assert HIP.hipMemcpy(place, content, ctypes.c_size_t(len(content)), 1) == 0

    def data_ptr(self):
        return self.place

    def values(self):
        content = ctypes.create_string_buffer(4 * self.count)
        assert HIP.hipMemcpy(content, ctypes.c_void_p(self.place), ctypes.c_size_t(len(content)), 2) == 0
        return list(struct.unpack(f"{self.count}f", content.raw))


def main():
    driver = HIPDriver.__new__(HIPDriver)  # its constructor imports PyTorch
    driver.utils, driver.launcher_cls = HIPUtils(), HIPLauncher
    driver.get_current_device = lambda: 0
    driver.set_current_device = lambda device: None
    driver.get_current_stream = lambda device: 0
    triton.runtime.driver.set_active(driver)
    x, y, out, one = (Floats(values) for values in (range(COUNT), [0.5] * COUNT, [0.0] * COUNT, [0.0]))
    grid = (triton.cdiv(COUNT, BLOCK),)
    add[grid](x, y, out, COUNT, BLOCK=BLOCK)
    total[grid](y, one, COUNT, BLOCK=BLOCK)
    assert out.values() == [n + 0.5 for n in range(COUNT)], out.values()[:4]
    assert one.values() == [COUNT / 2], one.values()
    print("right on", driver.get_current_target().arch, flush=True)


main()
