from __future__ import annotations

import ctypes
import itertools
import json
from pathlib import Path
from typing import cast

import pytest

from intelliperf.cuda import clocks
from intelliperf.cuda.clocks import ClockWatch, Gpu
from intelliperf.errors import BackendUnavailable
from intelliperf.profiling.conditions import ClockReading, Conditions, describe

_RECORDED = json.loads((Path(__file__).parent / "recordings" / "h100-processes.json").read_text())


class _Function:
    """Answers as NVML does: a status, the value by pointer. Keyed by the arguments between handle and pointer."""

    def __init__(self, values: dict[tuple[int, ...], int]) -> None:
        self._values = values

    def __call__(self, *arguments: object) -> int:
        *given, pointer = arguments[1:]
        value = self._values.get(tuple(cast("list[int]", given)))
        if value is None:
            return 3  # NVML_ERROR_NOT_SUPPORTED
        target = getattr(pointer, "_obj")  # noqa: B009 - what ctypes.byref points to
        if isinstance(target, ctypes.Structure):
            setattr(target, "violation_ns", value)  # noqa: B010
        else:
            target.value = value
        return 0


class _Nvml:
    """A library that knows the functions which it was given, and that never closes unnoticed."""

    def __init__(self, status: int = 0, **functions: dict[tuple[int, ...], int]) -> None:
        self.opened = 0
        self._status = status
        for name, values in functions.items():
            setattr(self, name, _Function(values))

    def nvmlInit_v2(self) -> int:  # noqa: N802
        self.opened += 1
        return 0

    def nvmlShutdown(self) -> int:  # noqa: N802
        self.opened -= 1
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: int, handle: object) -> int:  # noqa: N802
        return self._status

    @staticmethod
    def nvmlErrorString(status: int) -> bytes:  # noqa: N802
        return b"Not Found" if status else b"Success"


def _gpu(library: _Nvml) -> Gpu:
    return Gpu(cast(ctypes.CDLL, library), None)


def test_a_reading_holds_what_the_driver_tells_and_leaves_out_the_rest() -> None:
    library = _Nvml(
        nvmlDeviceGetClockInfo={(1,): 1980, (2,): 2619},
        nvmlDeviceGetPowerUsage={(): 72158},
        nvmlDeviceGetCurrentClocksEventReasons={(): 0x24},
    )
    with _gpu(library) as gpu:
        reading = gpu.read()
        assert gpu.held_back_ns() is None
    assert reading == ClockReading(1980, 2619, None, 72.158, ("power cap", "heat (software)"))
    assert library.opened == 0


def test_reasons_by_their_name_of_older_drivers_are_read() -> None:
    with _gpu(_Nvml(nvmlDeviceGetCurrentClocksThrottleReasons={(): 0x40})) as gpu:
        assert gpu.read().brakes == ("heat (hardware)",)


def test_an_idle_gpu_is_not_throttled() -> None:
    assert clocks.brakes_of(0x01 | 0x02 | 0x100) == ()


def test_time_held_back_is_the_sum_of_what_is_counted() -> None:
    with _gpu(_Nvml(nvmlDeviceGetViolationStatus={(0,): 500, (1,): 7})) as gpu:
        assert gpu.held_back_ns() == 507


def test_an_unknown_gpu_is_named_and_nvml_closed() -> None:
    library = _Nvml(status=6)
    with pytest.raises(BackendUnavailable, match="NVML knows no GPU 0: Not Found"):
        _gpu(library)
    assert library.opened == 0


def test_a_watch_reads_at_both_ends_and_counts_what_happened_between() -> None:
    held = iter([100, 350])
    number = itertools.count(345)
    with ClockWatch(lambda: ClockReading(sm_clock_mhz=next(number)), lambda: next(held), 60.0) as watch:
        pass
    assert [reading.sm_clock_mhz for reading in watch.conditions.readings] == [345, 346]
    assert watch.conditions.held_back_ns == 250
    assert watch.conditions.throttled


def test_the_recorded_h100_was_at_its_highest_clock_and_never_throttled() -> None:
    first = _RECORDED["first_process"]
    readings = tuple(
        ClockReading(sm, memory, degrees, watts, tuple(b)) for sm, memory, degrees, watts, b in first["readings"]
    )
    conditions = Conditions(readings, first["held_back_ns"])
    assert (conditions.sm_clock_mhz, conditions.memory_clock_mhz, conditions.temperature_c) == (1980, 2619, 35)
    assert not conditions.throttled


def test_a_driver_that_tells_nothing_is_said_to() -> None:
    assert describe([Conditions((ClockReading(),))]) == "the driver tells neither clocks nor temperature"


def test_without_nvml_the_conditions_are_unknown_and_not_calm() -> None:
    with clocks.watching(None) as watch:
        pass
    assert watch.conditions == Conditions()
    assert watch.conditions.sm_clock_mhz is None
