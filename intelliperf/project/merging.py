"""Accepted changes put together in another selection or order than they were made in: three-way merges, by git."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.processes.process import output_of
from intelliperf.project.diff import unified_diff
from intelliperf.records import Attempt, FileEdit, KernelPatch, content_hash

_DEADLINE_S = 60.0


@dataclass(frozen=True)
class Restacked:
    """What a selection of changes comes to: the attempts with edits and diffs as they are then, and the final texts.

    `lost`: attempts whose change does not merge without the others'.
    """

    attempts: tuple[Attempt, ...]
    texts: Mapping[str, str]
    lost: tuple[Attempt, ...] = ()


def restacked(originals: Mapping[str, str], made: Sequence[Attempt], wanted: Sequence[Attempt]) -> Restacked:
    """`wanted` in its order, out of `made`, which were accepted one upon the other in that order."""
    bases = _bases(originals, made)
    now = dict(originals)
    remade: list[Attempt] = []
    lost: list[Attempt] = []
    for attempt in wanted:
        if attempt.candidate is None:
            continue
        texts = {edit.path: edit.text for edit in attempt.candidate.edits}
        after = {path: merged(bases[attempt.index][path], now[path], text) for path, text in texts.items()}
        whole = {path: text for path, text in after.items() if text is not None}
        if len(whole) < len(after):
            lost.append(attempt)
            continue
        remade.append(_remade(attempt, now, whole))
        now |= whole
    return Restacked(tuple(remade), now, tuple(lost))


def _remade(attempt: Attempt, before: Mapping[str, str], after: Mapping[str, str]) -> Attempt:
    edits = tuple(FileEdit(path, content_hash(before[path]), text) for path, text in after.items())
    candidate = dataclasses.replace(attempt.candidate, edits=edits) if attempt.candidate else None
    return dataclasses.replace(attempt, candidate=candidate, diff=unified_diff(before, edits))


def series(originals: Mapping[str, str], made: Sequence[Attempt]) -> tuple[KernelPatch, ...]:
    """The accepted attempts `made` as one patch per kernel, where they merge so; else as one for each attempt."""
    kernels = list(dict.fromkeys(attempt.kernel for attempt in made))
    plain = restacked(originals, made, made)
    sorted_ = restacked(originals, made, sorted(made, key=lambda attempt: kernels.index(attempt.kernel)))
    if sorted_.lost or sorted_.texts != plain.texts:
        return tuple(_patch([attempt], attempt.diff) for attempt in plain.attempts)
    found: list[KernelPatch] = []
    now = dict(originals)
    for kernel in kernels:
        own = [attempt for attempt in sorted_.attempts if attempt.kernel == kernel]
        edits = {edit.path: edit for attempt in own if attempt.candidate for edit in attempt.candidate.edits}
        found.append(_patch(own, unified_diff(now, edits.values())))
        now |= {path: edit.text for path, edit in edits.items()}
    return tuple(found)


def _patch(attempts: Sequence[Attempt], diff: str) -> KernelPatch:
    formulas = dict.fromkeys(attempt.formula for attempt in attempts)
    return KernelPatch(attempts[0].kernel, tuple(formulas), tuple(attempt.index for attempt in attempts), diff)


def _bases(originals: Mapping[str, str], made: Sequence[Attempt]) -> dict[int, dict[str, str]]:
    """By attempt the texts that its edits were made for."""
    found: dict[int, dict[str, str]] = {}
    chain = dict(originals)
    for attempt in made:
        edits = attempt.candidate.edits if attempt.candidate else ()
        found[attempt.index] = {edit.path: chain[edit.path] for edit in edits}
        chain |= {edit.path: edit.text for edit in edits}
    return found


def rebased(edits: Sequence[FileEdit], bases: Mapping[str, str], texts: Mapping[str, str]) -> tuple[FileEdit, ...]:
    """Edits of `bases` as edits of `texts`, where other changes were made of the same; none where they do not merge."""
    found = []
    for edit in edits:
        text = merged(bases[edit.path], texts[edit.path], edit.text)
        if text is None:
            return ()
        if text != texts[edit.path]:
            found.append(FileEdit(edit.path, content_hash(texts[edit.path]), text))
    return tuple(found)


def merged(base: str, mine: str, theirs: str) -> str | None:
    """`theirs` on top of `mine`, both made from `base`; None where they change the same lines."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    with tempfile.TemporaryDirectory(prefix="intelliperf-merge-") as name:
        paths = [Path(name) / which for which in ("mine", "base", "theirs")]
        for path, text in zip(paths, (mine, base, theirs), strict=True):
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        done, _, _ = output_of(["git", "merge-file", "--quiet", *map(str, paths)], _DEADLINE_S)
        return paths[0].read_bytes().decode("utf-8", "surrogateescape") if done.ok else None
