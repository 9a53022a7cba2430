"""Ordinary HIP programs, built by clang for gfx90a, run to a right result on the software device."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs_on_device import PROGRAMS, compile_program, dispatches_in, run_program

pytestmark = pytest.mark.gfx90a
_REPOSITORY = Path(__file__).parents[2]
_CUDA_AS_HIP = Path(__file__).with_name("cuda_as_hip")
_EXAMPLES = {  # sources; those in CUDA go by HIP's names, but dotproduct's warps have 32 lanes
    "reduction": ("signal_energy.hip",),
    "histogram": ("histogram.cu",),
    "transpose": ("src/main.cpp", "src/transpose.hip"),
    "scan": ("main.cu", "scan.cu"),
    "particles": ("src/main.hip", "src/integrator.hip"),
    "rowsums": ("rowsums.cu",),
    "triad": ("triad.hip",),
}
_NAMES = sorted(path.stem for path in PROGRAMS.glob("*.hip"))


@pytest.mark.parametrize("name", _NAMES)
def test_a_program_computes_what_its_host_check_expects(name: str, tmp_path: Path) -> None:
    binary = compile_program(PROGRAMS / f"{name}.hip", tmp_path / name)
    done, out, err = run_program([str(binary)])
    assert done.ok, f"{done.describe()}\n{out}{err}"
    assert out.endswith("checks, 0 mistakes\n")


@pytest.mark.parametrize("name", _EXAMPLES)
def test_an_example_finds_its_own_result_right_at_full_size(name: str, tmp_path: Path) -> None:
    directory = _REPOSITORY / "examples" / name
    flags = [f"-I{directory / 'include'}"]
    if any(source.endswith(".cu") for source in _EXAMPLES[name]):
        flags += [f"-I{_CUDA_AS_HIP}", "-include", "cuda_runtime.h", "-Wno-unused-result"]
    binary = compile_program([directory / source for source in _EXAMPLES[name]], tmp_path / name, *flags)
    done, out, err = run_program([str(binary)])
    assert done.ok, f"{done.describe()}\n{out}{err}"
    assert "PASS" in out
    assert "FAIL" not in out


def test_counts_name_the_kernel_and_what_its_instructions_did(tmp_path: Path) -> None:
    binary = compile_program(PROGRAMS / "first_steps.hip", tmp_path / "first_steps")
    done, out, err = run_program([str(binary)], tmp_path / "counts")
    assert done.ok, out + err
    by_name = {dispatch["kernel"]: dispatch for dispatch in dispatches_in(tmp_path / "counts")}
    saxpy, total, transpose = (by_name[name] for name in ("_Z5saxpyPdPKddi", "_Z3sumPKiPii", "_Z9transposePKfPfi"))
    assert (saxpy["grid"], saxpy["workgroup"], saxpy["waves"]) == ([1024, 1, 1], [128, 1, 1], 16)
    loads = [i for i in saxpy["instructions"] if i.get("kind") == "load"]
    assert sum(i["lanes"] for i in loads) == 2 * 1000
    assert sum(i["lines"] for i in loads) == 2 * 1000 * 8 // 64
    (atomic,) = [i for i in total["instructions"] if i.get("kind") == "atomic"]
    assert atomic["atomic_same_address"] == atomic["lanes"]
    lds = [i for i in transpose["instructions"] if i.get("space") == "lds"]
    assert {i["lds_cycles_ideal"] for i in lds} == {2 * transpose["waves"]}
    assert transpose["start_ns"] < transpose["end_ns"]
