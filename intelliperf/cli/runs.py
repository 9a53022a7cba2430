"""Commands on finished runs: apply, report, and the list of formulas."""

from __future__ import annotations

from pathlib import Path

from intelliperf.errors import UsageError
from intelliperf.project.journal import RUNS
from intelliperf.records import FileEdit, Report, content_hash


def find_run(given: Path | None, finished: bool = True) -> Path:
    """The named run directory, or the latest one below the current directory."""
    if given is not None:
        for place in (given, RUNS / given):
            if place.is_dir():
                return place.resolve()
        raise UsageError(f"no such run directory: {given}")
    started = sorted(path.parent for path in RUNS.glob("*/run.json")) if RUNS.is_dir() else []
    runs = [path for path in started if (path / "report.json").exists() is finished]
    if not runs:
        raise UsageError(f"no {'finished' if finished else 'interrupted'} run below {RUNS.resolve()}")
    return runs[-1].resolve()


def print_report(run: Path | None) -> int:
    path = find_run(run) / "summary.md"
    if not path.is_file():
        raise UsageError(f"{path.parent} holds no summary.md: not a run, or not finished (`intelliperf resume`)")
    print(path.read_text("utf-8", "replace"), end="")
    return 0


def apply_run(run: Path | None) -> int:
    """Write the run's accepted edits into the project; all files or none."""
    from intelliperf.report.files import read

    directory = find_run(run)
    report = read(directory)
    changed = write_in_place(report)
    for path in changed:
        print(f"wrote {report.application.project / path}")
    if not changed:
        print(f"nothing to do: {report.application.project} already holds the patch of run {report.run_id}")
    return 0


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
        print(f"{name:20} {formula.summary}")
    return 0
