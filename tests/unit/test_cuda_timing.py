from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from intelliperf.backends import Manner, open_backend
from intelliperf.cuda.backend import told_of_flush
from intelliperf.errors import UsageError
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.profiling import pairs as timing
from intelliperf.profiling.conditions import ClockReading, Conditions
from intelliperf.profiling.pairs import Comparison, Decision, Pair, PairPlan, Sample
from intelliperf.records import Application, Outcome, Provenance, Scope
from intelliperf.validation.timing import time_refusal

_RECORDED = json.loads((Path(__file__).parent / "recordings" / "h100-processes.json").read_text())
_PROCESSES = 140  # more than the most that a comparison runs
Factors = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator], Factors]


def _factors(values: npt.ArrayLike) -> Factors:
    return np.asarray(values, dtype=np.float64)


def _autocorrelated(share: float, width: float) -> Noise:
    def series(noise: np.random.Generator) -> Factors:
        values, step = np.zeros(_PROCESSES), noise.normal(0, width, _PROCESSES)
        for index in range(1, _PROCESSES):
            values[index] = share * values[index - 1] + step[index]
        return _factors(np.exp(values))

    return series


def _two_clocks(change: float) -> Noise:
    """A clock that jumps between two levels, 13 % apart."""

    def series(noise: np.random.Generator) -> Factors:
        slow = np.cumsum(noise.random(_PROCESSES) < change) % 2
        return _factors(np.exp(noise.normal(0, 0.001, _PROCESSES)) * (1 + 0.13 * slow))

    return series


def _heavy_tails(noise: np.random.Generator) -> Factors:
    return _factors(1 + 0.005 * np.abs(noise.standard_t(1.2, _PROCESSES)))


def _rare_hiccups(noise: np.random.Generator) -> Factors:
    hiccup = np.where(noise.random(_PROCESSES) < 0.08, noise.uniform(1.2, 4, _PROCESSES), 1.0)
    return _factors(np.exp(noise.normal(0, 0.003, _PROCESSES)) * hiccup)


def _drift(noise: np.random.Generator) -> Factors:
    return _factors(np.exp(noise.normal(0, 0.002, _PROCESSES)) * (1 + 0.0015 * np.arange(_PROCESSES)))


def _warming(noise: np.random.Generator) -> Factors:
    return _factors(np.exp(noise.normal(0, 0.003, _PROCESSES)) * (1.08 - 0.08 * np.exp(-np.arange(_PROCESSES) / 15)))


def _walk(noise: np.random.Generator) -> Factors:
    return np.exp(np.cumsum(noise.normal(0, 0.005, _PROCESSES)))


def _rhythm(noise: np.random.Generator) -> Factors:
    """The very rhythm of A B B A."""
    swing = (np.arange(_PROCESSES) + 1) // 2 % 2
    return _factors(np.exp(noise.normal(0, 0.001, _PROCESSES)) * (1 + 0.02 * swing))


def _placement(noise: np.random.Generator) -> Factors:
    """Each process gets other pages, and with them one of a few speeds."""
    return _factors(np.exp(noise.normal(0, 0.004, _PROCESSES)) * noise.choice([1, 1.01, 1.02, 1.05], _PROCESSES))


_NOISES: dict[str, Noise] = {
    "independent": _autocorrelated(0.0, 0.01),
    "autocorrelated": _autocorrelated(0.9, 0.01),
    "half autocorrelated": _autocorrelated(0.5, 0.02),
    "sticky clock levels": _two_clocks(0.2),
    "clock levels by chance": _two_clocks(0.5),
    "heavy tails": _heavy_tails,
    "rare hiccups": _rare_hiccups,
    "drift": _drift,
    "warming up": _warming,
    "random walk": _walk,
    "rhythm": _rhythm,
    "placement": _placement,
}


def _trial(times: Iterator[float], seed: int, ratio: float = 1.0, budget_s: float = 1e9) -> Comparison:
    """Two programs of which the baseline takes `ratio` times as long; each process takes a second of the budget."""
    seconds = itertools.count()
    spent = [0.0]

    def run(scale: float) -> Callable[[], Sample]:
        def once() -> Sample:
            spent[0] = next(seconds) + 1.0
            value = float(next(times)) * scale
            return Sample(value, 2 * value)

        return once

    return timing.compare(run(ratio), run(1.0), budget_s, chance=random.Random(seed), clock=lambda: spent[0])


def _trials(noise: Noise, count: int, ratio: float = 1.0, budget_s: float = 1e9) -> list[Comparison]:
    return [_trial(iter(1e5 * noise(np.random.default_rng(seed))), seed, ratio, budget_s) for seed in range(count)]


def _changed(comparisons: list[Comparison]) -> int:
    return sum(comparison.decision is not Decision.NO_CHANGE for comparison in comparisons)


@pytest.mark.parametrize("name", _NOISES)
def test_unchanged_programs_are_called_unchanged_99_times_in_100(name: str) -> None:
    assert _changed(_trials(_NOISES[name], 200)) <= 2


@pytest.mark.parametrize("name", _NOISES)
def test_a_short_budget_makes_no_change_out_of_noise(name: str) -> None:
    trials = _trials(_NOISES[name], 100, budget_s=12)
    assert max(len(trial.pairs) for trial in trials) < 10
    assert _changed(trials) <= 1


@pytest.mark.parametrize("name", [*_RECORDED["kernels"], "device", "wall"])
def test_processes_recorded_on_an_h100_are_called_unchanged(name: str) -> None:
    values = _RECORDED["kernels"].get(name) or _RECORDED[f"{name}_ns"]
    if name in ("spin_fma", "device"):  # these differ between A and B
        values = [value for value, side in zip(values, _RECORDED["sides"], strict=True) if side == "A"]
    trials = []
    for seed in range(200):
        start = random.Random(seed).randrange(len(values))
        trials.append(_trial(itertools.islice(itertools.cycle(values), start, None), seed))
    assert _changed(trials) <= 2


def test_two_percent_are_seen_in_the_recorded_processes() -> None:
    every = list(zip(_RECORDED["kernels"]["spin_fma"], _RECORDED["sides"], strict=True))
    sides = {side: iter([Sample(value, value) for value, own in every if own == side]) for side in "AB"}
    found = timing.compare(lambda: next(sides["B"]), lambda: next(sides["A"]), 1e9, chance=random.Random(1))
    (kernel, _) = found.measurements
    assert found.decision is Decision.FASTER
    assert kernel.low < 1.02 < kernel.high
    assert kernel.provenance is Provenance.MEASURED


@pytest.mark.parametrize(("name", "least"), [("independent", 0.99), ("heavy tails", 0.99), ("placement", 0.95)])
def test_a_gain_of_three_percent_is_found(name: str, least: float) -> None:
    faster = sum(trial.decision is Decision.FASTER for trial in _trials(_NOISES[name], 100, ratio=1.03))
    assert faster >= least * 100


def test_a_large_gain_of_a_slow_program_is_believed_after_few_pairs() -> None:
    trials = _trials(_NOISES["independent"], 20, ratio=100.0, budget_s=4)
    assert {len(trial.pairs) for trial in trials} == {3}
    assert all(trial.decision is Decision.FASTER for trial in trials)


def test_what_would_have_shown_shrinks_with_the_noise() -> None:
    quiet, noisy = (_trials(_autocorrelated(0.0, width), 1)[0] for width in (0.001, 0.03))
    assert 0.005 < quiet.detectable < 0.01
    assert noisy.detectable > 2 * quiet.detectable


def test_the_first_pair_is_dropped() -> None:
    cold = itertools.chain([9e9, 9e9], itertools.repeat(1e5))
    comparison = _trial(cold, 0)
    assert all(pair.baseline.kernel_ns == 1e5 for pair in comparison.pairs)
    assert len(comparison.pairs) == 10


def test_both_programs_run_first_about_equally_often() -> None:
    order: list[str] = []

    def run(name: str) -> Callable[[], Sample]:
        def once() -> Sample:
            order.append(name)
            return Sample(1e5 + len(order) % 7 * 1e4, 1e5)

        return once

    timing.compare(run("A"), run("B"), 1e9, chance=random.Random(5))
    firsts = order[::2]
    assert len(firsts) == 61
    assert 20 <= firsts.count("A") <= 41


def test_a_candidate_that_moves_work_to_the_host_is_slower_overall() -> None:
    pairs = tuple(Pair(Sample(2e6, 3e6, 4e8 + n), Sample(1e6, 2e6, 6e8 + n)) for n in range(12))
    measurements = Comparison(pairs).measurements
    assert [m.scope for m in measurements] == [Scope.KERNEL, Scope.APPLICATION, Scope.PROCESS]
    refusal = time_refusal(measurements, None)
    assert refusal is not None
    assert refusal[0] is Outcome.SLOWER_OVERALL
    assert "from its start to its end" in refusal[1]


def test_uneven_throttling_is_told() -> None:
    hot = Conditions((ClockReading(1500, 2619, 88, 700.0, ("power cap",)),), 5)
    cool = Conditions((ClockReading(1980, 2619, 50, 300.0, ()),), 0)
    pairs = tuple(Pair(Sample(2e6, 3e6, conditions=cool), Sample(1e6, 2e6, conditions=hot)) for _ in range(10))
    notes = " | ".join(Comparison(pairs).notes)
    assert "throttled in 10 of 20 processes (power cap)" in notes
    assert "SM clock 1500 to 1980 MHz" in notes
    assert "one program was throttled more often" in notes


def test_times_of_nothing_are_no_ratio() -> None:
    with pytest.raises(ValueError, match="positive"):
        timing.ratio_interval([1.0, 0.0, 2.0])


def test_a_plan_may_ask_for_less() -> None:
    few = PairPlan(looks=(10,))
    values = itertools.cycle([1e5, 1.2e5, 1.1e5])
    comparison = timing.compare(lambda: Sample(next(values), 1.0), lambda: Sample(next(values), 1.0), 1e9, few)
    assert len(comparison.pairs) == 10


def test_a_modelled_clock_that_repeats_itself_has_no_interval_and_one_that_does_not_is_not_believed() -> None:
    modelled = timing.without_noise([Sample(200.0, 300.0)] * 2, [Sample(100.0, 300.0)] * 2)
    assert [(m.ratio, m.low, m.high) for m in modelled] == [(2.0, 2.0, 2.0), (1.0, 1.0, 1.0)]
    assert {m.provenance for m in modelled} == {Provenance.MODELLED}
    times = iter((200.0, 201.0, 100.0, 100.0))
    assert (
        timing.without_noise([Sample(next(times), 300.0) for _ in "12"], [Sample(next(times), 300.0) for _ in "12"])
        == ()
    )


def test_another_profiler_and_an_l2_that_cannot_be_emptied_are_refused_by_name(tmp_path: Path) -> None:
    application = Application(("app",), tmp_path, tmp_path)
    with pytest.raises(UsageError, match="rocm takes no --flush-l2"):
        open_backend("rocm", tmp_path, None, UNCONFINED, application, Manner(flush_l2=True))
    profiled = Application(("/opt/rocm/bin/rocprofv3", "--kernel-trace", "--", "./app", "4"), tmp_path, tmp_path)
    with pytest.raises(UsageError, match=r"rocprofv3 is a profiler, .*: name the program itself, -- \./app 4$"):
        open_backend("rocm", tmp_path, None, UNCONFINED, profiled)
    assert "before each of the 20 timed dispatches" in told_of_flush(20, 20)
    assert "before 5 of the 20 timed dispatches" in told_of_flush(5, 20)
    assert "before none of the 20" in told_of_flush(0, 20)
