"""What the counting program makes of record files, held to the rules written down a second time; needs a compiler."""

from __future__ import annotations

import random
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from intelliperf.devices import models as devices
from intelliperf.errors import ToolchainError
from intelliperf.project.scratch import Workspace
from intelliperf.records import AccessKind, Application, Frame, Kernel, MemorySpace, Metric, Provenance, Quantity
from intelliperf.rocm import agreement
from intelliperf.rocm.instructions import operation
from intelliperf.rocm.lines import Code, Instruction
from intelliperf.rocm.machinesites import MachineAccess, Module, Part, Site
from intelliperf.rocm.recording import RecordedDispatch, Recording, counted
from intelliperf.rocm.recordlines import recorded_lines

CHIP = devices.record("mi250x")
KERNEL = Kernel("_Z1kPf", "k")
Request = dict[int, int]  # lane → address


def module(*accesses: tuple[str, Sequence[Part]], file: Path = Path("/p/k.hip")) -> Module:
    """Each access is a site of its own, on its own line."""
    made = []
    for number, (name, parts) in enumerate(accesses):
        known = operation(name)
        assert known is not None
        chain = (Frame(file, number + 1, 1, "k"),)
        kind = "atomic" if known.access is AccessKind.REDUCTION else known.access.value
        site = Site(number, KERNEL.symbol, kind, kind, known.space, known.width, 0, 0, number, False, chain)
        made.append(MachineAccess(site, known, tuple(parts)))
    sites = tuple(one.site for one in made)
    return Module("7", (KERNEL.symbol,), sites, tuple(made), {}, (), (), 0)


def recorded(path: Path, waves: Sequence[Sequence[tuple[int, Request]]], groups: int = 1, lost: int = 0) -> Path:
    """A file of one dispatch, each wave a group of its own; `lost` words had no room."""
    name = KERNEL.symbol.encode()
    shape = (groups, 1, 1, 64, 1, 1, len(waves), 1, 64, 0)
    wrote = [[word for site, lanes in requests for word in _words(site, lanes)] for requests in waves]
    kept = sum(map(len, wrote))
    content = struct.pack("<8sQII10I2Q", b"RECORDS2", 7, 0, len(name), *shape, kept + lost, kept)
    content += name.ljust((len(name) + 7) // 8 * 8, b"\0")
    for number, words in enumerate(wrote):
        content += struct.pack("<2IQ", number, 0, len(words)) + struct.pack(f"<{len(words)}Q", *words)
    path.write_bytes(content)
    return path


def _words(site: int, lanes: Request) -> Iterable[int]:
    yield site | len(lanes) << 32
    yield sum(1 << lane for lane in lanes)
    yield from (lanes[lane] for lane in sorted(lanes))


def scattered(seed: int, reach: int, step: int) -> Request:
    chance = random.Random(seed)
    lanes = sorted(chance.sample(range(64), chance.randint(1, 64)))
    return {lane: 4096 + chance.randrange(reach) * step for lane in lanes}


def touched(requests: Sequence[Request], width: int, unit: int) -> int:
    return sum(
        len({at // unit for start in lanes.values() for at in range(start, start + width)}) for lanes in requests
    )


def bank_cycles(lanes: Request, width: int) -> int:
    """Of a load: per set of lanes that go together, the most different words in one of 32 banks."""
    sets: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for lane, at in lanes.items():
        quad = (0, 1, 2, 3, 1, 0, 3, 2)[lane // 4 % 8]
        group = lane // 32 if width <= 4 else lane // 16 if width <= 8 else lane // 32 * 4 + quad
        for word in range(at // 4, (at + width - 1) // 4 + 1):
            sets[group][word % 32].add(word)
    return sum(max(len(words) for words in banks.values()) for banks in sets.values())


@pytest.mark.parametrize("width", [1, 2, 4, 8, 12, 16])
def test_sectors_and_lines_are_those_that_the_bytes_lie_in(tmp_path: Path, width: int) -> None:
    name = {1: "ubyte", 2: "ushort", 4: "dword", 8: "dwordx2", 12: "dwordx3", 16: "dwordx4"}[width]
    requests = [scattered(seed, 400, 4 if width > 2 else 1) for seed in range(20)]
    file = recorded(tmp_path / "records.1", [[(0, lanes) for lanes in requests]])
    _, (dispatch,) = counted([module((f"global_load_{name}", [Part(0, width)]))], [file], CHIP, tmp_path)
    (figures,) = dispatch.figures
    lanes = sum(map(len, requests))
    assert (figures["executions"], figures["lanes"], figures["bytes"]) == (20, lanes, lanes * width)
    sizes = {"sectors": 32, "lines64": 64, "lines128": 128}
    assert {name: figures[name] for name in sizes} == {name: touched(requests, width, u) for name, u in sizes.items()}
    ideal = sum(min(touched([one], width, 32), -(-len(one) * width // 32)) for one in requests)
    assert figures["sectors_ideal"] == ideal


@pytest.mark.parametrize(("name", "width"), [("ds_read_b32", 4), ("ds_read_b64", 8), ("ds_read_b128", 16)])
def test_lds_cycles_are_those_of_the_fullest_bank(tmp_path: Path, name: str, width: int) -> None:
    requests = [scattered(seed, 200, width) for seed in range(20)]
    file = recorded(tmp_path / "records.1", [[(0, lanes) for lanes in requests]])
    _, (dispatch,) = counted([module((name, [Part(0, width)]))], [file], CHIP, tmp_path)
    assert dispatch.figures[0]["lds_phases"] == sum(bank_cycles(lanes, width) for lanes in requests)


def test_an_instruction_on_two_places_takes_the_cycles_of_both(tmp_path: Path) -> None:
    requests = [scattered(seed, 200, 4) for seed in range(10)]
    file = recorded(tmp_path / "records.1", [[(0, lanes) for lanes in requests]])
    accesses = module(("ds_read2_b32", [Part(0, 4), Part(132, 4)]))
    _, (dispatch,) = counted([accesses], [file], CHIP, tmp_path)
    apart = [*requests, *({lane: at + 132 for lane, at in lanes.items()} for lanes in requests)]
    assert dispatch.figures[0]["lds_phases"] == sum(bank_cycles(lanes, 4) for lanes in apart)
    assert dispatch.figures[0]["executions"] == 10


def test_atomics_queue_for_the_address_that_most_lanes_want(tmp_path: Path) -> None:
    requests = [scattered(seed, 6, 4) for seed in range(10)]
    file = recorded(tmp_path / "records.1", [[(0, lanes) for lanes in requests]])
    _, (dispatch,) = counted([module(("global_atomic_add", [Part(0, 4)]))], [file], CHIP, tmp_path)
    figures, all_lanes = dispatch.figures[0], Counter(at for lanes in requests for at in lanes.values())
    assert figures["same_address"] == sum(max(Counter(lanes.values()).values()) for lanes in requests)
    assert (figures["distinct_addresses"], figures["hottest_lanes"]) == (len(all_lanes), max(all_lanes.values()))


def test_a_flat_access_counts_in_the_memory_that_each_lane_went_to(tmp_path: Path) -> None:
    lanes = {
        lane: (1 << 62 | lane * 4) if lane < 16 else (1 << 63) if lane < 24 else 4096 + lane * 4 for lane in range(64)
    }
    file = recorded(tmp_path / "records.1", [[(0, lanes)]])
    _, (dispatch,) = counted([module(("flat_load_dword", [Part(0, 4)]))], [file], CHIP, tmp_path)
    figures = dispatch.figures[0]
    names = ("executions", "global_requests", "lds_requests", "private_requests", "global_lanes", "lds_phases")
    assert [figures[name] for name in names] == [1, 1, 1, 1, 40, 1]


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    file = recorded(tmp_path / "records.1", [[(0, {0: 64})]])
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(ToolchainError, match="cut off"):
        counted([module(("global_load_dword", [Part(0, 4)]))], [file], CHIP, tmp_path)


def lines_of(
    place: Path, found: Recording, whole: dict[Metric, Quantity] | None = None
) -> dict[int, dict[Metric, Quantity]]:
    evidence = recorded_lines(found, KERNEL, place, whole or {}, None).evidence
    return {item.line: dict(item.quantities) for item in evidence}


def recording_of(place: Path, waves: Sequence[Sequence[tuple[int, Request]]], of: Module, **more: int) -> Recording:
    file = recorded(place / "records.1", waves, **more)
    accesses, dispatches = counted([of], [file], CHIP, place)
    workspace = Workspace(Application(("./k",), place, place), place / "copy")
    return Recording(accesses, dispatches, (of,), workspace)


def test_a_sample_of_work_groups_stands_for_all_and_bears_its_error(tmp_path: Path) -> None:
    of = module(("global_load_dword", [Part(0, 4)]), file=tmp_path / "k.hip")
    row = {lane: 4096 + lane * 4 for lane in range(64)}
    found = recording_of(tmp_path, [[(0, row)], [(0, row), (0, row)]], of, groups=10)
    quantity = lines_of(tmp_path, found)[1][Metric.REQUESTS]
    assert quantity.value == 15 and quantity.provenance is Provenance.MEASURED
    assert quantity.error is not None and quantity.error > 0


def test_accesses_that_had_no_room_make_the_figures_modelled(tmp_path: Path) -> None:
    of = module(("global_load_dword", [Part(0, 4)]), file=tmp_path / "k.hip")
    row = {lane: 4096 + lane * 4 for lane in range(64)}
    found = recording_of(tmp_path, [[(0, row)]], of, lost=66)
    quantity = lines_of(tmp_path, found)[1][Metric.REQUESTS]
    assert quantity.value == 2 and quantity.provenance is Provenance.MODELLED
    (item,) = recorded_lines(found, KERNEL, tmp_path, {}, None).evidence
    assert "room for 50.0 % of their accesses" in item.found_by


def test_stall_time_goes_to_the_atomics_that_queue(tmp_path: Path) -> None:
    of = module(*[("global_atomic_add", [Part(0, 4)])] * 2, file=tmp_path / "k.hip")
    spread, together = {lane: 4096 + lane * 4 for lane in range(63)}, dict.fromkeys(range(63), 4096)
    found = recording_of(tmp_path, [[(0, spread), (1, together)]], of)
    whole = {Metric.ATOMIC_STALL_NS: Quantity(6400.0, Provenance.MEASURED)}
    lines = lines_of(tmp_path, found, whole)
    assert [lines[n][Metric.DEVICE_TIME_NS].value for n in (1, 2)] == [100.0, 6300.0]
    assert lines[2][Metric.DEVICE_TIME_NS].provenance is Provenance.MODELLED
    assert lines[2][Metric.ATOMIC_SERIALIZATION].value == 63


def test_dispatches_of_a_shape_weigh_by_how_often_they_ran(tmp_path: Path) -> None:
    of = module(("global_load_dword", [Part(0, 4)]), file=tmp_path / "k.hip")
    row = {lane: 4096 + lane * 4 for lane in range(64)}
    found = recording_of(tmp_path, [[(0, row)]], of)
    (one,) = found.dispatches
    other = replace(one, grid=(2, 1, 1), figures=tuple({n: v * 3 for n, v in f.items()} for f in one.figures))
    unseen = replace(other, fate="beyond the limit", recorded_groups=0, figures=())
    mean = lines_of(tmp_path, replace(found, dispatches=(one, replace(other, groups=1), unseen, unseen)))
    assert mean[1][Metric.REQUESTS].value == pytest.approx((1 + 3 * 3) / 4)


@pytest.mark.parametrize(("own", "differs"), [("ds_read_b32", False), ("ds_read_b64", True)])
def test_lines_say_which_instructions_differ_from_the_program_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, differs: bool
) -> None:
    of = module(("ds_read_b32", [Part(0, 4)]), file=tmp_path / "k.hip")
    found = recording_of(tmp_path, [[(0, {0: 4})]], of)
    known = operation(own)
    assert known is not None
    # Which line the program's one instruction is on is not read from an object file here.
    monkeypatch.setattr(agreement, "chains", lambda _, addresses: dict.fromkeys(addresses, of.sites[0].chain))
    code = Code(tmp_path / "k.co", "", (Instruction(0, known),))
    (item,) = recorded_lines(found, KERNEL, tmp_path, {}, code).evidence
    assert ("the program's own code has 1 LDS load of 8 bytes here" in item.found_by) is differs
    assert item.space is MemorySpace.SHARED and Metric.SECTORS not in item.quantities


def test_dispatch_records_hold_what_was_launched(tmp_path: Path) -> None:
    file = recorded(tmp_path / "records.1", [[(0, {0: 64})]], groups=5)
    _, (dispatch,) = counted([module(("global_load_dword", [Part(0, 4)]))], [file], CHIP, tmp_path)
    assert isinstance(dispatch, RecordedDispatch)
    assert (dispatch.grid, dispatch.block, dispatch.groups, dispatch.recorded_groups) == ((5, 1, 1), (64, 1, 1), 5, 1)
    assert dispatch.complete and not file.exists()
