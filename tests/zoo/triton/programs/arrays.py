"""Device memory without PyTorch: what Triton asks of a pointer, on the runtime's own API."""

import ctypes
import os
import struct

_FORMATS = {"fp32": "f", "fp16": "e", "i32": "i"}
_HOST_TO_DEVICE, _DEVICE_TO_HOST = 1, 2


class Array:
    def __init__(self, dtype, values):
        self.dtype, self.count, self._at = dtype, len(values), ctypes.c_void_p()
        self._native = ctypes.CDLL(os.environ["INTELLIPERF_RUNTIME"])
        content = struct.pack(f"{self.count}{_FORMATS[dtype]}", *values)
        self._native.hipMalloc(ctypes.byref(self._at), ctypes.c_size_t(len(content)))
        self._native.hipMemcpy(self._at, content, ctypes.c_size_t(len(content)), _HOST_TO_DEVICE)

    def data_ptr(self):
        return self._at.value

    def values(self):
        form = f"{self.count}{_FORMATS[self.dtype]}"
        content = ctypes.create_string_buffer(struct.calcsize(form))
        self._native.hipMemcpy(content, self._at, ctypes.c_size_t(len(content)), _DEVICE_TO_HOST)
        return struct.unpack(form, content.raw)
