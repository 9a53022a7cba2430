"""Learns the error of the time model from the calibration half of the corpus, after any change to the emulator.

    python benchmarks/hardware/calibrate.py [--keep]

Traces the corpus (--keep: takes `h200-emulated.json` as it is), writes `intelliperf/emulator/modelerror.json`, and
compares both halves in `CORPUS.md`.

The spread of a part's rate is what two thirds of the logarithmic errors of the kernels' times stay below, each
weighed by how much of its time moves with that part. The spread of the form is the least with which 95 % of the
calibration pairs have their measured gain inside the interval.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence

import compare
import on_emulator
from compare import DEVICE, EMULATOR, Key, Row, keyed, of, pairs, times
from families import CALIBRATION, FAMILIES

from intelliperf.emulator import modelerror
from intelliperf.emulator.modelerror import ModelError
from intelliperf.emulator.timing import RESOLUTION

OVERLAP = 2.5  # kOverlap of runtime/demand.cpp
INSIDE = 0.95
ONE_SIGMA = 0.683
LEAST_SPREAD = 0.1
OTHER_CHIPS = 1.5  # assumption: rates that nobody measured are half as uncertain again
SAME_CHIP = ("h100", "h200")  # the same processor, with other memory


def elasticity(parts: Mapping[str, float], name: str) -> float:
    """The logarithmic change of the time with that of one part's rate."""
    more = {**parts, name: parts[name] * 1.01}
    return math.log(modelerror.total_ns(more, OVERLAP) / modelerror.total_ns(parts, OVERLAP)) / math.log(1.01)


def rates(errors: Mapping[Key, float], emulated: Mapping[Key, Row]) -> dict[str, float]:
    names = next(iter(emulated.values()))["time_parts"]
    found = {}
    for name in names:
        weighed = sorted((abs(errors[key]), elasticity(emulated[key]["time_parts"], name) ** 2) for key in errors)
        found[name] = round(max(LEAST_SPREAD, quantile(weighed, ONE_SIGMA)), 3)
    return {**found, "copies": found["dram"]}


def quantile(weighed: Sequence[tuple[float, float]], share: float) -> float:
    """The value at which `share` of the weights is reached; values ascend."""
    wanted = share * sum(weight for _, weight in weighed)
    for value, weight in weighed:
        wanted -= weight
        if wanted <= 0:
            return value
    return weighed[-1][0]


def form(gains: Sequence[tuple[float, Mapping[str, float], Mapping[str, float]]], error: ModelError) -> float:
    """`gains`: the measured one as a logarithm, and the parts of both kernels. `error` has no spread of the form."""
    needed = []
    for measured, before, after in gains:
        modelled = math.log(modelerror.total_ns(before, OVERLAP) / modelerror.total_ns(after, OVERLAP))
        spread = modelerror.spread([before], [after], error)
        by_rates = spread.above if measured > modelled else spread.below
        left = math.sqrt(max(0.0, (measured - modelled) ** 2 - by_rates**2 - math.log1p(RESOLUTION) ** 2))
        apart = modelerror.apart([before], [after], error)
        needed.append(left / (modelerror.NORMAL_95 * apart) if apart else 0.0)
    return math.ceil(100 * sorted(needed)[math.ceil(INSIDE * len(needed)) - 1]) / 100


def learn() -> None:
    device, emulated = keyed(DEVICE), keyed(EMULATOR)
    errors = {key: error for key, error in times(device, emulated).items() if of(CALIBRATION, key[0])}
    gains = [
        (
            math.log(device[naive]["cold"][0] / device[expert]["cold"][0]),
            emulated[naive]["time_parts"],
            emulated[expert]["time_parts"],
        )
        for naive, expert in pairs()
        if of(CALIBRATION, naive[0])
    ]
    provenance = json.loads(DEVICE.read_text())["provenance"]
    name = provenance["device"].removeprefix("NVIDIA ")
    error = ModelError(name, len(gains), OVERLAP, rates(errors, emulated), 0.0, 1.0)
    record = {
        "source": f"benchmarks/hardware/calibrate.py on {provenance['date']}'s measurements of an {name}; "
        f"{len(errors)} kernels and {len(gains)} pairs of the calibration half",
        "device": name,
        "pairs": len(gains),
        "overlap": OVERLAP,
        "rates": error.rates,
        "form": form(gains, error),
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
