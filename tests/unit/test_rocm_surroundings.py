"""What is wrong with the machine, the environment or the binary: one line each, with the remedy in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from intelliperf.rocm.surroundings import (
    System,
    driver_problem,
    hidden_gpus,
    mixed_releases,
    partition,
    stripped,
    wrong_code,
)


def machine(root: Path, *files: str) -> System:
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("simd_count 416\n")
    return System(root)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ((), "load it with sudo modprobe amdgpu"),
        (("sys/module/amdgpu/version",), "without compute support"),
        ((".dockerenv",), "start it with --device /dev/kfd --device /dev/dri --group-add render"),
        (("dev/kfd", "dev/dri/renderD128"), ""),
    ],
)
def test_why_there_is_no_driver(tmp_path: Path, files: tuple[str, ...], said: str) -> None:
    problem = driver_problem(machine(tmp_path, *files))
    assert said in problem and bool(problem) == bool(said) and "\n" not in problem


def test_a_driver_that_is_closed_names_the_group_that_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = machine(tmp_path, "dev/kfd", "dev/dri/renderD128")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root opens every file
    monkeypatch.setattr("intelliperf.rocm.surroundings._group", lambda place: place.parent.name)
    closed = f"{tmp_path}/dev/kfd and {tmp_path}/dev/dri/renderD128 are closed to you: "
    assert driver_problem(system) == f"{closed}sudo usermod -a -G dev,dri $USER, then log in again"


def test_of_several_gpus_those_that_a_variable_hides_are_told(tmp_path: Path) -> None:
    nodes = "sys/class/kfd/kfd/topology/nodes"
    system = machine(tmp_path, f"{nodes}/1/properties", f"{nodes}/2/properties")
    (tmp_path / nodes / "0").mkdir()
    (tmp_path / nodes / "0" / "properties").write_text("cpu_cores_count 64\nsimd_count 0\n")
    assert system.gpus() == 2
    told = hidden_gpus({"ROCR_VISIBLE_DEVICES": "1"}, 1, 2)
    assert told.startswith("1 of 2 GPUs visible with ROCR_VISIBLE_DEVICES=1: the program runs there; unset it")
    assert hidden_gpus({}, 1, 2) == "" and hidden_gpus({"HIP_VISIBLE_DEVICES": "0,1"}, 2, 2) == ""


def test_a_compiler_and_a_runtime_of_two_releases_are_named(tmp_path: Path) -> None:
    machine(tmp_path, "rocm-6.2.0/bin/hipcc", "rocm-5.7.1/lib/libamdhip64.so.5", "rocm-6.2.0/lib/libamdhip64.so.6")
    machine(tmp_path, "rocm-6.4.1/bin/rocprofv3", "usr/bin/hipcc")
    hipcc, rocprof = tmp_path / "rocm-6.2.0" / "bin" / "hipcc", tmp_path / "rocm-6.4.1" / "bin" / "rocprofv3"
    told = mixed_releases([hipcc], {"LD_LIBRARY_PATH": f"/nowhere:{tmp_path}/rocm-5.7.1/lib"})
    assert told.startswith(
        f"{hipcc} is of ROCm 6.2, {tmp_path}/rocm-5.7.1/lib is of ROCm 5.7: take all from one release"
    )
    assert f"{rocprof} is of ROCm 6.4" in mixed_releases([hipcc, rocprof], {})
    assert mixed_releases([hipcc], {"LD_LIBRARY_PATH": f"{tmp_path}/rocm-6.2.0/lib"}) == ""
    assert mixed_releases([hipcc, tmp_path / "usr" / "bin" / "hipcc"], {}) == ""


def test_a_partition_is_not_taken_for_a_whole_chip() -> None:
    assert "a partition: 38 of the chip's 304 compute units" in partition(38, 304)
    assert partition(304, 304) == partition(110, None) == ""


@pytest.mark.parametrize(
    ("chips", "device", "said"),
    [
        (["gfx906", "gfx1030"], "gfx90a:sramecc+:xnack-", "for gfx906, gfx1030, none for gfx90a: build it with"),
        (["gfx90a:xnack+"], "gfx90a:sramecc+:xnack-", "set HSA_XNACK=1"),
        (["gfx90a:xnack+", "gfx90a:xnack-"], "gfx90a:sramecc+:xnack-", ""),
        (["gfx90a"], "gfx90a:sramecc+:xnack+", ""),
        ([], "gfx90a", ""),
    ],
)
def test_code_for_another_device_or_setting_is_told_before_the_program_runs(
    chips: list[str], device: str, said: str
) -> None:
    told = wrong_code([f"hipv4-amdgcn-amd-amdhsa--{chip}" for chip in chips], device)
    assert said in told and bool(told) == bool(said)


def test_a_stripped_code_object_is_known_by_its_listing() -> None:
    assert "build without -s" in stripped("0000000000001900 <.text>:\n\ts_endpgm\n")
    assert stripped("0000000000001900 <_Z1kPf>:\n\ts_endpgm\n") == ""
