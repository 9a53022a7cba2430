"""SARIF 2.1.0: new findings and regressions as results at source lines, for code scanning pages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from intelliperf.formulas import BOTTLENECKS
from intelliperf.history.records import Found, Regression
from intelliperf.nightly.outcome import NightReport, PlaceOutcome, Step, TargetOutcome

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"
_REGRESSION = "regression"


def sarif(report: NightReport) -> dict[str, Any]:
    """One run with all targets; a URI is relative to its target's project, which is its base."""
    rules = [{"id": formula.name, "shortDescription": {"text": formula.summary}} for formula in BOTTLENECKS]
    rules.append({"id": _REGRESSION, "shortDescription": {"text": "a kernel became slower than its own history"}})
    driver = {"name": "IntelliPerf", "semanticVersion": _semantic(report.tool_version), "rules": rules}
    notices = [
        {"level": "error", "message": {"text": _text(problem)}}
        for target in report.targets
        for problem in (*target.problems, *(p.problem for p in target.places if p.step is Step.FAILED))
    ]
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"intelliperf-nightly/{report.night}"},
        "invocations": [
            {
                "executionSuccessful": not notices,
                "startTimeUtc": report.started_at,
                "endTimeUtc": report.ended_at,
                "toolExecutionNotifications": notices,
            }
        ],
        "originalUriBaseIds": {_base(t): {"uri": f"file://{quote(t.project.rstrip('/'))}/"} for t in report.targets},
        "results": list(_results(report)),
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(report: NightReport) -> Iterator[dict[str, Any]]:
    targets = {target.name: target for target in report.targets}
    for target in report.targets:
        for place in target.places:
            for found in place.new_findings:
                yield _finding(found, place, target)
    for regression in report.regressions:
        yield _regression(regression, targets[regression.place.target])


def _finding(found: Found, place: PlaceOutcome, target: TargetOutcome) -> dict[str, Any]:
    text = f"{found.kernel}: {found.sentence} ({place.place.workload} on {place.place.device})"
    where = [_location(target, {"file": file, "line": line}) for file, line in found.lines]
    key = (target.name, found.symbol, found.formula)
    return _result(found.formula, "warning", text, where, target, found.kernel, key)


def _regression(regression: Regression, target: TargetOutcome) -> dict[str, Any]:
    commits = "".join(f"\n- {commit}" for commit in regression.commits[:10])
    text = f"{regression.sentence} ({regression.place.workload} on {regression.place.device}){commits}"
    where = [_location(target, line) for line in regression.lines]
    key = (target.name, regression.symbol, _REGRESSION)
    return _result(_REGRESSION, "error", text, where, target, regression.kernel, key)


def _result(
    rule: str,
    level: str,
    text: str,
    where: list[dict[str, Any]],
    target: TargetOutcome,
    kernel: str,
    key: tuple[str, ...],
) -> dict[str, Any]:
    named = [{"name": _text(kernel), "kind": "function"}]
    first, *more = where or [{"physicalLocation": {"artifactLocation": {"uri": "", "uriBaseId": _base(target)}}}]
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": _text(text)},
        "locations": [{**first, "logicalLocations": named}],
        "relatedLocations": [{"id": number, **item} for number, item in enumerate(more, 1)],
        "partialFingerprints": {
            "intelliperf/v1": hashlib.sha256("\0".join(key).encode("utf-8", "replace")).hexdigest()
        },
    }


def _location(target: TargetOutcome, line: Mapping[str, Any]) -> dict[str, Any]:
    file = PurePosixPath(line["file"])
    artifact = {"uri": f"file://{quote(str(file))}"} if file.is_absolute() else _relative(target, file)
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(1, int(line["line"]))}}}


def _relative(target: TargetOutcome, file: PurePosixPath) -> dict[str, str]:
    return {"uri": quote(str(file), errors="replace"), "uriBaseId": _base(target)}


def _base(target: TargetOutcome) -> str:
    return f"TARGET_{target.name}"


def _semantic(version: str) -> str:
    parts = version.split(".")
    return version if len(parts) == 3 and all(part.isdigit() for part in parts) else f"0.0.0-{version}"


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
