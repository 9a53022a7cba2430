"""The words said to models, as data files beside this one."""

from __future__ import annotations

import functools
from importlib.resources import files

_GIVEN, _RULES, _REPLY = "# What you are given", "# Rules for the change", "# Your reply"


@functools.cache
def text(name: str) -> str:
    """The text `<name>.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


@functools.cache
def instructions(language: str) -> str:
    """What a model is told first. For "triton": another task and other rules, the same material and reply."""
    common = text("rewrite")
    if language != "triton":
        return common
    task, _, rules = text("rewrite_triton").partition(_RULES)
    given = common[common.index(_GIVEN) : common.index(_RULES)]
    return f"{task}{given}{_RULES}{rules}\n\n{common[common.index(_REPLY) :]}"
