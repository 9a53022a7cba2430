"""The options of a run as its directory keeps them, for `resume`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from intelliperf import __version__
from intelliperf.cli.options import Options
from intelliperf.errors import ProtocolError, UsageError
from intelliperf.project.journal import Journal, read_json, to_json

_PATHS = ("project_directory", "output_file", "replies_from", "reviews", "run_root", "typed_in")
_LISTS = ("command", "build_command", "pass_env")


def keep_options(options: Options, journal: Journal) -> None:
    """What `resume` needs to know."""
    saved = {"version": __version__, "options": _portable(options), "directory": str(Path.cwd())}
    journal.write("run.json", to_json(saved))


def saved_options(directory: Path) -> tuple[Options, Path]:
    """What the run was started with, and where. Raises `UsageError` where the directory holds no run."""
    path = directory / "run.json"
    if not path.is_file():
        raise UsageError(f"{directory} is not a run directory: it has no run.json")
    saved = read_json(path)
    try:
        version = saved["version"]
        if version != __version__:
            raise UsageError(
                f"{directory} was started by intelliperf {version}, this is {__version__}: start a new run"
            )
        return _restored(saved["options"]), Path(saved["directory"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(f"{path} is damaged ({error!r}): start a new run") from error


def _portable(options: Options) -> dict[str, Any]:
    values = dataclasses.asdict(options)
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def _restored(values: dict[str, Any]) -> Options:
    known = {field.name for field in dataclasses.fields(Options)}
    kept = {name: value for name, value in values.items() if name in known}
    for name in _PATHS:
        kept[name] = Path(kept[name]) if kept.get(name) else None
    kept.update({name: tuple(kept[name]) for name in _LISTS if name in kept})
    return Options(**kept)
