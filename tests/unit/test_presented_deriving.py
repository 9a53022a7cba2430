"""With which other numbers a launch would have had the same constants from its decorators, and what its code covers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from intelliperf.python.site.intelliperf_presented import deriving
from intelliperf.python.site.intelliperf_presented.numbers import Function, covered

_PARAMETERS = [{"index": 0, "name": "x_ptr", "pointer": True}, {"index": 1, "name": "n", "pointer": False}]


def asked(values: dict[str, Any], **numbers: Any) -> list[list[int]]:
    """What is held while a kernel of these heuristics is launched with these numbers."""

    class Heuristics:
        def __init__(self) -> None:
            self.values, self.arg_names = values, ["x_ptr", "n"]

        def run(self, *args: Any, **kwargs: Any) -> list[list[int]]:
            return deriving.held(_PARAMETERS)

    class Autotuner:
        arg_names = ("x_ptr", "n")
        configs = ("narrow", "wide")
        best_config = "narrow"
        early_config_prune = staticmethod(lambda configs, given, **more: configs[: 2 if given["n"] > 100 else 1])

        def run(self, *args: Any, **kwargs: Any) -> list[list[int]]:
            return Heuristics().run(*args, **kwargs)

        def _bench(self, *args: Any, config: Any, **meta: Any) -> list[list[int]]:
            return Heuristics().run(*args, **meta)

    deriving.follow(SimpleNamespace(Heuristics=Heuristics, Autotuner=Autotuner))
    config = numbers.pop("config", None)
    if config:
        return Autotuner()._bench(None, numbers.pop("n"), config=config, **numbers)
    return Autotuner().run(None, numbers.pop("n"), **numbers)


def test_a_number_stays_within_what_a_heuristic_made_the_same_constant_of() -> None:
    ((index, *ranges),) = asked({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0}, n=96, BLOCK=32)
    assert index == 1
    held = {one for first, last in zip(ranges[::2], ranges[1::2], strict=True) for one in range(first, last + 1)}
    assert {32, 64, 128, 192} <= held and not held & {95, 97, 100}
    assert asked({"WAVES": lambda args: args["BLOCK"] // 32}, n=96, BLOCK=64) == []


def test_a_heuristic_may_fail_on_numbers_that_the_program_never_had(capsys: pytest.CaptureFixture[str]) -> None:
    def steps(args: dict[str, int]) -> int:
        print("asked")
        return 1024 // (args["n"] - 95) and 1

    ((_, *ranges),) = asked({"STEPS": steps}, n=96)
    assert ranges[:2] == [96, 608] and not capsys.readouterr().out


def test_a_number_stays_where_a_tuner_would_have_kept_the_configuration() -> None:
    assert asked({}, n=300, config="narrow") == []
    ((_, first, last, *_),) = asked({}, n=300, config="wide")
    assert first == 101 and last == 812


_MASKED = """module {{
  tt.func public @rows(%x: !tt.ptr<f32>, %n: i32) attributes {{}} {{
    %c256 = arith.constant 256 : i32
    %row = tt.get_program_id x : i32
    %base = arith.muli %row, {factor} : i32
    %offsets = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
    %first = tt.splat %base : i32 -> tensor<256xi32>
    %moved = arith.addi %first, %offsets : tensor<256xi32>
    %most = tt.splat %n : i32 -> tensor<256xi32>
    %mask = arith.cmpi slt, {compared}, %most : tensor<256xi32>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize(
    ("factor", "compared", "ranges"),
    [("%n", "%offsets", [[1, 1, 256]]), ("%c256", "%moved", []), ("%n", "%row", [])],
)
def test_a_number_that_only_masks_a_tile_covers_that_tile(factor: str, compared: str, ranges: list[list[int]]) -> None:
    text = _MASKED.format(factor=factor, compared=compared)
    assert covered(Function(text, "rows"), ("float*", "int32")) == ranges


def test_a_number_that_ends_a_loop_covers_whatever_it_is() -> None:
    loop = "    scf.for %i = %c256 to %n step %c256 : i32 {\n    }\n    tt.return\n"
    text = _MASKED.format(factor="%n", compared="%offsets").replace("    tt.return\n", loop)
    assert covered(Function(text, "rows"), ("float*", "int32")) == []
