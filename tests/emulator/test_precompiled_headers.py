"""Builds with precompiled headers: the same objects, messages and dependencies as without."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from intelliperf.dropins import precompiled
from intelliperf.dropins.arguments import parse
from intelliperf.dropins.compilelog import unit_of
from intelliperf.dropins.frontend import CompilerMessage
from intelliperf.dropins.toolchain import find_toolchain
from intelliperf.emulator.compiler.unit import Compiled, compile_unit

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_WARNS = """#include <cmath>
#include <cstdio>
__global__ void scale(float* x, int n) {
  int unused;
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) x[i] = sinf(x[i]);
}
int main() {
  float* x;
  cudaMalloc(&x, 256 * sizeof(float));
  scale<<<1, 256>>>(x, 256);
  return cudaDeviceSynchronize();
}
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where they are kept, empty; made when first asked for."""
    directory = tmp_path / "kept"
    monkeypatch.setattr(precompiled, "kept_directory", lambda: directory)
    monkeypatch.setattr(precompiled, "SIGHTINGS", 1)
    monkeypatch.setattr(precompiled, "OF_PRELUDE", 1)
    return directory


@pytest.fixture
def prelude_alone(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where none is made for a source's own headers."""
    monkeypatch.setattr(precompiled, "SIGHTINGS", 99)
    return kept


def _compile(words: str, directory: Path, output: Path) -> Compiled:
    toolchain = find_toolchain()
    command = parse("nvcc", words.split(), None)
    (source,) = command.sources
    compiled = compile_unit(unit_of(command, source, directory, {}, toolchain), output, toolchain)
    assert output.stat().st_size
    return compiled


def _twice(words: str, directory: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Compiled, Compiled]:
    """Without and with; the objects are equal."""
    made = scratch / "unit.o"
    with monkeypatch.context() as without:
        without.setenv("INTELLIPERF_NO_CACHE", "1")
        plain = _compile(words, directory, made)
    expected = made.read_bytes()
    again = _compile(words, directory, made)
    assert made.read_bytes() == expected
    return plain, again


@pytest.mark.parametrize(
    ("example", "words"),
    [
        ("histogram", "-O3 -std=c++14 -c histogram.cu"),
        pytest.param("dotproduct", "-O2 -c dot.cu", marks=pytest.mark.slow),
        pytest.param("rowsums", "-O3 -g -c rowsums.cu", marks=pytest.mark.slow),
        pytest.param("scan", "-O3 -c scan.cu", marks=pytest.mark.slow),
    ],
)
def test_objects_are_equal(
    example: str, words: str, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / example
    shutil.copytree(EXAMPLES / example, project)
    _twice(words, project, tmp_path, monkeypatch)
    assert list(kept.glob("*.pch"))


@pytest.mark.slow
def test_what_is_kept_of_the_prelude_serves_sources_with_other_headers(
    prelude_alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTELLIPERF_FACTS", "0")
    for headers in ("#include <cmath>\n#include <deque>\n", "#define OWN 1\n#include <map>\n"):
        (tmp_path / "scale.cu").write_text(headers + _WARNS)
        _twice("-O2 -c scale.cu", tmp_path, tmp_path, monkeypatch)
        assert len(list(prelude_alone.glob("*.pch"))) == 2  # one for the host, one for the device


@pytest.mark.slow
def test_messages_and_dependencies_are_the_same(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTELLIPERF_FACTS", "0")
    (tmp_path / "scale.cu").write_text(_WARNS)
    plain, again = _twice("-Wall -c scale.cu", tmp_path, tmp_path, monkeypatch)
    assert len(list(kept.glob("*.pch"))) == 2
    assert "scale.cu:4:7: warning: unused variable" in plain.warnings
    assert again.warnings == plain.warnings
    assert set(again.dependencies) == set(plain.dependencies)
    assert again.dependencies[0] == plain.dependencies[0] == "scale.cu"
    (tmp_path / "scale.cu").write_text(_WARNS.replace("int n)", "int n, std::size_t)").replace("unused", "sinf()"))
    with pytest.raises(CompilerMessage) as refused:
        _compile("-c scale.cu", tmp_path, tmp_path / "scale.o")
    with monkeypatch.context() as without, pytest.raises(CompilerMessage) as expected:
        without.setenv("INTELLIPERF_NO_CACHE", "1")
        _compile("-c scale.cu", tmp_path, tmp_path / "scale.o")
    assert str(refused.value) == str(expected.value)


@pytest.mark.slow
def test_a_header_of_the_project_before_the_machine_s_is_read(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTELLIPERF_FACTS", "0")
    (tmp_path / "scale.cu").write_text(_WARNS)
    (tmp_path / "own").mkdir()
    _compile("-Iown -c scale.cu", tmp_path, tmp_path / "scale.o")
    assert list(kept.glob("*.pch"))
    # <cmath> includes it by this name, and the precompiled header has the machine's.
    (tmp_path / "own" / "math.h").write_text('#include_next <math.h>\n#warning "ours"\n')
    assert "own/math.h" in _compile("-Iown -c scale.cu", tmp_path, tmp_path / "scale.o").warnings


@pytest.mark.slow
def test_a_changed_header_a_damaged_file_and_a_full_cache_only_take_longer(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTELLIPERF_FACTS", "0")
    (tmp_path / "scale.cu").write_text(_WARNS)
    _compile("-c scale.cu", tmp_path, tmp_path / "scale.o")
    expected = (tmp_path / "scale.o").read_bytes()
    damaged, changed = kept.glob("*.pch")
    damaged.write_bytes(damaged.read_bytes()[:4096])
    changed.with_suffix(".h").write_text("#include <cmath>\n")
    assert not _compile("-c scale.cu", tmp_path, tmp_path / "scale.o").warnings
    assert (tmp_path / "scale.o").read_bytes() == expected
    monkeypatch.setattr(precompiled, "kept_directory", lambda: Path("/proc/nowhere"))
    _compile("-c scale.cu", tmp_path, tmp_path / "scale.o")
    assert (tmp_path / "scale.o").read_bytes() == expected
