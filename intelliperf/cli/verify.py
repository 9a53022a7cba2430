"""`intelliperf verify PATCH -- ./app`: an existing patch through the same gates as any candidate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

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
    Feature,
    Finding,
    Kernel,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
    Provenance,
)
from intelliperf.search.rounds import attempt
from intelliperf.search.run import Run
from intelliperf.validation.edits.gate import examine
from intelliperf.validation.edits.names import plain_name
from intelliperf.validation.edits.targets import Touched, python_functions, touched

NOTHING_TO_RUN = Finding(
    formula="verify",
    profile=KernelProfile(Kernel("", "no kernel"), 0, (), (), Provenance.STATIC, 0.0),
    sentence="the compiler sees no difference between the patch and the original",
    severity=0.0,
    metric=Metric.DEVICE_TIME_NS,
    value=0.0,
    ideal=0.0,
    gain_ceiling=1.0,
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
        given = given_change(patch, application, journal.directory / "work" / "patched")
        journal.event("note", text=f"run directory: {journal.directory}")
        application, edits = given.application, given.edits
        candidate = Candidate(edits, f"the patch {given.name}", Origin(OriginKind.USER, given.name), declares)
        run = open_run(options, application, journal)
        run.pursuit.counts_last = Feature.CHEAP_TRACES not in run.backend.honours  # there counters cost runs
        run.versions.build_original()
        attempt(run, GivenPatch(candidate), run.pursuit.adopt(_finding(run, candidate)))
        report = run.finish()
        if report.finding == NOTHING_TO_RUN:  # no kernel was looked at
            report = replace(report, finding=None)
        report = finish_report(run, report)
    return conclude(options, report, journal.directory)


def _finding(run: Run, candidate: Candidate) -> Finding:
    """What is pursued. A patch that the compiler takes for the original is refused before anything runs."""
    original = run.versions.original
    given = sources(original, ())
    if not reads_compiled(candidate):
        return target(run.profile(), python_functions(candidate.edits, {**given, **_edited(run, candidate)}))
    reading, edited = reading_of(original.workspace), _edited(run, candidate)
    known = {**given, **edited}
    if examine(candidate, known, frozenset(known), "", reading).unchanged:
        return NOTHING_TO_RUN
    return target(run.profile(), touched(reading, candidate.edits, edited))


def _edited(run: Run, candidate: Candidate) -> dict[str, str]:
    """What the files were before the patch."""
    project = run.application.project
    return {edit.path: read_text(project / edit.path) for edit in candidate.edits if edit.base_hash != NO_FILE}


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
