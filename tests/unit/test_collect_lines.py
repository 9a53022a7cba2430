from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from emulator_records import KERNEL, STATIC, Recording, site

import intelliperf.dropins
from intelliperf.emulator import lines, safety, sourcelines, strict
from intelliperf.emulator.defects import defects_of
from intelliperf.emulator.schedules import IN_ORDER
from intelliperf.emulator.tracefiles import Trace
from intelliperf.emulator.watching import Watched
from intelliperf.errors import SourceNotFound
from intelliperf.processes.process import run
from intelliperf.records import AccessKind, CheckStatus, MemorySpace, Metric, SourceEvidence

OUR_HEADER = Path(intelliperf.dropins.__file__).parent / "include" / "simt" / "atomics.h"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "app.hip").write_text("\n".join(f"  statement {number};" for number in range(1, 20)))
    return directory


@pytest.fixture
def recording(project: Path) -> Recording:
    return Recording(project / "app.hip")


def _all_lines(recording: Recording, directory: Path, project: Path) -> tuple[SourceEvidence, ...]:
    return lines.kernel_lines(Trace(recording.write(directory / "records")), KERNEL, project)


def _lines(recording: Recording, directory: Path, project: Path) -> tuple[SourceEvidence, ...]:
    """Those of accesses."""
    return tuple(item for item in _all_lines(recording, directory, project) if item.access is not AccessKind.KERNEL)


def test_the_kernel_itself_is_on_the_line_that_defines_it(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.launch()
    (kernel,) = _all_lines(recording, tmp_path, project)
    assert (kernel.access, kernel.file, kernel.line) == (AccessKind.KERNEL, project / "app.hip", 3)
    assert kernel.quantity(Metric.VGPRS).value == 12


def test_a_line_whose_lanes_sit_out_is_named_and_a_full_one_is_not(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    launch = recording.launch()
    recording.blocks.append((launch, 0, 400 * 16, 400))
    (code,) = _lines(recording, tmp_path, project)
    assert (code.access, code.line) == (AccessKind.CODE, 4)
    assert code.quantity(Metric.ACTIVE_LANE_RATIO).value == 0.25
    assert code.quantity(Metric.LANES_LOST).value == 400 * 48 * 10
    recording.blocks[0] = (launch, 0, 400 * 64, 400)
    assert _lines(recording, tmp_path / "again", project) == ()


def test_lanes_that_the_launch_leaves_empty_are_not_lost_by_a_line(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    launch = recording.launch(block=[96, 1, 1])
    recording.blocks.append((launch, 0, 200 * 48, 200))
    assert _lines(recording, tmp_path, project) == ()


def test_spills_are_on_the_line_that_the_compiler_gives_and_run_as_often_as_it_does(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    spill = {"loads": 3, "stores": 1, "load_bytes": 24, "store_bytes": 4, "spills": 4, "beside": []}
    known = {**spill, "chain": [("app.hip", 6, 2)], "blocks": [0]}
    unknown = {**spill, "chain": [], "blocks": [0]}
    recording.static = {**STATIC, "local": [known, unknown]}
    launch = recording.launch()
    recording.blocks.append((launch, 0, 400 * 64, 400))
    load, store = _lines(recording, tmp_path, project)
    assert (load.access, load.space, load.line) == (AccessKind.LOAD, MemorySpace.LOCAL, 6)
    assert (load.quantity(Metric.LOCAL_REQUESTS).value, load.element_bytes) == (1200, 8)
    assert (store.access, store.quantity(Metric.LOCAL_REQUESTS).value) == (AccessKind.STORE, 400)


def test_an_atomic_inside_our_headers_is_blamed_on_the_users_line(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    outer = [("/usr/include/c++/13/atomic", 300), (project / "app.hip", 7)]
    recording.sites = [site("reduction", OUR_HEADER, 88, outer=outer), site("reduction", OUR_HEADER, 88, outer=outer)]
    queue = dict(atomic_addresses=1, atomic_hottest_lanes=128, atomic_hottest_site=0, atomic_hottest_by_site=[[0, 128]])
    launch = recording.launch(atomic_lanes=128, **queue)
    for number in (0, 1):  # of an unrolled loop
        recording.count(
            launch, number, requests=1, global_requests=1, lanes=64, same_address=64, sectors=1, sectors_ideal=1
        )
    (evidence,) = _lines(recording, tmp_path, project)
    assert (evidence.file, evidence.line, evidence.text) == (project / "app.hip", 7, "statement 7;")
    assert evidence.access is AccessKind.REDUCTION
    assert evidence.quantity(Metric.ATOMIC_SERIALIZATION).value == 128
    assert evidence.quantity(Metric.ATOMIC_HOTTEST_SHARE).value == 1.0
    assert [frame.line for frame in evidence.chain] == [7]


def test_the_queue_on_the_hottest_address_is_the_cost_of_the_line_that_makes_it(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.sites = [site("reduction", project / "app.hip", 6), site("reduction", project / "app.hip", 7)]
    queue = dict(atomic_hottest_lanes=20, atomic_hottest_site=1, atomic_hottest_by_site=[[0, 1], [1, 20]])
    launch = recording.launch(atomic_lanes=660, atomic_addresses=641, **queue)
    for number, lanes in ((0, 640), (1, 20)):
        recording.count(launch, number, requests=20, global_requests=20, lanes=lanes, same_address=20)
    times = {one.line: one.quantity(Metric.DEVICE_TIME_NS).value for one in _lines(recording, tmp_path, project)}
    assert times[7] > 10 * times[6]


def test_queues_of_like_length_beside_each_other_are_the_cost_of_all_their_lines(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.sites = [site("reduction", project / "app.hip", line) for line in (6, 7, 8)]
    queue = dict(atomic_hottest_lanes=300, atomic_hottest_site=1, atomic_hottest_by_site=[[0, 290], [1, 300], [2, 9]])
    launch = recording.launch(atomic_lanes=900, atomic_addresses=40, **queue)
    for number in (0, 1, 2):
        recording.count(launch, number, requests=20, global_requests=20, lanes=300, same_address=300)
    found = {one.line: one for one in _lines(recording, tmp_path, project)}
    times = {line: one.quantity(Metric.DEVICE_TIME_NS).value for line, one in found.items()}
    assert times[6] == times[7] > 10 * times[8]
    assert [round(one.quantity(Metric.ATOMIC_HOTTEST_SHARE).value * 900) for one in found.values()] == [290, 300, 9]


def test_a_line_is_never_a_nearby_one(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("load", OUR_HEADER, 5), site("load", project / "app.hip", 0)]
    launch = recording.launch()
    for number in (0, 1):
        recording.count(launch, number, requests=1, global_requests=1, lanes=64)
    with pytest.raises(SourceNotFound, match="kept no source line of its 2 access sites"):
        _lines(recording, tmp_path, project)


def test_a_source_that_is_on_no_disk_is_named(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("load", "<made by exec>", 5)]
    recording.count(recording.launch(), 0, requests=1, global_requests=1, lanes=64)
    with pytest.raises(SourceNotFound, match=r"it is in <made by exec>, which is not on this disk"):
        _lines(recording, tmp_path, project)


def test_a_kernel_outside_the_project_is_shown_line_by_line_and_told_as_such(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    header = tmp_path / "common" / "kernels.h"
    header.parent.mkdir()
    header.write_text("statement;\n")
    recording.sites = [site("load", header, 1)]
    recording.count(recording.launch(), 0, requests=1, global_requests=1, lanes=64)
    found = _lines(recording, tmp_path, project)
    assert [(line.file, line.line, line.text) for line in found] == [(header, 1, "statement;")]
    note = lines.outside_note(found, project)
    assert note.startswith(f"its lines are in {header}, outside the project {project}")
    assert f"--project-directory {tmp_path} would hold both" in note


def test_a_kernel_with_a_line_in_the_project_shows_no_line_outside(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    header = tmp_path / "kernels.h"
    header.write_text("statement;\n")
    recording.sites = [site("load", header, 1), site("load", project / "app.hip", 4)]
    launch = recording.launch()
    for number in (0, 1):
        recording.count(launch, number, requests=1, global_requests=1, lanes=64)
    found = _lines(recording, tmp_path, project)
    assert [line.file.name for line in found] == ["app.hip"]
    assert lines.outside_note(found, project) == ""


def test_unrolled_copies_of_one_access_are_one_line(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("load", project / "app.hip", 4), site("load", project / "app.hip", 4)]
    launch = recording.launch()
    for number in (0, 1):
        recording.count(launch, number, requests=10, global_requests=10, lanes=640, sectors=80, sectors_ideal=80)
    (evidence,) = _lines(recording, tmp_path, project)
    assert evidence.quantity(Metric.REQUESTS).value == 20
    assert evidence.quantity(Metric.SECTORS).value == 160


def test_columns_kinds_and_spaces_stay_apart(recording: Recording, project: Path, tmp_path: Path) -> None:
    source = project / "app.hip"
    recording.sites = [site("load", source, 4, 9), site("load", source, 4, 20), site("store", source, 4, 9)]
    launch = recording.launch()
    recording.count(launch, 0, requests=1, global_requests=1, lanes=64, sectors=8, sectors_ideal=8)
    recording.count(launch, 1, requests=1, shared_requests=1, lanes=64, lds_phases=64, lds_phases_ideal=2)
    recording.count(launch, 2, requests=1, global_requests=1, lanes=64, sectors=64, sectors_ideal=8)
    found = {(e.column, e.access): e for e in _lines(recording, tmp_path, project)}
    assert len(found) == 3
    shared = found[(20, AccessKind.LOAD)]
    assert shared.space is MemorySpace.SHARED
    assert Metric.SECTORS not in shared.quantities
    assert Metric.LDS_PHASES not in found[(9, AccessKind.STORE)].quantities


def test_lines_come_by_falling_cost_and_share_out_the_kernels_time(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    source = project / "app.hip"
    recording.sites = [site("load", source, 4), site("store", source, 5)]
    parts = {"launch": 2000.0, "issue": 0.0, "lds": 0.0, "l1": 1000.0, "l2": 3000.0, "dram": 4000.0, "atomic": 0.0}
    launch = recording.launch(time_parts={**parts, "latency": 0.0}, time_ns=10000.0)
    recording.count(launch, 0, requests=1, global_requests=1, lanes=64, sectors=25)
    recording.count(launch, 1, requests=1, global_requests=1, lanes=64, sectors=75)
    first, second = _lines(recording, tmp_path, project)
    assert (first.line, second.line) == (5, 4)
    assert first.quantity(Metric.TIME_SHARE).value == pytest.approx(0.6)
    assert second.quantity(Metric.DEVICE_TIME_NS).value == pytest.approx(2000)


def test_a_scratch_copy_is_recognised_by_its_mirrored_path(recording: Recording, tmp_path: Path) -> None:
    original = Path("/home/someone/src/project")
    copy = tmp_path / "scratch" / "root" / "home" / "someone" / "src" / "project"
    (copy / "src").mkdir(parents=True)
    (copy / "src" / "k.hip").write_text("one\ntwo\n")
    project = sourcelines.Project(copy)
    assert project.on_disk(original / "src" / "k.hip") == copy / "src" / "k.hip"
    assert project.on_disk(copy / "src" / "k.hip") == copy / "src" / "k.hip"
    assert project.on_disk(Path("/home/someone/src/other/k.hip")) is None
    assert project.on_disk(OUR_HEADER) is None


def test_barriers_are_listed_with_how_often_they_ran(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("barrier", project / "app.hip", 8)]
    launch = recording.launch()
    recording.count(launch, 0, requests=400, lanes=25600)
    (evidence,) = _lines(recording, tmp_path, project)
    assert evidence.quantity(Metric.REQUESTS).value == 400
    assert Metric.SECTORS not in evidence.quantities


def test_a_kernel_that_was_not_traced_has_no_lines(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.launch(traced_blocks=0)
    with pytest.raises(SourceNotFound, match="no dispatch of this kernel was traced"):
        _lines(recording, tmp_path, project)


def _fault(kind: str, number: int, scope: str | None = None) -> dict[str, object]:
    return {"kind": kind, "launch": 0, "kernel": KERNEL, "module": 0, "site": number, "scope": scope, "count": 3}


def _located(recording: Recording, directory: Path, project: Path, *faults: dict[str, object]):  # type: ignore[no-untyped-def]
    recording.launch()
    recording.faults = list(faults)
    return safety.located(Trace(recording.write(directory)), sourcelines.Project(project))


def test_a_fault_in_somebody_elses_kernel_is_on_that_kernels_line_and_not_in_what_it_calls(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    kernel, library = tmp_path / "elsewhere.py", tmp_path / "standard.py"
    kernel.write_text("\n\n  x = library.total(p)\n")
    library.write_text("return load(p)\n")
    recording.sites = [site("load", library, 1, outer=((kernel, 3),))]
    (fault,) = _located(recording, tmp_path / "a", project, _fault("out_of_bounds", 0))
    assert (fault.place.name, fault.place.line, fault.place.text) == ("elsewhere.py", 3, "x = library.total(p)")
    trace = Trace(tmp_path / "a")
    completed = run(["true"], tmp_path, 10.0, tmp_path, "ended")
    (defect,) = defects_of((Watched(IN_ORDER, (trace,), completed),), sourcelines.Project(project), "amd")
    assert defect.point is not None and (defect.point.file, defect.point.line) == (str(kernel), 3)
    assert defect.point.does == "reads; not a line of the project"


def test_notes_that_say_the_same_of_one_kernel_are_one(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("store", project / "app.hip", number) for number in (2, 4, 6)]
    recording.launch()
    recording.faults = [_fault("race", number, scope) for number in range(3) for scope in ("wave", "block")]
    trace = Trace(recording.write(tmp_path / "a"))
    watched = Watched(IN_ORDER, (trace,), run(["true"], tmp_path, 10.0, tmp_path, "ended"))
    *races, note = defects_of((watched,), sourcelines.Project(project), "amd")
    assert [race.rule for race in races] == ["race"] * 3
    assert note.rule == "wave-order" and note.count == 9 and "2 other pairs of accesses" in note.what


@pytest.mark.parametrize(("other", "same_value", "told"), [(4, True, 0), (4, False, 1), (5, True, 1)])
def test_equal_stores_by_copies_of_one_statement_are_no_race(
    recording: Recording, project: Path, tmp_path: Path, other: int, same_value: bool, told: int
) -> None:
    recording.sites = [site("store", project / "app.hip", line) for line in (4, other)]
    race = {**_fault("race", 0, "block"), "other_site": 1, "same_value": same_value}
    assert len(_located(recording, tmp_path / "a", project, race)) == told


def test_faults_that_the_original_has_are_reported_but_not_held_against_the_candidate(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.sites = [site("store", project / "app.hip", 4)]
    before = _located(recording, tmp_path / "a", project, _fault("out_of_bounds", 0))
    after = _located(recording, tmp_path / "b", project, _fault("out_of_bounds", 0))
    bounds = {check.name: check for check in safety.compare(before, after, "amd", "all")}[safety.BOUNDS]
    assert bounds.status is CheckStatus.PASSED
    assert "the original has out-of-bounds at app.hip:4 (statement 4;)" in bounds.detail


def test_a_fault_on_a_line_that_moved_is_the_same_fault(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("store", project / "app.hip", 4)]
    before = _located(recording, tmp_path / "a", project, _fault("out_of_bounds", 0))
    edited = tmp_path / "edited"
    edited.mkdir()
    (edited / "app.hip").write_text("// new\n" + (project / "app.hip").read_text())
    moved = Recording(edited / "app.hip", sites=[site("store", edited / "app.hip", 5)])
    after = _located(moved, tmp_path / "b", edited, _fault("out_of_bounds", 0))
    assert safety.introduced(before, after) == ()


def test_a_fault_in_a_kernel_of_a_lambda_that_moved_is_the_same_fault(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.sites = [site("store", project / "app.hip", 4)]
    (fault,) = _located(recording, tmp_path / "a", project, _fault("out_of_bounds", 0))
    before, after = (replace(fault, kernel=f"each<(lambda at app.hip:{line}:16)>") for line in (4, 5))
    assert safety.introduced((before,), (after,)) == ()


def test_a_new_race_fails_its_check_and_no_other(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("store", project / "app.hip", 4), site("load", project / "app.hip", 6)]
    before = _located(recording, tmp_path / "a", project)
    race = {**_fault("race", 0, "block"), "other_site": 1}
    checks = safety.compare(before, _located(recording, tmp_path / "b", project, race), "amd", "all")
    assert [check.name for check in checks if check.status is CheckStatus.FAILED] == [safety.RACES]
    (failed,) = (check for check in checks if check.status is CheckStatus.FAILED)
    assert "app.hip:4 (statement 4;) against app.hip:6" in failed.detail


@pytest.mark.parametrize(
    ("operation", "space", "lines", "passes"),
    [
        ("cmpxchg", "global", (4, 5), True),
        ("atomicrmw max", "global", (4, 4), True),
        ("atomicrmw add", "global", (4, 5), False),  # what it adds up to is read too early
        ("atomicrmw max", "shared", (4, 5), False),  # a barrier is missing
        ("cmpxchg", "global", (5, 4), False),
    ],
)
def test_a_look_before_an_atomic_operation_that_decides_is_no_race(
    recording: Recording,
    project: Path,
    tmp_path: Path,
    operation: str,
    space: str,
    lines: tuple[int, int],
    passes: bool,
) -> None:
    file = project / "app.hip"
    recording.sites = [site("load", file, lines[0]), site("atomic", file, lines[1], operation=operation)]
    race = {**_fault("race", 1, "grid"), "other_site": 0, "space": space}
    races = safety.compare((), _located(recording, tmp_path / "b", project, race), "nvidia", "all")[0]
    assert races.status is (CheckStatus.PASSED if passes else CheckStatus.FAILED)
    assert ("looks at a number before" in races.detail) is passes


@pytest.mark.parametrize(
    ("known", "operation", "passes"),
    [
        ("store", "atomicrmw min", True),
        ("store", "cmpxchg", True),
        ("store", "atomicrmw add", False),
        ("none", "cmpxchg", False),
    ],
)
def test_a_plain_read_may_miss_a_decision_where_the_original_s_misses_one_or_a_store(
    recording: Recording, project: Path, tmp_path: Path, known: str, operation: str, passes: bool
) -> None:
    file = project / "app.hip"
    recording.sites = [
        site("load", file, 4),
        site("store", file, 5),
        site("load", file, 6),
        site("atomic", file, 12, operation=operation),
    ]
    old = {**_fault("race", 0, "block"), "other_site": 1, "space": "global"}
    new = {**_fault("race", 2, "block"), "other_site": 3, "space": "global"}
    before = _located(recording, tmp_path / "a", project, *([old] if known == "store" else []))
    races = safety.compare(before, _located(recording, tmp_path / "b", project, new), "nvidia", "all")[0]
    assert races.status is (CheckStatus.PASSED if passes else CheckStatus.FAILED)


@pytest.mark.parametrize(
    ("others", "store", "orders", "memory", "passes"),
    [
        ("store", 5, "load", 4096, True),
        ("load", 5, "load", 4096, False),
        ("store", 12, "load", 4096, False),
        ("store", 5, "barrier", 4096, False),
        ("store", 5, "load", 512, False),  # another array of that name
    ],
)
def test_another_read_may_miss_the_store_that_the_original_s_miss_where_nothing_orders_them(
    recording: Recording,
    project: Path,
    tmp_path: Path,
    others: str,
    store: int,
    orders: str,
    memory: int,
    passes: bool,
) -> None:
    file = project / "app.hip"
    recording.sites = [site("load", file, 4), site(others, file, 5), site("load", file, 6), site("store", file, store)]
    recording.sites.append(site(orders, file, 7))
    old = {**_fault("race", 0, "block"), "other_site": 1, "space": "global", "allocation_bytes": 4096}
    new = {**_fault("race", 2, "block"), "other_site": 3, "space": "global", "allocation_bytes": memory}
    before = _located(recording, tmp_path / "a", project, old)
    races = safety.compare(before, _located(recording, tmp_path / "b", project, new), "nvidia", "all")[0]
    assert races.status is (CheckStatus.PASSED if passes else CheckStatus.FAILED)


def test_a_race_within_a_wave_is_a_note_on_amd_and_an_error_on_nvidia(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.sites = [site("store", project / "app.hip", 4)]
    after = _located(recording, tmp_path / "b", project, _fault("race", 0, "wave"))
    assert safety.compare((), after, "amd", "all")[0].status is CheckStatus.PASSED
    assert safety.compare((), after, "nvidia", "all")[0].status is CheckStatus.FAILED


def test_a_new_barrier_that_threads_end_before_is_told_and_no_fault(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.sites = [site("load", project / "app.hip", 4)]
    after = _located(recording, tmp_path / "b", project, _fault("barrier_after_end", 0, None))
    new, known = (safety.compare(before, after, "nvidia", "all blocks")[3] for before in ((), after))
    assert (new.name, new.status) == (safety.SYNCHRONISATION, CheckStatus.PASSED)
    assert new.unseen.startswith("whether threads may end before a barrier") and "app.hip:4" in new.unseen
    assert known.unseen == ""


def test_the_same_line_failing_in_a_second_place_is_new(recording: Recording, project: Path, tmp_path: Path) -> None:
    (project / "app.hip").write_text("a[i] = 0;\n" * 12)
    recording.sites = [site("store", project / "app.hip", 4), site("store", project / "app.hip", 9)]
    before = _located(recording, tmp_path / "a", project, _fault("race", 0, "block"))
    both = _located(recording, tmp_path / "b", project, _fault("race", 0, "block"), _fault("race", 1, "block"))
    assert len(safety.introduced(before, both)) == 1


def test_kernels_with_facts_of_the_real_target_pass_and_others_need_the_compile_log(
    recording: Recording, project: Path, tmp_path: Path
) -> None:
    recording.launch()
    good = strict.StrictBuild(Trace(recording.write(tmp_path / "a")), project)
    recording.static = None
    unproven = strict.StrictBuild(Trace(recording.write(tmp_path / "b")), project)
    (tmp_path / "compile.jsonl").write_text("")  # of whatever lies above the project
    assert strict.check(good, good).status is CheckStatus.PASSED
    assert strict.check(good, unproven).status is CheckStatus.NOT_RUN


def test_the_share_of_accesses_without_a_line_is_told(recording: Recording, project: Path, tmp_path: Path) -> None:
    recording.sites = [site("load", project / "app.hip", 4), site("load", project / "app.hip", 0)]
    launch = recording.launch()
    recording.count(launch, 0, requests=30, global_requests=30, lanes=64)
    recording.count(launch, 1, requests=10, global_requests=10, lanes=64)
    (evidence,) = _lines(recording, tmp_path, project)
    assert evidence.quantity(Metric.REQUESTS).value == 30
    note = lines.unplaced_note(Trace(tmp_path / "records"), KERNEL, project)
    assert note.startswith("25 % of its accesses are in no line")
