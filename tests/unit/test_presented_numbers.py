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
