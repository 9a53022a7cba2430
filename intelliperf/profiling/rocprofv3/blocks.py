"""Hardware blocks, their counter slots, and the known architectures."""

from __future__ import annotations

from collections.abc import Mapping

from intelliperf.errors import UsageError

# Slots of the CDNA parts as in rocprofiler-compute's mi_gpu_spec.yaml; SPI is the smaller of the documented 2 and 6.
_CDNA: Mapping[str, int] = {
    "SQ": 8,
    "TA": 2,
    "TD": 2,
    "TCP": 4,
    "TCC": 4,
    "CPC": 2,
    "CPF": 2,
    "SPI": 2,
    "GRBM": 2,
}
# No table is published for RDNA: half of CDNA's, which can only cost passes.
_RDNA: Mapping[str, int] = {"SQ": 4, "TA": 1, "GL2C": 2, "GRBM": 2}

# RDNA 2, 3 and 3.5 as AMD's counter definitions list them (rocprofiler-sdk, counter_defs.yaml and its successor
# config.yaml): all of one family have the same counters under the same names.
RDNA_2_3 = (
    *("gfx1030", "gfx1031", "gfx1032", "gfx1100", "gfx1101", "gfx1102"),
    *("gfx1150", "gfx1151", "gfx1152"),
)
RDNA_4 = ("gfx1200", "gfx1201")

SLOTS: Mapping[str, Mapping[str, int]] = {
    **dict.fromkeys(("gfx908", "gfx90a", "gfx942", "gfx950"), _CDNA),
    **dict.fromkeys((*RDNA_2_3, *RDNA_4), _RDNA),
}

_BLOCK_OF_PREFIX = {"SQC": "SQ"}  # counted by SQ's slots
ACCUMULATORS = frozenset({"SQ_ACCUM_PREV", "SQ_ACCUM_PREV_HIRES"})


def slots(architecture: str) -> Mapping[str, int]:
    """Counters that one pass can take, by block. Raises `UsageError` for an architecture that we do not know."""
    if architecture not in SLOTS:
        raise UsageError(f"no counters are known for {architecture}; known are {', '.join(SLOTS)}")
    return SLOTS[architecture]


def base_name(counter: str) -> str:
    """Without reduction and instance: "TCC_HIT_sum" and "TCC_HIT[3]" are both read from TCC_HIT."""
    name = counter.partition("[")[0]
    for reduction in ("_sum", "_avr", "_max", "_min"):
        if name.endswith(reduction):
            return name.removesuffix(reduction)
    return name


def block_of(counter: str) -> str:
    prefix = counter.partition("_")[0]
    return _BLOCK_OF_PREFIX.get(prefix, prefix)


def is_level(counter: str) -> bool:
    """Whether its value has a meaning only in the accumulator that comes right after it."""
    return counter.startswith("SQ_") and "LEVEL" in counter.split("_")
