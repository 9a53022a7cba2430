"""`intelliperf bisect --good REV --bad REV -k KERNEL -- ./app`: the commit that made a kernel do more."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from intelliperf.cli.application import application_of
from intelliperf.cli.options import Options
from intelliperf.cli.view import view_for
from intelliperf.errors import BackendUnavailable, BuildFailed, UsageError
from intelliperf.processes.process import output_of
from intelliperf.records.metrics import Metric
from intelliperf.sentences import number as spelled

_GIT_DEADLINE_S = 60.0
_MAX_COMMITS = 2000


def bisect_commits(options: Options, good: str, bad: str, metric: str) -> int:
    """Exit status 0 with the first bad commit printed. Raises `UsageError` where the bad one is not worse."""
    try:
        from intelliperf.nightly.bisect import Bisected, bisect
        from intelliperf.nightly.checkout import work_tree
        from intelliperf.nightly.errand import Errand, run_errand
        from intelliperf.nightly.readings import read_seen
        from intelliperf.nightly.regressions import changed_lines
        from intelliperf.nightly.survey import SURVEY, Seen
    except ModuleNotFoundError as error:
        raise BackendUnavailable(f"{error}: pip install 'intelliperf[nightly]'") from error

    watched = _metric(metric)
    application, _ = application_of(options)
    top = Path(_git(["rev-parse", "--show-toplevel"], application.project))
    inside = application.project.relative_to(top.resolve())
    commits = _commits(good, bad, top)
    with tempfile.TemporaryDirectory(prefix="intelliperf-") as name, view_for(options.json_events, False, None) as view:
        scratch = Path(name)
        project = scratch / "tree" / inside  # as each commit's is called in its survey

        def look(commit: str) -> Seen:
            tree = work_tree(top, commit, scratch / commit)
            tree.rename(scratch / "tree")  # the same path for all, for the same text in all surveys
            try:
                if not project.is_dir():
                    raise BuildFailed(f"{commit[:12]} has no directory {inside}")
                runs = scratch / "runs" / commit
                words = ("survey", *_words(options, project, runs), "--", *options.command)
                ended = run_errand(
                    Errand(words, project, 2 * options.build_timeout + 8 * options.run_timeout), scratch / "logs"
                )
                found = sorted(runs.glob(f"*/{SURVEY}"))
                if ended.exit_status != 0 or not found:
                    raise BuildFailed(ended.complaint)
                seen = read_seen(found[-1])
            finally:
                (scratch / "tree").rename(scratch / commit)
            view({"event": "note", "text": f"{commit[:12]} {_subject(commit, top)}: looked at"})
            return seen

        last = look(commits[-1])
        symbol = _symbol(last, options.kernel)
        found: Bisected = bisect(commits, lambda c: last if c == commits[-1] else look(c), symbol, watched, project)
    out = sys.stderr if options.json_events else sys.stdout
    for reading in found.looked:
        value = spelled(reading.value) if reading.value is not None else f"passed over: {reading.problem}"
        print(f"  {reading.commit[:12]} {_subject(reading.commit, top)}: {value}", file=out)
    (one, *more) = found.suspects
    print(f"{'one of these commits' if more else 'the commit'} raised {watched.value} of {symbol}:", file=out)
    for commit in (one, *more):
        print(f"  {commit} {_subject(commit, top)}", file=out)
    for line in changed_lines(found.good.lines, found.bad.lines, symbol):
        before = "new," if line["before"] is None else f"{spelled(line['before'])} →"
        counted = f"{line['access']} {line['metric']} {before} {spelled(line['after'])}"
        print(f"    {line['file']}:{line['line']}: {line['text']}  ({counted})")
    return 0


def _metric(name: str) -> Metric:
    by_name = {metric.value: metric for metric in Metric}
    if name not in by_name:
        raise UsageError(f"unknown metric {name!r}; choose one of: {', '.join(by_name)}")
    return by_name[name]


def _symbol(seen: object, pattern: str | None) -> str:
    kernels = [profile.kernel for profile in seen.profiles]  # type: ignore[attr-defined]
    chosen = [k for k in kernels if pattern is None or pattern == k.symbol or re.search(pattern, k.name)]
    if len(chosen) != 1:
        names = ", ".join(kernel.name for kernel in chosen or kernels)
        raise UsageError(f"--kernel has to name one kernel; there are {names}")
    return str(chosen[0].symbol)


def _words(options: Options, project: Path, runs: Path) -> list[str]:
    words = ["--project-directory", str(project), "--run-root", str(runs), "--backend", "emulator", "--json"]
    words += ["--top-n", str(options.top_n), "--expect-exit", str(options.expect_exit)]
    words += ["--run-timeout", f"{options.run_timeout:g}", "--build-timeout", f"{options.build_timeout:g}"]
    words += ["--target", options.target] if options.target else []
    for command in options.build_command:
        words += ["--build-command", command]
    return words


def _commits(good: str, bad: str, top: Path) -> list[str]:
    """From the good one to the bad one, along first parents where they lead there."""
    first, last = (
        _git(["rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}"], top) for name in (good, bad)
    )
    if first == last or not _is_ancestor(first, last, top):
        raise UsageError(f"--good {good} does not lead to --bad {bad}")
    for way in (["--first-parent"], []):
        listed = _git(["rev-list", "--reverse", *way, f"{first}..{last}"], top).splitlines()
        if listed and (not way or _git(["rev-parse", f"{listed[0]}^"], top) == first):
            break
    if len(listed) > _MAX_COMMITS:
        raise UsageError(f"{len(listed)} commits lie between {good} and {bad}: name closer ones")
    return [first, *listed]


def _is_ancestor(first: str, last: str, top: Path) -> bool:
    return output_of(["git", "merge-base", "--is-ancestor", first, last], _GIT_DEADLINE_S, None, top)[0].ok


def _subject(commit: str, top: Path) -> str:
    return _git(["show", "-s", "--format=%s", commit], top)


def _git(words: list[str], directory: Path) -> str:
    done, out, err = output_of(["git", *words], _GIT_DEADLINE_S, None, directory)
    if not done.ok:
        raise UsageError(f"git {words[0]}: {(err.strip().splitlines() or [done.describe()])[-1]}")
    return out.strip()
