"""The finite field in which buffers are compared: Z_p for a prime that is drawn once the candidate is fixed.

p = 2^61 - fold is safe (p = 2q + 1 with q prime) and 7 modulo 8; `runtime/shadow_field.h` calculates with it. There are
some hundred thousand such primes below the largest fold, so that nobody can prepare a number that is zero in the field.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from fractions import Fraction

_BITS = 61
_LARGEST_FOLD = 1 << 28  # two folds reduce a product then
_SMALL = tuple(n for n in range(3, 400, 2) if all(n % d for d in range(3, math.isqrt(n) + 1, 2)))
# Enough for all numbers below 3.3e24 (J. Sorenson and J. Webster, Strong pseudoprimes to twelve prime bases, 2015).
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


@dataclass(frozen=True)
class Field:
    """Z_p with p = 2^61 - `fold`."""

    fold: int

    @property
    def prime(self) -> int:
        return (1 << _BITS) - self.fold

    @classmethod
    def drawn(cls) -> Field:
        """One of them, by the machine's own randomness. Takes some tens of milliseconds."""
        fold = secrets.randbelow(_LARGEST_FOLD // 8 - 64) * 8 + 1
        while not _is_safe((1 << _BITS) - fold):
            fold = fold + 8 if fold + 8 < _LARGEST_FOLD else 1
        return cls(fold)

    def image(self, value: float) -> int:
        """Of a finite number, exactly."""
        exact = Fraction(value)
        return exact.numerator * pow(exact.denominator, -1, self.prime) % self.prime


def _is_safe(p: int) -> bool:
    half = (p - 1) // 2
    if any(p % small == 0 or half % small == 0 for small in _SMALL):
        return False
    return pow(2, half - 1, half) == 1 and is_prime(p) and is_prime(half)


def is_prime(n: int) -> bool:
    """For odd n below 3.3e24."""
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for witness in _WITNESSES:
        if n == witness:
            return True
        power = pow(witness, odd, n)
        if power in (1, n - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % n
            if power == n - 1:
                break
        else:
            return False
    return True
