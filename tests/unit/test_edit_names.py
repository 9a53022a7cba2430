"""The edit gate's names of kernels, from their symbols."""

from __future__ import annotations

import pytest

from intelliperf.validation.edits.names import plain_name, with_arguments


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z7rowSums6MatrixPd", "rowSums"),
        ("_ZL6smooth4GridS_", "smooth"),
        ("_Z5scaleIfEvT_6Matrix", "scale"),
        ("_ZN2ns5scaleIfEEvPT_i", "scale"),
        ("_ZN12_GLOBAL__N_17advanceEPNS_8ParticleE", "advance"),
        ("saxpy", "saxpy"),
    ],
)
def test_a_class_among_the_parameters_is_not_taken_for_the_name(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z8quantiseILi4EEvPKfi", "quantise<4>"),
        ("_ZN2ns5scaleIfSt4pairIiiEEEvPT_i", "scale<float, std::pair<int, int> >"),
        ("_Z4pushPfi", "push"),
        ("saxpy", "saxpy"),
    ],
)
def test_instances_of_a_template_are_told_apart(symbol: str, name: str) -> None:
    assert with_arguments(symbol) == name
