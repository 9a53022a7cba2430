"""A bench for source rules: small programs with the blamed line marked, rewritten, built and run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from inprocess import build_here

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.codegen.syntax.clang import ClangParser
from intelliperf.devices.models import device_file_values, resolve
from intelliperf.dropins.frontend import Unit, device_reader_flags
from intelliperf.dropins.toolchain import find_toolchain, tool_environment
from intelliperf.processes.process import output_of
from intelliperf.processes.storage import cache_directory
from intelliperf.protocols import Proposal, Task
from intelliperf.records import (
    AccessKind,
    Device,
    DeviceLimits,
    Finding,
    Frame,
    Geometry,
    Kernel,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    SourceEvidence,
)

MARK = re.compile(r"//@ *(\w+)?")
CALLER = re.compile(r"//\^ *(\w+)")
_LIMITS = DeviceLimits(304, 2.1e9, 32, 65536, 65536, 32, 65536, 32768, 4 << 20, 5e12, 1e13, 1e14)
_PARSERS: list[ClangParser] = []


@dataclass(frozen=True)
class Bench:
    """Files of one project; lines to blame end with `//@`, or `//@ name` to choose among several.

    `//^ name` marks the line of the kernel from which the blamed one of that name is called.
    """

    root: Path
    files: dict[str, str]
    block: tuple[int, int, int] = (256, 1, 1)

    def __post_init__(self) -> None:
        for path, text in self.files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(text.encode("utf-8", "surrogateescape"))

    def task(self, rule: str, access: AccessKind, space: MemorySpace, mark: str | None = None) -> Task:
        kernel = Kernel("k", "k")
        geometry = Geometry((4, 4, 1), self.block)
        profile = KernelProfile(kernel, 1, (geometry,), (1.0,), Provenance.MODELLED, 1.0)
        evidence = tuple(
            SourceEvidence(
                kernel, self.root / path, number, 0, line, access, space, "", 4, self._chain(path, number, found[1]), {}
            )
            for path, text in self.files.items()
            for number, line in enumerate(text.splitlines(), start=1)
            if (found := MARK.search(line)) and (mark is None or found.group(1) == mark)
        )
        cuda = any(path.endswith((".cu", ".cuh")) for path in self.files)
        wave = 32 if cuda else 64
        return Task(
            finding=Finding("f", profile, "", 1.0, Metric.REQUESTS, 1.0, 1.0, 1.0),
            evidence=evidence,
            device=Device("nvidia" if cuda else "amd", "", "", wave, True, _LIMITS),
            sources=dict(self.files),
            compile_arguments={
                path: reader_flags(self.root / path) for path in self.files if path.endswith((".hip", ".cu"))
            },
            project=self.root,
            knowledge="",
            rules=(rule,),
        )

    def _chain(self, path: str, number: int, name: str | None) -> tuple[Frame, ...]:
        callers = [
            Frame(self.root / path, line, 0, "k")
            for line, text in enumerate(self.files[path].splitlines(), start=1)
            if (found := CALLER.search(text)) and found[1] == name
        ]
        return (Frame(self.root / path, number, 0, ""), *callers) if callers else ()

    def propose(
        self, rule: str, access: AccessKind, space: MemorySpace = MemorySpace.GLOBAL, mark: str | None = None
    ) -> Proposal:
        proposal = RuleRewriter(parser()).propose(self.task(rule, access, space, mark), ())
        assert proposal is not None
        return proposal

    def rewritten(
        self, rule: str, access: AccessKind, space: MemorySpace = MemorySpace.GLOBAL, mark: str | None = None
    ) -> dict[str, str]:
        proposal = self.propose(rule, access, space, mark)
        assert proposal.candidate is not None, proposal.declined
        return {**self.files, **{edit.path: edit.text for edit in proposal.candidate.edits}}

    def declined(
        self, rule: str, access: AccessKind, space: MemorySpace = MemorySpace.GLOBAL, mark: str | None = None
    ) -> str:
        proposal = self.propose(rule, access, space, mark)
        assert proposal.declined is not None, proposal.candidate
        return proposal.declined.reason


def parser() -> ClangParser:
    """One for all tests: it keeps what it has parsed."""
    if not _PARSERS:
        driver, headers = tuple(find_toolchain().driver()), cache_directory() / "headers"
        _PARSERS.append(ClangParser(driver, environment=tool_environment(), kept_headers=headers))
    return _PARSERS[0]


def reader_flags(source: Path) -> tuple[str, ...]:
    language = "cuda" if source.suffix == ".cu" else "hip"
    target = resolve("h100" if language == "cuda" else "mi300x")
    unit = Unit(source, language, source.parent, (), "-O2", target, dict(device_file_values(target)), False)
    return tuple(device_reader_flags(unit, find_toolchain()))


def output(root: Path, files: dict[str, str]) -> str:
    """What the program prints when it is built from `files` and run on the emulator."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode("utf-8", "surrogateescape"))
    sources = [path for path in files if path.endswith((".hip", ".cu"))]
    flavour = "nvcc" if sources[0].endswith(".cu") else "hipcc"
    build_here(flavour, *sources, "-o", "app", directory=root)
    ran, printed, errors = output_of([str(root / "app")], 60.0, {}, root)
    assert ran.ok, errors
    return printed
