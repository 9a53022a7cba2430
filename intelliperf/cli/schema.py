"""`intelliperf.toml` as a whole: the options of the command line, and the tables of a night, in one JSON Schema."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from pydantic import Field, create_model

from intelliperf.cli.options import Options
from intelliperf.configuration.document import load
from intelliperf.configuration.schema import NightFile, checked

SCHEMA_PATH = Path(__file__).parent / "intelliperf.schema.json"
NOT_IN_FILES = frozenset({"command", "diagnose_only", "project_directory"})
_KINDS: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "Path": str}


def _options() -> dict[str, Any]:
    """The options by their names in the file; their defaults are the command line's."""
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(Options):
        if field.name not in NOT_IN_FILES:
            kind = _KINDS.get(str(field.type).partition(" ")[0], str | list[str])
            alias = "json" if field.name == "json_events" else None  # the name itself is taken in the library
            fields[field.name] = (kind | None, Field(None, alias=alias))
    return fields


Configuration = create_model("Configuration", __base__=NightFile, **_options())


def schema() -> dict[str, Any]:
    """The JSON Schema, as published in `intelliperf.schema.json`."""
    made = Configuration.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "intelliperf.toml"}


def night_file(path: Path) -> tuple[NightFile, str]:
    """The checked file and its text. Raises `UsageError` with the line of what is wrong."""
    content, text = load(path)
    spelled = {key if key in ("nightly", "targets") else key.replace("-", "_"): value for key, value in content.items()}
    return checked(Configuration, spelled, path, text), text
