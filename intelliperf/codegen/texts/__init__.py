"""The words said to models, as data files beside this one."""

from __future__ import annotations

import functools
from importlib.resources import files


@functools.cache
def text(name: str) -> str:
    """The text `<name>.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
