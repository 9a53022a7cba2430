"""Learns the error of the time model from pairs of the corpus, after any change to the emulator.

    python benchmarks/hardware/calibrate.py [--keep]

Traces the corpus (--keep: takes `h200-emulated.json` and `fresh-emulated.json` as they are), writes
`intelliperf/emulator/modelerror.json`, and compares both halves in `CORPUS.md`.

Learned from are the calibration half and the fresh set, with emptied caches and warm: the former alone would
make the model's error too small, for constants were fitted to it. The deviation of a part is what two thirds of
the logarithmic errors of the kernels' times stay below, each weighed by how much of its time moves with that
part. How many deviations the interval reaches is learned so that it serves for kernels of other kinds: of all
shares of pairs to hold, the least is taken with which so many pairs are inside when their own family was not
learned from that 90 % of all pairs are inside with 95 % confidence (Wilson's bound, for which a pair's two
states count as one).
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import compare
import on_emulator
from compare import DEVICE, EMULATOR, FRESH_DEVICE, FRESH_EMULATOR, Key, Row, keyed, of, pairs, times
from families import FAMILIES, FRESH_FAMILIES, TEST

from intelliperf.emulator import modelerror
from intelliperf.emulator.modelerror import ModelError
from intelliperf.emulator.timing import RESOLUTION

OVERLAP = 2.5  # kOverlap of runtime/demand.cpp
COVERED, CONFIDENCE = 0.9, 1.645  # of a normal distribution, one-sided
ONE_SIGMA = 0.683
LEAST_SPREAD = 0.1
LEAST_APART = 0.01
RESOLVED = math.log1p(RESOLUTION)
OTHER_CHIPS = 1.5  # assumption: rates that nobody measured are half as uncertain again
# Not learned from, but compared: what these do depends on which thread comes first, which no count of a run in
# order knows.
NOT_LEARNED = (("extremes", "swapped"), ("extremes", "checked_first"))
STATES = 2  # emptied caches, warm ones
SAME_CHIP = ("h100", "h200")  # the same processor, with other memory


def rates(errors: Mapping[Key, float], emulated: Mapping[Key, Row]) -> dict[str, float]:
    names = tuple(next(iter(emulated.values()))["time_parts"])
    moves = {key: modelerror.elasticities(emulated[key]["time_parts"], names, OVERLAP) for key in errors}
    found = {}
    for at, name in enumerate(names):
        weighed = sorted((abs(errors[key]), float(moves[key][at]) ** 2) for key in errors)
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
class Pair:
    family: str
    measured: float  # logarithm of the gain
    before: Mapping[str, float]
    after: Mapping[str, float]


def reaching(pairs: Sequence[Pair], error: ModelError) -> ModelError:
    """With how many deviations the interval reaches, such that it serves for families that were not learned from."""
    for inside in (0.9, 0.92, 0.94, 0.96, 0.98, 1.0):
        held = 0
        for family in {pair.family for pair in pairs}:
            found = holding([pair for pair in pairs if pair.family != family], error, inside)
            held += sum(holds(pair, found) for pair in pairs if pair.family == family)
        if at_least(held / STATES, len(pairs) / STATES) >= COVERED:
            break
    return holding(pairs, error, inside)


def at_least(held: float, tried: float) -> float:
    """Wilson's lower bound for the share of which `held` of `tried` were seen."""
    seen, more = held / tried, CONFIDENCE**2 / tried
    middle = seen + more / 2
    return (middle - CONFIDENCE * math.sqrt(seen * (1 - seen) / tried + more / (4 * tried))) / (1 + more)


def holds(pair: Pair, error: ModelError) -> bool:
    reach = modelerror.spread([pair.before], [pair.after], error)
    off = pair.measured - modelerror.differences([pair.before], [pair.after], error).ratio
    return -math.hypot(reach.below, RESOLVED) <= off <= math.hypot(reach.above, RESOLVED)


def holding(pairs: Sequence[Pair], error: ModelError, inside: float) -> ModelError:
    """Below and above, each missing half of those pairs that may be missed."""
    outwards = sorted(error_of(pair, error) for pair in pairs)
    most = min(len(pairs), math.ceil((1 + inside) / 2 * len(pairs))) - 1
    below, above = max(0.0, -outwards[len(pairs) - 1 - most]), max(0.0, outwards[most])
    return replace(error, below=math.ceil(100 * below) / 100, above=math.ceil(100 * above) / 100)


def error_of(pair: Pair, error: ModelError) -> float:
    """In deviations: how much further from 1 the measured gain is than the modelled one."""
    apart = modelerror.differences([pair.before], [pair.after], error)
    off = pair.measured - apart.ratio
    rest = math.copysign(math.sqrt(max(0.0, off**2 - RESOLVED**2)), off if apart.ratio >= 0 else -off)
    return rest / max(apart.deviation, LEAST_APART)


def learned(key: Key) -> bool:
    left_out = (key[0], key[2]) in NOT_LEARNED
    return not of(TEST, key[0]) and not left_out


def learned_pairs(device: Mapping[Key, Row], emulated: Mapping[Key, Row]) -> list[Pair]:
    def parts(key: Key) -> Mapping[str, float]:
        found: Mapping[str, float] = emulated[key]["time_parts"]
        return found

    return [
        Pair(naive[0], math.log(device[naive]["cold"][0] / device[expert]["cold"][0]), parts(naive), parts(expert))
        for naive, expert in pairs({**FAMILIES, **FRESH_FAMILIES})
        if learned(naive) and learned(expert)
    ]


def learn() -> None:
    device = {**keyed(DEVICE), **keyed(FRESH_DEVICE)}
    emulated = {**keyed(EMULATOR), **keyed(FRESH_EMULATOR)}
    errors: dict[Key, float] = {}
    modelled: dict[Key, Row] = {}
    gains: list[Pair] = []
    for state, (measured, rows) in {"cold": (device, emulated), "warm": compare.warm(device, emulated)}.items():
        for key, error in times(measured, rows).items():
            if learned(key):
                named = (key[0], key[1], f"{key[2]} {state}")
                errors[named], modelled[named] = error, rows[key]
        gains += learned_pairs(measured, rows)
    provenance = json.loads(DEVICE.read_text())["provenance"]
    name = provenance["device"].removeprefix("NVIDIA ")
    error = ModelError(name, len(gains) // STATES, OVERLAP, rates(errors, modelled), 0.0, 0.0, 1.0)
    error = reaching(gains, error)
    record = {
        "source": f"benchmarks/hardware/calibrate.py on {provenance['date']}'s measurements of an {name}; "
        f"{len(errors) // STATES} kernels and {len(gains) // STATES} pairs of the calibration half and the fresh set, "
        "with emptied caches and warm",
        "device": name,
        "pairs": len(gains) // STATES,
        "overlap": OVERLAP,
        "rates": error.rates,
        "below": error.below,
        "above": error.above,
        "widened": {**dict.fromkeys(SAME_CHIP, 1.0), "other": OTHER_CHIPS},
    }
    modelerror.DATA.write_text(json.dumps(record, indent=2) + "\n")


def main() -> None:
    if "--keep" not in sys.argv[1:]:
        on_emulator.collect(EMULATOR, "h200", on_emulator.WHOLE, list(FAMILIES))
        on_emulator.collect(FRESH_EMULATOR, "h200", on_emulator.WHOLE, list(FRESH_FAMILIES))
    learn()
    modelerror.forget()
    compare.REPORT.write_text(compare.report(EMULATOR, DEVICE))


if __name__ == "__main__":
    main()
