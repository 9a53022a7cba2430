"""Sequential change detection: how often it is wrong on noise, and how soon it finds a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from intelliperf.nightly.change import LEAST_HISTORY, change_at_end

Noise = Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]
NIGHTS = 60
NOISES: dict[str, Noise] = {  # all with a standard deviation of 1
    "normal": lambda random, n: random.standard_normal(n),
    "laplace": lambda random, n: random.laplace(size=n) / np.sqrt(2),
    "t4": lambda random, n: random.standard_t(4, n) / np.sqrt(2),
    "spikes": lambda random, n: np.where(random.random(n) < 0.02, 15.0, random.standard_normal(n)),
}


def histories(noise: str, count: int, level: float = 0.02) -> list[list[float]]:
    random = np.random.default_rng(7)
    return [list(1e6 * np.exp(level * NOISES[noise](random, NIGHTS))) for _ in range(count)]


def alarms(history: list[float]) -> tuple[int, int]:
    """Nights that are suspected and nights that are certain, until the first certain one."""
    suspected = 0
    for night in range(LEAST_HISTORY + 1, len(history) + 1):
        change = change_at_end(history[:night])
        if change is not None and change.certain:
            return suspected, 1
        suspected += change is not None
    return suspected, 0


@pytest.mark.parametrize("noise", NOISES)
def test_noise_alone_is_seldom_suspected_and_hardly_ever_certain(noise: str) -> None:
    count = 60
    found = [alarms(history) for history in histories(noise, count)]
    nights = count * (NIGHTS - LEAST_HISTORY)
    suspected, certain = (sum(column) / nights for column in zip(*found, strict=True))
    assert suspected <= 0.040, "a comparison that errs in 2.5 % then makes one false alarm in 1,000 kernel-nights"
    assert certain <= 0.002


@pytest.mark.parametrize(("before", "share"), [(12, 0.90), (30, 0.95)])
def test_a_step_of_five_percent_is_suspected_within_three_nights(before: int, share: float) -> None:
    found = total = 0
    for history in histories("normal", 140):
        stepped = [*history[:before], *(1.05 * time for time in history[before : before + 3])]
        if any(change_at_end(stepped[:n]) for n in range(LEAST_HISTORY + 1, before + 1)):
            continue  # an earlier suspicion, which is another test's
        total += 1
        changes = [change_at_end(stepped[:n]) for n in range(before + 1, before + 4)]
        found += any(change is not None for change in changes)
    assert total > 40 and found / total >= share


def test_a_clear_step_is_certain_and_its_first_night_is_named() -> None:
    (history,) = histories("normal", 1, level=0.002)
    stepped = [*history[:20], *(1.05 * time for time in history[20:23])]
    change = change_at_end(stepped)
    assert change is not None and change.certain and change.first == 20
    assert change.ratio == pytest.approx(1.05, rel=0.01)


def test_one_outlier_is_not_certain() -> None:
    (history,) = histories("normal", 1, level=0.002)
    change = change_at_end([*history[:20], 3 * history[20]])
    assert change is not None and not change.certain


def test_what_became_faster_is_no_regression() -> None:
    (history,) = histories("normal", 1)
    assert change_at_end([*history[:20], *(0.8 * time for time in history[20:26])]) is None


def test_a_short_history_says_nothing() -> None:
    assert change_at_end([1.0] * LEAST_HISTORY) is None
    assert change_at_end([1.0] * (LEAST_HISTORY - 1) + [5.0]) is None
