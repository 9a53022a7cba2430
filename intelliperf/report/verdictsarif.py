"""A refused patch as SARIF 2.1.0, for code scanning pages: the verdict beside the lines that it changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from intelliperf import __version__
from intelliperf.records import Attempt, OriginKind, Report
from intelliperf.report.sarif import SCHEMA

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)")
_MOST = 20  # places; GitHub shows the first


def verdict_sarif(report: Report) -> dict[str, Any] | None:
    """One run; an accepted patch has no results, and claims nothing else. None where no patch was given."""
    given = [a for a in report.attempts if a.verdict is not None and a.origin.kind is OriginKind.USER]
    if not given:
        return None
    results = [_result(given[-1], report)] if not given[-1].accepted else []
    rules = [{"id": result["ruleId"], "shortDescription": {"text": "a patch that was refused"}} for result in results]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "IntelliPerf", "version": __version__, "rules": rules}},
                "invocations": [{"executionSuccessful": True}],
                "results": results,
                "columnKind": "utf16CodeUnits",
            }
        ],
    }


def _result(attempt: Attempt, report: Report) -> dict[str, Any]:
    assert attempt.verdict is not None
    verdict = attempt.verdict
    root = report.application.project.as_uri()
    places = [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": f"{root}/{quote(path, errors='replace')}"},
                "region": {"startLine": line},
            }
        }
        for path, line in _changed(attempt.diff)
    ]
    return {
        "ruleId": verdict.outcome.value,
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": f"{verdict.outcome.value}: {verdict.detail}".encode("utf-8", "replace").decode()},
        "locations": places[:1],
        "relatedLocations": [{"id": number, **place} for number, place in enumerate(places[1:_MOST], 1)],
    }


def _changed(diff: str) -> Iterator[tuple[str, int]]:
    """File and first line of each hunk, in the new text."""
    path = ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[4:].partition("\t")[0].removeprefix("b/")
        elif path and (hunk := _HUNK.match(line)):
            yield path, max(1, int(hunk[1]))
