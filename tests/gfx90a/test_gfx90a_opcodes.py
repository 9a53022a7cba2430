"""Each instruction of the software gfx90a, alone, on random and edge values, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from opcode_arithmetic import F16, F32, F64, U16, Array
from opcode_cases import ALL_LANES, VCC, Case, Outcome, Row, rows_of, run, values_of
from opcode_reference import CONVERSIONS, FLOATS, INTEGERS, Operation, samples

pytestmark = [pytest.mark.gfx90a, pytest.mark.filterwarnings("ignore:.*encountered in.*:RuntimeWarning")]
_SOURCES = (10, 12, 14)
_SOME_LANES = 0xF0F0_1234_DEAD_0001
_UNTOUCHED = np.arange(64, dtype=np.uint32) + 0xABCD0000


@dataclass(frozen=True)
class Check:
    case: Case
    wanted: Array
    first: int = 0
    ulps: int = 0
    exec_mask: int = ALL_LANES


def _inputs(operation: Operation) -> list[Array]:
    generator = np.random.default_rng(sum(operation.name.encode()))
    return [samples(kind, generator, n) for n, kind in enumerate(operation.sources)]


def _register(kind: np.dtype[Any], first: int) -> str:
    return f"v[{first}:{first + 1}]" if kind.itemsize == 8 else f"v{first}"


def _rows(operation: Operation, inputs: Sequence[Array]) -> dict[int, Row]:
    rows = {0: _UNTOUCHED, 1: _UNTOUCHED}
    places = (10, 12, 0) if operation.accumulates else _SOURCES
    for values, place in zip(inputs, places, strict=False):
        rows.update(rows_of(values, place))
    return rows


def _text(operation: Operation, suffix: str = "", modifiers: str = "") -> str:
    shown = operation.sources[:2] if operation.accumulates else operation.sources
    places = [_register(kind, place) for kind, place in zip(shown, _SOURCES, strict=False)]
    return f"{operation.name}{suffix} {', '.join([_register(operation.result, 0), *places])}{modifiers}"


def _check(operation: Operation, suffix: str = "", exec_mask: int = ALL_LANES) -> Check:
    inputs = _inputs(operation)
    wanted = np.asarray(operation.compute(*inputs)).astype(operation.result)
    case = Case(_text(operation, suffix), rows=_rows(operation, inputs), rows_out=(0, 1), exec_mask=exec_mask)
    return Check(case, wanted, ulps=operation.ulps, exec_mask=exec_mask)


def _mistakes(check: Check, outcome: Outcome) -> list[str]:
    if outcome.stopped:
        return [f"{check.case.text}: {outcome.stopped}"]
    found = values_of(outcome.rows, check.first, check.wanted.dtype)
    active = np.array([check.exec_mask >> lane & 1 for lane in range(64)], bool)
    wrong = active & ~_same(found, check.wanted, check.ulps)
    untouched = outcome.rows[check.first] == check.case.rows.get(check.first, _UNTOUCHED)
    wrong |= ~active & ~untouched
    return [
        f"{check.case.text}: lane {lane}: {found[lane]!r}, expected {check.wanted[lane]!r}"
        for lane in np.flatnonzero(wrong)[:3]
    ]


def _same(found: Array, wanted: Array, ulps: int) -> Array:
    if wanted.dtype.kind != "f":
        return np.asarray(found == wanted)
    both_lost = np.isnan(found) & np.isnan(wanted)
    exact = (found == wanted) & (np.signbit(found) == np.signbit(wanted))
    if not ulps:
        return np.asarray(both_lost | exact)
    unit = np.spacing(np.abs(np.where(np.isfinite(wanted), wanted, 1)).astype(wanted.dtype))
    with np.errstate(invalid="ignore"):
        near = np.abs(found.astype(F64) - wanted.astype(F64)) <= ulps * unit.astype(F64)
    return np.asarray(both_lost | (found == wanted) | near)


def _assert_right(checks: Sequence[Check]) -> None:
    outcomes = run([check.case for check in checks])
    mistakes = [text for check, outcome in zip(checks, outcomes, strict=True) for text in _mistakes(check, outcome)]
    assert not mistakes, f"{len(mistakes)} mistakes\n" + "\n".join(mistakes[:40])


@pytest.mark.parametrize("operations", [FLOATS, CONVERSIONS, INTEGERS], ids=["floats", "conversions", "integers"])
def test_lane_wise_instructions_agree_with_numpy(operations: list[Operation]) -> None:
    with np.errstate(all="ignore"):
        _assert_right([_check(operation) for operation in operations])


def test_inactive_lanes_are_left_alone() -> None:
    with np.errstate(all="ignore"):
        _assert_right([_check(operation, exec_mask=_SOME_LANES) for operation in [*FLOATS[::3], *INTEGERS[::5]]])


def _long_form(operation: Operation) -> bool:
    return operation.result.kind == "f" and all(kind == operation.result for kind in operation.sources)


def test_signs_clamps_and_factors_of_the_long_encoding_apply() -> None:
    checks = []
    for operation in FLOATS:
        if not _long_form(operation) or operation.accumulates or len(operation.sources) < 2:
            continue
        a, b, *rest = _inputs(operation)
        registers = [_register(kind, place) for kind, place in zip(operation.sources, _SOURCES, strict=False)]
        registers[0], registers[1] = f"-{registers[0]}", f"|{registers[1]}|"
        name = operation.name if len(operation.sources) > 2 or operation.result == F64 else f"{operation.name}_e64"
        text = f"{name} {', '.join([_register(operation.result, 0), *registers])} clamp"
        with np.errstate(all="ignore"):
            plain = operation.compute(-a, np.abs(b), *rest)
            wanted = np.where(np.isnan(plain), 0, np.clip(plain, 0, 1)).astype(operation.result)
        wanted = np.where(wanted == 0, operation.result.type(0), wanted)
        checks.append(Check(Case(text, rows=_rows(operation, [a, b, *rest]), rows_out=(0, 1)), wanted))
    _assert_right(checks)


@pytest.mark.parametrize(("modifier", "factor"), [("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5)])
def test_results_are_multiplied_by_the_output_modifier(modifier: str, factor: float) -> None:
    checks = []
    for name in ("v_add_f32", "v_mul_f32", "v_fma_f32"):
        (operation,) = [found for found in FLOATS if found.name == name]
        inputs = [np.clip(values, -1e6, 1e6) for values in _inputs(operation)]
        with np.errstate(all="ignore"):
            wanted = operation.compute(*inputs) * F32.type(factor)
        suffix = "" if len(inputs) == 3 else "_e64"
        case = Case(f"{_text(operation, suffix)} {modifier}", rows=_rows(operation, inputs), rows_out=(0, 1))
        checks.append(Check(case, wanted))
    _assert_right(checks)


_PARTS: dict[str, Callable[[Array], Array]] = {
    **{f"BYTE_{n}": (lambda a, n=n: a >> np.uint32(8 * n) & np.uint32(255)) for n in range(4)},
    **{f"WORD_{n}": (lambda a, n=n: a >> np.uint32(16 * n) & np.uint32(65535)) for n in range(2)},
    "DWORD": lambda a: a,
}


def test_parts_of_words_are_selected_by_sdwa() -> None:
    (operation,) = [found for found in INTEGERS if found.name == "v_add_u32"]
    a, b = _inputs(operation)
    checks = []
    for first, of_first in _PARTS.items():
        for target in ("DWORD", "BYTE_2", "WORD_1"):
            modifiers = f" dst_sel:{target} dst_unused:UNUSED_PRESERVE src0_sel:{first} src1_sel:WORD_0"
            total = of_first(a) + (b & np.uint32(65535))
            shift, part = {"DWORD": (0, 0xFFFFFFFF), "BYTE_2": (16, 0xFF), "WORD_1": (16, 0xFFFF)}[target]
            mask = np.uint32(part << shift & 0xFFFFFFFF)
            wanted = (total << np.uint32(shift) & mask) | (_UNTOUCHED & ~mask)
            case = Case(_text(operation, "_sdwa", modifiers), rows=_rows(operation, [a, b]), rows_out=(0, 1))
            checks.append(Check(case, wanted))
    _assert_right(checks)


def test_halves_are_chosen_by_op_sel_and_the_other_half_is_kept() -> None:
    checks = []
    for name in ("v_mad_u16", "v_fma_f16", "v_max3_i16"):
        (operation,) = [found for found in [*FLOATS, *INTEGERS] if found.name == name]
        inputs = _inputs(operation)
        rows = _rows(operation, inputs)
        rows[10] = rows[10] << np.uint32(16) | np.uint32(0x1111)
        text = f"{_text(operation)} op_sel:[1,0,0,1]"
        with np.errstate(all="ignore"):
            half = np.asarray(operation.compute(*inputs)).astype(operation.result).view(U16).astype(np.uint32)
        wanted = half << np.uint32(16) | (_UNTOUCHED & np.uint32(0xFFFF))
        if operation.result == F16:
            lost = (half & np.uint32(0x7FFF)) > 0x7C00
            rows = {**rows, 0: _UNTOUCHED}
            checks.append(Check(Case(text, rows=rows, rows_out=(0, 1)), wanted, exec_mask=_mask(~lost)))
            checks[-1] = replace(checks[-1], case=replace(checks[-1].case, exec_mask=_mask(~lost)))
        else:
            checks.append(Check(Case(text, rows=rows, rows_out=(0, 1)), wanted))
    _assert_right(checks)


def _mask(lanes: Array) -> int:
    return sum(1 << int(lane) for lane in np.flatnonzero(lanes))


_CONDITIONS: dict[str, Callable[[Array, Array], Array]] = {
    "f": lambda a, b: np.zeros(64, bool),
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_OF_FLOATS: dict[str, Callable[[Array, Array], Array]] = {
    **_CONDITIONS,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
    "tru": lambda a, b: np.ones(64, bool),
}
_OF_INTEGERS: dict[str, Callable[[Array, Array], Array]] = {
    **_CONDITIONS,
    "ne": lambda a, b: a != b,
    "t": lambda a, b: np.ones(64, bool),
}
_COMPARED = {"f16": F16, "f32": F32, "f64": F64} | {
    f"{sign}{bits}": np.dtype(f"{sign}{bits // 8}") for sign in "iu" for bits in (16, 32, 64)
}


@pytest.mark.parametrize("type_name", sorted(_COMPARED))
def test_comparisons_set_one_bit_per_active_lane(type_name: str) -> None:
    kind = _COMPARED[type_name]
    generator = np.random.default_rng(3)
    a, b = samples(kind, generator, 0), samples(kind, generator, 1)
    b = np.where(np.arange(64) % 4 == 0, a, b)
    conditions = _OF_FLOATS if kind.kind == "f" else _OF_INTEGERS
    registers = f"{_register(kind, 10)}, {_register(kind, 12)}"
    rows = {**rows_of(a, 10), **rows_of(b, 12)}
    cases, wanted = [], []
    for name, condition in conditions.items():
        truth = _mask(condition(a, b)) & _SOME_LANES
        for text, place in (
            (f"v_cmp_{name}_{type_name}_e32 vcc, {registers}", VCC),
            (f"v_cmp_{name}_{type_name}_e64 s[20:21], {registers}", 20),
            (f"v_cmpx_{name}_{type_name}_e64 s[20:21], {registers}", 126),
        ):
            cases.append(Case(text, rows=rows, scalars_out=(place, place + 1), exec_mask=_SOME_LANES))
            wanted.append((place, truth))
    for case, (place, truth), outcome in zip(cases, wanted, run(cases), strict=True):
        assert not outcome.stopped, outcome.stopped
        assert outcome.pair(place) == truth, case.text


@pytest.mark.parametrize("kind", [F16, F32, F64], ids=str)
def test_classes_of_numbers_are_told_apart(kind: np.dtype[Any]) -> None:
    limits = np.finfo(kind)
    small, tiny = limits.tiny, limits.smallest_subnormal
    by_class = [np.nan, np.nan, -np.inf, -1.5, -tiny, -0.0, 0.0, tiny, small, np.inf]
    values = np.resize(np.array(by_class, kind), 64)
    bits = values.view(f"u{kind.itemsize}").copy()
    quiet = {2: 0x0200, 4: 0x00400000, 8: 0x0008000000000000}[kind.itemsize]
    bits[::10] = bits[::10] & ~bits.dtype.type(quiet) | bits.dtype.type(1)
    of_lane = np.resize(np.arange(10), 64)
    for chosen in (0b0000000011, 0b1000000100, 0b0100001000, 0b0011110000, 0b0000000001):
        text = f"v_cmp_class_f{8 * kind.itemsize}_e64 s[20:21], {_register(kind, 10)}, v12"
        rows = {**rows_of(bits.view(kind), 10), 12: np.full(64, chosen, np.uint32)}
        (outcome,) = run([Case(text, rows=rows, scalars_out=(20, 21))])
        assert outcome.pair(20) == _mask((chosen >> of_lane & 1).astype(bool)), f"{chosen:010b}"
