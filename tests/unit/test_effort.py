"""When a run that is looked at beside others has been looked at for long enough."""

from __future__ import annotations

import subprocess
import sys
import time

from intelliperf.processes.usage import processor_seconds
from intelliperf.validation.runs.effort import Begun

LONG_S = 15.0
BURN = "import time; [None for _ in iter(lambda: time.process_time() < 0.2, False)]"


def begun(ago_s: float, used_s: float) -> Begun:
    return Begun(time.monotonic() - ago_s, processor_seconds() - used_s)


def test_time_in_which_others_had_the_processor_does_not_count() -> None:
    assert not begun(LONG_S + 5, used_s=3.0).spent(LONG_S)
    assert begun(LONG_S + 5, used_s=LONG_S + 1).spent(LONG_S)


def test_a_run_that_waits_for_something_else_is_left_as_well() -> None:
    assert begun(5 * LONG_S, used_s=0.0).spent(LONG_S)
    assert not begun(1.0, used_s=5 * LONG_S).spent(LONG_S)


def test_what_children_use_counts_while_they_run_and_afterwards() -> None:
    before = processor_seconds()
    subprocess.run([sys.executable, "-S", "-c", BURN], check=True)
    assert processor_seconds() - before >= 0.18
