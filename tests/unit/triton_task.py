"""A rewriting task for a line of a Triton program."""

from __future__ import annotations

from pathlib import Path

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.codegen.syntax.clang import ClangParser
from intelliperf.protocols import Proposal, Task
from intelliperf.records import (
    AccessKind,
    Finding,
    Geometry,
    Kernel,
    KernelProfile,
    MemorySpace,
    Metric,
    Provenance,
    SourceEvidence,
)
from tests.unit import rewrite_task

PROGRAMS = Path(__file__).parents[1] / "triton" / "programs"


def sources_of(*names: str) -> dict[str, str]:
    return {name: (PROGRAMS / name).read_text() for name in names}


def triton_task(
    sources: dict[str, str],
    kernel: str,
    line_text: str,
    *,
    grid: tuple[int, int, int] = (7813, 1, 1),
    rule: str,
    element_bytes: int = 4,
) -> Task:
    """The only line of all sources that holds `line_text` is blamed."""
    ((path, line),) = [
        (path, number)
        for path, text in sources.items()
        for number, row in enumerate(text.split("\n"), 1)
        if line_text in row
    ]
    launched = Kernel(kernel, kernel, Path("/scratch") / path, 1)
    evidence = SourceEvidence(
        kernel=launched, file=Path("/scratch") / path, line=line, column=1, text=line_text, access=AccessKind.LOAD,
        space=MemorySpace.GLOBAL, operation="load", element_bytes=element_bytes, chain=(), quantities={},
    )  # fmt: skip
    profile = KernelProfile(launched, 1, (Geometry(grid, (256, 1, 1)),), (1e4,), Provenance.MODELLED, 1.0)
    finding = Finding("test", profile, "", 1.0, Metric.DEVICE_TIME_NS, 1.0, 0.0, 2.0)
    return Task(
        finding=finding, evidence=(evidence,), device=rewrite_task.device(), sources=sources, compile_arguments={},
        project=Path("/scratch"), knowledge="", rules=(rule,),
    )  # fmt: skip


def proposed(task: Task) -> Proposal:
    proposal = RuleRewriter(ClangParser(("false",))).propose(task, [])
    assert proposal is not None
    return proposal
