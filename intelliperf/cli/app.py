"""The commands and their options, as one visible table of functions.

Everything after the first `--` is the application's and never reaches the option parser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from intelliperf import __version__
from intelliperf.cli import EXIT_INTERRUPTED
from intelliperf.cli.options import Options
from intelliperf.cli.parsing import command_of
from intelliperf.errors import UsageError

Formula = Annotated[
    str,
    typer.Option("-f", "--formula", help="The bottleneck to look for; default: each. See `intelliperf formulas`."),
]
Build = Annotated[
    list[str] | None,
    typer.Option("-b", "--build-command", help="Builds the program, run in the project directory; may be repeated."),
]
Project = Annotated[Path | None, typer.Option("-p", "--project-directory", help="Default: the current directory.")]
KernelName = Annotated[str | None, typer.Option("-k", "--kernel", help="Only kernels that match this expression.")]
TopN = Annotated[int, typer.Option("--top-n", min=1, help="How many kernels, by device time, are looked at.")]
Target = Annotated[str | None, typer.Option("--target", help="The chip that the emulator models: mi300x, h100, …")]
BackendName = Annotated[str, typer.Option("--backend", help="auto, emulator, cuda or rocm.")]
Json = Annotated[bool, typer.Option("--json", help="Events as JSON lines on standard output.")]
LauncherPrefix = Annotated[
    str | None,
    typer.Option("--launcher", help="Stands before the program in every run: 'srun -n 1', 'rocjitsu run --', …"),
]
EmulatedLauncher = Annotated[
    bool, typer.Option("--emulated-launcher", help="The launcher emulates a GPU: gains are modelled, not measured.")
]
FlushL2 = Annotated[
    bool, typer.Option("--flush-l2", help="Empty the L2 before every timed launch of the kernel (--backend cuda).")
]
PassEnv = Annotated[
    list[str] | None,
    typer.Option("--pass-env", metavar="NAME", help="A variable that judged runs see, too; several times for several."),
]
ExpectExit = Annotated[
    int, typer.Option("--expect-exit", min=0, max=255, help="The status that the program always ends with, if not 0.")
]
RunRoot = Annotated[Path | None, typer.Option("--run-root", help="Where run directories go.")]
RunDeadline = Annotated[float, typer.Option("--run-deadline", min=0.1, help="Seconds for one run of the program.")]
BuildDeadline = Annotated[float, typer.Option("--build-deadline", min=0.1, help="Seconds for one build.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more.")]
# click's ClickException, which typer carries but does not name
_PARSER_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
RunArgument = Annotated[Path | None, typer.Argument(help="A run directory; default: the latest.")]


def improve(
    context: typer.Context,
    formula: Formula = "all",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    num_attempts: Annotated[int, typer.Option("--num-attempts", min=0, help="Proposals of the model.")] = 10,
    model: Annotated[str | None, typer.Option("-m", "--model", help="Model name at the provider.")] = None,
    provider: Annotated[str | None, typer.Option("-r", "--provider", help="openai, anthropic, …")] = None,
    api_base: Annotated[str | None, typer.Option("--api-base", help="URL of an OpenAI-compatible server.")] = None,
    price: Annotated[
        str | None, typer.Option("--price", help="INPUT,OUTPUT in USD per million tokens, where nobody publishes it.")
    ] = None,
    unittest_command: Annotated[
        str | None, typer.Option("--unittest-command", help="Must succeed on every accepted candidate.")
    ] = None,
    in_place: Annotated[bool, typer.Option("-l", "--in-place", help="Write an accepted patch to the project.")] = False,
    output_file: Annotated[Path | None, typer.Option("-o", "--output-file", help="Copy of report.json.")] = None,
    rtol: Annotated[float | None, typer.Option("--rtol", min=0, help="Overrides the derived tolerance.")] = None,
    atol: Annotated[float | None, typer.Option("--atol", min=0, help="Overrides the derived tolerance.")] = None,
    budget_usd: Annotated[float | None, typer.Option("--budget-usd", min=0)] = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", min=0)] = None,
    budget_minutes: Annotated[float | None, typer.Option("--budget-minutes", min=0)] = None,
    replay: Annotated[Path | None, typer.Option("--replay", help="Take the model's replies from this run.")] = None,
    backend: BackendName = "auto",
    target: Target = None,
    launcher: LauncherPrefix = None,
    emulated_launcher: EmulatedLauncher = False,
    flush_l2: FlushL2 = False,
    run_root: RunRoot = None,
    expect_exit: ExpectExit = 0,
    pass_env: PassEnv = None,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    keep_work: Annotated[bool, typer.Option("--keep-work", help="Keep the scratch copies.")] = False,
    json_events: Json = False,
    verbose: Verbose = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Run the main job when no subcommand is named."""
    if context.invoked_subcommand is not None:
        _refuse_misplaced(context)
        return
    if version:
        print(f"intelliperf {__version__}")
        return
    from intelliperf.cli.improve import improve_application

    options = Options(
        command=_command(context),
        formula=formula,
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        num_attempts=num_attempts,
        model=model,
        provider=provider,
        api_base=api_base,
        price=price,
        unittest_command=unittest_command,
        in_place=in_place,
        output_file=output_file,
        rtol=rtol,
        atol=atol,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_minutes=budget_minutes,
        replay=replay,
        backend=backend,
        target=target,
        launcher=launcher,
        emulated_launcher=emulated_launcher,
        flush_l2=flush_l2,
        run_root=run_root,
        expect_exit=expect_exit,
        pass_env=tuple(pass_env or ()),
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        keep_work=keep_work,
        json_events=json_events,
        verbose=verbose,
    )
    raise typer.Exit(improve_application(options))


def diagnose(
    context: typer.Context,
    formula: Formula = "all",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    backend: BackendName = "auto",
    target: Target = None,
    launcher: LauncherPrefix = None,
    emulated_launcher: EmulatedLauncher = False,
    run_root: RunRoot = None,
    expect_exit: ExpectExit = 0,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> None:
    """Profile, diagnose and locate; change nothing."""
    from intelliperf.cli.improve import improve_application

    options = Options(
        command=_command(context),
        formula=formula,
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        backend=backend,
        target=target,
        launcher=launcher,
        emulated_launcher=emulated_launcher,
        run_root=run_root,
        expect_exit=expect_exit,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
        diagnose_only=True,
    )
    raise typer.Exit(improve_application(options))


def emulate(
    context: typer.Context,
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    target: Target = None,
    expect_exit: ExpectExit = 0,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_output: Annotated[bool, typer.Option("--json", help="The table as JSON.")] = False,
) -> None:
    """Run a program on the emulator and print what every source line did to memory."""
    from intelliperf.cli.emulate import emulate_application

    options = Options(
        command=_command(context),
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        backend="emulator",
        target=target,
        expect_exit=expect_exit,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_output,
    )
    raise typer.Exit(emulate_application(options))


def survey(
    context: typer.Context,
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    output_file: Annotated[Path | None, typer.Option("-o", "--output-file", help="Where the JSON goes.")] = None,
    backend: BackendName = "auto",
    target: Target = None,
    launcher: LauncherPrefix = None,
    emulated_launcher: EmulatedLauncher = False,
    run_root: RunRoot = None,
    expect_exit: ExpectExit = 0,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> None:
    """Profile every kernel with its lines and all findings, as one JSON document for programs."""
    from intelliperf.cli.survey import survey_application

    options = Options(
        command=_command(context),
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        output_file=output_file,
        backend=backend,
        target=target,
        launcher=launcher,
        emulated_launcher=emulated_launcher,
        run_root=run_root,
        expect_exit=expect_exit,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
        diagnose_only=True,
    )
    raise typer.Exit(survey_application(options))


def compare(
    context: typer.Context,
    against: Annotated[Path, typer.Option("--against", help="Another version's project directory: the one before.")],
    kernel: Annotated[str, typer.Option("-k", "--kernel", help="The kernel that is timed in both.")],
    build_command: Build = None,
    project_directory: Project = None,
    top_n: TopN = 10,
    backend: BackendName = "auto",
    target: Target = None,
    launcher: LauncherPrefix = None,
    emulated_launcher: EmulatedLauncher = False,
    flush_l2: FlushL2 = False,
    run_root: RunRoot = None,
    expect_exit: ExpectExit = 0,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> None:
    """Time two versions of a program against each other: intelliperf compare --against ../before -k NAME -- ./app."""
    from intelliperf.cli.compare import compare_versions

    options = Options(
        command=_command(context),
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        backend=backend,
        target=target,
        launcher=launcher,
        emulated_launcher=emulated_launcher,
        flush_l2=flush_l2,
        run_root=run_root,
        expect_exit=expect_exit,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
        diagnose_only=True,
    )
    raise typer.Exit(compare_versions(options, against))


def bisect(
    context: typer.Context,
    good: Annotated[str, typer.Option("--good", help="A commit where the kernel was as it should be.")],
    bad: Annotated[str, typer.Option("--bad", help="A later commit where it does too much.")] = "HEAD",
    metric: Annotated[str, typer.Option("--metric", help="What is watched: sectors_32b, …")] = "device_time_ns",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    target: Target = None,
    expect_exit: ExpectExit = 0,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> None:
    """Find the commit that made a kernel slower on the emulator, and the lines that did it."""
    from intelliperf.cli.bisect import bisect_commits

    options = Options(
        command=_command(context),
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        backend="emulator",
        target=target,
        expect_exit=expect_exit,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
        diagnose_only=True,
    )
    raise typer.Exit(bisect_commits(options, good, bad, metric))


def check(
    context: typer.Context,
    build_command: Build = None,
    project_directory: Project = None,
    target: Target = None,
    seeds: Annotated[int, typer.Option("--seeds", min=0, help="Runs in an order drawn by chance.")] = 1,
    seed: Annotated[int | None, typer.Option("--seed", min=1, help="Only this order, to see a defect again.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="A warning counts as an error.")] = False,
    other_wave: Annotated[
        bool, typer.Option("--other-wave/--one-wave", help="Run HIP programs with waves of 32 and of 64 lanes.")
    ] = True,
    sarif: Annotated[Path | None, typer.Option("--sarif", help="Also write the defects as SARIF 2.1.0.")] = None,
    expect_exit: ExpectExit = 0,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_output: Annotated[bool, typer.Option("--json", help="The defects as JSON.")] = False,
) -> None:
    """Look for races, missing fences and barriers, accesses out of bounds and the like; needs no GPU."""
    from intelliperf.cli.check import CheckOptions, check_application

    options = Options(
        command=_command(context),
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        backend="emulator",
        target=target,
        expect_exit=expect_exit,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_output,
    )
    raise typer.Exit(check_application(options, CheckOptions(seeds, seed, strict, other_wave, sarif)))


def verify(
    context: typer.Context,
    patch: Annotated[str, typer.Argument(help="A patch, a directory, or a range of commits as HEAD~1..HEAD.")],
    formula: Formula = "diagnoseOnly",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    unittest_command: Annotated[str | None, typer.Option("--unittest-command")] = None,
    rtol: Annotated[float | None, typer.Option("--rtol", min=0)] = None,
    atol: Annotated[float | None, typer.Option("--atol", min=0)] = None,
    allow_geometry: Annotated[bool, typer.Option("--allow-geometry", help="The patch may change launches.")] = False,
    allow_kernels: Annotated[bool, typer.Option("--allow-kernels", help="It may add or split kernels.")] = False,
    backend: BackendName = "auto",
    target: Target = None,
    launcher: LauncherPrefix = None,
    emulated_launcher: EmulatedLauncher = False,
    flush_l2: FlushL2 = False,
    run_root: RunRoot = None,
    expect_exit: ExpectExit = 0,
    pass_env: PassEnv = None,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> None:
    """Judge somebody's patch as if it were a candidate: intelliperf verify PATCH -- ./app."""
    from intelliperf.cli.verify import verify_patch

    options = Options(
        command=_command(context),
        formula=formula,
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        unittest_command=unittest_command,
        rtol=rtol,
        atol=atol,
        backend=backend,
        target=target,
        launcher=launcher,
        emulated_launcher=emulated_launcher,
        flush_l2=flush_l2,
        run_root=run_root,
        expect_exit=expect_exit,
        pass_env=tuple(pass_env or ()),
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
    )
    raise typer.Exit(verify_patch(options, patch, allow_geometry, allow_kernels))


def apply(run: RunArgument = None) -> None:
    """Write the accepted patch of a run to its project."""
    from intelliperf.cli.runs import apply_run

    raise typer.Exit(apply_run(run))


def report(run: RunArgument = None) -> None:
    """Print the summary of a run."""
    from intelliperf.cli.runs import print_report

    raise typer.Exit(print_report(run))


def resume(run: RunArgument = None) -> None:
    """Go on with a run that was interrupted."""
    from intelliperf.cli.improve import resume_run

    raise typer.Exit(resume_run(run))


def doctor(
    amd: Annotated[bool, typer.Option("--amd", help="The whole chain on an AMD GPU, with a bundle of logs.")] = False,
    launcher: LauncherPrefix = None,
    emulated_launcher: EmulatedLauncher = False,
    bundle: Annotated[Path | None, typer.Option("--bundle", help="Where the bundle of --amd goes.")] = None,
) -> None:
    """Say what is there, what is missing and the command that fixes it; run a self-test."""
    if amd:
        from intelliperf.cli.doctoramd import default_bundle, examine_amd

        raise typer.Exit(examine_amd(launcher, emulated_launcher, bundle or default_bundle()))
    from intelliperf.cli.doctor import examine

    raise typer.Exit(examine())


def nightly(
    file: Annotated[Path | None, typer.Argument(help="Default: nightly.toml or intelliperf.toml here.")] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="This target alone; may be repeated.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the latest interrupted night, or --night.")
    ] = False,
    night: Annotated[Path | None, typer.Option("--night", help="The directory of the night to go on with.")] = None,
    database: Annotated[
        str | None, typer.Option("--database", help="postgresql://… or the path of an SQLite file.")
    ] = None,
    nights: Annotated[Path | None, typer.Option("--nights", help="Where the directories of nights go.")] = None,
    ray: Annotated[str | None, typer.Option("--ray", help="auto, local, or the address of a Ray cluster.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Tasks at once, without Ray.")] = None,
    budget_usd: Annotated[float | None, typer.Option("--budget-usd", min=0)] = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", min=0)] = None,
    budget_minutes: Annotated[float | None, typer.Option("--budget-minutes", min=0)] = None,
    budget_device_minutes: Annotated[float | None, typer.Option("--budget-device-minutes", min=0)] = None,
    search: Annotated[bool, typer.Option("--search/--no-search", help="Look for patches.")] = True,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the file.")] = False,
    json_events: Json = False,
) -> None:
    """Survey, search and judge all targets of a file, once."""
    from intelliperf.cli.nightly import NightOptions, print_schema, run_night

    if schema:
        raise typer.Exit(print_schema())
    if night is not None and not resume:
        raise UsageError("--night goes with --resume")
    options = NightOptions(
        file=file,
        resume=(night or Path()) if resume else None,
        only=tuple(only or ()),
        database=database,
        nights=nights,
        ray=ray,
        workers=workers,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        budget_minutes=budget_minutes,
        budget_device_minutes=budget_device_minutes,
        search=search,
        json_events=json_events,
    )
    raise typer.Exit(run_night(options))


def mcp(
    root: Annotated[Path, typer.Option("--root", help="No tool looks at projects outside of this directory.")] = Path(),
) -> None:
    """Serve diagnose, emulate, verify, improve and report to a coding agent, over standard input and output."""
    from intelliperf.cli.mcp import serve_tools

    raise typer.Exit(serve_tools(root))


def review(
    runs: Annotated[list[Path] | None, typer.Argument(help="Run directories whose patches are added.")] = None,
    database: Annotated[
        str | None, typer.Option("--database", help="postgresql://… or the path of an SQLite file.")
    ] = None,
    export: Annotated[Path | None, typer.Option("--export", help="Write one run's page to this file instead.")] = None,
    listen: Annotated[str, typer.Option("--listen", help="HOST:PORT; beyond loopback only with TLS.")] = "127.0.0.1:0",
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its private key, PEM.")] = None,
    password_file: Annotated[
        Path | None, typer.Option("--password-file", help="Reviewers and hashes of their passwords.")
    ] = None,
    hash_password: Annotated[
        str | None, typer.Option("--hash-password", metavar="NAME", help="Print a line for --password-file.")
    ] = None,
) -> None:
    """Review patches in a browser: accept into a branch, reject with a reason, comment."""
    from intelliperf.cli.review import ReviewOptions, review_patches

    options = ReviewOptions(
        runs=tuple(runs or ()),
        database=database,
        export=export,
        listen=listen,
        tls_certificate=tls_cert,
        tls_key=tls_key,
        password_file=password_file,
        hash_password=hash_password,
    )
    raise typer.Exit(review_patches(options))


def formulas() -> None:
    """List the formulas."""
    from intelliperf.cli.runs import list_formulas

    raise typer.Exit(list_formulas())


COMMANDS: tuple[Callable[..., None], ...] = (
    diagnose,
    emulate,
    survey,
    compare,
    bisect,
    check,
    verify,
    apply,
    report,
    resume,
    nightly,
    review,
    mcp,
    doctor,
    formulas,
)


def parser_for(words: Sequence[str]) -> Any:
    """The option parser with the commands that `words` may mean, since each takes a millisecond or two to make.

    A command stands first. Where the first word is an option, another one may still name a misplaced command.
    """
    named = [command for command in COMMANDS if command.__name__ in words]
    mistyped = not named and not "".join(words[:1]).startswith("-")
    parser = typer.Typer(
        name="intelliperf",
        no_args_is_help=False,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        help="Find a GPU bottleneck, rewrite the kernel, prove that it is right and faster.\n\n"
        "Usage: intelliperf --formula atomicContention -- ./app ARGS",
    )
    parser.callback(invoke_without_command=True)(improve)
    for command in COMMANDS if mistyped or _asks_for_help(words) else named:
        parser.command()(command)
    return command_of(parser)


def _refuse_misplaced(context: typer.Context) -> None:
    """Options in front of a subcommand would be those of the main job, and lost."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            name, option = context.invoked_subcommand, max(parameter.opts, key=len)
            raise UsageError(f"{option} goes after the command: intelliperf {name} {option} …")


def _command(context: typer.Context) -> tuple[str, ...]:
    return tuple(context.find_root().obj or ())


def invoke(arguments: list[str]) -> int:
    """Split off the application, then let the parser have the rest. Returns the exit status."""
    ours, application = arguments, []
    if "--" in arguments:
        split = arguments.index("--")
        ours, application = arguments[:split], arguments[split + 1 :]
    ours = [_dashed(argument) for argument in ours]
    from intelliperf.cli.configuration import defaults

    asked_for_help = _asks_for_help(ours)
    values = {} if asked_for_help else defaults(ours)
    try:
        status = parser_for(ours).main(args=ours, obj=application, standalone_mode=False, default_map=values)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except _PARSER_ERROR as error:
        message = error.format_message()  # type: ignore[attr-defined]
        hint = " (the program goes after --)" if "No such command" in message else ""
        raise UsageError(f"{message}{hint}") from error
    if status == EXIT_INTERRUPTED:  # the parser's own word for it
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _asks_for_help(words: Sequence[str]) -> bool:
    return not {"-h", "--help"}.isdisjoint(words)


def _dashed(argument: str) -> str:
    """`--top_n=3` and `--top-n=3` are the same option."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    return name.replace("_", "-") + equals + value
