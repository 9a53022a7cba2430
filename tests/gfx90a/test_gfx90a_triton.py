"""Triton's own HIP driver under the real HIP 5.2 on the software gfx90a. It never ran on AMD hardware here.

PyTorch is not needed: the program gives the driver what it would. HIP 5.2 is older than what Triton asks for, so that
an adapter (tritonhip/adapter.cpp) stands between the two.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import device
import pytest
from instruments import device_lines
from programs_on_device import dispatches_in

from intelliperf.interception.messages import Dispatch, End
from intelliperf.interception.wire import Deadline
from intelliperf.processes.process import output_of
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import Application, Interception, Kernel, Launcher
from intelliperf.rocm.backend import RocmBackend
from intelliperf.validation.runs.side import Side, SideRun

pytestmark = [pytest.mark.gfx90a, pytest.mark.triton, pytest.mark.slow]
HERE = Path(__file__).resolve().parent
SOURCES = HERE / "tritonhip"
_DEADLINE_S = 240.0
_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-D__HIP_PLATFORM_AMD__")


@pytest.fixture(scope="module")
def python() -> str:
    sys.path.append(str(HERE.parent / "triton"))
    from interpreters import python_with

    found = python_with("triton")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def environment(python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    place = tmp_path_factory.mktemp("adapter")
    where = "import importlib.util; print(importlib.util.find_spec('triton').submodule_search_locations[0])"
    headers = Path(tool(python, "-c", where).strip()) / "backends" / "amd" / "include"
    tool("g++", *_FLAGS, "-isystem", str(headers), "-c", str(SOURCES / "adapter.cpp"), "-o", str(place / "adapter.o"))
    tool("g++", *_FLAGS, "-c", str(SOURCES / "properties.cpp"), "-o", str(place / "properties.o"))
    library = place / "libamdhip64.so"
    tool("g++", "-shared", *map(str, place.glob("*.o")), "-o", str(library), "-ldl")
    return {
        "TRITON_LIBHIP_PATH": str(library),
        "TRITON_CACHE_DIR": str(place / "cache"),
        "TRITON_DEFAULT_FP_FUSION": "1",
    }


def tool(*argv: str) -> str:
    done, out, err = output_of(list(argv), _DEADLINE_S)
    assert done.ok, out + err
    return out


def test_kernels_run_as_triton_launches_them_and_count_on_their_own_lines(
    python: str, environment: dict[str, str], tmp_path: Path
) -> None:
    counts = tmp_path / "counts"
    around = {**device.environment(counts), **environment}
    done, out, err = output_of([python, str(SOURCES / "sums.py")], _DEADLINE_S, around)
    assert done.ok, out + err
    assert out == "right on gfx90a\n"
    own = [one for one in dispatches_in(counts) if one["kernel"] in ("add", "total")]
    assert [one["kernel"] for one in own] == ["add", "total"]
    stored = [one for one in own[0]["instructions"] if one.get("kind") == "store"]
    assert sum(one["lanes"] * one["bytes"] for one in stored) == 4 * 1000
    binaries = sorted(Path(environment["TRITON_CACHE_DIR"]).rglob("*.hsaco"))
    lines = device_lines(own, binaries, SOURCES)
    text = (SOURCES / "sums.py").read_text().splitlines()
    atomics = {place.line for place in lines if place.kind == "atomic"}
    assert atomics == {f"sums.py:{1 + next(n for n, line in enumerate(text) if 'atomic_add' in line)}"}


def test_the_tools_library_sees_what_triton_launches(python: str, environment: dict[str, str], tmp_path: Path) -> None:
    launcher = Launcher((str(HERE / "gfx90a-run"), "--"))
    program = Application(
        (python, str(SOURCES / "sums.py")),
        tmp_path,
        tmp_path,
        environment=tuple(environment.items()),
        launcher=launcher,
    )
    backend = RocmBackend(tmp_path / "device", None, UNCONFINED, launcher)
    with Side(
        SideRun("buffers", program, Interception(kernels=("*",))), backend, Kernel("add", "add"), tmp_path, UNCONFINED
    ) as side:
        deadline = Deadline.after(_DEADLINE_S)
        side.connect(deadline)
        seen = []
        while isinstance(message := side.next(deadline), Dispatch):
            written = [bytes(side.read(one)[:8]) for one in message.allocations]
            seen.append((message.kernel, message.grid, [argument.value for argument in message.arguments], written))
            side.proceed()
        assert isinstance(message, End) and side.finish(deadline).ok
    (name, grid, arguments, buffers), (last, _, _, sums) = seen
    assert (name, grid, last) == ("add", (4, 1, 1), "total")
    assert arguments[3] == (1000).to_bytes(4, "little")
    assert struct.pack("2f", 0.5, 1.5) in buffers and any(found[:4] == struct.pack("f", 500.0) for found in sums)
