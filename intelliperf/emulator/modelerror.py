"""How far a modelled gain may be from the one that hardware shows: learned from pairs of kernels that were measured.

The time of a kernel is made of parts (see `runtime/demand.h`), each an amount of work over a rate, and each is wrong by
a factor of its own. What both versions of a kernel share cancels in their ratio: an error of a rate does where the same
part holds both up by as much. What differs does not: the more a part of one version differs from that of the other, the
less does its error there say about its error here. A part counts by how much of each version's time moves with it, so
that versions whose time is mostly the launch's are hardly uncertain. Fitted to pairs of the corpus in
`benchmarks/hardware` by its `calibrate.py`, and checked on others.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from intelliperf.emulator.decisive import DATA, DECISIVE

_MOST_DISTINCT = 200
_LEAST_NS = 1.0
_STEP = 1e-3  # of the logarithm of a part, for the derivative by it
_UNLIKE = 0.2  # logarithm: parts that differ by this or more have errors that are not related
_FORM = 0.1  # deviation of the form of the model, of versions all of whose time moves with parts that differ
SLOPE = 0.9
# Added up; all others are combined by `ModelError.overlap`, the exponent of their norm, of one stream the longer one.
_ADDED = ("launch", "copies")
_STREAM = ("l2", "dram")
Parts = Mapping[str, float]  # nanoseconds of one launch by part; "copies": of a transfer
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ModelError:
    """In natural logarithms. `device` is the one that was measured.

    `rates`: standard deviation of each part. Below and above the modelled ratio, that is nearer to 1 and further from
    it, the interval reaches so many standard deviations. A gain that is large enough to tell the faster version stays
    one down to `SLOPE` of its logarithm. All deviations are `widened` for a chip that no pair was measured on.
    """

    device: str
    pairs: int
    overlap: float
    rates: Mapping[str, float]
    below: float
    above: float
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
    reach = (data["below"], data["above"])
    return ModelError(data["device"], data["pairs"], data["overlap"], data["rates"], *reach, widened)


def forget() -> None:
    """The data that was read, because it is written anew."""
    of_target.cache_clear()


def total_ns(parts: Parts, overlap: float) -> float:
    """The time that the runtime makes of the parts of one launch."""
    return float(_times(_matrix([parts], tuple(parts))[0], tuple(parts), overlap)[0])


def spread(before: Sequence[Parts], after: Sequence[Parts], error: ModelError) -> Spread:
    """Of the ratio of the times of all launches before and after."""
    pair = differences(before, after, error)
    deviation = error.widened * pair.deviation
    inwards = error.below * deviation
    if abs(pair.ratio) >= DECISIVE * error.widened:
        inwards = min(inwards, SLOPE * abs(pair.ratio))
    sides = (inwards, error.above * deviation)
    return Spread(*(sides if pair.ratio >= 0 else sides[::-1]))


@dataclass(frozen=True)
class Differences:
    """Of two versions: the logarithm of their times' ratio, and the variances that make up its error."""

    ratio: float
    shared: float  # of rates, as far as both versions do not depend on them by as much
    own: float  # of parts that differ
    apart: float  # 0..1: how much of both versions' times moves with parts that differ

    @property
    def deviation(self) -> float:
        return math.sqrt(self.shared + self.own + (_FORM * self.apart) ** 2)


def differences(before: Sequence[Parts], after: Sequence[Parts], error: ModelError) -> Differences:
    names = tuple(error.rates)
    rates = np.array([error.rates[name] for name in names])
    (old_ns, old, moves_old), (new_ns, new, moves_new) = (
        _version(launches, names, error.overlap) for launches in (before, after)
    )
    differing = np.abs(np.log(np.maximum(old, _LEAST_NS) / np.maximum(new, _LEAST_NS)))
    unlike = np.minimum(1.0, differing / _UNLIKE)
    return Differences(
        math.log(old_ns / new_ns),
        float(rates**2 @ (moves_old - moves_new) ** 2),
        float((rates * unlike) ** 2 @ (moves_old**2 + moves_new**2)),
        float(unlike @ (moves_old + moves_new)) / 2,
    )


def elasticities(parts: Parts, names: tuple[str, ...], overlap: float) -> Matrix:
    """How much of one launch's time moves with each part."""
    return _version([parts], names, overlap)[2]


def _version(launches: Iterable[Parts], names: tuple[str, ...], overlap: float) -> tuple[float, Matrix, Matrix]:
    """The time of all launches, the sum of each part, and how much of the time moves with each."""
    matrix, weights = _matrix(launches, names)
    time = float(weights @ _times(matrix, names, overlap))
    varied = matrix[np.newaxis, :, :] * np.exp(_STEP * np.eye(len(names)))[:, np.newaxis, :]
    moves = (_times(varied, names, overlap) @ weights / time - 1) / _STEP
    return time, weights @ matrix, moves


def _matrix(launches: Iterable[Parts], names: tuple[str, ...]) -> tuple[Matrix, Matrix]:
    """Distinct launches by part, and how many there are of each; with very many distinct ones, all as one."""
    rows = Counter(tuple(float(parts.get(name, 0.0)) for name in names) for parts in launches)
    matrix, weights = np.array(list(rows), dtype=float), np.array(list(rows.values()), dtype=float)
    if len(weights) > _MOST_DISTINCT:
        return (weights @ matrix)[np.newaxis, :], np.ones(1)
    return matrix, weights


def _times(matrix: Matrix, names: tuple[str, ...], overlap: float) -> Matrix:
    added = np.array([name in _ADDED for name in names])
    stream = np.array([name in _STREAM for name in names])
    streamed = matrix[..., stream].max(axis=-1, initial=0.0)[..., np.newaxis]
    side_by_side = np.concatenate([matrix[..., ~added & ~stream], streamed], axis=-1)
    longest = np.maximum(side_by_side.max(axis=-1, keepdims=True), 1e-9)
    norm = longest[..., 0] * ((side_by_side / longest) ** overlap).sum(axis=-1) ** (1 / overlap)
    times: Matrix = matrix[..., added].sum(axis=-1) + norm
    return times
