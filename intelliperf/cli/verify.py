"""`intelliperf verify PATCH -- ./app`: somebody's patch through the same gates as any candidate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.improve import conclude, finish_report, open_run, scratch
from intelliperf.cli.options import Options
from intelliperf.cli.view import view_for
from intelliperf.codegen.syntax.outline import functions
from intelliperf.project.journal import Journal
from intelliperf.project.patches import given_change
from intelliperf.project.scratch import read_text
from intelliperf.protocols import ApplicationProfile, Proposal, Task
from intelliperf.records import (
    NO_FILE,
    Attempt,
    Candidate,
    Declaration,
    FileEdit,
    Finding,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
)


class GivenPatch:
    """A `Rewriter` that has one candidate: the patch."""

    name = "user"

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        return None if attempts else Proposal(self._candidate, None)


def verify_patch(options: Options, patch: str, allow_geometry: bool, allow_kernels: bool) -> int:
    """Exit status 0 where the patch is accepted, 3 where it is not. `patch`: see `given_change`."""
    application, _ = application_of(options)
    declares = Declaration(allow_geometry, allow_kernels, "allowed on the command line")
    with (
        view_for(options.json_events, options.verbose, None) as view,
        Journal.create(run_root(options, application.project), "verify", view) as journal,
        scratch(options, journal),
    ):
        journal.event("note", text=f"run directory: {journal.directory}")
        given = given_change(patch, application, journal.directory / "work" / "patched")
        application, edits = given.application, given.edits
        candidate = Candidate(edits, f"the patch {given.name}", Origin(OriginKind.USER, given.name), declares)
        run = open_run(options, application, journal)
        run.build_reference()
        profile = run.profile()
        originals = {
            edit.path: read_text(application.project / edit.path) for edit in edits if edit.base_hash != NO_FILE
        }
        run.attempt(GivenPatch(candidate), run.adopt(_target(profile, originals, edits)))
        report = finish_report(run, run.finish(run.ending()))
    return conclude(options, report, journal.directory)


def _target(profile: ApplicationProfile, originals: Mapping[str, str], edits: Sequence[FileEdit]) -> Finding:
    """The kernel whose body the patch changes, or whose launch, else the one that takes the most time."""
    texts = [(originals.get(edit.path, ""), edit.text) for edit in edits]
    changed = {name for before, after in texts for name in _changed_kernels(before, after)}
    touched = [k for k in profile.kernels if _plain_name(k.kernel.name) in changed]
    launched = [k for k in profile.kernels if _launched_otherwise(texts, _plain_name(k.kernel.name))]
    chosen = (touched or launched or list(profile.kernels))[0]
    return Finding(
        formula="verify",
        profile=chosen,
        sentence=f"{chosen.kernel.name} is judged before and after the patch",
        severity=0.0,
        metric=Metric.DEVICE_TIME_NS,
        value=_total_ns(chosen),
        ideal=0.0,
        gain_ceiling=1.0,
    )


def _changed_kernels(before: str, after: str) -> set[str]:
    bodies = {
        region.name: before.encode("utf-8", "surrogateescape")[region.start : region.end]
        for region in functions(before)
        if region.is_kernel
    }
    now = {
        region.name: after.encode("utf-8", "surrogateescape")[region.start : region.end] for region in functions(after)
    }
    return {name for name, body in bodies.items() if now.get(name) != body}


def _launched_otherwise(texts: Sequence[tuple[str, str]], name: str) -> bool:
    return any(launch_changes(before, after, name) for before, after in texts)


def launch_changes(before: str, after: str, name: str) -> bool:
    """Is the kernel launched with another grid, block or LDS, as far as the text of one file shows?"""
    return _configurations(before, name) != _configurations(after, name)


def _configurations(text: str, name: str) -> list[str]:
    """Of each launch of the kernel, with the definitions of the names in it."""
    launch = rf"\b{re.escape(name)}\b[^;{{}}]*?<<<(.*?)>>>|LaunchKernelGGL\s*\([^;,]*\b{re.escape(name)}\b([^;]*);"
    found = []
    for match in re.finditer(launch, text, re.DOTALL):
        words = set(re.findall(r"[A-Za-z_]\w*", match[1] or match[2]))
        defined = [
            re.findall(rf"(?:#\s*define\s+{w}\b.*|\b{w}\s*(?:\(|=(?!=)|\{{)[^;]*;)", text) for w in sorted(words)
        ]
        found.append(f"{match[1] or match[2]} {defined}")
    return found


def _plain_name(display: str) -> str:
    """`void ns::kernel<int>(float*)` → `kernel`."""
    head = display.partition("(")[0].partition("<")[0]
    return head.split()[-1].rpartition("::")[2] if head.split() else display


def _total_ns(profile: KernelProfile) -> float:
    return sum(profile.device_time_ns)
