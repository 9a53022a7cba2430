"""Which kernel a patch is judged by, where it changes nothing but a launch."""

from __future__ import annotations

import pytest

from intelliperf.cli.verify import launch_changes

HOST = """#define WIDTH 64
const int threads = 128;
dim3 grid((n + threads - 1) / threads);
first<<<grid, threads>>>(x);
second<float><<<1, WIDTH>>>(y);
hipLaunchKernelGGL(third, dim3(4), dim3(5), 0, 0, z);
"""


@pytest.mark.parametrize(
    ("old", "new", "kernel"),
    [
        ("threads = 128", "threads = 256", "first"),
        ("grid((n", "grid(2 * (n", "first"),
        ("WIDTH 64", "WIDTH 32", "second"),
        ("dim3(5)", "dim3(6)", "third"),
    ],
)
def test_a_launch_changes_with_its_configuration_and_what_that_is_made_of(old: str, new: str, kernel: str) -> None:
    changed = [name for name in ("first", "second", "third") if launch_changes(HOST, HOST.replace(old, new), name)]
    assert changed == [kernel]
