"""Clocks, temperature, power and throttling of the GPU, from NVML by ctypes; what it does not tell is absent."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator
from types import TracebackType

from intelliperf.errors import BackendUnavailable
from intelliperf.profiling.conditions import ClockReading, Conditions

_LIBRARY = "libnvidia-ml.so.1"
_SUCCESS = 0
_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_GPU_SENSOR = 0
_PERIOD_S = 0.05

# nvmlClocksEventReason* of nvml.h. Idleness, application clocks and display settings are nobody's brake.
BRAKES = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "heat (software)",
    0x40: "heat (hardware)",
    0x80: "power brake",
}
# nvmlPerfPolicyType_t: how long, since the driver was loaded, each policy held the clocks down.
_POLICIES = {0: "power cap", 1: "heat"}


class _Violation(ctypes.Structure):
    _fields_ = (("reference_ns", ctypes.c_ulonglong), ("violation_ns", ctypes.c_ulonglong))


class Gpu:
    """One GPU as NVML sees it. A context manager: NVML counts its users."""

    def __init__(self, library: ctypes.CDLL, uuid: str | None) -> None:
        self._library = library
        status = library.nvmlInit_v2()
        if status != _SUCCESS:
            raise BackendUnavailable(f"NVML does not start ({_words(library, status)}); see what nvidia-smi says")
        self._handle = ctypes.c_void_p()
        if uuid is None:
            status = library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._handle))
        else:
            status = library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self._handle))
        if status != _SUCCESS:
            library.nvmlShutdown()
            raise BackendUnavailable(f"NVML knows no GPU {uuid or 0}: {_words(library, status)}")

    def __enter__(self) -> Gpu:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._library.nvmlShutdown()

    def read(self) -> ClockReading:
        power = self._number("nvmlDeviceGetPowerUsage")
        reasons = self._number("nvmlDeviceGetCurrentClocksEventReasons", kind=ctypes.c_ulonglong)
        if reasons is None:  # the name before driver 535
            reasons = self._number("nvmlDeviceGetCurrentClocksThrottleReasons", kind=ctypes.c_ulonglong)
        return ClockReading(
            sm_clock_mhz=self._number("nvmlDeviceGetClockInfo", _SM_CLOCK),
            memory_clock_mhz=self._number("nvmlDeviceGetClockInfo", _MEMORY_CLOCK),
            temperature_c=self._number("nvmlDeviceGetTemperature", _GPU_SENSOR),
            power_w=None if power is None else power / 1000,
            brakes=None if reasons is None else brakes_of(reasons),
        )

    def max_clocks_mhz(self) -> tuple[int | None, int | None]:
        """Of the multiprocessors and of the memory."""
        name = "nvmlDeviceGetMaxClockInfo"
        return self._number(name, _SM_CLOCK), self._number(name, _MEMORY_CLOCK)

    def held_back_ns(self) -> int | None:
        """Since the driver was loaded; None where this GPU does not count it."""
        times = []
        function = getattr(self._library, "nvmlDeviceGetViolationStatus", None)
        for policy in _POLICIES if function else ():
            violation = _Violation()
            if function is not None and function(self._handle, policy, ctypes.byref(violation)) == _SUCCESS:
                times.append(int(violation.violation_ns))
        return sum(times) if times else None

    def watch(self, period_s: float = _PERIOD_S) -> ClockWatch:
        return ClockWatch(self.read, self.held_back_ns, period_s)

    def _number(
        self, name: str, *arguments: int, kind: type[ctypes.c_uint] | type[ctypes.c_ulonglong] = ctypes.c_uint
    ) -> int | None:
        function = getattr(self._library, name, None)
        value = kind()
        if function is None or function(self._handle, *arguments, ctypes.byref(value)) != _SUCCESS:
            return None
        return int(value.value)


class ClockWatch:
    """Reads the GPU again and again while its `with` block runs; afterwards `conditions` says what it saw."""

    def __init__(
        self, read: Callable[[], ClockReading], held_back_ns: Callable[[], int | None], period_s: float
    ) -> None:
        self._read = read
        self._held_back_ns = held_back_ns
        self._period_s = period_s
        self._ended = threading.Event()
        self._readings: list[ClockReading] = []
        self._thread = threading.Thread(target=self._run, name="gpu-clocks", daemon=True)
        self.conditions = Conditions()

    def __enter__(self) -> ClockWatch:
        self._before = self._held_back_ns()
        self._readings.append(self._read())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._readings.append(self._read())
        after = self._held_back_ns()
        known = self._before is not None and after is not None
        self.conditions = Conditions(tuple(self._readings), (after or 0) - (self._before or 0) if known else None)

    def _run(self) -> None:
        while not self._ended.wait(self._period_s):
            self._readings.append(self._read())


def open_gpu(uuid: str | None = None) -> Gpu:
    """The GPU of that UUID ("GPU-…", as the CUDA driver names it), else the first. Raises `BackendUnavailable`."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise BackendUnavailable(f"{_LIBRARY} cannot be loaded: install the NVIDIA driver ({error})") from error
    return Gpu(library, uuid)


@contextlib.contextmanager
def watching(gpu: Gpu | None) -> Iterator[ClockWatch]:
    """A watch of that GPU; of none, one whose conditions stay empty."""
    if gpu is None:
        yield ClockWatch(ClockReading, lambda: None, _PERIOD_S)
    else:
        with gpu.watch() as watch:
            yield watch


def brakes_of(reasons: int) -> tuple[str, ...]:
    """NVML's bit mask in words, of the bits that mean that the GPU is slower than it could be."""
    return tuple(words for bit, words in BRAKES.items() if reasons & bit)


def _words(library: ctypes.CDLL, status: int) -> str:
    library.nvmlErrorString.restype = ctypes.c_char_p
    said = library.nvmlErrorString(status)
    return said.decode("utf-8", "replace") if said else f"error {status}"
