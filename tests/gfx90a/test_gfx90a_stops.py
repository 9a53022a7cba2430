"""What the software gfx90a cannot or must not do ends the process with a reason, and leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import device
import pytest
from programs_on_device import PROGRAMS, compile_program, dispatches_in, run_program

pytestmark = pytest.mark.gfx90a
_SHARED_MEMORY = Path("/dev/shm")
_LAUNCHER = Path(device.__file__).with_name("gfx90a-run")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_program(PROGRAMS / "stopping" / "stops.hip", tmp_path_factory.mktemp("stops") / "stops")


@pytest.mark.parametrize(
    ("what", "kernel", "reason"),
    [
        ("strange", "_Z7strangePf", "instruction not implemented: 'v_cubeid_f32 v"),
        ("astray", "_Z6astrayPil", "memory access fault: 4 bytes at 0x"),
        ("quitting", "_Z8quittingPi", "s_trap 2"),
    ],
)
def test_a_kernel_that_cannot_go_on_ends_the_process_by_name(
    what: str, kernel: str, reason: str, program: Path, tmp_path: Path
) -> None:
    done, out, err = run_program([str(program), what], tmp_path / "counts")
    assert done.signal_name == "SIGABRT", done.describe()
    assert f"gfx90a: kernel {kernel}: {reason}" in err
    assert "kernel's entry + 0x" in err
    assert "came back" not in out
    assert all(dispatch["kernel"] != kernel for dispatch in dispatches_in(tmp_path / "counts"))


def test_a_killed_process_leaves_no_shared_memory_behind(program: Path) -> None:
    before = set(_SHARED_MEMORY.iterdir())
    with subprocess.Popen(
        [str(program), "endless"], env=device.environment(), stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"launched\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    left = [path.name for path in set(_SHARED_MEMORY.iterdir()) - before]
    assert not [name for name in left if "gfx90a" in name or str(process.pid) in name]


def test_the_launcher_passes_arguments_counts_and_the_exit_status_on(program: Path, tmp_path: Path) -> None:
    argv = [str(_LAUNCHER), "--counts", str(tmp_path / "counts"), "--", str(program), "nothing"]
    done = subprocess.run(argv, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, b"launched\ncame back\n"), done.stderr
    assert dispatches_in(tmp_path / "counts")
    failed = subprocess.run([str(_LAUNCHER), "--", "sh", "-c", "exit 7"], capture_output=True, timeout=120)
    assert failed.returncode == 7
    absent = subprocess.run([str(_LAUNCHER), "--", "/nowhere/program"], capture_output=True, text=True, timeout=120)
    assert absent.returncode == 127
    assert "/nowhere/program: No such file" in absent.stderr
