"""Helpers that rules put above a kernel: named without collision, declared once per scope."""

from __future__ import annotations

import re
from collections.abc import Callable

from intelliperf.codegen.rules.problem import Problem
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.source import Source


def unused_name(problem: Problem, base: str) -> str:
    """`base`, or with the first number that makes it new to the whole project, edits so far included."""
    name, number = base, 2
    while _taken(problem, name):
        name = f"{base}_{number}"
        number += 1
    return name


def _taken(problem: Problem, name: str) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    if any(word.search(text) for text in problem.task.sources.values()):
        return True
    sources = [problem.source(path) for path in problem.task.sources]
    return any(word.search(splice.text) for source in sources for splice in source.splices)


def declare(problem: Problem, source: Source, offset: int, base: str, render: Callable[[str], str]) -> str:
    """Name of a helper that is visible at byte `offset`: an equal one from before, or a new one.

    `render` gives the helper's text for a name.
    """
    at = outline.insertion_point(source.text, offset)
    scope = outline.namespaces(source.text, at)
    for name in (base, *(f"{base}_{number}" for number in range(2, 10))):
        text = render(name)
        places = [splice.start for splice in source.splices if text in splice.text]
        written = source.text.replace("\r\n", "\n").find(text) if source.newline == "\n" else -1
        if written >= 0:
            places.append(len(outline.encoded(source.text[:written])))
        for place in places:
            around = outline.namespaces(source.text, place)
            if place <= at and scope[: len(around)] == around:
                return name
    name = unused_name(problem, base)
    source.insert_declaration(at, render(name))
    return name
