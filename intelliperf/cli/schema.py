"""`intelliperf.toml` as a whole: the options of the command line, and the tables of a night, in one JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

from pydantic import Field, create_model

from intelliperf.cli.configuration import NOT_IN_FILES, spelled
from intelliperf.cli.options import Options
from intelliperf.configuration.document import load
from intelliperf.configuration.schema import NightFile, checked

SCHEMA_PATH = Path(__file__).parent / "intelliperf.schema.json"
_KINDS: dict[Any, Any] = {Path: str, Path | None: str, tuple[str, ...]: str | list[str]}


def _options() -> dict[str, Any]:
    """The options by their names in the file; their defaults are the command line's."""
    fields: dict[str, Any] = {}
    for name, kind in get_type_hints(Options).items():
        if name not in NOT_IN_FILES:
            alias = "json" if name == "json_events" else None  # the name itself is taken in the library
            fields[name] = (_KINDS.get(kind, kind) | None, Field(None, alias=alias))
    fields["command"] = (list[str] | None, Field(None, description="the program, then its arguments"))
    return fields


Configuration = create_model("Configuration", __base__=NightFile, **_options())


def schema() -> dict[str, Any]:
    """The JSON Schema, as published in `intelliperf.schema.json`."""
    made = Configuration.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made, "title": "intelliperf.toml"}


def night_file(path: Path) -> tuple[NightFile, str]:
    """The checked file and its text. Raises `UsageError` with the line of what is wrong."""
    content, text = load(path)
    named = {"json" if spelled(key) == "json_events" else spelled(key): value for key, value in content.items()}
    return checked(Configuration, named, path, text), text
