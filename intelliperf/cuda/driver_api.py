"""What the CUDA driver says about the machine's first GPU, through ctypes; nothing is loaded before it is asked for."""

from __future__ import annotations

import ctypes
from functools import lru_cache

from intelliperf.cuda.probe import Attribute
from intelliperf.errors import BackendUnavailable

_LIBRARY = "libcuda.so.1"
_SUCCESS = 0
_REMEDIES = {
    100: "no NVIDIA GPU is visible to this process: check nvidia-smi and CUDA_VISIBLE_DEVICES",
    803: "the driver and its library do not match: reboot, or reinstall the driver",
    804: "the driver is too old for this CUDA version",
}


@lru_cache(maxsize=1)
def driver() -> ctypes.CDLL:
    """The initialised driver. Raises `BackendUnavailable` with the remedy."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise BackendUnavailable(f"no NVIDIA driver here ({_LIBRARY} cannot be loaded): {error}") from error
    status = library.cuInit(0)
    if status != _SUCCESS:
        remedy = _REMEDIES.get(status, "see `nvidia-smi`")
        raise BackendUnavailable(f"the NVIDIA driver does not start (error {status}): {remedy}")
    return library


def _checked(status: int, what: str) -> None:
    if status != _SUCCESS:
        raise BackendUnavailable(f"the NVIDIA driver cannot tell {what} (error {status})")


def device_name() -> str:
    """As "NVIDIA H100 80GB HBM3". Raises `BackendUnavailable`."""
    name = ctypes.create_string_buffer(256)
    _checked(driver().cuDeviceGetName(name, len(name), 0), "the device's name")
    return name.value.decode("utf-8", "replace")


def attributes() -> dict[Attribute, int]:
    """All of `Attribute` for the first device. Raises `BackendUnavailable`."""
    values: dict[Attribute, int] = {}
    for attribute in Attribute:
        value = ctypes.c_int()
        _checked(driver().cuDeviceGetAttribute(ctypes.byref(value), int(attribute), 0), attribute.name.lower())
        values[attribute] = value.value
    return values


def driver_version() -> tuple[int, int]:
    """The newest CUDA version that the driver can run, as (13, 0)."""
    version = ctypes.c_int()
    _checked(driver().cuDriverGetVersion(ctypes.byref(version)), "its version")
    return version.value // 1000, version.value % 1000 // 10
