"""Waiting for a provider that is busy: exponential backoff with jitter, and its own word on when to come back."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Backoff:
    """How often and how long: by default some six minutes, most of it in steps of a minute.

    A provider that asks for more than `patience_s` is not waited for; nor is one that has kept us
    for `total_s`, failed calls included (a call that times out takes minutes).
    """

    tries: int = 12
    first_s: float = 2.0
    ceiling_s: float = 60.0
    patience_s: float = 300.0
    total_s: float = 1200.0

    def delay(self, failures: int, retry_after_s: float | None, jitter: float) -> float | None:
        """Seconds to wait after so many failures (1 and up), or None to give up. `jitter` is 0..1."""
        if failures >= self.tries:
            return None
        if retry_after_s is not None:
            # Never earlier than asked; a little later, so that many clients do not return at once.
            return retry_after_s + jitter if retry_after_s <= self.patience_s else None
        doubled: float = min(self.ceiling_s, self.first_s * 2.0 ** (failures - 1))
        return doubled * (0.5 + jitter / 2)


@dataclass(frozen=True)
class Patience:
    """The clock and the dice, passed in; `tell` hears of each wait."""

    backoff: Backoff = Backoff()
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    tell: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic

    def call(
        self,
        action: Callable[[], T],
        failure: type[Exception],
        transient: Callable[[Exception], bool],
        retry_after_s: Callable[[Exception], float | None],
        described: Callable[[Exception], str] = str,
    ) -> T:
        """`action()`, tried again after transient failures; the last failure is raised."""
        failures = 0
        started = self.clock()
        while True:
            try:
                return action()
            except failure as error:
                failures += 1
                wait = self.backoff.delay(failures, retry_after_s(error), self.jitter()) if transient(error) else None
                if wait is None or self.clock() - started + wait > self.backoff.total_s:
                    raise
                self.tell(f"{described(error)}; trying again in {wait:.0f} s ({failures + 1} of {self.backoff.tries})")
                self.sleep(wait)
