"""Which of the project's Python files a program is made of: its script, and what these import of the project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from intelliperf.project.pythonsource import SUFFIX, Unparsable, imports, module_files, parse

_MOST_FILES = 20_000
_LEFT_OUT = frozenset({"__pycache__", "site-packages", "node_modules"})


def python_closure(tree: Path, starts: Iterable[str]) -> tuple[str, ...]:
    """The given paths, and every Python file below `tree` that they import, at any depth; sorted."""
    waiting = sorted(set(starts))
    known: frozenset[str] | None = None
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if not path.endswith(SUFFIX) or not (tree / path).is_file():
            continue
        known = _python_files(tree) if known is None else known
        waiting += _imported(path, (tree / path).read_bytes().decode("utf-8", "surrogateescape"), known)
    return tuple(sorted(found))


def _imported(path: str, text: str, known: frozenset[str]) -> list[str]:
    try:
        module = parse(path, text)
    except Unparsable:
        return []
    found: list[str] = []
    for dotted in imports(module):
        # `from package import module` names the module last, `from module import name` a name in it.
        for name in (dotted, dotted.rpartition(".")[0]):
            found += module_files(path, name, known)[:1] if name else []
    return found


def scripts(command: Sequence[str], directory: Path, tree: Path) -> list[str]:
    """The project's Python files that a command line names: `app.py`, or `package` behind -m."""
    found = []
    for before, word in zip(("", *command), command, strict=False):
        named = [word] if word.endswith(SUFFIX) else []
        if before == "-m":
            path = word.replace(".", "/")
            named = [f"{path}{SUFFIX}", f"{path}/__main__{SUFFIX}", f"{path}/__init__{SUFFIX}"]
        for name in named:
            file = Path(os.path.normpath(directory / name))
            if tree in file.parents and file.is_file():
                found.append(file.relative_to(tree).as_posix())
    return found


def _python_files(tree: Path) -> frozenset[str]:
    found: set[str] = set()
    for directory, names, files in os.walk(tree):
        names[:] = sorted(
            n for n in names if not n.startswith(".") and n not in _LEFT_OUT and not _environment(directory, n)
        )
        for name in files:
            if name.endswith(SUFFIX):
                found.add(Path(directory, name).relative_to(tree).as_posix())
        if len(found) > _MOST_FILES:
            break
    return frozenset(found)


def _environment(directory: str, name: str) -> bool:
    """Is it a virtual environment, whose packages are not the project's?"""
    return Path(directory, name, "pyvenv.cfg").is_file()
