"""Defects as SARIF 2.1.0, which code hosts show beside the lines (OASIS, sarif-v2.1.0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from intelliperf import __version__
from intelliperf.records import Defect, SourcePoint

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(defects: Sequence[Defect], command: str, complete: bool) -> dict[str, Any]:
    """One run. `complete`: every run of the program that was planned took place."""
    rules = {defect.rule: defect for defect in reversed(defects)}
    numbers = {rule: number for number, rule in enumerate(sorted(rules))}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "IntelliPerf",
                        "version": __version__,
                        "rules": [_rule(rules[rule]) for rule in sorted(rules)],
                    }
                },
                "invocations": [{"commandLine": command, "executionSuccessful": complete}],
                "results": [_result(defect, numbers[defect.rule]) for defect in defects],
                "columnKind": "utf16CodeUnits",
            }
        ],
    }


def _rule(defect: Defect) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": defect.rule,
        "defaultConfiguration": {"level": defect.level.value},
        "shortDescription": {"text": defect.what.partition(": ")[0]},
    }
    if defect.remedy:
        rule["help"] = {"text": defect.remedy}
    return rule


def _result(defect: Defect, rule: int) -> dict[str, Any]:
    parts = [f"{defect.what} (kernel {defect.kernel})", defect.memory, defect.remedy]
    result: dict[str, Any] = {
        "ruleId": defect.rule,
        "ruleIndex": rule,
        "level": defect.level.value,
        "message": {"text": ". ".join(part for part in parts if part)},
        "occurrenceCount": max(1, defect.count),
        "properties": {"kernel": defect.kernel, "launch": defect.launch, "schedule": defect.schedule},
    }
    if defect.point is not None:
        result["locations"] = [_location(defect.point, defect.thread)]
    if defect.other is not None:
        result["relatedLocations"] = [{"id": 1, **_location(defect.other, defect.other_thread)}]
    return result


def _location(point: SourcePoint, thread: str | None) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": point.line, "snippet": {"text": point.text}}
    if point.column > 0:
        region["startColumn"] = point.column
    said = f"{point.does} here" if thread is None else f"{thread} {point.does} here"
    artifact = (
        {"uri": quote(point.file)}
        if point.file.startswith("/")
        else {"uri": quote(point.file), "uriBaseId": "%SRCROOT%"}
    )
    if point.file.startswith("/"):
        artifact["uri"] = "file://" + artifact["uri"]
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}, "message": {"text": said}}
