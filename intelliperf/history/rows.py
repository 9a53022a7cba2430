"""Records to rows of the database and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intelliperf.history.records import (
    Cost,
    Decision,
    Found,
    Judgement,
    KernelTime,
    LineCounts,
    Night,
    Patch,
    Point,
    Regression,
    Revision,
    Standing,
    Tried,
    Visit,
    WatchedPlace,
)
from intelliperf.project.codec import decode, encode
from intelliperf.records.metrics import Metric, Quantity

Row = Mapping[str, Any]


def plain(value: Any) -> Any:
    """The value as a database takes it: bytes that are not UTF-8, and NULs, are shown escaped.

    A "diff" stays exact: its column escapes by itself.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\x00")
    if isinstance(value, dict):
        return {key: item if key == "diff" else plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def from_visit(visit: Visit, target: int) -> dict[str, Any]:
    return {
        "night_id": visit.night,
        "target_id": target,
        **_place(visit.place),
        **_chosen(encode(visit), "state", "fingerprint", "parts", "tool_version", "at", "seconds", "directory"),
        **encode(visit.revision),
        "problem": visit.problem,
        "same_as": visit.same_as,
    }


def to_visit(row: Row) -> Visit:
    names = ("state", "fingerprint", "parts", "tool_version", "at", "seconds", "directory", "problem", "same_as", "id")
    values = {
        **_chosen(row, *names),
        "night": row["night_id"],
        "place": encode(place(row)),
        "revision": encode(Revision(row["commit"], row["dirty"], row["manifest"])),
    }
    return decode(Visit, values)


def from_kernel(kernel: KernelTime, visit: int) -> dict[str, Any]:
    names = ("symbol", "name", "dispatches", "total_ns", "noise", "provenance", "share")
    return {"visit_id": visit, **_chosen(encode(kernel), *names)}


def from_counters(counters: Mapping[Metric, Quantity], kernel: int) -> list[dict[str, Any]]:
    return [{"kernel_id": kernel, "metric": metric.value, **encode(q)} for metric, q in counters.items()]


def to_counters(found: Sequence[Row]) -> dict[Metric, Quantity]:
    """Counters that a newer version stored under names unknown here are left out."""
    known = {metric.value for metric in Metric}
    return {
        Metric(row["metric"]): decode(Quantity, _chosen(row, "value", "provenance", "error"))
        for row in found
        if row["metric"] in known
    }


def to_kernel(row: Row, counters: Sequence[Row]) -> KernelTime:
    names = ("symbol", "name", "dispatches", "total_ns", "noise", "provenance", "share")
    return decode(KernelTime, {**_chosen(row, *names), "counters": encode(to_counters(counters))})


def from_line(line: LineCounts, visit: int) -> dict[str, Any]:
    return {"visit_id": visit, **encode(line)}


def to_line(row: Row) -> LineCounts:
    names = ("symbol", "file", "line", "column", "text", "access", "space", "operation")
    known = {metric.value for metric in Metric}
    counters = {name: quantity for name, quantity in row["counters"].items() if name in known}
    return decode(LineCounts, {**_chosen(row, *names), "counters": counters})


def from_found(found: Found, visit: int) -> dict[str, Any]:
    return {"visit_id": visit, **encode(found)}


def to_found(row: Row) -> Found:
    return decode(Found, {k: v for k, v in row.items() if k not in ("id", "visit_id")})


def from_patch(patch: Patch, target: int, at: str) -> dict[str, Any]:
    left_out = ("id", "target", "night", "found_at")
    values = {k: v for k, v in encode(patch).items() if k not in left_out}
    return {**values, "target_id": target, "night_id": patch.night, "found_at": at}


def to_patch(row: Row) -> Patch:
    """Without the codec: an inbox reads thousands."""
    values = {**_without(row, "target_id", "night_id", "standing"), "night": row["night_id"]}
    return Patch(**values, standing=Standing(row["standing"]))


def from_judgement(judgement: Judgement) -> dict[str, Any]:
    names = ("commit", "outcome", "detail", "checks", "measurements", "not_checked", "at", "directory")
    return {
        "patch_id": judgement.patch,
        "night_id": judgement.night,
        **_place(judgement.place),
        **_chosen(encode(judgement), *names),
    }


def to_judgement(row: Row) -> Judgement:
    """Without the codec: an inbox reads thousands, and their lists are documents, not records."""
    return Judgement(
        patch=row["patch_id"],
        night=row["night_id"],
        place=place(row),
        commit=row["commit"],
        outcome=row["outcome"],
        detail=row["detail"],
        checks=tuple(row["checks"]),
        measurements=tuple(row["measurements"]),
        not_checked=tuple(row["not_checked"]),
        at=row["at"],
        directory=row["directory"],
    )


def from_tried(tried: Tried, target: int) -> dict[str, Any]:
    return {**_without(encode(tried), "target", "night"), "target_id": target, "night_id": tried.night}


def to_tried(row: Row) -> Tried:
    return Tried(**_without(row, "id", "target_id", "night_id"), night=row["night_id"])


def to_decision(row: Row) -> Decision:
    return decode(Decision, {**_without(row, "id", "patch_id"), "patch": row["patch_id"]})


def to_cost(row: Row) -> Cost:
    return decode(Cost, {**_without(row, "id", "target_id", "night_id"), "night": row["night_id"]})


def from_regression(regression: Regression, target: int) -> dict[str, Any]:
    names = ("symbol", "kernel", "kind", "before", "after", "metric", "sentence", "good_commit", "bad_commit")
    return {
        "night_id": regression.night,
        "target_id": target,
        **_place(regression.place),
        **_chosen(encode(regression), *names, "commits", "lines"),
        "good_visit": regression.good,
        "bad_visit": regression.bad,
    }


def to_regression(row: Row) -> Regression:
    left_out = ("target_id", "target", "night_id", "workload", "device", "good_visit", "bad_visit")
    values = {
        **_without(row, *left_out),
        "night": row["night_id"],
        "place": encode(place(row)),
        "good": row["good_visit"],
        "bad": row["bad_visit"],
    }
    return decode(Regression, values)


def to_night(row: Row) -> Night:
    return decode(Night, dict(row))


def to_point(row: Row, counters: Sequence[Row]) -> Point:
    names = ("at", "commit", "tool_version", "total_ns", "noise", "provenance", "fingerprint")
    values = {"visit": row["id"], "night": row["night_id"], **_chosen(row, *names)}
    return decode(Point, {**values, "counters": encode(to_counters(counters))})


def place(row: Row) -> WatchedPlace:
    return WatchedPlace(row["target"], row["workload"], row["device"])


def _place(place: WatchedPlace) -> dict[str, str]:
    return {"workload": place.workload, "device": place.device}


def _chosen(row: Row, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def _without(row: Row, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}
