"""All files of a night, written together; `night.json` last, as its presence means that the night is over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.nightly.outcome import NightReport
from intelliperf.nightly.outputs.html import page
from intelliperf.nightly.outputs.junit import junit
from intelliperf.nightly.outputs.markdown import summary
from intelliperf.nightly.outputs.sarif import sarif
from intelliperf.project.journal import Journal, to_json

SCHEMA_PATH = Path(__file__).parent / "night.schema.json"


@dataclass(frozen=True)
class Written:
    """`closing` is for the terminal."""

    directory: Path
    closing: str


def schema() -> dict[str, Any]:
    """The JSON Schema of night.json, as published in `night.schema.json`."""
    from pydantic import TypeAdapter

    made = TypeAdapter(NightReport).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "IntelliPerf night"}


def write(report: NightReport, journal: Journal) -> Written:
    text = summary(report)
    journal.write("summary.md", text.encode("utf-8", "replace"))
    journal.write("night.html", page(report).encode("utf-8", "replace"))
    journal.write("junit.xml", junit(report).encode("utf-8", "replace"))
    journal.write("night.sarif", to_json(sarif(report)))
    journal.write("night.json", to_json(report))
    where = f"\nnight:   {journal.directory}/summary.md, night.html, junit.xml, night.sarif, night.json\n"
    return Written(journal.directory, text + where)
