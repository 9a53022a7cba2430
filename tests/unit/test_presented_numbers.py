"""What Triton's IR tells of a kernel beside its code."""

from __future__ import annotations

import pytest

from intelliperf.python.site.intelliperf_presented import numbers


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("%0 = tt.make_range : tensor<32xi32>\n%1 = tt.splat %x : tensor<32x!tt.ptr<f32>>", 32),
        ("%0 = tt.load : tensor<16x64xf16> loc(#loc)\n%1 = tt.dot : tensor<16x16xf32>", 1024),
        ("tt.store %x, %y : !tt.ptr<f32>", 1),
        ("", 0),
    ],
)
def test_the_largest_tensor_is_what_a_program_works_on_at_a_time(text: str, elements: int) -> None:
    assert numbers.largest_tensor(text) == elements


_TWO_LOOPS = """module {
  tt.func public @rows(%x: !tt.ptr<f32> loc("x"(#loc)), %y: !tt.ptr<f32> loc("y"(#loc)), %n: i32 loc("n"(#loc))) attributes {} {
    %c1 = arith.constant 1 : i32 loc(#loc)
    %most = scf.for %i = %c1 to %n step %c1 iter_args(%at = %x) -> (!tt.ptr<f32>)  : i32 {
      %next = tt.addptr %at, %i : !tt.ptr<f32>, i32 loc(#loc)
      %value = tt.load %next : !tt.ptr<f32> loc(#loc)
      scf.yield %next : !tt.ptr<f32> loc(#loc)
    } loc(#loc)
    scf.for %i = %c1 to %n step %c1  : i32 {
      %next = tt.load %x : !tt.ptr<f32> loc(#loc)
      %value = tt.addptr %y, %i : !tt.ptr<f32>, i32 loc(#loc)
      tt.store %value, %next : !tt.ptr<f32> loc(#loc)
    } loc(#loc)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
"""  # noqa: E501


def test_values_of_one_name_in_two_loops_are_two() -> None:
    function = numbers.Function(_TWO_LOOPS, "rows")
    assert [name for name, *_ in function.arguments] == ["%x", "%y", "%n"]
    assert numbers.only_read(function, ["*fp32", "*fp32", "i32"]) == [0]
