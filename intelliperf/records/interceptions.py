"""How a run is watched and altered while another process looks on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, Literal

ANY_KERNEL = "*"
Bounds = Literal["strict", "slack"]
Rounding = Literal["up", "down"]


class Feature(Enum):
    """What a kind of device can do in intercepted runs: most are the fields of `Interception` that it honours."""

    KERNELS = "kernels"
    BEFORE = "before"
    LANE_ORDER = "lane_order"
    BLOCK_ORDER = "block_order"
    PREEMPTION = "preemption"
    RESIDENT_BLOCKS = "resident_blocks"
    POISON = "poison"
    LDS_POISON = "lds_poison"
    NAN_RANK = "nan_rank"
    MEMORY = "memory"
    CLOCK_SCALE = "clock_scale"
    ROUNDING = "rounding"
    SHADOW = "shadow"
    TRACE = "trace"
    OTHER_NUMBERS = "other_numbers"
    OTHER_KEPT = "other_kept"
    OTHER_SHAPES = "other_shapes"
    OTHER_GRIDS = "other_grids"
    OTHER_HELD = "other_held"
    OTHER_CONSTANTS = "other_constants"
    OTHER_COMPILED = "other_compiled"
    OTHER_LIMITS = "other_limits"
    OTHER_NAMED = "other_named"
    OTHER_WIDTHS = "other_widths"
    OTHER_SECONDS = "other_seconds"
    OTHER_ALIKE = "other_alike"
    OTHER_CANCELLING = "other_cancelling"
    OTHER_RACES = "other_races"
    OTHER_LAST = "other_last"
    APART = "apart"
    LIVE_MEMORY = "live memory"  # what the parent writes to a paused run's memory is what its next kernel reads
    ROOMY_MEMORY = "roomy memory"  # allocations hold larger launches as well, and signs are altered
    CHEAP_TRACES = "cheap traces"  # a traced run costs little more than a plain one


@dataclass(frozen=True)
class Order:
    """In which lanes or blocks run: reversed, or shuffled by a seed."""

    seed: int | None = None

    def __str__(self) -> str:
        return "reverse" if self.seed is None else f"random:{self.seed}"


@dataclass(frozen=True)
class Shadow:
    """Algebraic shadows of floating-point numbers, see `validation.buffers.algebra`.

    The formats are the original's: what a candidate rounds to another one is lost for good.
    """

    fold: int  # of the field's prime
    half: bool = False
    bfloat: bool = False
    single: bool = True
    symbolic: bool = False  # unknowns for what the host uploads
    free_functions: bool = False  # roots and quotients stand for any function

    def __str__(self) -> str:
        said = {
            "half": self.half,
            "bfloat": self.bfloat,
            "double-only": not self.single,
            "symbolic": self.symbolic,
            "free-functions": self.free_functions,
        }
        return " ".join([str(self.fold), *(word for word, holds in said.items() if holds)])


@dataclass(frozen=True)
class Interception:
    """A field that is None or False asks for nothing; a backend ignores what is not in its `honours`."""

    kernels: tuple[str, ...] | None = None  # mangled names, or ANY_KERNEL: where it pauses; default: one that is judged
    before: bool = False  # pause before each launch of them, too
    lane_order: Order | None = None
    block_order: Order | None = None
    preemption: Order | None = None  # where lanes are interrupted
    resident_blocks: int | None = None
    poison: int | None = None  # a byte: what fresh memory is filled with
    lds_poison: int | None = None  # a byte: what the LDS of every block begins with; default: garbage as it comes
    nan_rank: int | None = None  # 1, 2: where numbers are compared to find the largest, NaN wins, or loses
    memory: Bounds | None = None
    clock_scale: float | None = None  # a factor on the modelled clock: printed times and ratios are told from answers
    rounding: Rounding | None = None  # of all arithmetic of kernels
    shadow: Shadow | None = None
    trace: Path | None = None  # a directory for the run's records, see `protocols.KeepsTraces`
    other_numbers: tuple[int, ...] | None = None  # ways to alter launches, see `validation.othernumbers`
    other_kept: tuple[int, ...] | None = None  # allocations that are left alone, by their number
    other_shapes: tuple[tuple[int, ...], ...] | None = None  # grids and blocks that altered arguments must suit
    other_held: tuple[tuple[int, ...], ...] | None = None  # a parameter, and the ranges that its values stay in
    other_grids: tuple[str, ...] | None = None  # how this version computes them, see `validation.edits.grids`
    other_constants: tuple[int, ...] | None = None  # values worth trying
    other_compiled: tuple[tuple[str, ...], ...] | None = None  # how constants of a compilation differ, each in words
    other_limits: tuple[float, ...] | None = None  # of floats: both sides of each are worth trying
    other_named: tuple[tuple[float, ...], ...] | None = None  # what only a candidate compares with, see `ir.quantities`
    other_widths: tuple[int, ...] | None = None  # in bits, to be exceeded
    other_seconds: int | None = None  # of the processor, for one altered launch
    other_alike: bool = False  # pause before launches that are altered, for the parent to write to memory
    other_cancelling: bool = False  # numbers of which the large ones cancel
    other_races: bool = False  # altered launches that race fail
    other_last: int | None = None  # the number of the kernel's last launch, from 0: it is altered, too
    apart: bool = False  # arguments that point into one allocation get one each, see `apart.h`

    def __or__(self, more: Interception) -> Interception:
        """What `more` asks for comes first."""
        return replace(self, **more._asked())

    @property
    def features(self) -> frozenset[Feature]:
        """What a device must honour for the run to be as asked."""
        return frozenset(map(Feature, self._asked()))

    def variables(self, names: Mapping[Feature, str]) -> dict[str, str]:
        """The environment that tells a process of it, by the names that its runtime gives these features."""
        asked = self._asked()
        return {name: _spelled(asked[feature.value]) for feature, name in names.items() if feature.value in asked}

    def _asked(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None and value is not False}


def _spelled(value: object) -> str:
    if value is True:
        return "1"
    if isinstance(value, tuple):
        separator = ";" if any(isinstance(one, tuple) for one in value) else ","
        return separator.join(map(_spelled, value))
    return str(value)
