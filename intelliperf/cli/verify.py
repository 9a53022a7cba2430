"""`intelliperf verify PATCH -- ./app`: somebody's patch through the same gates as any candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.improve import conclude, finish_report, open_run, scratch
from intelliperf.cli.options import Options
from intelliperf.cli.view import view_for
from intelliperf.codegen.syntax.outline import functions
from intelliperf.errors import UsageError
from intelliperf.journal import Journal
from intelliperf.process import output_of
from intelliperf.protocols import ApplicationProfile, Proposal, Task
from intelliperf.records import (
    Application,
    Attempt,
    Candidate,
    Declaration,
    Ending,
    FileEdit,
    Finding,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
    content_hash,
)
from intelliperf.workspace import Workspace, read_text

_GIT_DEADLINE_S = 60.0


class GivenPatch:
    """A `Rewriter` that has one candidate: the patch."""

    name = "user"

    def __init__(self, candidate: Candidate) -> None:
        self._candidate = candidate

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        return None if attempts else Proposal(self._candidate, None)


def verify_patch(options: Options, patch: Path, allow_geometry: bool, allow_kernels: bool) -> int:
    """Exit status 0 where the patch is accepted, 3 where it is not."""
    if not patch.is_file():
        raise UsageError(f"no such patch: {patch}")
    application, _ = application_of(options)
    declares = Declaration(allow_geometry, allow_kernels, "allowed on the command line")
    with (
        view_for(options.json_events, options.verbose, None) as view,
        Journal.create(run_root(options, application.project), "verify", view) as journal,
        scratch(options, journal),
    ):
        journal.event("note", text=f"run directory: {journal.directory}")
        edits = patched_files(application, patch.resolve(), journal.directory / "work" / "patched")
        candidate = Candidate(edits, f"the patch {patch.name}", Origin(OriginKind.USER, patch.name), declares)
        run = open_run(options, application, journal)
        reference = run.build_reference()
        profile = run.profile(reference)
        originals = {edit.path: read_text(application.project / edit.path) for edit in edits}
        finding = run.adopt(_target(profile, originals, edits))
        task = run.task(reference, finding, ())
        attempt, best = run.attempt(GivenPatch(candidate), task, (), reference, reference)
        accepted = attempt is not None and attempt.verdict is not None and attempt.verdict.accepted
        ending = Ending.IMPROVED if accepted else Ending.NO_ACCEPTED_CANDIDATE
        report = finish_report(run, run.finish(ending, reference, best or reference))
    return conclude(options, report, journal.directory)


def patched_files(application: Application, patch: Path, root: Path) -> tuple[FileEdit, ...]:
    """The edits that the patch makes, found by letting git apply it to a scratch copy.

    Raises `UsageError` where it does not apply, or adds or removes files.
    """
    workspace = Workspace.create(application, root)
    isolated = {"GIT_CEILING_DIRECTORIES": str(workspace.tree.parent), "GIT_DIR": str(root / "no-repository")}
    names = _git(["apply", "--numstat", "-z", str(patch)], workspace.tree, isolated)
    paths = sorted({entry.split("\t", 2)[2] for entry in names.split("\0") if entry.count("\t") == 2})
    _git(["apply", "--whitespace=nowarn", str(patch)], workspace.tree, isolated)
    edits = []
    for path in paths:
        original, changed = application.project / path, workspace.tree / path
        if not original.is_file() or not changed.is_file():
            raise UsageError(f"the patch adds, renames or removes {path}: only edits of existing files can be verified")
        before, after = read_text(original), read_text(changed)
        if before != after:
            edits.append(FileEdit(path, content_hash(before), after))
    workspace.remove()
    if not edits:
        raise UsageError("the patch changes nothing")
    return tuple(edits)


def _git(arguments: list[str], directory: Path, environment: Mapping[str, str]) -> str:
    done, out, err = output_of(["git", *arguments], _GIT_DEADLINE_S, environment, directory)
    if not done.ok:
        raise UsageError(f"the patch does not apply: {err.strip() or done.describe()}")
    return out


def _target(profile: ApplicationProfile, originals: Mapping[str, str], edits: Sequence[FileEdit]) -> Finding:
    """The kernel whose body the patch changes, else the one that takes the most time."""
    changed = {name for edit in edits for name in _changed_kernels(originals[edit.path], edit.text)}
    touched = [k for k in profile.kernels if _plain_name(k.kernel.name) in changed]
    chosen = (touched or list(profile.kernels))[0]
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


def _plain_name(display: str) -> str:
    """`void ns::kernel<int>(float*)` → `kernel`."""
    head = display.partition("(")[0].partition("<")[0]
    return head.split()[-1].rpartition("::")[2] if head.split() else display


def _total_ns(profile: KernelProfile) -> float:
    return sum(profile.device_time_ns)
