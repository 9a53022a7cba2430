"""Where buffers end that another order fills otherwise."""

from __future__ import annotations

import numpy as np

from intelliperf.validation.buffers.ends import idle_end, overrun


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
