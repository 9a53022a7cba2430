from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.devices import models as devices
from intelliperf.devices.figures import ALIASES, NOT_MODELLED, figures_of
from intelliperf.errors import UsageError


@pytest.mark.parametrize("target", devices.target_names())
def test_every_target_has_every_key_of_the_device_file_with_a_source(target: str) -> None:
    assert sorted(figures_of(target)) == sorted(devices.KEYS)
    assert all(len(source) > 8 for source in devices.sources(target).values())


@pytest.mark.parametrize("target", devices.target_names())
def test_the_figures_of_a_target_agree_with_one_another(target: str) -> None:
    values = devices.device_file_values(target)
    numbers = {key: float(value) for key, value in values.items() if not isinstance(value, str)}
    assert all(number >= 0 for number in numbers.values())
    assert numbers["l1_latency_cycles"] < numbers["l2_latency_cycles"] < numbers["dram_latency_cycles"]
    # The L2's rate may be measured, the DRAM's is the peak.
    assert numbers["l2_bytes_per_s"] > 0.9 * numbers["dram_bytes_per_s"] > numbers["pcie_bytes_per_s"]
    assert numbers["lds_bytes_per_block"] <= numbers["lds_bytes_per_block_optin"]
    assert numbers["lds_bytes_per_block_optin"] <= numbers["lds_bytes_per_compute_unit"]
    assert values["wave_size"] in (32, 64)
    lanes_per_s = numbers["compute_units"] * numbers["issue_per_cycle"] * numbers["wave_size"] * numbers["clock_hz"]
    # half rate on sm_80 at the least, packed or dual issue at the most
    assert 0.49 <= numbers["fp32_flops_per_s"] / (2 * lanes_per_s) <= 2.05


def test_the_device_file_is_one_plain_line_per_key(tmp_path: Path) -> None:
    devices.write_device_file("mi300x", tmp_path / "device")
    lines = (tmp_path / "device").read_text().splitlines()
    assert [line.partition("=")[0] for line in lines] == list(devices.KEYS)
    assert "clock_hz=2100000000" in lines
    assert "atomic_same_address_ns=1.65" in lines


def test_a_target_is_recognised_in_any_spelling() -> None:
    assert devices.resolve("MI300X") == "mi300x"
    assert devices.resolve("RX-7900-XTX") == "rx7900xtx"


@pytest.mark.parametrize(
    "word", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1200", "gfx1201", "sm_80", "sm_90"]
)
def test_an_architecture_is_a_target(word: str) -> None:
    assert devices.record(word).architecture == word


def test_every_other_spelling_leads_to_a_chip() -> None:
    assert set(ALIASES.values()) <= set(devices.target_names())


def test_a_chip_without_published_figures_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"MI308X is not modelled.*nearest that is modelled is mi300x"):
        devices.resolve("MI308X")


@pytest.mark.parametrize(
    ("word", "chip"),
    [
        ("gfx90a:xnack-", "mi250x"),
        ("gfx942:sramecc+:xnack-", "mi300x"),
        ("Radeon RX 9070 XT", "rx9070xt"),
        ("AMD Radeon PRO W7900", "w7900"),
        ("Radeon 8060S", "radeon8060s"),
        ("NVIDIA GeForce RTX 4090", "rtx4090"),
        ("Instinct MI-355X", "mi355x"),
    ],
)
def test_makers_families_and_the_features_of_a_target_id_may_stand_with_it(word: str, chip: str) -> None:
    assert devices.resolve(word) == chip


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("gfx908", "mi210"),
        ("gfx1030", "rx7900xtx"),
        ("gfx1102", "rx7900xtx"),
        ("gfx1152", "radeon8060s"),
        ("gfx803", "mi210"),
        ("Radeon RX 7800 XT", "rx7900xtx"),
        ("sm_120", "h200"),
        ("Tesla V100", "a100"),
    ],
)
def test_a_chip_that_is_known_and_not_modelled_is_refused_with_what_it_is(word: str, nearest: str) -> None:
    with pytest.raises(UsageError, match=f"{word} is not modelled: .*; the nearest that is modelled is {nearest}$"):
        devices.resolve(word)


def test_what_is_named_as_nearest_is_modelled_and_nothing_that_is_modelled_is_named() -> None:
    assert {nearest for _, nearest in NOT_MODELLED.values()} <= set(devices.target_names())
    assert not set(NOT_MODELLED) & {*devices.target_names(), *ALIASES}


def test_a_partition_is_refused_unless_it_is_the_whole_chip() -> None:
    assert devices.resolve("mi300x-spx") == devices.resolve("MI300X_SPX_NPS1") == "mi300x"
    for word in ("mi300x-cpx", "MI300X_CPX_NPS4", "mi300x-nps4"):
        with pytest.raises(UsageError, match=f"{word} is a partition.*--target mi300x models the whole chip"):
            devices.resolve(word)


def test_an_unknown_target_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(UsageError, match=r"mi9000.*a100, h100"):
        devices.record("mi9000")


def test_the_default_target_of_each_language_has_its_wave_size() -> None:
    assert devices.record(devices.DEFAULT_TARGETS["hip"]).wave_size == 64
    assert devices.record(devices.DEFAULT_TARGETS["cuda"]).wave_size == 32


def test_a_device_record_is_emulated_and_carries_its_sources() -> None:
    device = devices.record("h100")
    assert (device.name, device.architecture, device.emulated) == ("H100 80GB HBM3", "sm_90", True)
    assert "white paper" in device.limits.sources["compute_units"]


def test_a_chip_is_known_by_the_name_on_its_data_sheet() -> None:
    for chip in devices.target_names():
        assert devices.resolve(str(devices.device_file_values(chip)["name"])) == chip
