"""Which grid goes with another value of an argument: asked of the function itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.emulator.native import runtime_objects
from intelliperf.processes.process import output_of

PROTOCOL = Path(__file__).parents[2] / "intelliperf" / "interception" / "protocol"
SOURCE = """#include <cstdio>
#include <cstdlib>
#include "alterations.h"
// Arguments: threads of a block, blocks of another version with as many threads in all, the launch's integers. 256
// threads.
int main(int count, char** given) {
  const uint32_t block = atoi(given[1]), blocks = atoi(given[2]);
  std::vector<int> values;
  for (int i = 3; i < count; ++i) values.push_back(atoi(given[i]));
  std::vector<simt::PlainArgument> arguments;
  for (const int& value : values) arguments.push_back({arguments.size(), {simt::NumberKind::kInteger, 4}, &value});
  const simt::LaunchShape own{{256 / block, 1, 1}, {block, 1, 1}}, theirs{{blocks, 1, 1}, {256 / blocks, 1, 1}};
  for (const auto& other : simt::other_arguments(arguments, own, {theirs}))
    printf("%d->%d:%u ", values[other.values[0].index], int(other.values[0].bytes), other.grid[0]);
}
"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("arguments")
    (place / "asked.cpp").write_text(SOURCE)
    argv = [*find_toolchain().host_linker, "-std=c++17", f"-I{PROTOCOL}", str(place / "asked.cpp")]
    argv += [str(runtime_objects()["alterations"]), "-pthread", "-o", str(place / "asked")]
    done, _, errors = output_of(argv, 300, tool_environment())
    assert done.ok, errors
    return place / "asked"


@pytest.mark.parametrize(
    ("block", "blocks", "values", "altered"),
    [
        pytest.param(64, 8, (250,), ("250->246:4",), id="both grids go with it"),
        pytest.param(64, 8, (196,), (), id="256 threads in blocks of 64 seem to go with 196, in blocks of 32 not"),
        pytest.param(32, 4, (196,), (), id="and the same seen by the other version"),
        pytest.param(64, 8, (100,), ("100->92:4",), id="neither does"),
    ],
)
def test_a_grid_that_has_its_extent_by_chance_does_not_go_with_an_argument(
    asked: Path, block: int, blocks: int, values: tuple[int, ...], altered: tuple[str, ...]
) -> None:
    done, told, _ = output_of([str(asked), *map(str, (block, blocks, *values))], 60)
    assert done.ok and tuple(told.split()) == altered
