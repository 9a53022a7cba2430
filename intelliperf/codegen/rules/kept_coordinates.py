"""A kernel that goes by its coordinates gets those that it had, where other threads in other blocks do its work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from intelliperf.codegen.rules.problem import Place, Problem, body
from intelliperf.codegen.rules.relabel import coordinate_reads, spelling


def keep_coordinates(
    problem: Problem, place: Place, words: Mapping[str, str], note: str, lines: Iterable[tuple[str, str]]
) -> None:
    """Write `words` for the coordinates, and of `lines` at the kernel's beginning those whose coordinate it reads.

    Raises `NotApplicable`.
    """
    source, top = problem.source(place.path), body(place.functions[0])
    prefixes = sorted({name.split(".")[0] for name in words})
    reads = [node for prefix in prefixes for node in coordinate_reads(place, prefix)]
    for node in reads:
        spelling(source, place, node)
    for start, end, name in sorted({(node.start_offset, node.end_offset, node.name) for node in reads}):
        if name in words:
            source.replace(start, end, words[name])
    named = {node.name for node in reads}
    declared = [line for name, line in lines if any(each.startswith(name) for each in named)]
    first = next((child for child in top.children if child.begin is not None), top)
    indent = source.indentation(first.start_offset)
    source.insert(top.start_offset + 1, "".join(f"\n{indent}{line}" for line in (note, *declared)))
