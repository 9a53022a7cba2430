"""How far a modelled gain may be from the one that hardware shows: learned from pairs of kernels that were measured.

The time of a kernel is made of parts (see `runtime/demand.h`), each an amount of work over a rate. Two things are
uncertain: the rates, which both versions of a kernel share, so that an error in them cancels where the same part
holds both up; and the form of the model, whose error grows with the difference between the versions. Rates are
varied together for both versions by log-normal factors, and the quantiles of the ratio taken; what is left widens
the interval the more, the further apart the parts of both versions are and the larger the ratio. Both are fitted to
the calibration half of the corpus in `benchmarks/hardware` by its `calibrate.py`, and checked on the other half.
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from intelliperf.emulator.decisive import DATA, DECISIVE

_DRAWS = 400
_QUANTILES = (0.025, 0.975)
_MOST_DISTINCT = 200
_LEAST_NS = 1.0
FAR = 0.3  # parts that differ by a third on the whole
SLOPE = 0.9
# Added up; all others are combined by `ModelError.overlap`, the exponent of their norm.
_ADDED = ("launch", "copies")
Parts = Mapping[str, float]  # nanoseconds of one launch by part; "copies": of a transfer
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ModelError:
    """In natural logarithms. `device` is the one that was measured.

    `rates`: standard deviation of the rate of each part. What the form leaves open, of versions as far apart as `FAR`,
    in proportion to that below: `above` the ratio, that is, further from 1; and `below` it. Towards 1 all errors
    together reach no further than `SLOPE` of the ratio's logarithm and `floor`, for the model seldom mistakes which
    version is the faster one. All are `widened` for a chip that no pair was measured on.
    """

    device: str
    pairs: int
    overlap: float
    rates: Mapping[str, float]
    below: float
    above: float
    floor: float
    widened: float

    @property
    def told(self) -> str:
        """For the report."""
        learned = f"the interval holds the model's error on {self.pairs} pairs of kernels measured on an {self.device}"
        return learned if self.widened == 1.0 else f"{learned}, made {self.widened:g} times as wide for this chip"


@dataclass(frozen=True)
class Spread:
    """What to divide and multiply a ratio by, as logarithms of 0 or more."""

    below: float
    above: float


@cache
def of_target(target: str) -> ModelError:
    """The model's error on `target`: as measured, or widened where it was not. Raises `OSError` without its data."""
    data = json.loads(DATA.read_text())
    widened = data["widened"].get(target, data["widened"]["other"])
    form = (data["below"], data["above"], data["floor"])
    return ModelError(data["device"], data["pairs"], data["overlap"], data["rates"], *form, widened)


def forget() -> None:
    """The data that was read, because it is written anew."""
    of_target.cache_clear()


def total_ns(parts: Parts, overlap: float) -> float:
    """The time that the runtime makes of the parts of one launch."""
    return float(_times(_matrix([parts], tuple(parts))[0], tuple(parts), overlap)[0])


def spread(before: Sequence[Parts], after: Sequence[Parts], error: ModelError) -> Spread:
    """Of the ratio of the times of all launches before and after."""
    names, draws = _draws(error)
    times = []
    for launches in (before, after):
        matrix, weights = _matrix(launches, names)
        nominal = weights @ _times(matrix, names, error.overlap)
        varied = _times(matrix[np.newaxis, :, :] * draws[:, np.newaxis, :], names, error.overlap) @ weights
        times.append((float(nominal), varied))
    (reference, references), (candidate, candidates) = times
    ratio = math.log(reference / candidate)
    low, high = np.quantile(np.log(references / candidates) - ratio, _QUANTILES)
    by_rates = (max(0.0, -float(low)), max(0.0, float(high)))
    distance = error.widened * apart(before, after, error)
    inwards, outwards = by_rates if ratio >= 0 else by_rates[::-1]
    decided = abs(ratio) >= DECISIVE * error.widened
    told = SLOPE * abs(ratio) + (0.0 if decided else error.floor * distance)
    sides = (min(told, math.hypot(inwards, error.below * distance)), math.hypot(outwards, error.above * distance))
    return Spread(*(sides if ratio >= 0 else sides[::-1]))


def apart(before: Sequence[Parts], after: Sequence[Parts], error: ModelError) -> float:
    """How different the versions are, 0..1: by how much each part differs, weighed by its share of all parts."""
    names = tuple(name for name in error.rates if name not in _ADDED)
    sums = []
    for launches in (before, after):
        matrix, weights = _matrix(launches, names)
        sums.append(weights @ matrix)
    old, new = (np.maximum(parts, _LEAST_NS) for parts in sums)
    shares = old / old.sum() + new / new.sum()
    return min(1.0, float(shares / 2 @ np.abs(np.log(old / new))) / FAR)


def _matrix(launches: Iterable[Parts], names: tuple[str, ...]) -> tuple[Matrix, Matrix]:
    """Distinct launches by part, and how many there are of each; with very many distinct ones, all as one."""
    rows = Counter(tuple(float(parts.get(name, 0.0)) for name in names) for parts in launches)
    matrix, weights = np.array(list(rows), dtype=float), np.array(list(rows.values()), dtype=float)
    if len(weights) > _MOST_DISTINCT:
        return (weights @ matrix)[np.newaxis, :], np.ones(1)
    return matrix, weights


def _times(matrix: Matrix, names: tuple[str, ...], overlap: float) -> Matrix:
    added = np.array([name in _ADDED for name in names])
    side_by_side = matrix[..., ~added]
    longest = np.maximum(side_by_side.max(axis=-1, keepdims=True), 1e-9)
    norm = longest[..., 0] * ((side_by_side / longest) ** overlap).sum(axis=-1) ** (1 / overlap)
    times: Matrix = matrix[..., added].sum(axis=-1) + norm
    return times


@cache
def _normals(count: int) -> Matrix:
    chance = random.Random(20240229)  # the same in every run: a verdict must not depend on luck
    return np.array([[chance.gauss(0.0, 1.0) for _ in range(count)] for _ in range(_DRAWS)])


def _draws(error: ModelError) -> tuple[tuple[str, ...], Matrix]:
    names = tuple(error.rates)
    spreads = np.array([error.rates[name] for name in names]) * error.widened
    return names, np.exp(spreads * _normals(len(names)))
