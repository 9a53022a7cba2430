"""The report files of a run directory, and reading them back."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

from intelliperf.errors import ProtocolError, UsageError
from intelliperf.project.codec import decode
from intelliperf.project.journal import Journal, read_json, to_json
from intelliperf.records import SCHEMA_VERSION, Report
from intelliperf.report.html import page
from intelliperf.report.summary import summary
from intelliperf.report.verdicts import verdicts
from intelliperf.report.verdictsarif import verdict_sarif

SCHEMA_PATH = Path(__file__).parent / "report.schema.json"


def schema() -> dict[str, Any]:
    """The JSON Schema of report.json, made from the records. Published in `report.schema.json`."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Report).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "IntelliPerf report", **made}


def write(report: Report, journal: Journal) -> None:
    """report.json last: its presence means that the run is finished.

    patch.diff is everything that was accepted; where that is for several kernels, `patches/` has a part for each.
    """
    if report.patch:
        journal.write("patch.diff", report.patch.encode("utf-8", "surrogateescape"))
    for number, patch in enumerate(report.series if len(report.series) > 1 else (), 1):
        name = re.sub(r"\W+", "-", f"{patch.kernel.partition('(')[0]} {' '.join(patch.formulas)}").strip("-")
        journal.write(f"patches/{number:04d}-{name}.diff", patch.diff.encode("utf-8", "surrogateescape"))
    journal.write("verdict.json", to_json(verdicts(report)))
    if (sarif := verdict_sarif(report)) is not None:
        journal.write("verdict.sarif", to_json(sarif))
    journal.write("summary.md", summary(report).encode("utf-8", "surrogateescape"))
    journal.write("report.html", page(report, blamed_sources(report)).encode("utf-8", "replace"))
    journal.write("report.json", to_json(report))


def blamed_sources(report: Report) -> dict[Path, str]:
    """The files with blamed lines, as far as they can still be read."""
    evidence = (*report.evidence, *(item for diagnosis in report.diagnoses for item in diagnosis.evidence))
    found: dict[Path, str] = {}
    for file in dict.fromkeys(item.file for item in evidence):
        with contextlib.suppress(OSError):
            found[file] = (report.application.project / file).read_text("utf-8", "replace")
    return found


def read(directory: Path) -> Report:
    """The report of a finished run. Raises `UsageError` where there is none."""
    path = directory / "report.json"
    if not path.is_file():
        raise UsageError(f"{directory} holds no report.json: not a run, or not finished (`intelliperf resume`)")
    content = read_json(path)
    version = content.get("schema_version") if isinstance(content, dict) else None
    if version != SCHEMA_VERSION:
        raise ProtocolError(f"{path} has schema version {version}, this intelliperf reads {SCHEMA_VERSION}")
    try:
        return decode(Report, content)
    except ProtocolError as error:
        raise ProtocolError(f"{path} is damaged: {error}") from error
