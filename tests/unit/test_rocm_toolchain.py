"""Arguments of the HIP compilers, names that differ per compilation, launchers, and what a device says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from intelliperf.cli.application import launcher_of
from intelliperf.errors import BackendUnavailable, UsageError
from intelliperf.records import Launcher, Measurement, Provenance, Scope
from intelliperf.report.wording import gain
from intelliperf.rocm.compilers import for_clang
from intelliperf.rocm.lines import head_line, parse_disassembly
from intelliperf.rocm.probe import ask, device_record, hidden_or_parted
from intelliperf.rocm.symbols import plain
from intelliperf.rocm.toolchain import completed, is_hip, targets_file

TOLD: dict[str, object] = {
    "architecture": "gfx942", "name": "AMD Instinct MI300X", "wave_size": 64, "compute_units": 304, "clock_mhz": 2100,
    "memory_clock_mhz": 1300, "memory_width_bits": 8192, "waves_per_unit": 32, "l1_bytes": 32768, "l2_bytes": 4194304,
    "lds_bytes": 65536, "gpus": 1,
}  # fmt: skip
LISTING = """
0000000000001900 <_ZN12_GLOBAL__N_14fillEPf.intern.3f2a>:
\tglobal_load_dwordx2 v[1:2], v0, s[0:1]                     // 000000001908: DC548000
\tds_write_b64 v3, v[1:2]                                    // 000000001910: D89A0000
\tglobal_atomic_add_f32 v0, v1, s[2:3]                       // 000000001918: DD348000
\tglobal_atomic_add v4, v0, v1, s[2:3] glc                   // 000000001920: DD098000
"""


def test_line_tables_and_the_architecture_are_added_unless_asked_for() -> None:
    assert completed(["-O2", "a.hip"], "gfx90a") == ["-gline-tables-only", "--offload-arch=gfx90a", "-O2", "a.hip"]
    asked = ["-g", "--offload-arch=gfx942", "a.hip"]
    assert completed(asked, "gfx90a") == asked


def test_a_runtime_that_hangs_is_told_from_an_absent_device(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="did not answer within .* run the --launcher by itself"):
        ask(("/bin/sh", "-c", "sleep 60"), {}, tmp_path, 0.2)


def test_clang_in_place_of_hipcc_reads_sources_as_hip_and_links_the_runtime() -> None:
    plain = for_clang(["-c", "a.cpp", "-o", "a.o"], optimised=False)
    assert plain == ["-c", "-x", "hip", "a.cpp", "-x", "none", "-o", "a.o"]
    assert for_clang(["-O1", "a.o", "-o", "app"]) == ["-O1", "a.o", "-o", "app", "--hip-link", "-lamdhip64"]


def test_clang_in_place_of_hipcc_optimises_as_hipcc_does() -> None:
    words = for_clang(["-c", "a.hip"])
    assert "-O3" in words and "-amdgpu-early-inline-all=true" in words
    assert not {"-O3", "-amdgpu-early-inline-all=true"} & set(for_clang(["-O0", "-c", "a.hip"]))


def test_only_calls_of_clang_that_compile_hip_are_changed() -> None:
    assert is_hip(["-x", "hip", "-c", "a.cpp"]) and is_hip(["-c", "a.hip"])
    assert not is_hip(["-c", "a.cpp"]) and not is_hip(["-x", "c++", "a.cpp"])


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("_Z5saxpyPfPKffi.kd", "_Z5saxpyPfPKffi"),
        ("_ZN12_GLOBAL__N_14fillEPf.intern.3f2a", "_ZN12_GLOBAL__N_14fillEPf"),
        ("_ZL5state__static__00ff", "_ZL5state"),
        ("my.static.kernel", "my.static.kernel"),
    ],
)
def test_a_kernel_has_the_same_name_in_every_compilation(symbol: str, expected: str) -> None:
    assert plain(symbol) == expected


def test_accesses_are_told_from_the_disassembly() -> None:
    (items,) = parse_disassembly(LISTING).values()
    told = [(item.address, item.operation) for item in items]
    assert [(at, one.access.value, one.space.value, one.width_in_all) for at, one in told] == [
        (0x1908, "load", "global", 8),
        (0x1910, "store", "shared", 8),
        (0x1918, "reduction", "global", 4),
        (0x1920, "atomic", "global", 4),
    ]


NEWER = """
0000000000001900 <k>:
\tglobal_load_d16_u8 v1, v[2:3], off                        // 000000001908: DC548000
\tds_storexchg_rtn_b64 v[3:4], v1, v[1:2]                   // 000000001910: D89A0000
\tds_pk_add_f16 v3, v1                                      // 000000001918: D89A0000
\tglobal_atomic_add_u64 v[2:3], v[4:5], off scope:SCOPE_SYS// 000000001920: DD348000
\tglobal_atomic_add_u32 v2, v2, v3, s[0:1] th:TH_ATOMIC_RETURN scope:SCOPE_SYS// 000000001928: EE0D4000
\tds_load_2addr_b32 v[0:1], v2                              // 000000001930: D89A0000
"""


def test_accesses_in_the_spelling_of_newer_chips_have_their_kind_and_width() -> None:
    (items,) = parse_disassembly(NEWER).values()
    assert [(one.access.value, one.space.value, one.width) for one in (item.operation for item in items)] == [
        ("load", "global", 1),
        ("atomic", "shared", 8),
        ("reduction", "shared", 4),
        ("reduction", "global", 8),
        ("atomic", "global", 4),
        ("load", "shared", 4),
    ]


def test_hardware_is_measured_and_a_device_that_says_it_is_software_is_not() -> None:
    real = device_record(TOLD, None)
    assert (real.name, real.emulated, real.limits.dram_bytes_per_s > 5e12) == ("MI300X", False, True)
    software = device_record({**TOLD, "name": "Software gfx942"}, None)
    assert (software.emulated, software.runs_on) == (True, "the software gfx942")
    under = device_record(TOLD, "what rocjitsu emulates")
    assert under.emulated
    modelled = Measurement(Scope.KERNEL, 20.0, 10.0, 2.0, 2.0, 2.0, Provenance.MODELLED, 5)
    assert gain(modelled, software) == "modelled 2.00× on the software gfx942"
    assert gain(modelled, under) == "modelled 2.00× on what rocjitsu emulates"


def test_a_partition_has_its_share_of_the_chips_rates() -> None:
    whole, part = device_record(TOLD, None), device_record({**TOLD, "compute_units": 38}, None)
    assert part.limits.dram_bytes_per_s == pytest.approx(whole.limits.dram_bytes_per_s / 8)
    assert "of a partition with 38 of its 304 compute units" in part.limits.sources["dram_bytes_per_s"]
    told = {**TOLD, "compute_units": 38, "gpus": 8, "visible": 8}
    (parted,) = hidden_or_parted(told, (), part)
    assert parted.startswith("a partition: 38 of the chip's 304 compute units")


@pytest.mark.parametrize(
    ("chip_id", "name", "units", "tbytes"),
    [
        (0x74A1, "AMD Radeon Graphics", 304, 5.3),  # a driver that knows no better name
        (0x74A5, "AMD Instinct MI325X", 304, 6.0),
        (0x74A0, "AMD Instinct MI300A", 228, 5.3),
        (0x74A2, "AMD Instinct MI308X", 80, 5.3248),  # no table: by clock, width and HBM3's four transfers
    ],
)
def test_a_chip_is_known_by_its_pci_id(chip_id: int, name: str, units: int, tbytes: float) -> None:
    told = {**TOLD, "chip_id": chip_id, "name": name, "compute_units": units}
    assert device_record(told, None).limits.dram_bytes_per_s == pytest.approx(tbytes * 1e12)


def test_a_runtime_that_does_not_tell_a_limit_is_an_error() -> None:
    with pytest.raises(BackendUnavailable, match="clock_mhz"):
        device_record({**TOLD, "clock_mhz": None}, None)


def test_a_launcher_is_split_found_and_known_as_an_emulator(tmp_path: Path) -> None:
    program = tmp_path / "rocjitsu"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert launcher_of("./rocjitsu run --profile 'mi 300' --", False, tmp_path) == Launcher(
        (str(program), "run", "--profile", "mi 300", "--"), True
    )
    assert not launcher_of("env -i", False, tmp_path).emulates
    assert launcher_of("env -i", True, tmp_path).emulates


@pytest.mark.parametrize(
    ("given", "emulates", "said"),
    [(None, True, "needs --launcher"), ("", False, "empty"), ("'x", False, "not a command"), ("./none", False, "none")],
)
def test_a_launcher_that_cannot_be_started_is_refused(
    tmp_path: Path, given: str | None, emulates: bool, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        launcher_of(given, emulates, tmp_path)


def test_cmake_can_ask_for_the_architecture_where_no_gpu_is_to_be_seen() -> None:
    assert targets_file("gfx942").read_text() == "gfx942\n"
    assert targets_file("gfx942") != targets_file("gfx90a")


def test_a_kernel_begins_above_its_first_instruction_where_its_source_names_it(tmp_path: Path) -> None:
    source = tmp_path / "a.hip"
    source.write_text("template <int N>\n__global__ void\n  ns_scale (float* a)\n{ // scale(\n  a[0] = N;\n}\n")
    assert (
        head_line(source, 5, "ns_scale<4>(float*)")
        == head_line(source, 5, "(anonymous namespace)::ns_scale<a::b>")
        == 3
    )
    assert head_line(source, 5, "scale") == head_line(tmp_path / "absent.hip", 5, "ns_scale") == 5
