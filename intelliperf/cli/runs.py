"""Commands on finished runs: apply, report, and the list of formulas."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from intelliperf.cli import EXIT_INTERRUPTED
from intelliperf.cli.configuration import upwards
from intelliperf.cli.options import RunOptions
from intelliperf.errors import UsageError
from intelliperf.project.journal import PROGRAM_OUTPUT, RUNS
from intelliperf.records import FileEdit, Report, content_hash


def find_run(options: RunOptions, fits: Callable[[Path], bool] | None = None, kind: str = "finished") -> Path:
    """The named run directory, or the latest one that fits: of --run-root, of this project, or of one above.

    `kind`: what to call those that fit. Raises `UsageError` where there is none.
    """
    roots = [options.run_root] if options.run_root is not None else [one / RUNS for one in upwards(Path.cwd())]
    if options.run is not None:
        for place in (options.run, *(root / options.run for root in roots)):
            if place.is_dir():
                return place.resolve()
        raise UsageError(f"no such run directory: {options.run}{_close(options.run, roots)}")
    for root in roots:
        runs = [path for path in _runs(root) if (fits or is_finished)(path)]
        if runs:
            return runs[-1].resolve()
    raise UsageError(f"no {kind} run below {roots[0].resolve()}; elsewhere, name its directory or --run-root")


def is_finished(run: Path) -> bool:
    return (run / "report.json").exists()


def is_resumable(run: Path) -> bool:
    """Was the run interrupted, rather than refused before it had a profile, as a build command with a typo is?"""
    if is_finished(run) or (run / "survey.json").exists():
        return False
    if (run / "stages" / "profile.json").exists():
        return True
    return _last_error(run) in (None, EXIT_INTERRUPTED)


def _last_error(run: Path) -> int | None:
    """The exit status of the error that the run ended with; None where it was cut off without one."""
    try:
        *_, last = (run / "events.jsonl").read_text("utf-8", "replace").splitlines()
        event = json.loads(last)
    except (OSError, ValueError):
        return None
    return event.get("exit_status") if isinstance(event, dict) and event.get("event") in ("error", "note") else None


def _runs(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.glob("*/run.json")) if root.is_dir() else []


def _close(named: Path, roots: Sequence[Path]) -> str:
    near = get_close_matches(named.name, [run.name for root in roots for run in _runs(root)], 1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def print_report(options: RunOptions, program_output: bool = False) -> int:
    """`program_output`: what the program printed instead, each stream to its own."""
    if program_output:
        run = find_run(options, lambda run: (run / PROGRAM_OUTPUT[0]).is_file(), "profiled")
        for name, stream in zip(PROGRAM_OUTPUT, (sys.stdout, sys.stderr), strict=True):
            if (run / name).is_file():
                stream.write((run / name).read_text("utf-8", "replace"))
        return 0
    path = find_run(options) / "summary.md"
    if not path.is_file():
        raise UsageError(f"{path.parent} holds no summary.md: not a run, or not finished (`intelliperf resume`)")
    print(path.read_text("utf-8", "replace"), end="")
    return 0


def apply_run(options: RunOptions) -> int:
    """Write the run's accepted edits into the project; all files or none."""
    from intelliperf.report.files import read

    directory = find_run(options)
    report = read(directory)
    if report.accepted is None:
        others = [run for run in _runs(directory.parent) if (run / "patch.diff").exists() and is_finished(run)]
        named = f"; {others[-1].name} has a patch: intelliperf apply {name_of(others[-1])}" if others else ""
        raise UsageError(f"run {report.run_id} accepted no candidate: there is nothing to apply{named}")
    if report.exit_status:
        patch = shlex.quote(str(directory / "patch.diff"))
        told = f"run {report.run_id}: {report.ending.value}"
        anew = f"intelliperf verify {patch} -- COMMAND"
        raise UsageError(f"{told}; to have it judged anew: {anew}; to take it anyway: git apply {patch}")
    changed = write_in_place(report)
    for path in changed:
        print(f"wrote {report.application.project / path}")
    if not changed:
        print(f"nothing to do: {report.application.project} already holds the patch of run {report.run_id}")
    return 0


def name_of(run: Path) -> str:
    """What to type for the run: its name where it is found by that, else its directory."""
    return shlex.quote(run.name if by_name(run) else str(run))


def by_name(run: Path) -> bool:
    """Is the run found from here without its directory?"""
    return any((root / RUNS).resolve() == run.parent.resolve() for root in upwards(Path.cwd()))


def write_in_place(report: Report) -> tuple[str, ...]:
    """The final texts of an accepted run, written file by file with modes and line endings kept.

    Returns the paths written: none where the project holds these texts already.

    Every file is checked first against the text that the run started from, so that nothing is
    written if one was changed since. Raises `UsageError` then, and where nothing was accepted.
    """
    from intelliperf.project.scratch import read_text, replace_text

    if report.accepted is None:
        raise UsageError(f"run {report.run_id} accepted no candidate: there is nothing to apply")
    project = report.application.project
    final = final_edits(report)
    if all(_holds(project / edit.path, edit.text) for edit in final):
        return ()
    for edit in final:
        path = project / edit.path
        if not path.is_file():
            raise UsageError(f"{path} is gone: the patch no longer fits")
        if content_hash(read_text(path)) != edit.base_hash:
            raise UsageError(f"{path} was changed since run {report.run_id}: apply patch.diff by hand")
    written: list[FileEdit] = []
    originals = {edit.path: read_text(project / edit.path) for edit in final}
    try:
        for edit in final:
            replace_text(project / edit.path, edit.text)
            written.append(edit)
    except BaseException:
        for edit in written:
            replace_text(project / edit.path, originals[edit.path])
        raise
    return tuple(edit.path for edit in final)


def _holds(path: Path, text: str) -> bool:
    from intelliperf.project.scratch import read_text

    return path.is_file() and read_text(path) == text


def final_edits(report: Report) -> tuple[FileEdit, ...]:
    """All accepted edits, one per file, against the texts that the run started from."""
    edits: dict[str, FileEdit] = {}
    for attempt in report.attempts:
        if attempt.verdict is None or not attempt.verdict.accepted or attempt.candidate is None:
            continue
        for edit in attempt.candidate.edits:
            first = edits.get(edit.path, edit)
            edits[edit.path] = FileEdit(edit.path, first.base_hash, edit.text)
    return tuple(edits[path] for path in sorted(edits))


def list_formulas() -> int:
    from intelliperf.formulas import FORMULAS

    for name, formula in FORMULAS.items():
        only = " (diagnosis only)" if formula.diagnosis_only else ""
        print(f"{name:20} {formula.summary}{only}")
    return 0
