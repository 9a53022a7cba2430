"""What the rules for rows make of one kernel, as if it had a finding."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from rulebench import Bench, parser

from intelliperf.codegen.rulebook import RuleRewriter
from intelliperf.protocols import Proposal
from intelliperf.records import AccessKind, Kernel, MemorySpace


def propose(root: Path, name: str, program: str, kernel: str, moved: int = 0) -> Proposal:
    bench = Bench(root, {name: program})
    line = next(n for n, text in enumerate(program.splitlines(), 1) if f"__global__ void {kernel}(" in text)
    line -= moved
    rule = "split_columns" if kernel in ("down", "columns") else "row_per_wave"
    task = bench.task(rule, AccessKind.LOAD, MemorySpace.GLOBAL, "nothing")
    known = Kernel(kernel, kernel, root / name, line)
    profile = dataclasses.replace(task.finding.profile, kernel=known)
    whole = bench.task("row_per_wave", AccessKind.KERNEL, MemorySpace.GLOBAL).evidence
    evidence = whole or (_kernel_as_a_whole(bench, root / name, line, known),)
    finding = dataclasses.replace(task.finding, profile=profile)
    proposal = RuleRewriter(parser()).propose(dataclasses.replace(task, finding=finding, evidence=evidence), ())
    assert proposal is not None
    return proposal


def _kernel_as_a_whole(bench: Bench, file: Path, line: int, kernel: Kernel):  # type: ignore[no-untyped-def]
    marked = dataclasses.replace(bench, files={file.name: bench.files[file.name].replace("\n", "  //@\n", 1)})
    (evidence,) = marked.task("row_per_wave", AccessKind.KERNEL, MemorySpace.GLOBAL).evidence
    bench.__post_init__()
    return dataclasses.replace(evidence, file=file, line=line, kernel=kernel)
