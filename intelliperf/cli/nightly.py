"""`intelliperf nightly [FILE]`: all targets of a file, once."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from intelliperf.cli.options import NightOptions
from intelliperf.cli.view import view_for
from intelliperf.errors import BackendUnavailable, IntelliPerfError, UsageError
from intelliperf.processes.storage import storage_errors
from intelliperf.project.codec import decode
from intelliperf.project.journal import Journal, read_json, to_json

FILE_NAMES = ("nightly.toml", "intelliperf.toml")
_REQUEST = "request.json"  # what a night was asked for
_EXTRA = "pip install 'intelliperf[nightly]'"


def run_night(options: NightOptions) -> int:
    """Exit status 0 nothing new, 3 findings without patches, 4 regressions, 5 patches to review, 1 errors."""
    try:
        return _run_night(options)
    except ModuleNotFoundError as error:
        raise BackendUnavailable(f"{error}: {_EXTRA}") from error


def _run_night(options: NightOptions) -> int:
    from intelliperf.history.opening import open_history
    from intelliperf.nightly.night import NightRun, Ways
    from intelliperf.nightly.outputs.files import write

    directory = _resumed(options)
    if directory is not None:
        options = _again(options, directory)
    path, plan = _plan(options)
    root = _nights(options, plan, path)
    with _one_at_a_time(root), view_for(options.json_events, False, None) as view:
        journal = Journal(directory, view) if directory else Journal.create(root, "night", view)
        with journal:
            if directory is None:
                journal.write(_REQUEST, to_json(_kept(options, path)))
            journal.event("note", text=f"night: {journal.directory}")
            with (
                _resumable(journal),
                contextlib.closing(open_history(_database(options, plan, root, path))) as history,
                contextlib.closing(_pool(options, plan)) as pool,
            ):
                journal.event("note", text=f"{len(plan.targets)} targets, {pool.shown}, history in {history.url}")
                ways = Ways(
                    directory=journal.directory,
                    sources=root.parent / "sources",
                    limits=_limits(options, plan),
                    retries=plan.settings.retries,
                    least_gain=plan.settings.least_gain,
                    smallest_regression=plan.settings.regressions.smallest,
                    search=options.search,
                )
                report = NightRun(ways, plan.targets, history, pool, journal).run()
                written = write(report, journal)
    print(written.closing, end="", file=sys.stderr if options.json_events else sys.stdout)
    return report.exit_status


@contextlib.contextmanager
def _resumable(journal: Journal) -> Iterator[None]:
    """Whatever ends the night early, even a database that cannot be opened, leaves a directory to continue from."""
    try:
        yield
    except (IntelliPerfError, KeyboardInterrupt):
        with contextlib.suppress(IntelliPerfError):
            journal.event("note", text=f"`intelliperf nightly --resume --night {journal.directory}` resumes it")
        raise


@dataclasses.dataclass(frozen=True)
class _Plan:
    settings: Any
    targets: tuple[Any, ...]


def _plan(options: NightOptions) -> tuple[Path, _Plan]:
    from intelliperf.cli.schema import night_file
    from intelliperf.nightly.plan import targets_of

    path = options.file
    if path is None:
        path = next((Path(name) for name in FILE_NAMES if Path(name).is_file()), None)
        if path is None:
            raise UsageError(f"no {' or '.join(FILE_NAMES)} here: name the file that lists the targets")
    path = path.resolve()
    file, text = night_file(path)
    return path, _Plan(file.nightly, targets_of(file, path, text, options.only))


def _resumed(options: NightOptions) -> Path | None:
    if not options.resume:
        return None
    if options.night is not None:
        directory = options.night.resolve()
    else:
        root = (options.nights or Path(".intelliperf") / "nights").resolve()
        started = sorted(path.parent for path in root.glob(f"*/{_REQUEST}"))
        open_ones = [path for path in started if not (path / "night.json").exists()]
        if not open_ones:
            raise UsageError(f"no interrupted night below {root}")
        directory = open_ones[-1]
    if not (directory / _REQUEST).is_file():
        raise UsageError(f"{directory} is not a night's directory: it has no {_REQUEST}")
    return directory


def _kept(options: NightOptions, path: Path) -> NightOptions:
    """Without the database's password, which a resumed night gets from --database, PGPASSWORD or a .pgpass file."""
    scheme, separator, rest = (options.database or "").partition("://")
    login, at, host = rest.rpartition("@")
    database = f"{scheme}{separator}{login.partition(':')[0]}{at}{host}" if separator else options.database
    return dataclasses.replace(options, file=path, database=database)


def _again(options: NightOptions, directory: Path) -> NightOptions:
    """The night's own options; budgets, workers, the database and Ray may be given anew."""
    kept = decode(NightOptions, read_json(directory / _REQUEST))
    anew = {
        name: value
        for name in (
            "database",
            "ray",
            "workers",
            "budget_usd",
            "budget_tokens",
            "budget_minutes",
            "budget_device_minutes",
        )
        if (value := getattr(options, name)) is not None
    }
    return dataclasses.replace(kept, **anew, json_events=options.json_events)


def _nights(options: NightOptions, plan: _Plan, path: Path) -> Path:
    given = options.nights or (path.parent / plan.settings.directory if plan.settings.directory else None)
    return (given or path.parent / ".intelliperf" / "nights").resolve()


def _database(options: NightOptions, plan: _Plan, root: Path, path: Path) -> str:
    """A path in the file is relative to the file, wherever the night is started from."""
    written = plan.settings.database
    if written and "://" not in written:
        written = str(path.parent / written)
    return options.database or written or str(root.parent / "history.db")


def _limits(options: NightOptions, plan: _Plan) -> Any:
    from intelliperf.nightly.plan import Limits

    budget = plan.settings.budget

    def either(given: Any, kept: Any) -> Any:
        return kept if given is None else given

    return Limits(
        either(options.budget_usd, budget.usd),
        either(options.budget_tokens, budget.tokens),
        either(options.budget_device_minutes, budget.device_minutes),
        either(options.budget_minutes, budget.minutes),
    )


def _pool(options: NightOptions, plan: _Plan) -> Any:
    if options.ray is not None:
        from intelliperf.nightly.raypool import RayPool

        return RayPool(options.ray, plan.settings.retries)
    from intelliperf.nightly.pools import LocalPool

    return LocalPool(options.workers or plan.settings.workers)


@contextlib.contextmanager
def _one_at_a_time(root: Path) -> Iterator[None]:
    """Two nights below one directory would survey the same targets twice, and lose each other's history."""
    with storage_errors(root):
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / "lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"another night is running in {root}; wait for it, or give --nights") from error
        yield


def print_schema() -> int:
    from intelliperf.cli.schema import schema

    print(json.dumps(schema(), indent=1))
    return 0
