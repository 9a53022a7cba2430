"""What runs are asked for, and how processes are told."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from intelliperf.cuda import native as cuda
from intelliperf.records import ANY_KERNEL, Feature, Interception, Kernel, Order, Shadow
from intelliperf.rocm import native as rocm

_OF_DEVICES = {Feature.LIVE_MEMORY, Feature.ROOMY_MEMORY, Feature.CHEAP_TRACES}
_NAMES = {feature: feature.name for feature in Feature}


def test_every_field_is_a_feature_that_a_device_may_honour() -> None:
    assert {field.name for field in fields(Interception)} == {one.value for one in set(Feature) - _OF_DEVICES}


def test_a_plain_interception_asks_for_nothing() -> None:
    assert Interception().features == frozenset()
    assert Interception().variables(_NAMES) == {}


@pytest.mark.parametrize(
    ("asked", "name", "spelled"),
    [
        (Interception(kernels=("_Z1k", "_Z2kk")), "KERNELS", "_Z1k,_Z2kk"),
        (Interception(before=True), "BEFORE", "1"),
        (Interception(lane_order=Order()), "LANE_ORDER", "reverse"),
        (Interception(block_order=Order(7)), "BLOCK_ORDER", "random:7"),
        (Interception(poison=0), "POISON", "0"),
        (Interception(clock_scale=0.71), "CLOCK_SCALE", "0.71"),
        (Interception(trace=Path("/records")), "TRACE", "/records"),
        (Interception(other_kept=()), "OTHER_KEPT", ""),
        (Interception(other_shapes=((4, 1, 64), (8, 1, 64))), "OTHER_SHAPES", "4,1,64;8,1,64"),
        (Interception(other_held=((2, 1, 64), (3, 5, 5, 7, 9))), "OTHER_HELD", "2,1,64;3,5,5,7,9"),
        (Interception(shadow=Shadow(61, bfloat=True, symbolic=True)), "SHADOW", "61 bfloat symbolic"),
        (Interception(shadow=Shadow(5, half=True, single=False)), "SHADOW", "5 half double-only"),
        (Interception(shadow=Shadow(5, free_functions=True)), "SHADOW", "5 free-functions"),
    ],
)
def test_what_is_asked_for_is_spelled_once(asked: Interception, name: str, spelled: str) -> None:
    assert asked.variables(_NAMES) == {name: spelled}
    assert asked.features == {Feature[name]}


def test_what_comes_later_is_asked_for_in_place_of_what_came_before() -> None:
    plain = Interception(poison=90, memory="strict")
    assert plain | Interception(poison=165, before=True) == Interception(poison=165, memory="strict", before=True)
    assert plain | Interception() == plain


def test_devices_are_not_told_what_they_cannot_honour(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rocm, "tools_library", lambda: tmp_path / "library.so")
    asked = Interception(poison=90, lane_order=Order(), rounding="up", other_numbers=(1, 2))
    kernel = Kernel("_Z1k", "k()")
    on_cuda = cuda.export_variables(tmp_path / "socket", kernel, asked)
    on_rocm = rocm.export_environment(tmp_path / "socket", kernel, asked)
    assert (on_cuda["INTELLIPERF_POISON"], on_cuda["INTELLIPERF_OTHER_NUMBERS"]) == ("90", "1,2")
    assert (on_rocm["INTELLIPERF_POISON"], on_rocm["INTELLIPERF_ROUNDING"]) == ("90", "up")
    assert on_cuda["INTELLIPERF_EXPORT_KERNEL"] == on_rocm["INTELLIPERF_EXPORT_KERNEL"] == "_Z1k"
    assert not {"INTELLIPERF_LANE_ORDER", "INTELLIPERF_ROUNDING"} & on_cuda.keys()
    assert not {"INTELLIPERF_LANE_ORDER", "INTELLIPERF_OTHER_NUMBERS"} & on_rocm.keys()
    every = cuda.export_variables(tmp_path / "socket", kernel, Interception(kernels=(ANY_KERNEL,)))
    assert every["INTELLIPERF_EXPORT_KERNEL"] == "*"
