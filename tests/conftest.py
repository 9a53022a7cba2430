"""The one place that decides what a test needs and whether this machine has it."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from pathlib import Path

import pytest

_DEVICES = {"nvidia": "nvidia-smi", "amd": "rocminfo"}
_SOFTWARE_DEVICE = "gfx90a"
_NEEDS = sorted([*_DEVICES, _SOFTWARE_DEVICE])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require", action="append", default=[], choices=_NEEDS, help="absence is a failure")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, tool in _DEVICES.items():
        if item.get_closest_marker(marker) is None or shutil.which(tool):
            continue
        if marker in item.config.getoption("--require"):
            pytest.fail(f"{tool} is not on PATH, and --require={marker} was given")
        pytest.skip(f"needs an {marker} GPU")
    if item.get_closest_marker(_SOFTWARE_DEVICE) is not None and (lacking := _software_device_lacks()):
        if _SOFTWARE_DEVICE in item.config.getoption("--require"):
            pytest.fail(f"--require={_SOFTWARE_DEVICE} was given, but {lacking}")
        pytest.skip(lacking)


@functools.lru_cache(maxsize=1)
def _software_device_lacks() -> str | None:
    specification = importlib.util.spec_from_file_location("device", Path(__file__).parent / "gfx90a" / "device.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.missing()
