"""What a rule sees of a task, and what it answers."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from intelliperf.codegen.rules.wave import CUDA, HIP, Dialect
from intelliperf.codegen.syntax import outline
from intelliperf.codegen.syntax.clang import ClangParser, ParseFailed, Unit
from intelliperf.codegen.syntax.source import Source
from intelliperf.codegen.syntax.tree import Node
from intelliperf.protocols import Task
from intelliperf.records import AccessKind, Declaration, FileEdit, MemorySpace, SourceEvidence, content_hash

_UNIT_SUFFIXES = (".cu", ".hip", ".cpp", ".cc", ".cxx", ".c++", ".C")
# What only a source asks or reads that both languages' compilers get.
_BOTH = re.compile(r"__(?:CUDACC|NVCC|CUDA_ARCH|HIP_PLATFORM_NVIDIA|HIP_PLATFORM_NVCC)__|cuda_runtime(?:_api)?\.h")


class NotApplicable(Exception):
    """A rule's precise reason for declining, as a sentence without a full stop."""


@dataclass(frozen=True)
class Rewrite:
    sources: tuple[Source, ...]
    rationale: str
    declares: Declaration = Declaration()

    def edits(self) -> tuple[FileEdit, ...]:
        """Whole new texts of the files that change."""
        return tuple(
            FileEdit(source.path, content_hash(source.text), source.edited())
            for source in self.sources
            if source.splices
        )


class Rule(Protocol):
    @property
    def name(self) -> str: ...

    def rewrite(self, problem: Problem) -> Rewrite:
        """The rewrite of all blamed lines that it can prove. Raises `NotApplicable`."""
        ...


@dataclass(frozen=True)
class Place:
    """A blamed line, found in the project."""

    evidence: SourceEvidence
    path: str
    functions: tuple[Node, ...]  # resolved function bodies around the line, one per instantiation

    def __str__(self) -> str:
        return f"{self.path}:{self.evidence.line}"


class Problem:
    """A task with its sources parsed on demand."""

    def __init__(self, task: Task, parser: ClangParser) -> None:
        self.task = task
        self._parser = parser
        self._sources: dict[str, Source] = {}
        self._state = state_of(task.sources)

    def source(self, path: str) -> Source:
        """The file to edit; one object per file, so that edits of several lines add up."""
        if path not in self._sources:
            self._sources[path] = Source(path, self.task.sources[path])
        return self._sources[path]

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Edits made inside are taken back when the rule declines half-way."""
        kept = {path: list(source.splices) for path, source in self._sources.items()}
        try:
            yield
        except NotApplicable:
            for path, source in self._sources.items():
                source.splices[:] = kept.get(path, [])
            raise

    def rewrite_lines(
        self, summary: str, edit: Callable[[SourceEvidence], list[str]], access: AccessKind | None = None
    ) -> Rewrite:
        """Apply `edit` to every blamed line; it returns what it did, in words, or declines.

        With `access`: to what global memory is blamed for in that way, as a line may do several things.
        """
        done: dict[str, None] = {}
        declined: dict[str, None] = {}
        blamed = [
            item
            for item in self.task.evidence
            if access is None or (item.access is access and item.space is not MemorySpace.SHARED)
        ]
        if not blamed and self.task.evidence:
            raise NotApplicable(f"no {access.value if access else 'access'} of global memory is blamed")
        for evidence in blamed:
            try:
                with self.all_or_nothing():
                    did = edit(evidence)
                    if any(source.overlaps() for source in self._sources.values()):
                        raise NotApplicable(f"{evidence.file.name}:{evidence.line} is rewritten with another line")
                    done.update(dict.fromkeys(did))
            except NotApplicable as reason:
                declined[str(reason)] = None
        if not done:
            raise NotApplicable("; ".join(_by_reason(declined)) or "no line is blamed")
        left = f". Left alone: {'; '.join(_by_reason(declined))}" if declined else ""
        sources = tuple(self._sources[path] for path in sorted(self._sources))
        return Rewrite(sources, f"{summary}: {'; '.join(done)}{left}")

    @property
    def cuda(self) -> bool:
        """CUDA spelling of wave operations; otherwise HIP's."""
        arguments = [flag for flags in self.task.compile_arguments.values() for flag in flags]
        if "cuda" in arguments or "-xcuda" in arguments:
            return True
        if "hip" in arguments or "-xhip" in arguments:
            return False
        return any(path.endswith((".cu", ".cuh")) for path in self.task.sources)

    @property
    def dialect(self) -> Dialect:
        """How wave operations are spelled: CUDA's way also where a HIP source is read by CUDA's compiler, too."""
        shared = any(_BOTH.search(text) for text in self.task.sources.values())
        return CUDA if self.cuda or self.task.device.vendor == "nvidia" or shared else HIP

    def relative(self, file: Path) -> str:
        """Path of an evidence's file among the sources, in this or another copy of the project.

        Raises `NotApplicable`.
        """
        name = file.as_posix()
        named = [path for path in self.task.sources if name == path or name.endswith(f"/{path}")]
        if not named:
            raise NotApplicable(f"{file.name} is not one of the project's sources")
        return max(named, key=len)

    def place(self, evidence: SourceEvidence) -> Place:
        """The parsed functions around a blamed line. Raises `NotApplicable`."""
        path = self.relative(evidence.file)
        text = self.task.sources[path]
        region = outline.enclosing_function(text, evidence.line)
        if region is None:
            raise NotApplicable(f"{path}:{evidence.line} is not inside a function definition")
        name = outline.filter_name(text, region)
        functions = [
            function
            for root in self.declarations(path, name)
            for function in resolved_functions(root)
            if _covers(function, evidence.line)
        ]
        if not functions:
            raise NotApplicable(
                f"{path}:{evidence.line}: {region.name} is a template without instantiation, or made by a macro"
            )
        return Place(evidence, path, tuple(functions))

    def declarations(self, path: str, name: str) -> tuple[Node, ...]:
        """Declarations in `path` whose name contains `name`, from the units that see the file."""
        project = self.task.project
        disk = project / path
        if not disk.is_file() or disk.read_bytes() != outline.encoded(self.task.sources[path]):
            raise NotApplicable(f"{path} on disk is not the text that is to be rewritten")
        found: tuple[Node, ...] = ()
        failure = ""
        for unit in self._units(path):
            arguments = self.task.compile_arguments.get(unit, ())
            try:
                found += self._parser.declarations(unit_of(unit, arguments, project), name, disk, self._state)
            except ParseFailed as error:
                failure = str(error)
            if found and unit == path:
                break
        if not found:
            raise NotApplicable(failure or f"no translation unit of the project defines {name} from {path}")
        return found

    def _units(self, path: str) -> list[str]:
        """Translation units that may see the file: itself where it is compiled, else those that include it."""
        if path in self.task.compile_arguments:
            return [path]
        units = [unit for unit in self.task.compile_arguments if unit in self.task.sources]
        name = Path(path).name
        including = {path}
        names = {name}
        while True:
            more = {
                other
                for other, text in self.task.sources.items()
                if other not in including and any(f"{known}" in line for known in names for line in _includes(text))
            }
            if not more:
                break
            including |= more
            names |= {Path(other).name for other in more}
        found = [unit for unit in units if unit in including]
        return found or ([path] if path.endswith(_UNIT_SUFFIXES) else [])


def _by_reason(declined: Iterable[str]) -> list[str]:
    """Lines of a file that are declined for one reason share a sentence: `a.cu:3, 7: the reason`."""
    lines: dict[tuple[str, str], list[str]] = {}
    for sentence in declined:
        at = re.match(r"(\S+):(\d+)\b(.*)", sentence, re.DOTALL)
        lines.setdefault((at[1], at[3]) if at else (sentence, ""), []).append(at[2] if at else "")
    return [f"{head}:{', '.join(numbers)}{rest}" if numbers[0] else head for (head, rest), numbers in lines.items()]


def state_of(sources: Mapping[str, str]) -> str:
    """Identifies the content of all sources."""
    digest = hashlib.sha256()
    for path in sorted(sources):
        digest.update(f"{path}\0{content_hash(sources[path])}\0".encode())
    return digest.hexdigest()


def unit_of(path: str, arguments: Sequence[str], project: Path) -> Unit:
    """The compilation of a project-relative source, as the build made it."""
    return Unit(project / path, _directory(arguments, project), tuple(arguments))


def _directory(arguments: Sequence[str], project: Path) -> Path:
    """Where the unit was compiled: relative paths count from there."""
    option = "-working-directory="
    named = [word.removeprefix(option) for word in arguments if word.startswith(option)]
    return Path(named[-1]) if named else project


def _includes(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip().startswith("#") and "include" in line]


def _covers(function: Node, line: int) -> bool:
    return function.begin is not None and function.end is not None and function.begin.line <= line <= function.end.line


def resolved_functions(root: Node) -> Iterator[Node]:
    """Function definitions below `root` whose types are all known: no uninstantiated templates.

    The bodies of lambdas belong to the functions that hold them.
    """
    for node in root.walk():
        if node.kind not in ("FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl"):
            continue
        if any(child.kind == "CompoundStmt" for child in node.children) and not is_pattern(node):
            yield node


def is_pattern(function: Node) -> bool:
    """Is this the uninstantiated body of a template, or inside one?"""
    node: Node | None = function
    while node is not None:
        parent = node.parent
        if parent is not None and parent.kind == "FunctionTemplateDecl":
            bodies = [child for child in parent.children if child.kind in ("FunctionDecl", "CXXMethodDecl")]
            if bodies and bodies[0] is node:
                return True
        if parent is not None and parent.kind == "ClassTemplateDecl" and node.kind == "CXXRecordDecl":
            return True
        if node.kind == "ClassTemplatePartialSpecializationDecl":
            return True
        node = parent
    return False


def body(function: Node) -> Node:
    return next(child for child in function.children if child.kind == "CompoundStmt")


def bounds_its_blocks(problem: Problem, place: Place, function: Node) -> bool:
    """Does the kernel say how large its blocks may be?"""
    name = function.place
    header = problem.source(place.path).code(function.start_offset, name.offset) if name is not None else ""
    return "launch_bounds" in header or "flat_work_group_size" in header
