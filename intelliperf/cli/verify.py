"""`intelliperf verify PATCH -- ./app`: somebody's patch through the same gates as any candidate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.improve import conclude, finish_report, open_run, scratch
from intelliperf.cli.options import Options
from intelliperf.cli.view import view_for
from intelliperf.codegen.syntax.outline import functions
from intelliperf.errors import UsageError
from intelliperf.processes.process import output_of
from intelliperf.project.journal import Journal
from intelliperf.project.scratch import Workspace, read_text
from intelliperf.protocols import ApplicationProfile, Proposal, Task
from intelliperf.records import (
    NO_FILE,
    Application,
    Attempt,
    Candidate,
    Declaration,
    FileEdit,
    Finding,
    KernelProfile,
    Metric,
    Origin,
    OriginKind,
    content_hash,
)

_GIT_DEADLINE_S = 60.0
_DEEPEST = 8  # directories between the top of a repository and the project
_NO_PATCH = "No valid patches"


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
        run.build_reference()
        profile = run.profile()
        originals = {
            edit.path: read_text(application.project / edit.path) for edit in edits if edit.base_hash != NO_FILE
        }
        run.attempt(GivenPatch(candidate), run.adopt(_target(profile, originals, edits)))
        report = finish_report(run, run.finish(run.ending()))
    return conclude(options, report, journal.directory)


def patched_files(application: Application, patch: Path, root: Path) -> tuple[FileEdit, ...]:
    """The edits that the patch makes, found by letting git apply it to a scratch copy.

    A file that it adds or renames has the hash of nothing, one that it removes becomes empty: both are the
    judge's to refuse. Raises `UsageError` where the patch does not apply or changes nothing.
    """
    workspace = Workspace.create(application, root)
    isolated = {"GIT_CEILING_DIRECTORIES": str(workspace.tree.parent), "GIT_DIR": str(root / "no-repository")}
    options = _way_to_apply(patch, workspace.tree, isolated, root)
    listing = _git(["apply", "--numstat", "-z", *options], workspace.tree, isolated)
    paths = {entry.split("\t", 2)[2] for entry in listing.split("\0") if entry.count("\t") == 2}
    present = {path for path in paths if (workspace.tree / path).is_file()}
    links = {path for path in present if (workspace.tree / path).is_symlink()}
    _git(["apply", "--whitespace=nowarn", *options], workspace.tree, isolated)
    edits = []
    for path in sorted(paths):
        changed = workspace.tree / path
        before = read_text(application.project / path) if path in present else ""
        after = read_text(changed) if changed.is_file() and changed.is_symlink() <= (path in links) else ""
        if before != after or path not in present:
            edits.append(FileEdit(path, content_hash(before) if path in present else NO_FILE, after))
    workspace.remove()
    if not edits:
        raise UsageError("the patch changes nothing")
    return tuple(edits)


def _way_to_apply(patch: Path, tree: Path, environment: Mapping[str, str], scratch: Path) -> list[str]:
    """Options and file with which git takes it: a/ and b/ before the names or not, from the top of a repository
    with the project below it, with the line endings of another system. Raises `UsageError` with git's first complaint.
    """
    unix = scratch / "patch-with-unix-line-ends"
    unix.write_bytes(patch.read_bytes().replace(b"\r\n", b"\n"))
    complaint = ""
    for form in ([str(patch)], [str(unix)], ["--ignore-whitespace", str(unix)]):
        for strip in (1, 0, *range(2, _DEEPEST + 1)):
            options = [f"-p{strip}", *form]
            done, _, err = output_of(["git", "apply", "--check", *options], _GIT_DEADLINE_S, environment, tree)
            if done.ok:
                return options
            complaint = complaint or err.strip() or done.describe()
            if _NO_PATCH in err:
                break
    raise UsageError(f"the patch does not apply: {complaint}")


def _git(arguments: list[str], directory: Path, environment: Mapping[str, str]) -> str:
    done, out, err = output_of(["git", *arguments], _GIT_DEADLINE_S, environment, directory)
    if not done.ok:
        raise UsageError(f"the patch does not apply: {err.strip() or done.describe()}")
    return out


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
