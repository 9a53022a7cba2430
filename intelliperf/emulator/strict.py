"""The strictness gate: what only the host's compiler takes is not a GPU program.

A build compiles each source for the real target, too, and a kernel with facts of that compile has passed.
Where facts are missing (refused, or no assembler for them on this machine) the source is compiled once more
from the build's compile log to hear the errors.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from intelliperf.emulator.isa import strict_compile
from intelliperf.emulator.modulefacts import ModuleFacts
from intelliperf.emulator.tracefiles import Trace
from intelliperf.errors import ToolchainError
from intelliperf.project.scratch import compile_log
from intelliperf.records import Check, CheckStatus

NAME = "real-target compile"


@dataclass(frozen=True)
class StrictBuild:
    """A traced program and the directory in which it was built."""

    trace: Trace
    project: Path


def check(reference: StrictBuild, candidate: StrictBuild) -> Check:
    """FAILED where the real target's compiler refuses the candidate and not the original."""
    excessive = over_limits(candidate.trace)
    if excessive and not over_limits(reference.trace):
        return Check(NAME, CheckStatus.FAILED, excessive[0])
    unproven = modules_without_facts(candidate.trace)
    architectures = ", ".join(sorted({str(m.device["architecture"]) for m in candidate.trace.modules.values()}))
    if not unproven:
        return Check(NAME, CheckStatus.PASSED, f"all kernels compile for {architectures}")
    if compile_log(candidate.project) is None:
        return Check(NAME, CheckStatus.NOT_RUN, "the build left no log of its compilations")
    errors = errors_of(candidate, unproven)
    if not errors:
        return Check(NAME, CheckStatus.PASSED, f"all sources compile for {architectures}; registers unknown")
    before = errors_of(reference, modules_without_facts(reference.trace))
    if before:
        return Check(NAME, CheckStatus.WEAK, f"the compiler for {architectures} refuses the original, too: {before[0]}")
    return Check(NAME, CheckStatus.FAILED, f"the compiler for {architectures} refuses it: {errors[0]}")


def modules_without_facts(trace: Trace) -> tuple[ModuleFacts, ...]:
    """Modules with a kernel of which the real target's compiler said nothing."""
    return tuple(
        module for module in trace.modules.values() if any(kernel.static is None for kernel in module.kernels.values())
    )


def over_limits(trace: Trace) -> tuple[str, ...]:
    """Kernels that compile but need more LDS than a block of the chip can have."""
    found = []
    for module in trace.modules.values():
        limit = int(module.device["lds_bytes_per_block_optin"])
        for kernel in module.kernels.values():
            if kernel.static is not None and kernel.static.lds_bytes > limit:
                found.append(f"{kernel.name} needs {kernel.static.lds_bytes} bytes of LDS, a block has {limit}")
    return tuple(found)


def errors_of(built: StrictBuild, modules: Iterable[ModuleFacts]) -> tuple[str, ...]:
    """The compiler's errors for the modules' sources; empty without a compile log."""
    log = compile_log(built.project)
    if log is None:
        return ()
    by_source = {Path(entry["source"]).resolve(): entry for entry in _entries(log)}
    errors: list[str] = []
    for module in modules:
        entry = by_source.get(Path(module.source).resolve())
        if entry is None:
            continue
        try:
            errors += strict_compile(entry, str(module.device["architecture"])).errors
        except ToolchainError as error:
            errors.append(str(error))
    return tuple(errors)


def _entries(log: Path) -> list[dict[str, str]]:
    lines = log.read_text("utf-8", "surrogateescape").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
