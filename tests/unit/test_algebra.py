"""The judge of real numbers on hand-made shadows: fields, literals, levels, exactness, doubts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from intelliperf.emulator.ir.shadow.constants import LiteralTable, Number, meant, parse
from intelliperf.protocols import ShadowPart, ShadowState
from intelliperf.validation.algebraobserver import Decisions, doubts
from intelliperf.validation.algebrawords import different, less_exact, proven
from intelliperf.validation.buffers.algebra import Account, Level, Shaded, Worst, compare, planted
from intelliperf.validation.buffers.elements import FLOAT32
from intelliperf.validation.buffers.field import Field, is_prime
from intelliperf.validation.buffers.tolerance import by_operations, loosest

FIELD = Field(3153)
_FLOAT = 1 << 32


def shaded(values: list[float], exact: list[float] | None = None, images: list[int] | None = None) -> Shaded:
    """A buffer of floats and its records; by default each number is exactly itself."""
    content = np.array(values, dtype=np.float32)
    exact = [float(v) for v in content] if exact is None else exact
    images = [FIELD.image(v) for v in exact] if images is None else images
    rows = np.zeros((len(values), 4), dtype=np.uint64)
    rows[:, 0] = images
    rows[:, 2] = np.array(exact, dtype=np.float64).view(np.uint64)
    rows[:, 3] = content.view(np.uint32).astype(np.uint64) | np.uint64(_FLOAT)
    return Shaded(0, content.view(np.uint8), (ShadowPart(0, rows.tobytes()),))


def test_a_drawn_prime_is_safe_and_of_the_form_that_the_runtime_needs() -> None:
    drawn = {Field.drawn() for _ in range(4)}
    assert len(drawn) > 1
    for one in drawn:
        assert is_prime(one.prime)
        assert is_prime((one.prime - 1) // 2)
        assert one.prime % 8 == 7
        assert one.fold < 1 << 28


@pytest.mark.parametrize(
    ("value", "kind", "number"),
    [
        ("0x3FB99999A0000000", "float", Number(Fraction(1, 10))),
        ("0x3FD5555560000000", "float", Number(Fraction(1, 3))),
        ("0x3FD5555555555555", "double", Number(Fraction(1, 3))),
        ("0x3FD5555400000000", "float", Number(Fraction(parse("0x3FD5555400000000")))),
        ("0x3FF7154760000000", "float", Number(Fraction(1), 2)),
        ("0x3FE62E4300000000", "float", Number(Fraction(1), 1)),
        ("0x3FF193EA80000000", "float", Number(Fraction(1), 3)),
        ("0xC0026BB1BBB55516", "double", Number(Fraction(-1), 10)),
        ("0x3FF193DDA0000000", "float", Number(Fraction(5493, 5000))),
        ("2.500000e-01", "float", Number(Fraction(1, 4))),
        ("-3.000000e+00", "double", Number(Fraction(-3))),
    ],
)
def test_a_literal_means_what_its_author_wrote(value: str, kind: str, number: Number) -> None:
    found = meant(parse(value), kind)
    if value == "0x3FD5555400000000":  # 0.33333325f: no third
        assert found.value != Fraction(1, 3)
    else:
        assert found == number


def test_rows_of_literals_are_small_enough_for_the_table() -> None:
    table = LiteralTable()
    for value in (1e-30, 0.1, 3.402823466e38, 1.17549435e-38, 0.33333334, 123456.789):
        table.index(meant(float(np.float32(value)), "float"))
    numbers = [int(word) for line in table.definitions() for word in line.replace(",", " ").split() if word.isdigit()]
    assert max(numbers) < 1 << 63


def test_the_same_real_number_is_equal_however_it_was_rounded() -> None:
    account = compare(FIELD, shaded([1.0000001], [1.00000004]), shaded([1.0], [1.00000004]))
    assert account.level is Level.EQUAL
    assert account.elements == 1


def test_another_number_differs_even_if_its_bits_are_the_same() -> None:
    account = compare(FIELD, shaded([1.0], [1.0]), shaded([1.0], [1.0 + 2**-30]))
    assert account.level is Level.DIFFERENT
    assert account.worst is not None
    assert account.worst.found == 1.0 + 2**-30


def test_an_unknown_law_that_holds_to_a_millionth_is_close() -> None:
    other = shaded([1.0], [1.0 + 2**-50], [7])
    assert compare(FIELD, shaded([1.0], [1.0]), other).level is Level.CLOSE


def test_equal_images_alone_do_not_suffice() -> None:
    biased = shaded([1.0], [1.0 + 2**-19], [FIELD.image(1.0)])
    assert compare(FIELD, shaded([1.0], [1.0]), biased).level is Level.DIFFERENT


def test_a_record_of_other_bits_is_void_and_the_number_stands_for_itself() -> None:
    stale = shaded([2.0], [3.0])
    overwritten = Shaded(0, np.array([5.0], dtype=np.float32).view(np.uint8), stale.words)
    assert compare(FIELD, shaded([5.0], [5.0]), overwritten).level is Level.EQUAL
    assert compare(FIELD, shaded([5.0], [5.000001]), overwritten).level is Level.DIFFERENT


def test_infinities_and_nans_must_be_the_same() -> None:
    inf, nan = float("inf"), float("nan")
    assert compare(FIELD, shaded([inf, nan], [inf, nan], [1, 2]), shaded([inf, nan], [0, 1], [3, 4])).different == 0
    assert compare(FIELD, shaded([inf], [inf], [1]), shaded([1.0])).different == 1
    rooted = compare(FIELD, shaded([0.25]), shaded([nan], [0.25], [3]))
    assert different(rooted) == "computes something else: element 0 is nan, expected 0.25; 1 of 1 differ"
    exact = Account(elements=9, different=1, worst=Worst(1, 2.0, 2.5, math.inf))
    assert "0.25 of their size apart, and the original has no rounding error there; 1 of 9 differ" in different(exact)


def test_one_number_may_overflow_to_either_side_by_the_order_of_its_sum() -> None:
    infinite = shaded([math.inf], [3e39], [77])
    assert compare(FIELD, infinite, shaded([-math.inf], [3e39], [77])).level is Level.EQUAL
    assert compare(FIELD, infinite, shaded([-math.inf], [3e39], [78])).level is Level.DIFFERENT


def test_where_the_original_overflows_or_divides_by_rounding_alone_the_same_number_may_come_out_otherwise() -> None:
    original = shaded([1.0, 2.0**24, math.inf], [1.0, 7e15, 3e38], [5, 6, 7])
    account = compare(FIELD, original, shaded([1.0, math.inf, 3e38], [1.0, math.inf, 3e38], [5, 6, 7]))
    assert account.level is Level.EQUAL
    assert account.endless == ((4, 4), (8, 4))
    assert compare(FIELD, original, shaded([1.0, math.inf, 2e38], [1.0, math.inf, 2e38], [5, 6, 8])).different == 1
    zero = shaded([0.0, 1e-4], [0.0, 0.0], [6, 7])
    assert compare(FIELD, zero, shaded([math.inf, math.nan], [math.inf, math.nan], [6, 7])).different == 2
    exact = shaded([2.0**24], [2.0**24], [6])
    assert compare(FIELD, exact, shaded([math.inf], [math.inf], [6])).level is Level.DIFFERENT


def test_where_the_original_would_be_nan_but_for_its_rounding_the_candidate_may_be() -> None:
    rounded, exact = shaded([1.0, 13.5], [1.0, math.nan], [5, 6]), shaded([1.0, math.nan], [1.0, math.nan], [5, 6])
    assert compare(FIELD, rounded, exact).endless == ((4, 4),)
    assert compare(FIELD, shaded([1.0, 13.5], [1.0, 13.5], [5, 6]), exact).different == 1
    assert compare(FIELD, rounded, shaded([1.0, math.nan], [1.0, 13.5], [5, 6])).endless == ()


def test_undefined_bytes_do_not_count() -> None:
    mask = np.array([True] * 4 + [False] * 4)
    account = compare(FIELD, shaded([1.0, 2.0]), shaded([7.0, 2.0]), mask)
    assert (account.elements, account.different) == (1, 0)


def test_what_errs_much_more_is_right_but_less_exact() -> None:
    account = compare(FIELD, shaded([1.0], [1.0 + 2**-24]), shaded([1.001], [1.0 + 2**-24]))
    assert account.level is Level.EQUAL
    assert not account.exact_enough
    assert "times less exact than the original" in less_exact(account)


def test_the_verdict_tells_both_errors() -> None:
    account = Account(elements=1, erring=1, squares=(69673.0**2, 32.0**2), largest=(69673.0, 32.0))
    assert "errs by 32 ulp, the original by 69,673" in proven(account)


def state(lost: int = 0, undecided: int = 0, inputs: int = 1) -> ShadowState:
    return ShadowState(lost, 0, undecided, 0, inputs)


def test_a_comparison_that_rounding_decides_in_the_candidate_alone_excuses_only_what_is_nearly_equal() -> None:
    far = compare(FIELD, shaded([1.0]), shaded([1.5]))
    near = compare(FIELD, shaded([1.0]), shaded([1.0], [1.0 + 2**-23]))
    assert not doubts(state(), state(undecided=3)).explains(far)
    assert doubts(state(), state(undecided=3)).explains(near)
    assert doubts(state(undecided=1), state()).explains(far)
    assert doubts(state(lost=1), state()).explains(far)
    assert doubts(state(inputs=2), state()).explains(far)
    assert not doubts(state(), state()).explains(near)


def test_what_rounding_decides_in_the_original_leaves_the_other_numbers_proven() -> None:
    negative = [0.0, 1.25, 1.5], [0.0, 1.0, 1.0]  # the first is a root of what came out below zero
    exact = compare(FIELD, shaded(*negative), shaded([1.01, 1.01, 1.01], [1.0, 1.0, 1.0]))
    assert exact.different == 1
    assert doubts(state(undecided=1), state()).covers(exact)
    assert not doubts(state(lost=1), state()).covers(exact)
    assert not doubts(state(), state(undecided=1)).covers(exact)
    worse = compare(FIELD, shaded([0.0, 1.001, 1.0], [0.0, 1.0, 1.0]), shaded([1.0, 1.5, 1.5], [1.0, 1.0, 1.0]))
    assert not doubts(state(undecided=1), state()).covers(worse)
    others = compare(FIELD, shaded(*negative), shaded([1.0, 2.0, 1.0], [1.0, 2.0, 1.0]))
    assert not doubts(state(undecided=1), state()).covers(others)


def test_a_sum_of_millions_of_floats_gives_no_evidence_rather_than_a_refusal() -> None:
    few, many = by_operations(FLOAT32, 10_000), by_operations(FLOAT32, 10_000_000)
    assert few.unsure == 0.0
    assert many.unsure > many.rtol


def test_a_printed_sum_is_held_to_no_more_than_the_buffer_that_it_is_of() -> None:
    many = by_operations(FLOAT32, 10_000_000)
    sums, other = ("device", 1, ""), ("device", 2, "")
    assert loosest({sums: many}, ()) == many.rtol
    assert loosest({sums: many}, {sums}) == many.unsure
    assert loosest({sums: many}, {other}) == many.rtol
    assert loosest({}, {other}) == 0.0


def test_numbers_that_are_the_same_to_the_bit_are_counted_as_the_long_way_counts_them() -> None:
    one = shaded([1.5, -2.25, 0.0, 3.0])
    short, long = compare(FIELD, one, one), compare(FIELD, one, one, np.zeros(16, dtype=bool))
    assert short == long
    assert short.elements == 4 and short.level is Level.EQUAL and short.relative > 0


def test_a_candidate_that_hides_its_exact_values_must_be_as_exact_as_the_original_all_the_same() -> None:
    original = shaded([1.0, 3.0], [1.0 + 2**-25, 3.0 - 2**-24])
    cut = compare(FIELD, original, shaded([1.0 - 2**-18, 3.0 - 2**-17]))
    near = compare(FIELD, original, shaded([1.0 + 2**-23, 3.0]))
    assert cut.off_by > 30 > near.off_by
    assert not doubts(state(), state(lost=1)).explains(cut)
    assert doubts(state(), state(lost=1)).explains(near)
    assert doubts(state(lost=1), state(lost=1)).explains(cut)
    assert doubts(state(undecided=1), state(lost=1)).explains(cut)
    assert not doubts(state(), state(undecided=1)).explains(cut)


@pytest.mark.parametrize(
    ("value", "exact"),
    [(2.0, 2.0), (0.0, 0.0), (0.0, 1e-60), (1e-30, 3e-38), (3e38, 1e300), (-7.0, 0.0)],
)
def test_a_planted_number_is_told_apart_whatever_it_is_near(value: float, exact: float) -> None:
    original = shaded([1.0, value], [1.0, exact], [FIELD.image(1.0), 12345])
    wrong = planted(original)
    assert wrong is not None
    assert compare(FIELD, original, wrong).different == 1


def test_integers_follow_decisions_of_rounding_only_where_a_candidate_has_hardly_more_of_them() -> None:
    decisions = Decisions()
    seen = [decisions.since(*one) for one in ((0, 0, 1), (1, 3, 9), (2, 3, 12), (4, 4, 13), (5, 4, 13))]
    assert seen == [1, 11, 0, 0, 0]
