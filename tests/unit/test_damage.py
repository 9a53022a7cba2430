"""Memory that is found damaged behind an allocation is told as its kernel's, and once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from intelliperf.emulator import defects, safety
from intelliperf.emulator.sourcelines import Project
from intelliperf.emulator.tracefiles import Fault, Trace, parse_fault
from intelliperf.records import SourcePoint

_DAMAGE = {"kind": "out_of_bounds", "detail": "kernel=k allocation_bytes=4000 address_offset=4000"}
_STORE = {"kind": "out_of_bounds", "kernel": "k", "module": 0, "site": 0, "launch": 0}
_OTHER = {**_STORE, "kernel": "other"}


def fault(row: dict[str, Any]) -> Fault:
    return parse_fault(Path("faults.jsonl"), row)


def trace_of(*rows: dict[str, Any], target: str = "mi300x") -> Trace:
    trace = Trace.__new__(Trace)
    module = SimpleNamespace(kernels={}, sites=[], source="", target=target)
    vars(trace).update(faults=tuple(map(fault, rows)), modules={0: module}, launch_by_index={}, launches=())
    return trace


def test_damage_names_its_kernel_and_where_it_lies() -> None:
    found = fault(_DAMAGE)
    assert (found.kernel, found.allocation_bytes, found.address_offset, found.detail) == ("k", 4000, 4000, None)


def test_damage_is_told_where_no_access_of_that_kernel_is(monkeypatch: Any, tmp_path: Path) -> None:
    place = SourcePoint("app.py", 6, 1, "tl.store(y + o, v)", "writes")
    monkeypatch.setattr(defects, "_point", lambda trace, fault, site, project: place if site == 0 else None)
    project = Project(tmp_path)

    def points(*rows: dict[str, Any]) -> list[tuple[str, bool]]:
        runs: Any = [SimpleNamespace(faults=[(t, f) for t in [trace_of(*rows)] for f in t.faults], schedule=_IN_ORDER)]
        return sorted((one.kernel, one.point is not None) for one in defects.defects_of(runs, project, "amd"))

    assert points(_DAMAGE) == [("k", False)]
    assert points(_STORE, _DAMAGE) == [("k", True)]
    assert points(_OTHER, _DAMAGE) == [("k", False), ("other", True)]


def test_notes_tell_it_once(monkeypatch: Any, tmp_path: Path) -> None:
    placed = safety.FaultLine("app.py", 6, "tl.store(y + o, v)")
    monkeypatch.setattr(safety, "_place", lambda trace, module, site, project: placed if site == 0 else None)
    (note,) = safety.fault_notes(trace_of(_STORE, _DAMAGE), Project(tmp_path))
    assert "1 distinct out-of-bounds fault: " in note and "unknown line" not in note
    (note,) = safety.fault_notes(trace_of(_OTHER, _DAMAGE), Project(tmp_path))
    assert "2 distinct" in note and "an unknown line in k" in note


def test_lanes_of_an_amd_wave_are_in_order_and_a_note_says_nothing_of_them(tmp_path: Path) -> None:
    race = {"kind": "race", "kernel": "k", "module": 0, "scope": "wave", "space": "shared"}
    assert safety.fault_notes(trace_of(race), Project(tmp_path)) == ()
    assert "race within a wave" in safety.fault_notes(trace_of(race, target="h100"), Project(tmp_path))[0]
    assert safety.fault_notes(trace_of({**race, "scope": "block"}), Project(tmp_path))


_IN_ORDER = SimpleNamespace(name="in order")
