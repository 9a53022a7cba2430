"""The one place that decides what a test needs and whether this machine has it."""

from __future__ import annotations

import functools
import gc
import importlib.util
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Programs of the tests use our stand-ins for CUB and its like, whatever real ones the machine has.
os.environ.setdefault("INTELLIPERF_STANDINS", "1")
# In the background of a script Ctrl-C is ignored, and every child would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_DEVICES = {"nvidia": "nvidia-smi", "amd": "rocminfo"}
_MODULES = {  # marker → the module here that says what is missing
    "gfx90a": "gfx90a/device.py",
    "newer_llvm": "gfx90a/newerllvm.py",
    "newer_rocr": "gfx90a/newer.py",
    "rocm_headers": "rocm/rocmheaders.py",
    "build_tools": "emulator/buildtools.py",
    "hip_nvidia": "gpu/hiptoolkit.py",
    "namespaces": "unit/namespaces.py",
    "postgresql": "servers/postgres.py",
    "ray": "servers/raycluster.py",
    "chromium": "servers/chromium.py",
    "gh": "servers/github.py",
    "triton": "triton/interpreters.py",
    "torch": "triton/torches.py",
}
_TIERS = {"zoo": "all variants of the zoo", "slow": "tests that run for long"}
_HIP_PYTHON = "hip_python"
_NEEDS = sorted([*_DEVICES, *_MODULES, _HIP_PYTHON])


@pytest.fixture(scope="session", autouse=True)
def temporary_files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A place for temporary files, removed at the end; by name, after which test each was seen first."""
    tmp_path_factory.getbasetemp()  # where it was, of which pytest takes care
    seen: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        place = tempfile.mkdtemp(prefix="tests-")
        Path(place).chmod(0o711)  # PostgreSQL runs as another user
        patch.setenv("TMPDIR", place)
        patch.setattr(tempfile, "tempdir", None)
        yield seen
    left = {name: seen.get(name, "the last one") for name in sorted(path.name for path in Path(place).iterdir())}
    shutil.rmtree(place, ignore_errors=True)
    if request.config.getoption("--no-leftovers"):
        assert not left, "the tests left temporary files: " + ", ".join(
            f"{name} of {test}" for name, test in left.items()
        )


@pytest.fixture(autouse=True)
def _watched_place(request: pytest.FixtureRequest, temporary_files: dict[str, str]) -> Iterator[None]:
    yield
    for path in Path(tempfile.gettempdir()).iterdir():
        temporary_files.setdefault(path.name, request.node.nodeid)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require", action="append", default=[], choices=_NEEDS, help="absence is a failure")
    parser.addoption("--no-leftovers", action="store_true", help="temporary files that tests leave are a failure")
    for tier, content in _TIERS.items():
        parser.addoption(f"--{tier}", action="store_true", help=f"{content}, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A tier beside the default one only where it is asked for."""
    asked = config.getoption("-m") or ""
    absent = [tier for tier in _TIERS if not config.getoption(f"--{tier}") and tier not in asked]
    left_out = {item for item in items if any(item.get_closest_marker(tier) for tier in absent)}
    if left_out:
        config.hook.pytest_deselected(items=sorted(left_out, key=items.index))
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: "unit" in item.path.parts)  # short files last: no worker ends long before another


def pytest_collection_finish() -> None:
    """Modules and test items stay to the end: to look for garbage among them took an eighth of a worker's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, tool in _DEVICES.items():
        if item.get_closest_marker(marker) is None or shutil.which(tool):
            continue
        if marker in item.config.getoption("--require"):
            pytest.fail(f"{tool} is not on PATH, and --require={marker} was given")
        pytest.skip(f"needs an {marker} GPU")
    for marker in (*_MODULES, _HIP_PYTHON):
        if item.get_closest_marker(marker) is None or (lacking := _lacks(marker)) is None:
            continue
        if marker in item.config.getoption("--require"):
            pytest.fail(f"--require={marker} was given, but {lacking}")
        pytest.skip(lacking)


@functools.lru_cache
def _lacks(marker: str) -> str | None:
    if marker == _HIP_PYTHON:
        return None if importlib.util.find_spec("hip") is not None else "hip-python is not installed"
    path = Path(__file__).parent / _MODULES[marker]
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.missing()
