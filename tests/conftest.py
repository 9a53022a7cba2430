"""The one place that decides what a test needs and whether this machine has it."""

from __future__ import annotations

import runpy
import shutil
from functools import lru_cache
from pathlib import Path

import pytest

_SOFTWARE_GFX90A = Path(__file__).parent / "gfx90a" / "device.py"
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
    if item.get_closest_marker("gfx90a") and (lacking := _lacking_for_gfx90a()):
        pytest.skip(lacking)


@lru_cache(maxsize=1)
def _lacking_for_gfx90a() -> str | None:
    if not _SOFTWARE_GFX90A.exists():
        return "the software gfx90a is not there"
    lacking: str | None = runpy.run_path(str(_SOFTWARE_GFX90A))["missing"]()
    return lacking
