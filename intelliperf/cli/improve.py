"""The main job, `diagnose` and `resume`: options to a run, a run to a report on screen and on disk."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any

from intelliperf import __version__
from intelliperf.cli import EXIT_INTERRUPTED
from intelliperf.cli.application import application_of, run_root
from intelliperf.cli.options import Options, ResumeOptions
from intelliperf.cli.parsing import as_typed
from intelliperf.cli.runs import by_name, find_run, is_resumable, name_of, write_in_place
from intelliperf.cli.view import show, view_for
from intelliperf.codegen.heeding import Heeding
from intelliperf.errors import IntelliPerfError, ProtocolError, ProviderError, StorageFull, UsageError
from intelliperf.observer import Settings
from intelliperf.processes.sandbox import Sandbox
from intelliperf.processes.secrets import PASSED
from intelliperf.processes.storage import cache_directory, storage_errors
from intelliperf.project.journal import PROGRAM_OUTPUT, Journal, read_json, to_json
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.project.reviews import read_reviews
from intelliperf.project.versions import Version, sources
from intelliperf.protocols import Backend, Proposal, Rewriter, Task
from intelliperf.records import Application, Attempt, Executor, OriginKind, Report
from intelliperf.run import STARTED, Run

if TYPE_CHECKING:
    from intelliperf.backends import Manner
    from intelliperf.codegen.rulebook import RuleRewriter

_LATER = (
    "emulator.tracing",
    "emulator.collect",
    "emulator.lines",
    "validation.judge",
    "codegen.rulebook",
    "codegen.syntax.clang",
    "emulator.safety",
    "emulator.strict",
    "emulator.timing",
    "report.files",
    "report.terminal",
)
_FIRST_RUNS = ("run", "trace")  # labels of the logs of a profiled run, by backend
_AFTER_START_S = 0.03
_PATHS = ("project_directory", "output_file", "replies_from", "reviews", "run_root", "typed_in")
_MOST_AT_A_TIME = 4
_EARLIER = 6  # accepted attempts of earlier runs that a model is told of
_LISTS = ("command", "build_command", "pass_env")


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
            what = "build command from" if application.build_commands else "nothing to build:"
            journal.event("note", text=f"{what} {reason}")
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


def saved_options(directory: Path) -> tuple[Options, Path]:
    """What the run was started with, and where. Raises `UsageError` where the directory holds no run."""
    path = directory / "run.json"
    if not path.is_file():
        raise UsageError(f"{directory} is not a run directory: it has no run.json")
    saved = read_json(path)
    try:
        version = saved["version"]
        if version != __version__:
            raise UsageError(
                f"{directory} was started by intelliperf {version}, this is {__version__}: start a new run"
            )
        return _restored(saved["options"]), Path(saved["directory"])
    except (KeyError, TypeError, AttributeError) as error:
        raise ProtocolError(f"{path} is damaged ({error!r}): start a new run") from error


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
    from intelliperf.formulas import find_formula

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
        told = "the run is paused; to resume: " if paused else "to resume: "
        without = " (--without-model: report what was found so far)" if paused else ""
        journal.tell(f"{told}intelliperf resume {name_of(directory)}{without}")


@contextlib.contextmanager
def scratch(options: Options, journal: Journal) -> Iterator[None]:
    """Clears scratch copies and traces away on every way out, and the whole run if it never began.

    What ends the run too early becomes its last event.
    """
    try:
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

    with run.stage("report"):
        write(report, run.journal)
    return report


def open_run(options: Options, application: Application, journal: Journal, without_model: bool = False) -> Run:
    """Everything that a run needs, wired together. `without_model`: keep a model's attempts, ask for no more."""
    from intelliperf.backends import open_backend, with_gpu
    from intelliperf.cli.judging import RunJudge
    from intelliperf.formulas import find_formula

    formula = find_formula(options.formula)
    diagnose_only = options.diagnose_only or formula.diagnosis_only
    if diagnose_only and options.replies_from is not None:
        raise UsageError("--replies-from needs the --formula that the recorded replies were for")
    rules = _Rules()
    reviews = read_reviews(options.reviews) if options.reviews is not None else ()
    rewriters: tuple[Rewriter, ...] = ()
    if not diagnose_only:
        silent = without_model and options.model is not None
        rewriters = (rules, _Silent()) if silent else _rewriters(options, application, journal, rules)
    if options.pass_env:
        os.environ[PASSED] = ",".join(options.pass_env)
    sandbox = Sandbox.probe(journal.directory, options.pass_env)
    device = journal.directory / "device"
    backend, why = open_backend(options.backend, device, options.target, sandbox, application, manner_of(options))
    journal.event("note", text=f"backend: {why}")
    if backend.name == "emulator":
        _announce_runtime(journal)
    application = with_gpu(application, backend.name, options.target)
    judge = RunJudge(options, backend, sandbox, journal)
    return Run(
        settings=Settings(
            kernel=options.kernel,
            top_n=options.top_n,
            num_attempts=options.num_attempts,
            parallel=_parallel(options),
            diagnose_only=diagnose_only,
            build_deadline_s=options.build_timeout,
            run_deadline_s=options.run_timeout,
            budget_minutes=options.budget_minutes,
            keep_work=options.keep_work,
        ),
        application=application,
        backend=backend,
        formula=formula,
        rewriters=tuple(Heeding(one) for one in rewriters) if reviews else rewriters,
        reviews=reviews,
        judge=judge,
        recordings=judge,
        journal=journal,
        earlier_runs=_accepted_before(journal, application) if options.model is not None else (),
        exclusive=_exclusive(backend, journal),
        while_building=_preparation(sandbox),
        read_ahead=rules.read_ahead if rewriters else lambda version: None,
    )


def _accepted_before(journal: Journal, application: Application) -> tuple[Attempt, ...]:
    """What the latest runs on the same project had accepted; the same when this run is resumed."""
    from intelliperf.report.files import read

    def look() -> tuple[Attempt, ...]:
        found: list[Attempt] = []
        for directory in sorted(journal.directory.parent.iterdir(), reverse=True):
            if directory == journal.directory or len(found) >= _EARLIER or not (directory / "report.json").is_file():
                continue
            with contextlib.suppress(IntelliPerfError):  # of another release, or damaged
                report = read(directory)
                same = report.application.project == application.project
                found += [attempt for attempt in report.attempts if attempt.accepted and same]
        return tuple(reversed(found[:_EARLIER]))

    return journal.stage("earlier-runs", tuple[Attempt, ...], look)


def _exclusive(backend: Backend, journal: Journal) -> Callable[[], contextlib.AbstractContextManager[None]]:
    """Nothing that is modelled needs the device for itself."""
    if backend.probe().emulated:
        return contextlib.nullcontext
    from intelliperf.processes.devicelock import DeviceLock, lock_path

    owner = f"run {journal.run_id} of process {os.getpid()}"
    lock = DeviceLock(lock_path(backend.name, os.environ), owner, lambda text: journal.event("note", text=text))
    return lock.held


def _parallel(options: Options) -> int:
    """By default one proposal for two cores, up to four: judging them takes as long as it would one by one."""
    if options.replies_from is not None:
        return 1  # recorded replies come in their order
    return options.parallel or max(1, min(_MOST_AT_A_TIME, (os.cpu_count() or 1) // 2))


def _announce_runtime(journal: Journal) -> None:
    from intelliperf.emulator.native import FIRST_USE, runtime_is_ready

    if not runtime_is_ready():
        journal.event("note", text=FIRST_USE)


class _Rules:
    """The rule-based rewriter, loaded when it is first asked: a healthy program needs none."""

    name = "rules"

    @cached_property
    def _rewriter(self) -> RuleRewriter:
        from intelliperf.codegen.rulebook import RuleRewriter
        from intelliperf.codegen.syntax.clang import ClangParser
        from intelliperf.dropins.toolchain import find_toolchain, tool_environment

        driver, headers = tuple(find_toolchain().driver()), cache_directory() / "headers"
        return RuleRewriter(ClangParser(driver, environment=tool_environment(), kept_headers=headers))

    @cached_property
    def _for_python(self) -> RuleRewriter:
        """Rules for Triton need no compiler."""
        from intelliperf.codegen.rulebook import RuleRewriter
        from intelliperf.codegen.syntax.clang import ClangParser

        return RuleRewriter(ClangParser(()))

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        python = any(item.file.suffix == SUFFIX for item in task.evidence)
        return (self._for_python if python else self._rewriter).propose(task, attempts)

    def read_ahead(self, state: Version) -> None:
        """In the background: parse what a rule will want, if the program turns out to need one."""
        if all(path.endswith(SUFFIX) for path in state.compile_arguments):
            return
        rewriter = self._rewriter
        wanted = sources(state, ()), state.compile_arguments, state.workspace.tree

        def work() -> None:
            with contextlib.suppress(IntelliPerfError, OSError):  # whoever needs it meets the same error
                rewriter.read_ahead(*wanted)

        Thread(target=work, daemon=True).start()


class _Silent:
    """In place of a model that is not to be asked any more."""

    name = OriginKind.MODEL.value

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        return None


def _preparation(sandbox: Sandbox) -> Callable[[], None]:
    """Gets ready, in the background and once, what the stages after the build need: a moment later, when the build
    has begun, whose start it would hold up.
    """

    def work() -> None:
        for name in _LATER:
            import_module(f"{__package__.partition('.')[0]}.{name}")
        with contextlib.suppress(IntelliPerfError, OSError):  # whoever needs it meets the same error
            sandbox.reason  # noqa: B018 (finds out)

    @lru_cache(maxsize=1)
    def begin() -> None:
        timer = Timer(_AFTER_START_S, work)
        timer.daemon = True
        timer.start()

    return begin


def manner_of(options: Options) -> Manner:
    """How the backend is to run programs. Raises `UsageError` for an unknown executor."""
    from intelliperf.backends import Manner

    known = [one.value for one in Executor]
    if options.executor not in known:
        raise UsageError(f"unknown executor {options.executor!r}; choose one of: {', '.join(known)}")
    return Manner(flush_l2=options.flush_l2, executor=Executor(options.executor))


def _rewriters(options: Options, application: Application, journal: Journal, rules: Rewriter) -> tuple[Rewriter, ...]:
    """The rules, then the model or a run's replies if one was asked for; a model is checked before any work."""
    from intelliperf.cli.judging import Lint
    from intelliperf.codegen.budget import Budget

    budget = Budget(options.budget_usd, options.budget_tokens, options.budget_minutes)
    if options.replies_from is not None:
        from intelliperf.codegen.replay import replay_rewriter

        return rules, replay_rewriter(options.replies_from, journal, budget, Lint(application.project))
    if options.model is None:
        journal.event("note", text="no --model: rule-based rewrites only")
        return (rules,)
    from intelliperf.codegen.model import model_rewriter
    from intelliperf.codegen.pricing import Prices
    from intelliperf.codegen.providers import ModelSettings
    from intelliperf.codegen.retry import Patience

    prices = Prices.parse(options.price) if options.price else None
    settings = ModelSettings(options.model, options.provider, options.api_base, prices=prices)
    patience = Patience(tell=lambda text: journal.event("note", text=text))
    lint = Lint(application.project)
    model = model_rewriter(settings, os.environ, application.project, journal, budget, patience, lint)
    return (rules,) if model is None else (rules, model)


def conclude(options: Options, report: Report, directory: Path) -> int:
    """Say how it ended, write what was asked for."""
    from intelliperf.report.terminal import closing

    out = sys.stderr if options.json_events else sys.stdout
    command = "intelliperf apply" if by_name(directory) else f"intelliperf apply {name_of(directory)}"
    given = as_typed(options, ("formula", "kernel", "json_events", "verbose", "output_file"))
    show(closing(report, directory, command, given), out)
    if options.output_file is not None:
        with storage_errors(options.output_file):
            shutil.copyfile(directory / "report.json", options.output_file)
    if options.in_place and report.accepted is not None:
        for path in write_in_place(report):
            print(f"wrote {report.application.project / path}", file=out)
    return report.exit_status


def keep_options(options: Options, journal: Journal) -> None:
    """What `resume` needs to know."""
    saved = {"version": __version__, "options": _portable(options), "directory": str(Path.cwd())}
    journal.write("run.json", to_json(saved))


def _portable(options: Options) -> dict[str, Any]:
    values = dataclasses.asdict(options)
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def _restored(values: dict[str, Any]) -> Options:
    known = {field.name for field in dataclasses.fields(Options)}
    kept = {name: value for name, value in values.items() if name in known}
    for name in _PATHS:
        kept[name] = Path(kept[name]) if kept.get(name) else None
    kept.update({name: tuple(kept[name]) for name in _LISTS if name in kept})
    return Options(**kept)
