"""The edit gate for Python files that hold Triton kernels.

Only the bodies of jit functions that the kernel reaches may change, and new helpers that only these call; with
geometry declared also sizes of launches and lists of configurations. All else runs, so it stays.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from intelliperf.project import pythonsource
from intelliperf.project.pythonsource import JitFunction, Module, Program, Unparsable
from intelliperf.records import Declaration, FileEdit
from intelliperf.validation.edits import pythonbody, pythongrids, pythonhost, pythonmeaning
from intelliperf.validation.edits.grids import alike


@dataclass(frozen=True)
class PythonVerdict:
    """`refusal` with file and line, or empty. See `gate.StaticVerdict`."""

    refusal: str = ""
    beyond_target: bool = False
    synchronisation: bool = False
    geometry: bool = False
    unchanged: bool = False  # the same syntax trees: only comments and layout differ
    grids: tuple[tuple[str, ...], tuple[str, ...]] | None = None


@dataclass(frozen=True, eq=False)
class _Change:
    """The project before and after, and which functions stand for each other."""

    before: Program
    after: Program
    roots: tuple[JitFunction, ...]
    reached: tuple[JitFunction, ...]  # of the original
    pairs: tuple[tuple[JitFunction, JitFunction], ...]  # in edited files, both reached before
    fresh: tuple[JitFunction, ...]

    @property
    def changed(self) -> tuple[tuple[JitFunction, JitFunction], ...]:
        return tuple(pair for pair in self.pairs if _body(pair[0]) != _body(pair[1]))


def examine(
    edits: Sequence[FileEdit], sources: Mapping[str, str], kernel: str, file: Path | None, declares: Declaration
) -> PythonVerdict:
    """Judge edits of Python files. `sources`: all texts of the original that a kernel of it may reach."""
    try:
        found = _examined(edits, sources, kernel, file, declares)
        same = not found.refusal and all(_tree(sources[edit.path]) == _tree(edit.text) for edit in edits)
        return replace(found, unchanged=same)
    except RecursionError:
        return PythonVerdict(f"{edits[0].path}: expressions nested too deeply")


def _examined(
    edits: Sequence[FileEdit], sources: Mapping[str, str], kernel: str, file: Path | None, declares: Declaration
) -> PythonVerdict:
    texts = {**sources, **{edit.path: edit.text for edit in edits}}
    for edit in edits:
        told = pythonhost.read_comments(sources[edit.path], edit.text)
        if told:
            return PythonVerdict(f"{edit.path}: {told}")
        for text, whose in ((sources[edit.path], "the original"), (edit.text, "the candidate")):
            try:
                pythonsource.parse(edit.path, text)
            except Unparsable as error:
                return PythonVerdict(f"{edit.path}: {whose} cannot be read: {error}")
    before, after = pythonsource.program(sources), pythonsource.program(texts)
    roots = before.kernels(kernel, file)
    if not roots:
        return PythonVerdict(f"no jit function {pythonsource.plain_name(kernel)} is in the sources that may change")
    if declares.kernels:
        roots = (*roots, *(function for function in before.functions() if function not in roots))
    change = _paired(before, after, roots, [edit.path for edit in edits])
    geometry_line = None
    for edit in edits:
        host = _host(change, before.modules[edit.path], after.modules[edit.path])
        if host.refusal:
            return PythonVerdict(f"{edit.path}: {host.refusal}")
        if host.geometry_line is not None:
            geometry_line = geometry_line or f"{edit.path}:{host.geometry_line}"
    refusal = _bodies(change)
    if not refusal and geometry_line is not None and not (declares.geometry or declares.kernels):
        refusal = f"{geometry_line}: the grid or constants of a launch change, undeclared: --allow-geometry allows it"
    return _verdict(change, kernel, file, refusal, geometry_line is not None)


def _verdict(change: _Change, kernel: str, file: Path | None, refusal: str, geometry: bool) -> PythonVerdict:
    after = change.after.reached(tuple(pair[1] for pair in change.pairs))
    own = change.before.kernels(kernel, file)
    others = tuple(function for function in change.before.functions() if function not in change.before.reached(own))
    shared = {id(function) for function in change.before.reached(others)} if others else set()
    touched = [pair[0] for pair in change.changed]
    grids = [
        tuple(formula for one in side.kernels(kernel, file) for formula in pythongrids.grid_formulas(side, one))
        for side in (change.before, change.after)
    ]
    return PythonVerdict(
        refusal=refusal,
        beyond_target=any(id(function) in shared or function in others for function in touched),
        synchronisation=pythonmeaning.synchronising(change.reached) != pythonmeaning.synchronising(after),
        geometry=geometry,
        grids=alike(*grids) if geometry else None,
    )


def _paired(before: Program, after: Program, roots: tuple[JitFunction, ...], paths: Sequence[str]) -> _Change:
    reached = before.reached(roots)
    pairs: list[tuple[JitFunction, JitFunction]] = []
    fresh: list[JitFunction] = []
    for path in paths:
        old, new = before.modules[path].functions, after.modules[path].functions
        for function in new:
            mine = [f for f in new if f.qualified == function.qualified]
            theirs = [f for f in (*old, *reached) if f.qualified == function.qualified and f.module.path == path]
            theirs = list(dict.fromkeys(theirs))
            if not theirs and _is_fresh(function, before):
                fresh.append(function)
            elif len(theirs) == len(mine):
                match = theirs[mine.index(function)]
                if match in reached:
                    pairs.append((match, function))
        pairs += _undecorated(before, after, reached, path, pairs)
    return _Change(before, after, roots, reached, tuple(pairs), tuple(fresh))


def _undecorated(
    before: Program, after: Program, reached: Sequence[JitFunction], path: str, known: Sequence[tuple[JitFunction, ...]]
) -> list[tuple[JitFunction, JitFunction]]:
    """Kernels by a decorator of the project's own: known as such because they were launched."""
    missing = [f for f in reached if f.module.path == path and f not in before.modules[path].functions]
    found = []
    for function in missing:
        there = after.kernels(function.name, Path(path))
        if len(there) == 1 and all(function is not pair[0] for pair in known):
            found.append((function, there[0]))
    return found


def _is_fresh(function: JitFunction, before: Program) -> bool:
    """Does no text of the project know the name, in whatever role?"""
    word = re.compile(rf"\b{re.escape(function.name)}\b")
    return not any(word.search(module.text) for module in before.modules.values())


def _host(change: _Change, old: Module, new: Module) -> pythonhost.HostChange:
    pairs = [pair for pair in change.pairs if pair[1].module is new]
    fresh = [function for function in change.fresh if function.module is new]
    found = pythonhost.compare(old, new, pairs, fresh, change.before)
    return found if not found.refusal else pythonhost.HostChange(_beyond(change, old, new) or found.refusal)


def _beyond(change: _Change, old: Module, new: Module) -> str:
    """The body of a jit function that the kernel does not reach, where that is what changed."""
    reached = {function.qualified for function in change.reached if function.module is old}
    for function in new.functions:
        there = [other for other in old.functions if other.qualified == function.qualified]
        if len(there) == 1 and function.qualified not in reached and _body(there[0]) != _body(function):
            told = f"{function.qualified}, which the kernel that is judged does not reach, changes"
            return f"line {function.node.lineno}: {told}, undeclared: --allow-kernels allows it"
    return ""


def _bodies(change: _Change) -> str:
    had = pythonbody.Vocabulary(change.reached, change.before)
    kernels = set(map(id, change.roots))
    for old, new in change.changed:
        told = pythonbody.refusal(old, new, had, change.after)
        if not told and id(old) in kernels:
            told = pythonmeaning.unused(old, new)
        if told:
            return f"{new.module.path}: {told}"
    for function in change.fresh:
        told = pythonbody.signature_refusal(function, change.reached) or pythonbody.refusal(
            None, function, had, change.after
        )
        if told:
            return f"{function.module.path}: {told}"
    now = {id(pair[0]): pair[1] for pair in change.pairs}
    after = change.after.reached(tuple(now.get(id(root), root) for root in change.roots))
    told = pythonmeaning.taken_away(change.reached, after)
    return f"{change.roots[0].module.path}: {told}" if told else ""


def _tree(text: str) -> str:
    return ast.dump(ast.parse(text))


def _body(function: JitFunction) -> str:
    return ";".join(ast.dump(statement) for statement in function.node.body)
