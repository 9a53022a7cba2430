"""Learns the error of the time model from the calibration half of the corpus, after any change to the emulator.

    python benchmarks/hardware/calibrate.py [--keep]

Traces the corpus (--keep: takes `h200-emulated.json` as it is), writes `intelliperf/emulator/modelerror.json`, and
compares both halves in `CORPUS.md`.

The spread of a part's rate is what two thirds of the logarithmic errors of the kernels' times stay below, each
weighed by how much of its time moves with that part. What the form adds is learned so that it serves for kernels of
other kinds: of all shares of pairs to hold, the least is taken with which so many pairs are inside when their own
family was not learned from that 90 % of all pairs are inside with 95 % confidence (Wilson's bound).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import compare
import on_emulator
from compare import DEVICE, EMULATOR, Key, Row, keyed, of, pairs, times
from families import CALIBRATION, FAMILIES

from intelliperf.emulator import modelerror
from intelliperf.emulator.modelerror import ModelError
from intelliperf.emulator.timing import RESOLUTION

OVERLAP = 2.5  # kOverlap of runtime/demand.cpp
COVERED, CONFIDENCE = 0.9, 1.645  # of a normal distribution, one-sided
ONE_SIGMA = 0.683
LEAST_SPREAD = 0.1
LEAST_APART = 0.01
OTHER_CHIPS = 1.5  # assumption: rates that nobody measured are half as uncertain again
# Not learned from, but compared: what these do depends on which thread comes first, which no count of a run in
# order knows.
NOT_LEARNED = (("extremes", "swapped"), ("extremes", "checked_first"))
SAME_CHIP = ("h100", "h200")  # the same processor, with other memory


def elasticity(parts: Mapping[str, float], name: str) -> float:
    """The logarithmic change of the time with that of one part's rate."""
    more = {**parts, name: parts.get(name, 0.0) * 1.01}
    return math.log(modelerror.total_ns(more, OVERLAP) / modelerror.total_ns(parts, OVERLAP)) / math.log(1.01)


def rates(errors: Mapping[Key, float], emulated: Mapping[Key, Row]) -> dict[str, float]:
    names = next(iter(emulated.values()))["time_parts"]
    found = {}
    for name in names:
        weighed = sorted((abs(errors[key]), elasticity(emulated[key]["time_parts"], name) ** 2) for key in errors)
        found[name] = round(max(LEAST_SPREAD, quantile(weighed, ONE_SIGMA)), 3)
    return {**found, "constant": found["lds"], "copies": found["dram"]}  # the corpus hardly has such loads


def quantile(weighed: Sequence[tuple[float, float]], share: float) -> float:
    """The value at which `share` of the weights is reached; values ascend."""
    wanted = share * sum(weight for _, weight in weighed)
    for value, weight in weighed:
        wanted -= weight
        if wanted <= 0:
            return value
    return weighed[-1][0]


@dataclass(frozen=True)
class Left:
    """How much further from 1 than modelled one pair's gain is, and what the rates leave of that."""

    whole: float
    error: float
    apart: float
    ratio: float


def left(measured: float, before: Mapping[str, float], after: Mapping[str, float], error: ModelError) -> Left:
    """`measured`: a logarithm. `error` has nothing for the form."""
    modelled = math.log(modelerror.total_ns(before, OVERLAP) / modelerror.total_ns(after, OVERLAP))
    spread = modelerror.spread([before], [after], error)
    by_rates = spread.above if measured > modelled else spread.below
    rest = math.sqrt(max(0.0, (measured - modelled) ** 2 - by_rates**2 - math.log1p(RESOLUTION) ** 2))
    outwards = (measured > modelled) == (modelled >= 0)
    apart = modelerror.apart([before], [after], error)
    whole = abs(measured - modelled)
    return Left(whole if outwards else -whole, rest if outwards else -rest, max(apart, LEAST_APART), abs(modelled))


Form = tuple[float, float, float]


def form_for_others(pairs: Sequence[tuple[str, Left]]) -> Form:
    """With the names of the pairs' families."""
    for inside in (0.92, 0.94, 0.96, 0.98, 1.0):
        held = 0
        for family in {name for name, _ in pairs}:
            found = form([pair for name, pair in pairs if name != family], inside)
            held += sum(holds(pair, found) for name, pair in pairs if name == family)
        if at_least(held, len(pairs)) >= COVERED:
            break
    return form([pair for _, pair in pairs], inside)


def at_least(held: int, tried: int) -> float:
    """Wilson's lower bound for the share of which `held` of `tried` were seen."""
    seen, more = held / tried, CONFIDENCE**2 / tried
    middle = seen + more / 2
    return (middle - CONFIDENCE * math.sqrt(seen * (1 - seen) / tried + more / (4 * tried))) / (1 + more)


def holds(pair: Left, found: Form) -> bool:
    below, above, floor = found
    told = modelerror.SLOPE * pair.ratio + floor * pair.apart
    return pair.error <= above * pair.apart and -pair.error <= below * pair.apart and -pair.whole <= told


def form(pairs: Sequence[Left], inside: float) -> Form:
    """Below, above and floor, see `ModelError`: each misses half of those pairs that may be missed."""
    most = min(len(pairs), math.ceil((1 + inside) / 2 * len(pairs))) - 1
    above = sorted(max(0.0, pair.error) / pair.apart for pair in pairs)[most]
    below = sorted(max(0.0, -pair.error) / pair.apart for pair in pairs)[most]
    told = [(-pair.whole - modelerror.SLOPE * pair.ratio) / pair.apart for pair in pairs]
    floor = sorted(max(0.0, some) for some in told)[most]
    return tuple(math.ceil(100 * figure) / 100 for figure in (below, above, floor))  # type: ignore[return-value]


def learned(key: Key) -> bool:
    left_out = (key[0], key[2]) in NOT_LEARNED
    return of(CALIBRATION, key[0]) and not left_out


def learn() -> None:
    device, emulated = keyed(DEVICE), keyed(EMULATOR)
    errors = {key: error for key, error in times(device, emulated).items() if learned(key)}

    def parts(key: Key) -> Mapping[str, float]:
        found: Mapping[str, float] = emulated[key]["time_parts"]
        return found

    gains = [
        (naive[0], (math.log(device[naive]["cold"][0] / device[expert]["cold"][0]), parts(naive), parts(expert)))
        for naive, expert in pairs()
        if learned(naive) and learned(expert)
    ]
    provenance = json.loads(DEVICE.read_text())["provenance"]
    name = provenance["device"].removeprefix("NVIDIA ")
    error = ModelError(name, len(gains), OVERLAP, rates(errors, emulated), 0.0, 0.0, 0.0, 1.0)
    below, above, floor = form_for_others([(family, left(*gain, error)) for family, gain in gains])
    record = {
        "source": f"benchmarks/hardware/calibrate.py on {provenance['date']}'s measurements of an {name}; "
        f"{len(errors)} kernels and {len(gains)} pairs of the calibration half",
        "device": name,
        "pairs": len(gains),
        "overlap": OVERLAP,
        "rates": error.rates,
        "below": below,
        "above": above,
        "floor": floor,
        "widened": {**dict.fromkeys(SAME_CHIP, 1.0), "other": OTHER_CHIPS},
    }
    modelerror.DATA.write_text(json.dumps(record, indent=2) + "\n")


def main() -> None:
    if "--keep" not in sys.argv[1:]:
        on_emulator.collect(EMULATOR, "h200", on_emulator.WHOLE, list(FAMILIES))
    learn()
    modelerror.forget()
    compare.REPORT.write_text(compare.report(EMULATOR, DEVICE))


if __name__ == "__main__":
    main()
