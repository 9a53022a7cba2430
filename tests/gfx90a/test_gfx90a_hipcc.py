"""Binaries of the distribution's own hipcc and of the clang behind it, as somebody with HIP 5.2 would have them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import device
import pytest
from programs_on_device import PROGRAMS, run_program

from intelliperf.processes.process import output_of

pytestmark = pytest.mark.gfx90a
_EXAMPLES = Path(__file__).parents[2] / "examples"
_DEADLINE_S = 120.0
_RUNS = 20
_HIPCC = ("hipcc", "-O3", "--offload-arch=gfx90a")
_CLANG = (
    *("clang++-15", "-x", "hip", "-O3", "--offload-arch=gfx90a", "--rocm-path=/usr"),
    f"--rocm-device-lib-path={device.BITCODE}",
)


def compiled(compiler: tuple[str, ...], sources: list[Path], binary: Path, *flags: str) -> Path:
    argv = [*compiler, *flags, *map(str, sources), "-o", str(binary), "-lamdhip64"]
    done, out, err = output_of(argv, _DEADLINE_S, {"HIP_PLATFORM": "amd", "TMPDIR": str(binary.parent)})
    assert done.ok, out + err
    return binary


@pytest.mark.parametrize(
    ("compiler", "name", "sources", "arguments"),
    [
        (_HIPCC, "reduction", ("signal_energy.hip",), ("100000",)),
        (_CLANG, "transpose", ("src/main.cpp", "src/transpose.hip"), ("200", "300")),
    ],
)
def test_an_example_of_the_older_compiler_finds_its_own_result_right(
    compiler: tuple[str, ...], name: str, sources: tuple[str, ...], arguments: tuple[str, ...], tmp_path: Path
) -> None:
    place = _EXAMPLES / name
    binary = compiled(compiler, [place / one for one in sources], tmp_path / name, f"-I{place / 'include'}")
    done, out, err = run_program([str(binary), *arguments])
    assert done.ok, f"{done.describe()}\n{out}{err}"
    assert "PASS" in out and "FAIL" not in out


@pytest.mark.slow
def test_what_a_kernel_prints_comes_out_every_time(tmp_path: Path) -> None:
    binary = compiled(_HIPCC, [PROGRAMS / "hipcc" / "printing.hip"], tmp_path / "printing")
    expected = {
        f"launch {launch} thread {i} half {i / 2:.1f} {'odd' if i % 100 else 'even'}"
        for launch in range(2)
        for i in range(0, 256, 50)
    }
    with ThreadPoolExecutor(2) as workers:
        for done, out, err in workers.map(lambda _: run_program([str(binary)]), range(_RUNS)):
            assert done.ok, f"{done.describe()}\n{out}{err}"
            assert out.endswith("\nend\n")
            assert sorted(out.splitlines()[:-1]) == sorted(expected)
