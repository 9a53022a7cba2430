"""How far a candidate's buffer may be from the reference's, derived from the reference itself.

The unmodified application runs under several lane and block orders. A buffer that comes out equal
bit for bit must do so for the candidate too. One that does not gets a tolerance from the spread seen:

    |candidate - reference| <= rtol * max(|reference|, scale)

with scale the median magnitude of the (up to 4 MiB) chunk, so that sums that cancel to almost
nothing do not blow the relative error up, and rtol = `FACTOR` times the largest spread seen in the
same terms, at least `FLOOR_ULPS` units in the last place and never above `CAP`. `FACTOR` is 8
because a reordered sum is one more draw from the distribution that a few draws estimated; with
fewer than `FEW` noisy elements it is 16.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

import numpy as np

from intelliperf.protocols import Numbers
from intelliperf.validation.buffers.elements import (
    BYTE,
    FLOAT32,
    FLOAT64,
    POISONS,
    Bytes,
    Floats,
    Mask,
    Scalar,
    round_to_bfloat,
)

K = TypeVar("K", bound=Hashable)

FACTOR = 8.0
FACTOR_FEW = 16.0
FEW = 64
FLOOR_ULPS = 16.0
# Adding n numbers one by one errs by about √n units of rounding (N. J. Higham, Accuracy and Stability of Numerical
# Algorithms, 4.2); for terms of one sign up to five times that was seen on an H100. Adding them in a tree does not.
SUMMATION = 8.0
# Rounding every operation up, or down, moves a sum of one sign past the truth (see `rounding`), and so further than the
# same operations in another order do. What they err by themselves comes on top, and so does what cancels in quotients.
# A quarter of what one conversion to the next narrower type errs by at most.
_ROUNDING_CAPS = {8: 2.0**-26, 4: 2.0**-13}
_UNSURE_CAP = 0.05
CAP = 1e-2  # of float and double; `cap` widens it for narrower types


BITS = Numbers("bits", 1, 0.0, 0.0)


class Steadiness(IntEnum):
    """How a buffer of the reference behaves when only the order of execution changes."""

    EXACT = 0
    NUMERIC = 1  # floating-point noise
    UNORDERED = 2  # the same elements in another order
    ERRATIC = 3  # nothing to hold a candidate to


@dataclass(frozen=True)
class Allowance:
    """The rule for one buffer. `atol` and `rtol` of NUMERIC: see `allowed`."""

    steadiness: Steadiness = Steadiness.EXACT
    scalar: Scalar = BYTE
    rtol: float = 0.0
    atol: float = 0.0
    by_user: bool = False
    unsure: float = 0.0  # relative: differences up to this are not evidence, the original itself may err so much
    by_rounding: bool = False  # from what other rounding does to the original; see `rounding`
    by_algebra: bool = False  # the same real numbers: what both programs' own errors explain
    by_operations: bool = False  # not seen to vary, but its atomics may come in another order

    @property
    def numbers(self) -> Numbers:
        """For a comparison that knows no chunk's scale: nothing that it finds near is too far by `allowed`."""
        numeric = self.steadiness is Steadiness.NUMERIC and self.scalar.floating
        return Numbers(self.scalar.encoding, self.scalar.size, self.rtol, self.atol) if numeric else BITS

    def describe(self) -> str:
        if self.steadiness is Steadiness.NUMERIC:
            source = "given" if self.by_user else "from the reference's own spread"
            if self.by_rounding:
                source = "from what rounding up and down does to the original"
            if self.by_algebra:
                source = "the same real numbers: from both programs' own rounding errors"
            if self.by_operations:
                source = "from the number of its atomic operations: no order of them can be chosen on this device"
            return f"rtol {self.rtol:.2g}, atol {self.atol:.2g} ({source})"
        words = {
            Steadiness.EXACT: "bit-exact",
            Steadiness.UNORDERED: "same elements in any order",
            Steadiness.ERRATIC: "not comparable",
        }
        return words[self.steadiness]


def loosest(allowances: Mapping[K, Allowance], unsure: Collection[K]) -> float:
    """Relative: how far apart floats may be that are printed of these buffers.

    `unsure`: those whose sums err by more than any tolerance in the original, so that the candidate's were not held to
    it. The printed sum is no more evidence than the sum itself.
    """
    erring = [allowances[key].unsure for key in unsure if key in allowances]
    return max([*(allowance.rtol for allowance in allowances.values()), *erring], default=0.0)


@dataclass(frozen=True)
class UserTolerance:
    rtol: float | None = None
    atol: float | None = None

    @property
    def given(self) -> bool:
        return self.rtol is not None or self.atol is not None

    def apply(self, allowance: Allowance) -> Allowance:
        """The user's figures replace ours wherever the elements are floating-point."""
        if not self.given or not allowance.scalar.floating or allowance.steadiness > Steadiness.NUMERIC:
            return allowance
        return Allowance(Steadiness.NUMERIC, allowance.scalar, self.rtol or 0.0, self.atol or 0.0, by_user=True)


@dataclass
class Spread:
    """What the reference's runs did to one buffer so far; grows during calibration."""

    scalar: Scalar
    relative: float = 0.0
    noisy_elements: int = 0
    steadiness: Steadiness = Steadiness.EXACT

    def add(self, reference: Bytes, other: Bytes) -> bool:
        """Take in one differing chunk. False: the numbers do not explain it, look at the whole buffer."""
        if self.steadiness >= Steadiness.UNORDERED:
            return True
        if self.scalar is BYTE:
            self.scalar = infer_float(reference, other) or BYTE
        if not self.scalar.floating or reference.size % self.scalar.size:
            return False
        left, right = self.scalar.floats(reference), self.scalar.floats(other)
        if not same_specials(left, right).all():
            return False
        usual = np.isfinite(left)
        left, right = left[usual], right[usual]
        spread = np.abs(left - right)
        base = np.maximum(np.abs(left), scale_of(left))
        relative = float(np.max(spread[base > 0] / base[base > 0], initial=0.0))
        if relative > cap(self.scalar):
            return False
        self.relative = max(self.relative, relative)
        self.noisy_elements = max(self.noisy_elements, int(np.count_nonzero(spread)))
        self.steadiness = Steadiness.NUMERIC
        return True

    def allowance(self, additions: float = 0.0) -> Allowance:
        """`additions`: atomic operations of the kernel per dispatch, 0 where it has none or they are not known."""
        if self.steadiness is not Steadiness.NUMERIC:
            return Allowance(self.steadiness, self.scalar)
        factor = FACTOR if self.noisy_elements >= FEW else FACTOR_FEW
        # What all orders of adding one by one have in common is not seen in their spread.
        common = summation_error(self.scalar, additions / max(1, self.noisy_elements))
        rtol = max(factor * self.relative, FLOOR_ULPS * self.scalar.epsilon, common)
        unsure = ill_conditioned(self.scalar, additions / max(1, self.noisy_elements))
        return Allowance(Steadiness.NUMERIC, self.scalar, min(rtol, cap(self.scalar)), unsure=unsure)

    def by_rounding(self, proven: bool = False) -> Allowance:
        """What was added were runs with other rounding, not with other orders.

        `proven`: the same real numbers elsewhere, so that no approximation has to be kept out.
        """
        if self.steadiness is not Steadiness.NUMERIC:
            return Allowance(self.steadiness, self.scalar)
        rtol = self.relative + FLOOR_ULPS * self.scalar.epsilon
        most = cap(self.scalar) if proven else _ROUNDING_CAPS.get(self.scalar.size, 2 * self.scalar.epsilon)
        return Allowance(Steadiness.NUMERIC, self.scalar, min(rtol, most), by_rounding=True)


def summation_error(scalar: Scalar, additions: float) -> float:
    """Relative, of adding so many numbers one by one, in comparison with another order."""
    return SUMMATION * scalar.epsilon / 2 * math.sqrt(additions)


def by_operations(scalar: Scalar, additions: float) -> Allowance:
    """For an element into which so many numbers are added atomically, where the device shows one order only."""
    rtol = max(FLOOR_ULPS * scalar.epsilon, summation_error(scalar, additions))
    unsure = ill_conditioned(scalar, additions)
    return Allowance(Steadiness.NUMERIC, scalar, min(rtol, cap(scalar)), by_operations=True, unsure=unsure)


def ill_conditioned(scalar: Scalar, additions: float) -> float:
    """What adding so many numbers one by one may err by, relative, where that is more than any tolerance; else 0.

    Higham's bound n u (4.2): terms of one sign come near to it once the sum is so large that they round away.
    """
    bound = scalar.epsilon / 2 * additions
    return min(bound, _UNSURE_CAP) if bound > cap(scalar) else 0.0


def cap(scalar: Scalar) -> float:
    """No tolerance is wider than this, relative: CAP, or 8 units in the last place of a narrow type."""
    return max(CAP, 8 * scalar.epsilon)


_FRESH = np.array(
    [np.frombuffer(bytes([poison]) * 8, dtype=kind)[0] for poison in POISONS for kind in (np.float32, np.float64)]
)


def scale_of(values: Floats) -> float:
    """Median magnitude of the finite values that are not zero and were ever written; 0 if there are none."""
    magnitudes = np.abs(values[np.isfinite(values) & (values != 0) & ~np.isin(values, _FRESH)])
    return float(np.median(magnitudes)) if magnitudes.size else 0.0


def same_specials(left: Floats, right: Floats) -> Mask:
    """True where both are finite, both NaN, or both the same infinity."""
    both_finite = np.isfinite(left) & np.isfinite(right)
    same: Mask = both_finite | (np.isnan(left) & np.isnan(right)) | (left == right)
    return same


def allowed(allowance: Allowance, reference: Floats, other: Floats) -> Mask:
    """True where `other` is near enough. NaN and infinity must stand where the reference has them."""
    base = np.abs(reference) if allowance.by_user else np.maximum(np.abs(reference), scale_of(reference))
    with np.errstate(invalid="ignore"):
        near = np.abs(other - reference) <= allowance.atol + allowance.rtol * base
    finite = np.isfinite(reference) & np.isfinite(other)
    return np.where(finite, near, same_specials(reference, other))


def infer_float(reference: Bytes, other: Bytes) -> Scalar | None:
    """Float or double, where all that differs between two runs reads as nearly equal numbers of it.

    float is tried first: two floats that differ in their low bits also look like nearly equal doubles.
    """
    for scalar in (FLOAT32, FLOAT64):
        if reference.size % scalar.size:
            continue
        left, right = scalar.floats(reference), scalar.floats(other)
        differs = scalar.bits(reference) != scalar.bits(other)
        left, right = left[differs], right[differs]
        usual = np.isfinite(left) & np.isfinite(right) & (np.abs(left) < 1e30) & (np.abs(left) > 1e-30)
        if usual.all() and (np.abs(left - right) <= CAP * np.maximum(np.abs(left), scale_of(left))).all():
            return scalar
    return None


def trivial_answers(scalar: Scalar, reference: Bytes) -> Mapping[str, Bytes]:
    """Wrong answers that a tolerance must reject. Those equal to the reference itself are left out."""
    values = scalar.floats(reference)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return {}
    last = values.copy()
    last[-1] = last[-1] + max(abs(last[-1]), scale_of(values), 1.0)
    candidates = {
        "zeros": np.zeros_like(values),
        "mean": np.full_like(values, float(np.mean(finite))),
        "shuffle": np.random.default_rng(1).permutation(values),
        "off by one": np.roll(values, 1),
        "wrong last element": last,
    }
    if scalar.epsilon < 2.0**-8:
        candidates["bf16 rounding"] = round_to_bfloat(values)
    encoded = {name: scalar.encode(answer) for name, answer in candidates.items()}
    return {name: answer for name, answer in encoded.items() if not np.array_equal(answer, reference)}


def accepts(allowance: Allowance, reference: Bytes, answer: Bytes) -> bool:
    scalar = allowance.scalar
    return bool(allowed(allowance, scalar.floats(reference), scalar.floats(answer)).all())


def wrongly_accepted(allowance: Allowance, reference: Bytes) -> tuple[str, ...]:
    """Names of the trivial answers that this tolerance would let pass; empty is the proof."""
    if allowance.steadiness is not Steadiness.NUMERIC:
        return ()
    answers = trivial_answers(allowance.scalar, reference)
    return tuple(name for name, answer in answers.items() if accepts(allowance, reference, answer))
