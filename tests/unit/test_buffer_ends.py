"""Where buffers end that another order fills otherwise."""

from __future__ import annotations

import numpy as np

from intelliperf.validation.buffers.ends import filled_bytes, idle_end, overrun
from intelliperf.validation.calibration import is_few


def filled(count: int, size: int = 4096, poison: int = 0xA5) -> np.ndarray:
    content = np.full(size, poison, dtype=np.uint8)
    content[:count] = np.arange(count) % 100
    return content


def test_what_no_order_fills_is_seen_behind_a_list() -> None:
    end = idle_end(filled(100), filled(120))
    assert end == 120 + 256
    assert overrun(end, filled(100), filled(90)) is None
    assert overrun(end, filled(100), filled(300)) is None  # another order may fill a little more
    assert overrun(end, filled(100), filled(500)) == end


def test_a_buffer_that_is_filled_has_no_end() -> None:
    assert idle_end(filled(100), filled(3000)) is None
    assert idle_end(filled(100), filled(100, size=2048)) is None
    assert idle_end(filled(0, size=0)) is None


def test_room_behind_what_is_filled_makes_no_few_of_many() -> None:
    first, second = (np.full(40_000, 0x5A, dtype=np.uint8) for _ in range(2))
    first[:1000], second[:1000] = 1, 2
    assert filled_bytes(first, second) == 1000
    loose = first != second
    assert is_few(loose) and not is_few(loose, 2 * filled_bytes(first, second))
