"""Everything that a run needs, wired together from its options."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from threading import Thread, Timer
from typing import TYPE_CHECKING

from intelliperf.cli.options import Options
from intelliperf.codegen.heeding import Heeding
from intelliperf.errors import IntelliPerfError, UsageError
from intelliperf.processes.sandbox import Sandbox
from intelliperf.processes.secrets import PASSED
from intelliperf.processes.storage import cache_directory
from intelliperf.project.journal import Journal
from intelliperf.project.pythonsource import SUFFIX
from intelliperf.project.reviews import read_reviews
from intelliperf.project.versions import Version, sources
from intelliperf.protocols import Backend, Proposal, Rewriter, Task
from intelliperf.records import Application, Attempt, Executor, OriginKind
from intelliperf.search.observer import RunSettings
from intelliperf.search.run import Run

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
_AFTER_START_S = 0.03
_MOST_AT_A_TIME = 4
_EARLIER = 6  # accepted attempts of earlier runs that a model is told of


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
    manner = manner_of(options, lambda text: journal.event("note", text=text))
    backend, why = open_backend(options.backend, device, options.target, sandbox, application, manner)
    journal.event("note", text=f"backend: {why}")
    backend.probe()  # where there is no device, nothing is compiled for it
    if first_use := _first_use(backend.name):
        journal.event("note", text=first_use)
    application = with_gpu(application, backend.name, options.target)
    judge = RunJudge(options, backend, sandbox, journal)
    return Run(
        settings=RunSettings(
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


def manner_of(options: Options, tell: Callable[[str], None] = lambda text: None) -> Manner:
    """How the backend is to run programs. Raises `UsageError` for an unknown executor."""
    from intelliperf.backends import Manner

    known = [one.value for one in Executor]
    if options.executor not in known:
        raise UsageError(f"unknown executor {options.executor!r}; choose one of: {', '.join(known)}")
    return Manner(flush_l2=options.flush_l2, executor=Executor(options.executor), tell=tell)


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


def _first_use(backend: str) -> str:
    """What the run compiles before anything else, where it is the first one; empty where all is ready."""
    if backend == "cuda":
        from intelliperf.cuda.native import FIRST_USE as told
        from intelliperf.cuda.native import is_ready
    elif backend == "rocm":
        from intelliperf.rocm.native import FIRST_USE as told
        from intelliperf.rocm.native import is_ready
    else:
        from intelliperf.emulator.native import FIRST_USE as told
        from intelliperf.emulator.native import runtime_is_ready as is_ready
    with contextlib.suppress(IntelliPerfError):  # whoever needs it meets the same error
        return "" if is_ready() else told
    return ""


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
