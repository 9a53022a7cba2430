"""The user's limits on money, tokens and time, looked at before every call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from intelliperf.errors import BudgetExhausted, UsageError
from intelliperf.records import Usage


def total(usages: Iterable[Usage]) -> Usage:
    """The sum. The price is None if that of any part with tokens is unknown."""
    parts = list(usages)
    priced = [part.usd for part in parts if part.input_tokens or part.output_tokens]
    known = [usd for usd in priced if usd is not None]
    return Usage(
        input_tokens=sum(part.input_tokens for part in parts),
        output_tokens=sum(part.output_tokens for part in parts),
        usd=sum(known) if priced and len(known) == len(priced) else None,
        seconds=sum(part.seconds for part in parts),
    )


@dataclass
class Budget:
    """Limits of one run; None means no limit. Spending is reported to it, so a resumed run continues the count."""

    usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def check(self, spent: Usage) -> None:
        """Raises `BudgetExhausted` where a limit is reached: no further call may be made."""
        used = spent.input_tokens + spent.output_tokens
        if self.tokens is not None and used >= self.tokens:
            raise BudgetExhausted(f"the budget of {self.tokens:,} tokens is spent ({used:,} used)")
        if self.usd is not None and self.usd <= (spent.usd or 0.0):
            raise BudgetExhausted(f"the budget of ${self.usd:g} is spent (${spent.usd or 0.0:.4f} used)")
        if self.usd is not None and used and spent.usd is None:
            raise BudgetExhausted("the price of the model is not known, so no further call fits a budget in USD")
        elapsed = (self.clock() - self._started) / 60
        if self.minutes is not None and elapsed >= self.minutes:
            raise BudgetExhausted(f"the budget of {self.minutes:g} minutes is spent")

    def require_price(self, price_known: bool, model: str) -> None:
        """A budget in USD makes sense only for a model whose price is known."""
        if self.usd is not None and not price_known:
            raise UsageError(
                f"the price of {model} is not known, so --budget-usd cannot be kept; "
                "use --budget-tokens, or give the prices with --price INPUT,OUTPUT (USD per million tokens)"
            )
