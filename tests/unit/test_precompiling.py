"""Headers that many sources of a library include, parsed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import find_toolchain
from intelliperf.interception.precompiling import FEWEST, common_headers, with_precompiled
from intelliperf.processes.process import output_of

COMPILER = find_toolchain().driver()
FLAGS = ("-std=c++17", "-Wall", "-Werror")


def write(place: Path, number: int, text: str) -> list[Path]:
    sources = [place / f"{n}.cpp" for n in range(number)]
    for source in sources:
        source.write_text(text)
    return sources


def test_many_sources_are_compiled_with_their_common_headers_precompiled(tmp_path: Path) -> None:
    sources = write(tmp_path, FEWEST, "#include <cstddef>\nstd::size_t size() { return 1; }\n")
    words = with_precompiled(COMPILER, FLAGS, sources, tmp_path)
    assert words == [*FLAGS, "-include", str(tmp_path / "precompiled.h")]
    argv = [*COMPILER, *words, "-c", str(sources[0]), "-o", str(tmp_path / "made.o")]
    done, out, err = output_of(argv, 60.0)
    assert done.ok, out + err
    (tmp_path / "precompiled.h").write_text("// changed\n")
    done, _, err = output_of(argv, 60.0)
    assert not done.ok and "has been modified since the precompiled header" in err  # which it has read


@pytest.mark.parametrize(("number", "text"), [(FEWEST - 1, ""), (FEWEST, "#include <nowhere>\n")])
def test_few_sources_or_headers_that_do_not_compile_are_compiled_as_ever(
    tmp_path: Path, number: int, text: str
) -> None:
    assert with_precompiled(COMPILER, FLAGS, write(tmp_path, number, text), tmp_path) == [*FLAGS]


def test_gcc_precompiles_nothing(tmp_path: Path) -> None:
    sources = write(tmp_path, FEWEST, "#include <cstddef>\n")
    assert with_precompiled(["/usr/bin/g++"], FLAGS, sources, tmp_path) == [*FLAGS]


def test_headers_that_few_sources_include_are_left_to_them() -> None:
    often, rare = b'  # include <vector>\n#include "own.h"\n#include <sys/mman.h>\n', b"#include <thread>\n"
    assert common_headers([*[often] * 16, rare]) == ["vector"]
