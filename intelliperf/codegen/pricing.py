"""What tokens cost, where that is known."""

from __future__ import annotations

from dataclasses import dataclass

from intelliperf.errors import UsageError

_PER_MILLION = 1e6


@dataclass(frozen=True)
class Prices:
    """The user's own figures, USD per million tokens: for servers whose price list nobody publishes."""

    input_usd: float
    output_usd: float

    def __post_init__(self) -> None:
        if not (0 <= self.input_usd < float("inf") and 0 <= self.output_usd < float("inf")):
            raise UsageError("prices are USD per million tokens, 0 or more")

    @classmethod
    def parse(cls, text: str) -> Prices:
        """`INPUT,OUTPUT`, as in "3,15"."""
        try:
            given, taken = (float(part) for part in text.split(","))
        except ValueError as error:
            raise UsageError(f"--price {text!r}: two numbers are wanted, INPUT,OUTPUT in USD per million") from error
        return cls(given, taken)

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / _PER_MILLION


def usd(estimate: float | None, prices: Prices | None, at_home: bool, tokens: tuple[int, int]) -> float | None:
    """The price of one call.

    The user's figures come first; then `estimate`, the published price of the model, which holds
    only at the provider's own address (`at_home`); otherwise it is not known.
    """
    if prices is not None:
        return prices.cost(*tokens)
    return estimate if at_home else None
