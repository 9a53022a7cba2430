"""A version of the project that builds, what its compilers were told, and the sources that matter."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intelliperf.project import pythonsource
from intelliperf.project.pythonfiles import python_closure, scripts
from intelliperf.project.recipes import python_sources
from intelliperf.project.scratch import Workspace
from intelliperf.records import Application, Declaration, FileEdit, Kernel, KernelProfile, SourceEvidence

JIT_DIRECTORY = ".intelliperf/jit"  # in each version's tree: what its interpreter compiles at run time
GENERATED_LOG = f"{JIT_DIRECTORY}/generated.jsonl"  # … which lines of a model a compiler made kernels from
KEPT_CODE = f"{JIT_DIRECTORY}/code"  # … what it compiled, by its digest, to launch it again without the program
KEPT_VARIABLE = "INTELLIPERF_KEPT_CODE"  # … and the variable that tells an interpreter where that is
OTHER_CONSTANTS = f"{JIT_DIRECTORY}/constants.jsonl"  # … for which other constants it could be compiled
JIT_LOG = f"{JIT_DIRECTORY}/compile.jsonl"  # … and what it was told, a JSON object per specialisation of a kernel
TUNED = f"{JIT_DIRECTORY}/tuned.jsonl"  # … what its autotuners chose
ORIGINALS_TUNED = f"{JIT_DIRECTORY}/tuned.original.jsonl"  # … and what the original's did, in a candidate's tree


@dataclass(frozen=True)
class Version:
    """A version of the project that builds: the original or an accepted candidate on top of it."""

    workspace: Workspace
    edits: tuple[FileEdit, ...]  # cumulative, against the original's texts
    compile_arguments: Mapping[str, tuple[str, ...]]
    libraries: tuple[str, ...] = ()  # made of headers: what they are and where they came from
    compilers: tuple[str, ...] = ()  # that the drop-ins became for its GPU sources, where they tell
    remarks: tuple[str, ...] = ()  # what else they say of how these were compiled
    declares: Declaration = Declaration()  # cumulative, too

    @property
    def application(self) -> Application:
        return self.workspace.application

    def is_elsewhere(self, file: Path) -> bool:
        """Is `file` neither in the scratch copy nor in the project at home?"""
        homes = (self.workspace.tree, self.workspace.original.project)
        return not any(file.is_relative_to(home) for home in homes)

    def holds(self, file: Path) -> bool:
        """Is `file` (in the scratch copy or at home) a source of the project, as the user or an edit wrote it?"""
        tree, project = self.workspace.tree, self.workspace.original.project
        root = next((root for root in (tree, project) if root in file.parents), None)
        if root is None:
            return False
        path = file.relative_to(root).as_posix()
        if any(edit.path == path for edit in self.edits):
            return True
        home, copy = project / path, tree / path
        return home.is_file() and copy.is_file() and home.read_bytes() == copy.read_bytes()


def compiles_late(application: Application) -> bool:
    """Is its device code made as it runs, and kept?"""
    return any(name == KEPT_VARIABLE for name, _ in application.environment)


def sources(state: Version, evidence: Sequence[SourceEvidence]) -> dict[str, str]:
    """Texts, by project-relative path, of what the build compiles for the device and of what holds evidence.

    Of Python: also the script that runs, and all files of the project that any of these import.

    Files that the build itself makes are left out: an edit of one would not last.
    """
    # The scratch copy comes first: it may lie inside the project that it is a copy of.
    roots = (state.workspace.tree, state.workspace.original.project)
    paths = set(state.compile_arguments) | {edit.path for edit in state.edits} | _compiled_at_run_time(state)
    for item in evidence:
        root = next((root for root in roots if root in item.file.parents), None)
        if root is not None:
            paths.add(item.file.relative_to(root).as_posix())
    texts: dict[str, str] = {}
    waiting = sorted(paths)
    if any(path.endswith(pythonsource.SUFFIX) for path in paths):
        waiting += scripts(state.application.command, state.application.directory, state.workspace.tree)
    waiting = list(python_closure(state.workspace.tree, waiting))
    while waiting:
        path = waiting.pop()
        if path not in texts and state.holds(state.workspace.tree / path):
            texts[path] = state.workspace.text(path)
            waiting += _included(path, texts[path], state)
    return dict(sorted(texts.items()))


def evidence_at_home(evidence: SourceEvidence, workspace: Workspace) -> SourceEvidence:
    """The evidence with the user's own paths instead of the scratch copy's."""
    chain = tuple(dataclasses.replace(frame, file=workspace.outside(frame.file)) for frame in evidence.chain)
    kernel = _kernel_at_home(evidence.kernel, workspace)
    return dataclasses.replace(evidence, file=workspace.outside(evidence.file), chain=chain, kernel=kernel)


def _kernel_at_home(kernel: Kernel, workspace: Workspace) -> Kernel:
    return dataclasses.replace(kernel, file=workspace.outside(kernel.file) if kernel.file else None)


def profile_at_home(profile: KernelProfile, workspace: Workspace) -> KernelProfile:
    """The profile with the user's own paths."""
    return dataclasses.replace(profile, kernel=_kernel_at_home(profile.kernel, workspace))


def python_texts(state: Version) -> dict[str, str]:
    """Texts of the version's own Python files by project-relative path."""
    tree = state.workspace.tree
    found = (path.relative_to(tree).as_posix() for path in python_sources(tree))
    return {path: state.workspace.text(path) for path in found}


def _compiled_at_run_time(state: Version) -> set[str]:
    """Files of the project with kernels that a just-in-time compiler saw, and those that launched them."""
    log, tree = state.workspace.tree / JIT_LOG, state.workspace.tree
    if not log.exists():
        return set()
    named: set[Path] = set()
    for line in log.read_text("utf-8", "surrogateescape").splitlines():
        entry = json.loads(line)
        named |= {Path(entry["file"]), Path(entry["launched_from"].rpartition(":")[0])}
    own = {path.relative_to(tree).as_posix() for path in named if tree in path.parents}
    return {path for path in own if not path.startswith(f"{JIT_DIRECTORY}/")}  # a compiler wrote the others


_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


def _included(path: str, text: str, state: Version) -> list[str]:
    """Project headers that the text names, looked up beside it and in the build's -I directories."""
    if path.endswith(".py"):
        return []
    tree = state.workspace.tree.resolve()
    places = [(tree / path).parent]
    for arguments in state.compile_arguments.values():
        joined = [Path(a[2:]) for a in arguments if a.startswith("-I") and len(a) > 2]
        following = [
            Path(b) for a, b in zip(arguments, arguments[1:], strict=False) if a in ("-I", "-isystem", "-iquote")
        ]
        places += [tree / place for place in (*joined, *following)]
    found = []
    for name in _INCLUDE.findall(text):
        header = next((h for place in places if (h := (place / name).resolve()).is_file()), None)
        if header is not None and tree in header.parents:
            found.append(header.relative_to(tree).as_posix())
    return found


def libraries_used(log: Path) -> tuple[str, ...]:
    """Which libraries made of headers the build's GPU sources include and where these came from; sorted."""
    return tuple(sorted({library for entry in _logged(log) for library in entry.get("libraries", ())}))


def compilers_used(log: Path) -> tuple[str, ...]:
    """What compiled the build's GPU sources, where the drop-ins say so; sorted."""
    return tuple(sorted({entry["compiler"] for entry in _logged(log) if entry.get("compiler")}))


def remarks(log: Path) -> tuple[str, ...]:
    """What else the drop-ins say of the build's GPU sources; sorted."""
    return tuple(sorted({remark for entry in _logged(log) for remark in entry.get("remarks", ())}))


def _logged(log: Path) -> list[dict[str, Any]]:
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text("utf-8", "surrogateescape").splitlines()]


def compile_arguments(log: Path, workspace: Workspace) -> dict[str, tuple[str, ...]]:
    """Project-relative source → flags to read its device side with, from the drop-ins' log."""
    arguments: dict[str, tuple[str, ...]] = {}
    if not log.exists():
        return arguments
    for line in log.read_text("utf-8", "surrogateescape").splitlines():
        entry = json.loads(line)
        source = (Path(entry["directory"]) / entry["source"]).resolve()
        if workspace.tree.resolve() in source.parents:
            arguments[source.relative_to(workspace.tree.resolve()).as_posix()] = tuple(entry["reader_flags"])
    return arguments
