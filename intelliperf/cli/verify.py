"""`intelliperf verify PATCH -- ./app`: an existing patch through the same gates as any candidate."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.improve import conclude, finish_report, scratch
from intelliperf.cli.judging import reading_of, reads_compiled
from intelliperf.cli.options import Options
from intelliperf.cli.view import view_for
from intelliperf.cli.wiring import open_run
from intelliperf.project.journal import Journal
from intelliperf.project.kernelnames import unqualified
from intelliperf.project.patches import given_change
from intelliperf.project.scratch import read_text
from intelliperf.project.versions import sources
from intelliperf.protocols import ApplicationProfile, Proposal, Task
from intelliperf.records import (
    NO_FILE,
    Attempt,
    Candidate,
    Declaration,
    Finding,
    Kernel,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
)
from intelliperf.rounds import attempt
from intelliperf.validation.edits.names import plain_name
from intelliperf.validation.edits.targets import Touched, python_functions, touched


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
        given = given_change(patch, application, journal.directory / "work" / "patched")
        journal.event("note", text=f"run directory: {journal.directory}")
        application, edits = given.application, given.edits
        candidate = Candidate(edits, f"the patch {given.name}", Origin(OriginKind.USER, given.name), declares)
        run = open_run(options, application, journal)
        run.versions.build_original()
        profile = run.profile()
        originals = {
            edit.path: read_text(application.project / edit.path) for edit in edits if edit.base_hash != NO_FILE
        }
        change = python_functions(edits, {**sources(run.versions.original, ()), **originals})
        if reads_compiled(candidate):
            change = touched(reading_of(run.versions.original.workspace), edits, originals)
        attempt(run, GivenPatch(candidate), run.pursuit.adopt(target(profile, change)))
        report = finish_report(run, run.finish())
    return conclude(options, report, journal.directory)


def target(profile: ApplicationProfile, change: Touched) -> Finding:
    """The kernel whose own code the patch changes, or code that it calls, or its launch; of several the slowest.

    Where it changes none of these, the kernel that takes the most time.
    """
    known = list(profile.kernels)
    found = ([kernel for kernel in known if _is_among(kernel.kernel, symbols)] for symbols in change.levels)
    chosen = next(filter(None, found), known)[0]
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


def _is_among(kernel: Kernel, symbols: Collection[str]) -> bool:
    return kernel.symbol in symbols or any(plain_name(symbol) == unqualified(kernel.name) for symbol in symbols)


def _total_ns(profile: KernelProfile) -> float:
    return sum(profile.device_time_ns)
