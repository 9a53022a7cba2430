"""The one place that decides what a test needs and whether this machine has it."""

from __future__ import annotations

import shutil

import pytest

_DEVICES = {"nvidia": "nvidia-smi", "amd": "rocminfo"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require", action="append", default=[], choices=sorted(_DEVICES), help="absence is a failure")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, tool in _DEVICES.items():
        if item.get_closest_marker(marker) is None or shutil.which(tool):
            continue
        if marker in item.config.getoption("--require"):
            pytest.fail(f"{tool} is not on PATH, and --require={marker} was given")
        pytest.skip(f"needs an {marker} GPU")
