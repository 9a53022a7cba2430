"""What a night and each of its targets may still spend."""

from __future__ import annotations

import time
from collections.abc import Callable

from intelliperf.nightly.plan import Limits
from intelliperf.records import Usage


class Ledger:
    """Spent and set aside, against `limits`. A search gets an even share of what is left, so that parallel ones keep
    the limit together.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._started: float | None = None
        self.usd = 0.0
        self.tokens = 0
        self.device_s = 0.0
        self._aside: dict[str, tuple[float, int]] = {}

    def begin(self) -> None:
        """The wall clock runs from the first call on."""
        if self._started is None:
            self._started = self._clock()

    def spent(self) -> str | None:
        """Which limit is reached, in words."""
        limits = self._limits
        if limits.usd is not None and self.usd >= limits.usd and limits.usd > 0:
            return f"the budget of {limits.usd:g} USD is spent"
        if limits.tokens is not None and self.tokens >= limits.tokens and limits.tokens > 0:
            return f"the budget of {limits.tokens:,} tokens is spent"
        if limits.device_minutes is not None and self.device_s >= 60 * limits.device_minutes:
            return f"the budget of {limits.device_minutes:g} device minutes is spent"
        if self.wall_left_s() <= 0:
            return f"the budget of {limits.minutes:g} minutes is spent"
        return None

    def wall_left_s(self) -> float:
        """Infinite where there is no limit."""
        if self._limits.minutes is None:
            return float("inf")
        return self._limits.minutes * 60 - self.wall_s()

    def wall_s(self) -> float:
        return self._clock() - self._started if self._started is not None else 0.0

    def device_left_s(self) -> float:
        limit = self._limits.device_minutes
        return float("inf") if limit is None else limit * 60 - self.device_s

    def share(self, searches: int) -> tuple[float | None, int | None]:
        """USD and tokens for one of `searches` that wait, none of which is set aside yet."""
        usd = tokens = None
        aside_usd = sum(amount for amount, _ in self._aside.values())
        aside_tokens = sum(amount for _, amount in self._aside.values())
        if self._limits.usd is not None:
            usd = max(0.0, self._limits.usd - self.usd - aside_usd) / max(1, searches)
        if self._limits.tokens is not None:
            tokens = int(max(0, self._limits.tokens - self.tokens - aside_tokens) / max(1, searches))
        return usd, tokens

    def set_aside(self, task: str, usd: float | None, tokens: int | None) -> None:
        self._aside[task] = (usd or 0.0, tokens or 0)

    def settle(self, task: str, usage: Usage, device_s: float) -> None:
        """Where the price is not known, all that was set aside counts as spent."""
        aside_usd, _ = self._aside.pop(task, (0.0, 0))
        unpriced = usage.usd is None and usage.input_tokens > 0
        self.usd += aside_usd if unpriced else (usage.usd or 0.0)
        self.tokens += usage.input_tokens + usage.output_tokens
        self.device_s += device_s
