"""How the tools library comes to HSA's tables: by ROCr's own loading or by rocprofiler-sdk, whichever is there."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from rocmdevice import DEADLINE_S, HERE, LAUNCHER, compile_hip

from intelliperf.interception.messages import Dispatch, End
from intelliperf.interception.wire import Deadline
from intelliperf.processes.process import output_of
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.records import Application, Interception, Kernel
from intelliperf.rocm import native
from intelliperf.rocm.backend import RocmBackend
from intelliperf.validation.runs.side import Side, SideRun

NATIVE = Path(native.__file__).with_name("native")


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    place = tmp_path_factory.mktemp("registration")
    compile_hip(HERE / "programs" / "saxpy.hip", place / "app", "-DFACTOR=1.0f", "-DLAUNCH=true")
    return Application(("./app",), place, place, launcher=LAUNCHER)


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for rocprofiler-sdk in an installation of ROCm."""
    made = tmp_path / "rocm" / "lib" / "librocprofiler-sdk.so.1"
    made.parent.mkdir(parents=True)
    source = HERE / "programs" / "profilersdk.cpp"
    argv = ["g++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", str(source), "-o", str(made), "-ldl"]
    done, _, err = output_of(argv, DEADLINE_S)
    assert done.ok, err
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    return made


def seen(application: Application, place: Path) -> tuple[object, list[str]]:
    """Who passed the tables, and the kernels of all dispatches."""
    backend = RocmBackend(place / "device", None, UNCONFINED, LAUNCHER)
    run = SideRun("one", application, Interception(kernels=("*",)))
    found: list[str] = []
    with Side(run, backend, Kernel("*", "all"), place / "logs", UNCONFINED) as side:
        deadline = Deadline.after(DEADLINE_S)
        side.connect(deadline)
        assert side.hello is not None
        while not isinstance(message := side.next(deadline), End):
            if isinstance(message, Dispatch):
                found.append(message.kernel)
                side.proceed()
        assert side.finish(deadline).ok
    return side.hello.raw.get("way"), found


KERNELS = ["saxpy", "saxpy", "_ZN12_GLOBAL__N_15shiftE4View", "_Z5scalePffi"]


@pytest.mark.gfx90a
def test_without_rocprofiler_sdk_rocr_loads_the_library_itself(application: Application, tmp_path: Path) -> None:
    assert native.profiler_sdk() is None
    assert seen(application, tmp_path) == ("HSA_TOOLS_LIB", KERNELS)


@pytest.mark.gfx90a
@pytest.mark.parametrize("alone", ["", "SDK_STANDIN_ALONE=1"], ids=["both", "alone"])
def test_where_rocprofiler_sdk_is_it_passes_the_tables_once(
    application: Application, sdk: Path, tmp_path: Path, alone: str
) -> None:
    under = replace(application, command=("env", f"LD_PRELOAD={sdk}", *alone.split(), "./app"))
    assert seen(under, tmp_path) == ("rocprofiler-sdk", KERNELS)


@pytest.mark.gfx90a
def test_an_sdk_that_the_application_does_not_load_changes_nothing(
    application: Application, sdk: Path, tmp_path: Path
) -> None:
    assert native.profiler_sdk() == sdk
    assert seen(application, tmp_path) == ("HSA_TOOLS_LIB", KERNELS)


AGREES = """
#include <rocprofiler-sdk/registration.h>

#include "profilersdk.h"

using namespace intelliperf;
#define SAME(ours, field, theirs, its) static_assert(offsetof(ours, field) == offsetof(theirs, its), #its)
static_assert(sizeof(SdkTool) == sizeof(rocprofiler_tool_configure_result_t), "the tool");
SAME(SdkTool, size, rocprofiler_tool_configure_result_t, size);
SAME(SdkTool, begin, rocprofiler_tool_configure_result_t, initialize);
SAME(SdkTool, end, rocprofiler_tool_configure_result_t, finalize);
SAME(SdkTool, data, rocprofiler_tool_configure_result_t, tool_data);
static_assert(sizeof(SdkClient) == sizeof(rocprofiler_client_id_t), "the client");
SAME(SdkClient, name, rocprofiler_client_id_t, name);
SAME(SdkClient, handle, rocprofiler_client_id_t, handle);
static_assert(kHsaTable == ROCPROFILER_HSA_TABLE, "the table");
"""


@pytest.mark.triton
def test_our_layouts_are_those_of_amds_headers(tmp_path: Path) -> None:
    """Triton's wheel carries them."""
    spec = find_spec("triton")
    assert spec is not None and spec.origin is not None
    include = Path(spec.origin).parent / "backends" / "amd" / "include"
    source = tmp_path / "agrees.cpp"
    source.write_text(AGREES)
    # The headers ask for HIP's where a program is HIP's; a tool of HSA needs none of them.
    flags = ["-std=c++17", "-fsyntax-only", "-D__HIP_PLATFORM_AMD__", f"-I{NATIVE}", "-isystem", str(include)]
    done, _, err = output_of(["g++", *flags, str(source)], DEADLINE_S)
    assert done.ok, err
