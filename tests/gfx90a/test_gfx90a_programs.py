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
_WITH_ARGUMENTS = "interprocess"  # it starts itself
_NAMES = sorted({path.stem for path in PROGRAMS.glob("*.hip")} - {_WITH_ARGUMENTS})


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of all: HIP's headers take longer to parse than a program takes to compile."""
    place = tmp_path_factory.mktemp("programs")
    texts = {name: (PROGRAMS / f"{name}.hip").read_text(encoding="utf-8") for name in _NAMES}
    headers = sorted({line for text in texts.values() for line in text.splitlines() if line.startswith("#include <")})
    parts = [*headers, '#include "check.h"', "#include <cstring>"]
    parts += [f'namespace {name} {{\n#line 1 "{name}.hip"\n{text}}}' for name, text in texts.items()]
    choices = "".join(f'  if (!std::strcmp(words[1], "{name}")) return {name}::main();\n' for name in _NAMES)
    parts.append(f"int main(int, char** words) {{\n{choices}  return 3;\n}}\n")
    (place / "programs.hip").write_text("\n".join(parts), encoding="utf-8")
    return compile_program(place / "programs.hip", place / "programs", f"-I{PROGRAMS}")


@pytest.mark.parametrize("name", _NAMES)
def test_a_program_computes_what_its_host_check_expects(name: str, programs: Path) -> None:
    done, out, err = run_program([str(programs), name])
    assert done.ok, f"{done.describe()}\n{out}{err}"
    assert out.endswith("checks, 0 mistakes\n")


@pytest.mark.slow
def test_a_program_that_starts_itself_shares_memory_between_processes(tmp_path: Path) -> None:
    binary = compile_program(PROGRAMS / f"{_WITH_ARGUMENTS}.hip", tmp_path / _WITH_ARGUMENTS)
    done, out, err = run_program([str(binary)])
    assert done.ok, f"{done.describe()}\n{out}{err}"
    assert out.endswith("checks, 0 mistakes\n")


@pytest.mark.slow
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


def test_counts_name_the_kernel_and_what_its_instructions_did(programs: Path, tmp_path: Path) -> None:
    done, out, err = run_program([str(programs), "first_steps"], tmp_path / "counts")
    assert done.ok, out + err
    by_name = {dispatch["kernel"]: dispatch for dispatch in dispatches_in(tmp_path / "counts")}
    names = ("5saxpyEPdPKddi", "3sumEPKiPii", "9transposeEPKfPfi")
    saxpy, total, transpose = (by_name[f"_ZN11first_steps{name}"] for name in names)
    assert (saxpy["grid"], saxpy["workgroup"], saxpy["waves"]) == ([1024, 1, 1], [128, 1, 1], 16)
    loads = [i for i in saxpy["instructions"] if i.get("kind") == "load"]
    assert sum(i["lanes"] for i in loads) == 2 * 1000
    assert sum(i["lines"] for i in loads) == 2 * 1000 * 8 // 64
    (atomic,) = [i for i in total["instructions"] if i.get("kind") == "atomic"]
    assert atomic["atomic_same_address"] == atomic["lanes"]
    lds = [i for i in transpose["instructions"] if i.get("space") == "lds"]
    assert {i["lds_cycles_ideal"] for i in lds} == {2 * transpose["waves"]}
    assert transpose["start_ns"] < transpose["end_ns"]
