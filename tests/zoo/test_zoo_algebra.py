"""The zoo's variants of kernels by their real numbers: which are the same, and which only look so.

`make zoo` runs all of them; the others stand for them in the default tier.
"""

from __future__ import annotations

import pytest
from shadowpairs import Pairs, Variant, variants

_CHEAP = ("sums",)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    return Pairs(tmp_path_factory.mktemp("families"))


def _cases() -> list[object]:
    cases = []
    for one in variants():
        marks = [pytest.mark.xdist_group(one.family)] + ([] if one.family in _CHEAP else [pytest.mark.zoo])
        cases.append(pytest.param(one, id=f"{one.family}-{one.number}", marks=marks))
    return cases


@pytest.mark.parametrize("variant", _cases())
def test_a_variant_is_judged_by_what_it_computes(pairs: Pairs, variant: Variant) -> None:
    letter, account, said = pairs.judged(variant)
    assert letter == variant.expected, f"{variant.what}: {said} {account.errors}"


def test_every_family_has_honest_and_wrong_variants() -> None:
    letters = [variant.expected for variant in variants()]
    assert letters.count("A") >= 25
    assert letters.count("C") >= 20
