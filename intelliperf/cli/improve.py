"""The main job, `diagnose` and `resume`: options to a run, a run to a report on screen and on disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from intelliperf.cli import EXIT_INTERRUPTED
from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.options import Options, ResumeOptions
from intelliperf.cli.parsing import as_typed
from intelliperf.cli.runs import by_name, find_run, is_resumable, name_of, write_in_place
from intelliperf.cli.saved import keep_options, saved_options
from intelliperf.cli.view import show, view_for
from intelliperf.cli.wiring import open_run
from intelliperf.errors import IntelliPerfError, ProviderError, StorageFull, UsageError
from intelliperf.processes.secrets import mask_logs
from intelliperf.processes.storage import storage_errors
from intelliperf.project.journal import PROGRAM_OUTPUT, Journal, lasting_place
from intelliperf.records import Application, Report
from intelliperf.search.building import STARTED
from intelliperf.search.run import Run
from intelliperf.sentences import counted

_FIRST_RUNS = ("run", "trace")  # labels of the logs of a profiled run, by backend


def improve_application(options: Options) -> int:
    """Start a new run. Returns the exit status."""
    from intelliperf.formulas import find_formula

    formula = find_formula(options.formula)
    application, reason = application_of(options)
    check_output(options)
    check_consistent(options, application)
    with (
        view_for(options.json_events, options.verbose, options.budget_minutes) as view,
        Journal.create(run_root(options, application.project), formula.name, view) as journal,
    ):
        keep_options(options, journal)
        journal.event("note", text=f"run directory: {journal.directory}")
        if not options.build_command:
            what = "build command" if application.build_commands else "nothing to build"
            journal.event("note", text=f"{what}: {reason}")
        report = _execute(options, application, journal)
    return conclude(options, report, journal.directory)


def resume_run(asked: ResumeOptions) -> int:
    """Resume an interrupted or paused run, in its own directory and with its own options."""
    directory = find_run(asked, is_resumable, "interrupted")
    if (directory / "report.json").exists():
        raise UsageError(f"{directory} is finished; see `intelliperf report`")
    options, typed = saved_options(directory)
    try:
        os.chdir(typed)
    except OSError as error:
        raise UsageError(f"{directory} was started in {typed}: {error.strerror}") from error
    application, _ = application_of(options)
    with (
        view_for(options.json_events, options.verbose, options.budget_minutes) as view,
        Journal(directory, view) as journal,
    ):
        journal.event("note", text=f"resuming {directory}")
        report = _execute(options, application, journal, asked.without_model)
    return conclude(options, report, directory)


def check_output(options: Options) -> None:
    """Raises `UsageError` where --output-file cannot be written, before any work is done for it."""
    path = options.output_file
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"--output-file {path} is a directory")
    if not path.parent.is_dir():
        raise UsageError(f"--output-file {path}: there is no directory {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"--output-file {path} cannot be written")


def check_consistent(options: Options, application: Application) -> None:
    """Raises `UsageError` for options that would be ignored, and where --in-place could not write, before any work."""
    from intelliperf.backends import check_backend
    from intelliperf.cli.judging import record_limit
    from intelliperf.devices.models import resolve
    from intelliperf.formulas import find_formula

    check_backend(options.backend)
    record_limit(options)
    if options.target is not None:
        resolve(options.target)
    if options.price is not None:
        from intelliperf.codegen.pricing import Prices

        Prices.parse(options.price)
    diagnoses = options.diagnose_only or find_formula(options.formula).diagnosis_only
    model = {"--model": options.model, "--provider": options.provider, "--api-base": options.api_base}
    model |= {"--price": options.price}
    given = [name for name, value in model.items() if value]
    if given and (diagnoses or options.replies_from is not None):
        why = "a diagnosis asks no model" if diagnoses else "--replies-from takes the replies of its run"
        raise UsageError(f"{given[0]} would be ignored: {why}")
    if given and options.model is None:
        raise UsageError(f"{given[0]} would be ignored: it needs --model")
    if options.in_place and diagnoses:
        raise UsageError("--in-place would be ignored: a diagnosis makes no patch")
    if options.in_place and not os.access(application.project, os.W_OK):
        raise UsageError(
            f"--in-place: {application.project} cannot be written; leave it out and apply the patch elsewhere"
        )


def _execute(options: Options, application: Application, journal: Journal, without_model: bool = False) -> Report:
    from intelliperf.pipeline import improve

    with scratch(options, journal):
        run = open_run(options, application, journal, without_model)
        return finish_report(run, improve(run))


def _log_failure(journal: Journal, text: str, status: int) -> None:
    with contextlib.suppress(StorageFull):  # the disk may be what failed
        journal.record("error", text=text, exit_status=status)


def _offer_resume(journal: Journal, paused: bool = False) -> None:
    """Where `resume` would work: options were kept, and the build had begun."""
    directory = journal.directory
    if (directory / "run.json").exists() and (directory / STARTED).exists():
        accepted = journal.accepted()
        kept = (
            f"{counted(accepted, 'accepted candidate')} {'is' if accepted == 1 else 'are'} kept; " if accepted else ""
        )
        told = f"{'the run is paused; ' if paused else ''}{kept}to resume: "
        without = " (--without-model: report what was found so far)" if paused else ""
        journal.tell(f"{told}intelliperf resume {name_of(directory)}{without}")


@contextlib.contextmanager
def scratch(options: Options, journal: Journal) -> Iterator[None]:
    """Clears scratch copies and traces away on every way out, and the whole run if it never began.

    What ends the run too early becomes its last event.
    """
    try:
        with contextlib.ExitStack() as stack:
            if not options.keep_work:
                journal.work = stack.enter_context(lasting_place(journal.directory))
            yield
    except IntelliPerfError as error:
        _log_failure(journal, str(error), error.exit_status)
        if isinstance(error, (StorageFull, ProviderError)):
            _offer_resume(journal, isinstance(error, ProviderError))
        raise
    except KeyboardInterrupt:
        _log_failure(journal, "interrupted", EXIT_INTERRUPTED)
        _offer_resume(journal)
        raise
    finally:
        keep_output(journal.directory)
        mask_logs(journal.directory)
        if not options.keep_work:
            shutil.rmtree(journal.directory / "work", ignore_errors=True)
            shutil.rmtree(journal.directory / "device" / "traces", ignore_errors=True)
            for probed in journal.directory.glob(
                "sandbox-*"
            ):  # of a process that was killed while it tried the sandbox
                shutil.rmtree(probed, ignore_errors=True)
        if not (journal.directory / STARTED).exists():
            shutil.rmtree(journal.directory, ignore_errors=True)


def keep_output(directory: Path) -> None:
    """What the original printed in its first run, as PROGRAM_OUTPUT in the run directory, before its traces go."""
    logs = [log for log in (directory / "device").rglob("*.stdout") if log.stem in _FIRST_RUNS]
    if not logs or (directory / PROGRAM_OUTPUT[0]).exists():
        return
    first = min(logs, key=lambda log: log.stat().st_mtime_ns)
    with contextlib.suppress(OSError):  # the disk may be full, and then something else has said so
        for name in PROGRAM_OUTPUT:
            shutil.copyfile(first.with_suffix(Path(name).suffix), directory / name)


def finish_report(run: Run, report: Report) -> Report:
    """Write the report files."""
    from intelliperf.report.files import write

    with run.stages.stage("report"):
        write(report, run.journal)
    return report


def _from_here(place: Path) -> Path:
    """Shorter where it lies below the working directory, and as good in the next command."""
    here = Path.cwd()
    return place.relative_to(here) if here in place.parents else place


def conclude(options: Options, report: Report, directory: Path) -> int:
    """Say how it ended, write what was asked for."""
    from intelliperf.report.terminal import closing

    out = sys.stderr if options.json_events else sys.stdout
    command = "intelliperf apply" if by_name(directory) else f"intelliperf apply {name_of(directory)}"
    given = as_typed(options, ("formula", "kernel", "json_events", "verbose", "output_file"))
    show(closing(report, _from_here(directory), command, given), out)
    if options.output_file is not None:
        with storage_errors(options.output_file):
            shutil.copyfile(directory / "report.json", options.output_file)
    if options.in_place and report.accepted is not None and report.exit_status == 0:
        for path in write_in_place(report):
            print(f"wrote {report.application.project / path}", file=out)
    return report.exit_status
