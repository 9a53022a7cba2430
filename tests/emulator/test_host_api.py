"""The HIP and CUDA host API on the emulator: programs that check themselves, in both spellings."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
from inprocess import build_here

from intelliperf.devices.models import write_device_file
from intelliperf.dropins.toolchain import find_toolchain, include_directory
from intelliperf.emulator.native import runtime_library
from intelliperf.interception.messages import Dispatch, End, Transfer
from intelliperf.interception.wire import Channel, Deadline, Listener, PeerClosed

PROGRAMS = Path(__file__).parent / "host"
VENDORS = {"hip": ("hipcc", "mi300x", ()), "cuda": ("nvcc", "h100", ("-DUSE_CUDA",))}


def link_plainly(source: Path, binary: Path, *flags: str) -> None:
    """Without the drop-ins: any C or C++ compiler, our headers and the library."""
    library = runtime_library()
    subprocess.run(
        [
            *find_toolchain().host_linker,
            *("-x", "c", "-std=c11") * (source.suffix == ".c"),
            *("-std=c++17",) * (source.suffix != ".c"),
            *flags,
            f"-I{include_directory()}",
            str(source),
            *("-x", "none"),
            str(library),
            f"-Wl,-rpath,{library.parent}",
            "-pthread",
            "-o",
            str(binary),
        ],
        check=True,
        timeout=300,
    )


def compile_kernels(source: Path, binary: Path, vendor: str) -> None:
    """Through the drop-in, as a build would."""
    program, _, flags = VENDORS[vendor]
    language = ("-x", "cu") if vendor == "cuda" else ()
    words = (*flags, *language, str(source), "-o", str(binary))
    build_here(program, *words, directory=binary.parent, environment={})


def device_environment(directory: Path, target: str, **more: str) -> dict[str, str]:
    file = directory / f"{target}.device"
    write_device_file(target, file)
    return {**os.environ, "INTELLIPERF_DEVICE": str(file), **more}


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("name", ["memory.cpp", "plain.c"])
def test_a_plain_program_links_and_its_checks_hold(name: str, vendor: str, tmp_path: Path) -> None:
    _, target, flags = VENDORS[vendor]
    link_plainly(PROGRAMS / name, tmp_path / "program", *flags)
    done = subprocess.run(
        [tmp_path / "program"], env=device_environment(tmp_path, target), capture_output=True, text=True, timeout=60
    )
    told = f"intelliperf: {vendor}IpcGetMemHandle is not supported by the emulator\n" if name == "memory.cpp" else ""
    assert (done.returncode, done.stderr) == (0, told), done.stdout


@pytest.mark.parametrize("vendor", VENDORS)
def test_launches_symbols_occupancy_and_graphs_behave_as_on_a_gpu(vendor: str, tmp_path: Path) -> None:
    compile_kernels(PROGRAMS / "kernels.hip", tmp_path / "program", vendor)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stdout + done.stderr


@pytest.fixture(scope="module")
def out_of_bounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("bounds") / "program"
    compile_kernels(PROGRAMS / "out_of_bounds.hip", binary, "hip")
    return binary


def lines(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    return dict(line.split(" ") for line in done.stdout.splitlines())


def test_an_illegal_access_is_a_sticky_error_that_a_reset_clears(out_of_bounds: Path) -> None:
    done = subprocess.run([out_of_bounds, "1"], capture_output=True, text=True, timeout=60)
    said = done.stdout.splitlines()
    assert said == [
        "launch hipSuccess",
        "synchronize hipErrorIllegalAddress",
        "allocate hipErrorIllegalAddress",
        "reset hipSuccess",
        "allocate hipSuccess",
    ]
    assert "out_of_bounds.hip:6" in done.stderr


def test_slack_memory_lets_a_small_overrun_pass_and_reports_it(out_of_bounds: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "INTELLIPERF_MEMORY": "slack", "INTELLIPERF_TRACE_DIR": str(tmp_path)}
    done = subprocess.run([out_of_bounds, "1"], env=environment, capture_output=True, text=True, timeout=60)
    assert lines(done)["synchronize"] == "hipSuccess"
    faults = [json.loads(line) for line in (tmp_path / "faults.jsonl").read_text().splitlines()]
    assert [fault["kind"] for fault in faults] == ["out_of_bounds"]


class Parent(threading.Thread):
    """Accepts one child, lets it continue after each target dispatch, keeps what it said and one look at the memory."""

    def __init__(self, path: Path, stop_at_first: bool = False) -> None:
        super().__init__()
        self._listener = Listener(path)
        self._stops = stop_at_first
        self.messages: list[Dispatch | Transfer | End] = []
        self.hello: dict[str, object] = {}
        self.first_floats: list[float] = []

    def run(self) -> None:
        channel = self._listener.accept(30)
        self._listener.close()
        assert channel is not None
        hello, descriptors = channel.hello(Deadline.after(30))
        self.hello = dict(hello.raw)
        try:
            self._converse(channel, descriptors[0])
        except PeerClosed:
            pass
        finally:
            channel.close()
            for descriptor in descriptors:
                os.close(descriptor)

    def _converse(self, channel: Channel, arena: int) -> None:
        while not (self.messages and isinstance(self.messages[-1], End)):
            message = channel.next(Deadline.after(30))
            self.messages.append(message)
            if isinstance(message, Dispatch) and message.target:
                self._look(message, arena)
                channel.stop() if self._stops else channel.proceed()

    def _look(self, dispatch: Dispatch, arena: int) -> None:
        base = self.hello["arena_base"]
        assert isinstance(base, int)
        buffer = dispatch.allocations[1]
        content = os.pread(arena, buffer.size, buffer.base - base)
        self.first_floats.append(float(memoryview(content).cast("f")[-1]))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    binary = tmp_path_factory.mktemp("export") / "program"
    compile_kernels(PROGRAMS / "exported.hip", binary, "hip")
    return binary


def run_under_parent(binary: Path, parent: Parent, path: Path, kernel: str) -> subprocess.CompletedProcess[str]:
    parent.start()
    environment = {**os.environ, "INTELLIPERF_EXPORT_SOCKET": str(path), "INTELLIPERF_EXPORT_KERNEL": kernel}
    done = subprocess.run([binary], env=environment, capture_output=True, text=True, timeout=60)
    parent.join(30)
    return done


def test_the_parent_sees_every_dispatch_with_arguments_and_buffers(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    parent = Parent(path)
    done = run_under_parent(exported, parent, path, "_Z4fillPfif,_Z5shift4Pair")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1.5\n", "")
    dispatches = [m for m in parent.messages if isinstance(m, Dispatch)]
    assert [(d.kernel, d.nth, d.target) for d in dispatches] == [
        ("_Z4fillPfif", 0, True),
        ("_Z5shift4Pair", 0, True),
        ("_Z4fillPfif", 1, True),
    ]
    first, second, _ = dispatches
    named = {a.id: a for a in first.allocations}
    (pointer,) = first.arguments[0].pointers
    assert (named[pointer.allocation].size, pointer.at) == (400, 40)
    (inner,) = second.arguments[0].pointers
    assert (inner.offset, inner.at) == (8, 0)
    assert [(a.kind, a.size) for a in first.allocations] == [("device", 64), ("device", 400), ("symbol", 4)]
    assert first.allocations[2].name == "state"
    assert parent.first_floats == [2.5, 2.5, 1.5]
    assert [m for m in parent.messages if isinstance(m, Transfer)] == [Transfer("memcpy_dtoh", 400)]
    assert parent.messages[-1] == End(3)


def test_kernels_that_are_no_targets_do_not_wait(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    parent = Parent(path)
    done = run_under_parent(exported, parent, path, "_Z5shift4Pair")
    assert done.returncode == 0
    assert [m.target for m in parent.messages if isinstance(m, Dispatch)] == [False, True, False]


def test_a_child_told_to_stop_exits_with_125(exported: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    done = run_under_parent(exported, Parent(path, stop_at_first=True), path, "*")
    assert (done.returncode, done.stdout) == (125, "")


def test_a_child_without_its_parent_exits_with_125(exported: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "INTELLIPERF_EXPORT_SOCKET": str(tmp_path / "nobody")}
    done = subprocess.run([exported], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 125
    assert "INTELLIPERF_EXPORT_SOCKET" in done.stderr


FOREIGN = """
struct Size { unsigned x, y, z; };
extern "C" {
void** __hipRegisterFatBinary(const void*);
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
int hipLaunchKernel(const void*, Size, Size, void**, unsigned long, void*);
}
static const char code[64] = %s;
static struct { unsigned magic, version; const void* data; void* unused; } wrapper = {0x48495046, 1, code, nullptr};
static char kernel;
int main() {
  void** handle = __hipRegisterFatBinary(&wrapper);
  __hipRegisterFunction(handle, &kernel, nullptr, "kernel", 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  hipLaunchKernel(&kernel, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr);
}
"""


@pytest.mark.parametrize(
    ("code", "refusal"),
    [
        ('"\\x50\\xed\\x55\\xba"', "device code for a real GPU"),  # an NVIDIA fat binary
        ('"__CLANG_OFFLOAD_BUNDLE__"', "device code cannot be executed"),  # AMD's, without code for this device
    ],
    ids=["nvidia", "amd"],
)
def test_a_program_built_for_a_real_gpu_is_refused_by_name(tmp_path: Path, code: str, refusal: str) -> None:
    source = tmp_path / "foreign.cpp"
    source.write_text(FOREIGN % code)
    link_plainly(source, tmp_path / "program")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert refusal in done.stderr
