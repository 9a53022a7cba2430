"""Elements, tolerances, buffers, output and pairing: the pure parts of the comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intelliperf.interception.messages import Allocation, Argument, Dispatch, Element, Pointer, Transfer, parse_hello
from intelliperf.interception.wire import Deadline, PeerTimeout
from intelliperf.processes.process import Completed
from intelliperf.validation.algebragate import Proof
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.buffers.algebra import Account
from intelliperf.validation.buffers.compare import (
    CHUNK_BYTES,
    MismatchBuilder,
    Reordered,
    differing_chunks,
    equal,
    moved_together,
    same_multiset,
    wrong_elements,
)
from intelliperf.validation.buffers.elements import BYTE, FLOAT32, FLOAT64, Scalar, round_to_bfloat, scalar_of
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.buffers.output import OutputModel
from intelliperf.validation.buffers.tolerance import (
    Allowance,
    Spread,
    Steadiness,
    UserTolerance,
    allowed,
    infer_float,
    wrongly_accepted,
)
from intelliperf.validation.calibration import Calibration, Masks, undefined_bytes
from intelliperf.validation.checker import Checker
from intelliperf.validation.rounding import RoundingErrors, widened
from intelliperf.validation.runs.alignment import align
from intelliperf.validation.runs.pairing import argument_difference, pair, same_pointers

BFLOAT = Scalar("__hip_bfloat16", 2, "bfloat")
HALF = Scalar("__half", 2, "float")


def raw(values, kind=np.float32):
    return np.array(values, dtype=kind).view(np.uint8)


def later() -> Deadline:
    return Deadline.after(30.0)


@pytest.mark.parametrize(
    ("name", "size", "encoding", "expected"),
    [
        ("float", 4, "float", ("float", 4)),
        ("double", 8, "float", ("float", 8)),
        ("__half", 2, "float", ("float", 2)),
        ("__hip_bfloat16", 2, "struct", ("bfloat", 2)),
        ("__nv_bfloat16", 2, "float", ("bfloat", 2)),
        ("float4", 16, "struct", ("float", 4)),
        ("uint2", 8, "struct", ("unsigned", 4)),
        ("std::complex<double>", 16, "struct", ("float", 8)),
        ("unsigned long", 8, "unsigned", ("unsigned", 8)),
        ("bool", 1, "boolean", ("unsigned", 1)),
        ("Particle", 28, "struct", ("bits", 1)),
        ("void", 1, "unknown", ("bits", 1)),
    ],
)
def test_elements_are_read_by_their_type(name, size, encoding, expected):
    scalar = scalar_of(Element(name, size, encoding))
    assert (scalar.encoding, scalar.size) == expected
    assert scalar_of(None) is BYTE


@pytest.mark.parametrize(("number", "expected"), [(("float", 4), "float"), (("bfloat", 2), "bfloat"), (None, "bits")])
def test_a_structure_of_one_kind_of_number_holds_such_numbers(number, expected):
    parameter = {"index": 0, "name": "p", "type": "Pair*", "size": 8, "pointer": True}
    parameter["element"] = {"name": "Pair", "bytes": 8, "encoding": "struct"}
    parameter["number"] = {"encoding": number[0], "bytes": number[1]} if number else None
    hello = {
        "type": "hello", "protocol": 1, "backend": "emulator", "device": "MI300X", "wave_size": 64, "memory": "arena",
        "kernels": {"k": {"parameters": [parameter]}},
    }  # fmt: skip
    (read,) = parse_hello(hello).kernels["k"]
    scalar = scalar_of(read.element)
    assert (scalar.encoding, scalar.size) == (expected, number[1] if number else 1)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False, max_value=2.0**126, min_value=-(2.0**126))))
@settings(max_examples=50, deadline=None)
def test_bfloat_rounding_is_nearest_and_idempotent(values):
    once = round_to_bfloat(np.array(values, dtype=np.float64))
    assert np.array_equal(round_to_bfloat(once), once)
    magnitude = np.maximum(np.abs(np.array(values, dtype=np.float32)).astype(np.float64), 1e-37)
    assert (np.abs(once - np.array(values, dtype=np.float32)) <= magnitude * 2.0**-8).all()
    assert np.array_equal(BFLOAT.floats(BFLOAT.encode(once)), once)


def test_a_numeric_tolerance_never_accepts_a_nan_or_infinity_that_the_reference_has_not():
    rule = Allowance(Steadiness.NUMERIC, FLOAT32, rtol=1e-2)
    reference = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])
    assert allowed(rule, reference, reference).all()
    others = np.array([np.nan, 1.0, -np.inf, np.nan, np.inf])
    assert not allowed(rule, reference, others).any()


def test_small_values_are_held_to_the_scale_of_their_buffer_and_large_ones_to_themselves():
    rule = Allowance(Steadiness.NUMERIC, FLOAT32, rtol=1e-5)
    reference = np.array([1e-9, 1.0, 1.0, 1.0, 1e6])
    assert allowed(rule, reference, reference + np.array([5e-6, 0, 0, 0, 5])).all()
    assert list(allowed(rule, reference, reference + np.array([5e-5, 0, 0, 0, 50]))) == [False, True, True, True, False]


def test_the_users_tolerance_is_plain_atol_plus_rtol():
    rule = UserTolerance(rtol=1e-3, atol=0.5).apply(Allowance(Steadiness.EXACT, FLOAT64))
    assert list(allowed(rule, np.array([0.0, 1000.0]), np.array([0.4, 1001.4]))) == [True, True]
    assert not allowed(rule, np.array([0.0]), np.array([0.6])).any()
    assert UserTolerance(rtol=1.0).apply(Allowance(Steadiness.EXACT, BYTE)).steadiness is Steadiness.EXACT


@pytest.mark.parametrize("scalar", [FLOAT32, FLOAT64, HALF, BFLOAT], ids=lambda s: s.name)
def test_a_derived_tolerance_rejects_all_trivial_answers(scalar):
    values = np.random.default_rng(3).normal(1.0, 2.0, 4096)
    reference = scalar.encode(values)
    spread = Spread(scalar)
    noisy = values * (1 + 2 * scalar.epsilon * np.random.default_rng(4).uniform(-1, 1, values.size))
    assert spread.add(reference, scalar.encode(noisy))
    rule = spread.allowance()
    assert rule.steadiness is Steadiness.NUMERIC
    assert wrong_elements(rule, reference, scalar.encode(noisy)).sum() == 0
    expected = () if scalar.size > 2 else ("bf16 rounding",)
    assert set(wrongly_accepted(rule, reference)) <= set(expected)


def test_a_wide_tolerance_is_not_proven():
    rule = Allowance(Steadiness.NUMERIC, FLOAT32, rtol=1.0)
    assert {"zeros", "mean"} <= set(wrongly_accepted(rule, raw([1.0, 1.1, 0.9, 1.2])))


def test_a_constant_buffer_needs_no_proof_against_its_own_shuffle():
    assert wrongly_accepted(Allowance(Steadiness.NUMERIC, FLOAT32, rtol=1e-5), raw([3.0] * 100)) == ()


def test_noise_in_untyped_memory_is_recognised_as_float_or_double():
    values = np.linspace(1.0, 2.0, 100)
    for kind, scalar in ((np.float32, FLOAT32), (np.float64, FLOAT64)):
        near = values * (1 + 4 * np.finfo(kind).eps)
        assert infer_float(raw(values, kind), raw(near, kind)) == scalar
    assert infer_float(raw([1, 2, 3, 4], np.int32), raw([5, 9, 7, 1], np.int32)) is None


def test_integers_that_vary_are_no_numeric_noise():
    spread = Spread(Scalar("int", 4, "signed"))
    assert not spread.add(raw([1, 2], np.int32), raw([2, 1], np.int32))


@given(st.integers(0, 40), st.integers(0, 39))
@settings(max_examples=60, deadline=None)
def test_equality_sees_every_byte(size, place):
    left = np.arange(size, dtype=np.uint8)
    right = left.copy()
    assert equal(left, right)
    if place < size:
        right[place] ^= 1
        assert not equal(left, right)


def test_only_differing_chunks_are_looked_at():
    left = np.zeros(2 * CHUNK_BYTES + 5, dtype=np.uint8)
    right = left.copy()
    right[-1] = 1
    assert [(offset, a.size) for offset, a, _ in differing_chunks(left, right, later())] == [(2 * CHUNK_BYTES, 5)]
    with pytest.raises(PeerTimeout):
        list(differing_chunks(left, right, Deadline.after(0.0)))


def test_a_mismatch_tells_the_first_element_the_number_and_the_largest_gap():
    builder = MismatchBuilder(FLOAT32, 800)
    rule = Allowance(Steadiness.EXACT, FLOAT32)
    left, right = raw([1.0, 2.0, 3.0]), raw([1.0, 2.5, 5.0])
    builder.add(400, wrong_elements(rule, left, right), left, right)
    found = builder.mismatch()
    assert found is not None
    assert found.describe() == "float 101 is 2.5, expected 2; 2 of 200 differ, by 2 at most"


def test_signed_zero_and_nan_payload_count_where_the_reference_is_bit_exact():
    rule = Allowance(Steadiness.EXACT, FLOAT32)
    assert wrong_elements(rule, raw([0.0]), raw([-0.0])).all()


def test_multisets_ignore_order_only():
    assert same_multiset(BYTE, raw([1, 2, 3], np.int32), raw([3, 1, 2], np.int32))
    assert not same_multiset(BYTE, raw([1, 2, 3], np.int32), raw([1, 1, 3], np.int32))


def test_parallel_lists_must_be_put_into_another_order_together():
    words = Scalar("int", 4, "signed")
    indices = Reordered(words, raw([1, 2, 3], np.int32), raw([3, 1, 2], np.int32))
    values = raw([0.5, 0.25, 0.125], np.float64)
    assert moved_together(indices, Reordered(FLOAT64, values, raw([0.125, 0.5, 0.25], np.float64)))
    assert not moved_together(indices, Reordered(FLOAT64, values, raw([0.5, 0.125, 0.25], np.float64)))
    assert not moved_together(indices, Reordered(words, raw([1, 2], np.int32), raw([2, 1], np.int32)))


def test_undefined_bytes_are_kept_per_dispatch_and_buffer():
    masks = Masks()
    key = ("device", 1, "")
    masks.add(4, key, 0, np.array([True, False, True] + [False] * 10))
    found = masks.get(4, key, 0, 13)
    assert found is not None
    assert list(np.flatnonzero(found)) == [0, 2]
    assert masks.get(5, key, 0, 13) is None
    masks.drop(key)
    assert masks.get(4, key, 0, 13) is None


def test_what_the_poison_changes_is_undefined_and_noise_is_not():
    left, right = raw([1.0, 2.0, 3.0]), raw([1.0, 2.0 * (1 + 1e-6), 300.0])
    assert list(undefined_bytes(FLOAT32, left, right)) == [False] * 8 + [True] * 4


def ended(tmp_path: Path, text: str, status: int = 0) -> Completed:
    path = tmp_path / f"{abs(hash(text))}.stdout"
    path.write_text(text)
    return Completed((), status, None, False, False, 1.0, path, path)


def test_numbers_that_vary_by_themselves_and_times_are_no_answers(tmp_path):
    base = ended(tmp_path, "seed 17\nsum = 10\nkernel: 3.5 ms\n42 GB/s\n")
    model = OutputModel.learn(base, [ended(tmp_path, "seed 99\nsum = 10\nkernel: 3.5 ms\n42 GB/s\n")])
    assert model.difference(ended(tmp_path, "seed 3\nsum = 10\nkernel: 0.5 ms\n99 GB/s\n"), 0.0) is None
    assert "line 2" in (model.difference(ended(tmp_path, "seed 3\nsum = 11\nkernel: 0.5 ms\n99 GB/s\n"), 0.0) or "")
    assert model.difference(ended(tmp_path, "seed 3\nsum = 10\nkernel: 0.5 ms\n"), 0.0) is not None
    assert model.difference(ended(tmp_path, "seed 3\nsum = 10\nkernel: FAILED ms\n42 GB/s\n"), 0.0) is not None
    assert model.difference(ended(tmp_path, "seed 3\nsum = 10\nkernel: 0.5 ms\n99 GB/s\n", 1), 0.0) is not None


def test_printed_floats_may_differ_as_far_as_the_buffers_may(tmp_path):
    model = OutputModel.learn(ended(tmp_path, "norm 12.345678\n"), [])
    near = ended(tmp_path, "norm 12.345679\n")
    assert model.difference(near, 0.0) is not None
    assert model.difference(near, 1e-5) is None
    assert model.difference(ended(tmp_path, "norm 12.4\n"), 1e-5) is not None


def test_a_printed_error_is_no_answer_once_other_rounding_changes_it(tmp_path):
    model = OutputModel.learn(ended(tmp_path, "norm 12.345678, error 1.1e-07\n"), [])
    rounded = model.rounded([ended(tmp_path, "norm 12.345679, error 4.0e-07\n")], 1e-5)
    assert model.difference(ended(tmp_path, "norm 12.345679, error 2.7e-07\n"), 1e-5) is not None
    assert rounded.difference(ended(tmp_path, "norm 12.345679, error 2.7e-07\n"), 1e-5) is None
    assert rounded.difference(ended(tmp_path, "norm 12.4, error 2.7e-07\n"), 1e-5) is not None


@pytest.mark.parametrize(
    ("scalar", "kind", "moved", "expected"),
    [
        (FLOAT32, np.float32, 1e-5, 1e-5 + 16 * 2.0**-23),
        (FLOAT32, np.float32, 1.3e-7, 17 * 2.0**-23),
        (FLOAT32, np.float32, 3e-3, 2.0**-13),  # not so much that a narrower type could pass
        (FLOAT64, np.float64, 1e-9, 1e-9),
        (FLOAT64, np.float64, 1e-7, 2.0**-26),
        (HALF, np.float16, 1e-3, 2.0**-9),
    ],
)
def test_what_other_rounding_moves_is_allowed(scalar, kind, moved, expected):
    spread = Spread(scalar)
    assert spread.add(raw([1.0, 1.0], kind), raw([1.0, 1.0 + moved], kind))
    allowance = spread.by_rounding()
    assert allowance.rtol == pytest.approx(expected, rel=0.06)
    assert "rounding up and down" in allowance.describe()
    assert wrongly_accepted(allowance, raw(np.linspace(0.3, 9.7, 4000), kind)) == ()


@pytest.mark.parametrize(("proven", "rtol"), [((), 2.0**-13), (("buffer",), 3e-3)])
def test_equal_real_numbers_may_round_as_far_as_the_original(proven, rtol):
    # What divides by a small number, or subtracts large ones, is moved far by rounding; so is another form of it.
    spread = Spread(FLOAT32)
    assert spread.add(raw([1.0, 1.0]), raw([1.0, 1.003]))
    errors = RoundingErrors({"buffer": spread.by_rounding()}, {"buffer": spread.by_rounding(proven=True)})
    ended = Completed((), 0, None, False, False, 0.0, Path(), Path())
    model = OutputModel(0, (), frozenset(), True)
    calibration = Calibration({"buffer": Allowance()}, Masks(), {}, (), ended, model, (), {})
    assert widened(calibration, errors, proven).allowances["buffer"].rtol == pytest.approx(rtol, rel=0.01)


def test_fresh_memory_is_no_small_number():
    allowance = Allowance(Steadiness.NUMERIC, FLOAT32, 1e-5)
    fresh = np.concatenate([raw([1.0, 2.0]), np.full(4, 0xA5, np.uint8)])
    assert list(wrong_elements(allowance, raw([1.0, 2.0, 0.0]), fresh)) == [False, False, True]
    assert not wrong_elements(allowance, raw([1.0, 2.0, 0.0]), raw([1.0, 2.0, -3e-16])).any()
    half = Allowance(Steadiness.NUMERIC, HALF, 1e-2)
    assert not wrong_elements(half, raw([-0.02206], np.float16), np.full(2, 0xA5, np.uint8)).any()


def test_what_other_rounding_does_not_move_stays_exact():
    assert Spread(FLOAT32).by_rounding().steadiness is Steadiness.EXACT


@pytest.mark.parametrize(
    ("found", "near"),
    [([1.0, 2.0000012, 3.0], True), ([1.0, 2.5, 3.0], False), ([np.nan, 2.0, 3.0], False), ([1.0, -2.0, 3.0], False)],
)
@pytest.mark.parametrize("scalar", [FLOAT32, BYTE])
def test_a_mismatch_tells_noise_from_other_answers(scalar, found, near):
    expected, found = raw([1.0, 2.0, 3.0]), raw(found)
    builder = MismatchBuilder(scalar, expected.size)
    builder.add(0, wrong_elements(Allowance(Steadiness.EXACT, scalar), expected, found), expected, found)
    mismatch = builder.mismatch()
    assert mismatch is not None
    assert mismatch.near is near


def allocation(number: int, size: int, base: int = 0, kind: str = "device", name: str | None = None) -> Allocation:
    where = base or number << 20
    return Allocation(number, where, size, kind, number, name, where)


def dispatch(kernel: str, allocations: tuple[Allocation, ...] = (), arguments: tuple[Argument, ...] = ()) -> Dispatch:
    return Dispatch(0, 0, kernel, (1, 1, 1), (64, 1, 1), 0, True, 0, arguments, allocations)


def pointer(index: int, target: int, at: int = 0) -> Argument:
    return Argument(index, bytes(8), (Pointer(0, target, at),))


def test_scratch_memory_of_the_candidate_does_not_shift_the_pairs():
    left = dispatch("k", (allocation(1, 64), allocation(2, 64)), (pointer(0, 2), pointer(1, 1)))
    right = dispatch("k", (allocation(1, 64), allocation(2, 64), allocation(3, 64)), (pointer(0, 3), pointer(1, 2)))
    pairing = pair(left, right)
    assert {(a.id, b.id) for a, b in pairing.pairs} == {(1, 2), (2, 3)}
    assert [b.id for b in pairing.extra] == [1]
    assert argument_difference(left, right, pairing, set()) is None
    other = pair(left, dispatch("k", (allocation(1, 64),)))
    assert len(other.missing) == 1


def test_symbols_pair_by_name_in_order():
    names = [allocation(n, 4, name=s) for n, s in ((1, "a"), (2, "b"), (3, "a"))]
    pairing = pair(dispatch("k", tuple(names)), dispatch("k", (names[1], names[0], names[2])))
    assert {(a.id, b.id) for a, b in pairing.pairs} == {(1, 1), (2, 2), (3, 3)}


def test_arguments_that_point_elsewhere_are_told():
    memory = (allocation(1, 64), allocation(2, 64))
    left, right = dispatch("k", memory, (pointer(0, 1),)), dispatch("k", memory, (pointer(0, 1, at=8),))
    assert "another buffer" in (argument_difference(left, right, pair(left, left), set()) or "")
    assert argument_difference(left, right, pair(left, left), {0}) is None


def test_pointers_stored_in_buffers_are_equal_where_they_point_to_the_same_place():
    pairing = pair(
        dispatch("k", (allocation(1, 4096, base=0x10000),)), dispatch("k", (allocation(1, 4096, base=0x20000),))
    )
    left, right = raw([0x10010, 5, 0x10000], np.uint64), raw([0x20010, 6, 0x20008], np.uint64)
    assert list(same_pointers(pairing, left, right).view(np.uint64)) == [0x10010, 6, 0x20008]


def test_repeated_halves_of_a_split_kernel_are_compared_each_time():
    copy = Transfer("memcpy_dtoh", 4)
    reference = [dispatch("k")] * 3 + [copy]
    candidate = [dispatch("k1"), dispatch("k2")] * 3 + [Transfer("memset", 4), copy]
    plan = align(reference, candidate, "k")
    assert plan.points == ((0, 1), (1, 3), (2, 5))
    assert plan.extra_transfers == 1
    assert "added" in align(reference, [*candidate, copy], "k").problem
    assert "missing" in align(reference, candidate[:-1], "k").problem


def test_one_launch_may_stand_for_two_with_a_memset_or_another_launch_between_them():
    clear, copy = Transfer("memset", 8), Transfer("memcpy_dtoh", 8)
    first, between, second, both = (dispatch(kernel) for kernel in ("k", "between", "second", "both"))
    rounds = [[first, clear, second] * 2 + [copy], [clear, both] * 2 + [copy]]
    assert align(*rounds, "k").points == ((3, 1),)
    beside = [[first, between, second] * 2 + [copy], [between, both] * 2 + [copy]]
    assert align(*beside, "k").points == ((5, 3),)
    lost = align([first, copy, second], [copy, second], "k")
    assert "k with" in lost.problem and "nothing stands for it" in lost.problem


def test_a_single_number_is_proven_against_zero_and_rounding():
    narrow = Allowance(Steadiness.NUMERIC, FLOAT32, rtol=3e-4)
    assert wrongly_accepted(narrow, raw([1234.567])) == ()
    assert "bf16 rounding" in wrongly_accepted(Allowance(Steadiness.NUMERIC, FLOAT32, rtol=5e-3), raw([1234.567]))


def test_bytes_that_read_as_signalling_nan_are_numbers_like_others():
    raw = np.frombuffer(np.uint32(0x7FA00001).tobytes() * 4, dtype=np.uint8)
    assert np.isnan(FLOAT32.floats(raw)).all()


def test_what_a_buffer_holds_is_learnt_from_the_kernel_that_takes_it() -> None:
    ended = Completed((), 0, None, False, False, 0.0, Path(), Path())
    model = OutputModel(0, (), frozenset(), True)
    checker = Checker(Calibration({}, Masks(), {}, (), ended, model, (), {}))
    key = ("device", 3, "")
    for scalar, learnt in ((BYTE, BYTE), (FLOAT32, FLOAT32), (BYTE, FLOAT32)):
        assert checker._allowance((0, ""), key, scalar).scalar == learnt


def test_what_a_proof_allows_after_one_launch_holds_there_only() -> None:
    key = ("device", 3, "")
    ended = Completed((), 0, None, False, False, 0.0, Path(), Path())
    proven = {key: Allowance(Steadiness.NUMERIC, FLOAT32, 1e-6, by_algebra=True)}
    calibration = Calibration(
        proven,
        Masks(),
        {},
        (),
        ended,
        OutputModel(0, (), frozenset(), True),
        (),
        {},
        proven_at={(4, "sorted numbers", key): 0.5},
    )
    checker = Checker(calibration)
    allowed = [checker._allowance(launch, key, FLOAT32).rtol for launch in ((4, "sorted numbers"), (4, ""), (5, ""))]
    assert allowed == [0.5, 1e-6, 1e-6]

    # Of launches after which the numbers differ because an earlier kernel left others, the rest stays proven.
    observer = AlgebraObserver(calibration, Field.drawn())
    observer.doubtful[key] = observer.accounts[key] = Account(elements=1, different=1)
    observer.apart |= {(1, "", key): 0.25, (2, "", key): 0.125}
    observer.sure.add((1, "", key))
    assert Proof(observer).proven_in_part(calibration) == {(1, "", key): 0.25}
    assert Proof(observer).proven_in_part(replace(calibration, allowances={})) == {}
