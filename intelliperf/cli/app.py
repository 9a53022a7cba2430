"""The commands and their options, as one visible table of functions.

Everything after the first `--` is the application's and never reaches the option parser.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from intelliperf import __version__
from intelliperf.cli.options import Options
from intelliperf.cli.parser import Argument, Commands, Option

app = Commands(
    "intelliperf",
    "Find a GPU bottleneck, rewrite the kernel, prove that it is right and faster.\n\n"
    "As in: intelliperf --formula atomicContention -- ./app ARGS",
)

Formula = Annotated[str, Option("-f", "--formula", help="The bottleneck to look for; see `intelliperf formulas`.")]
Build = Annotated[
    list[str] | None,
    Option("-b", "--build-command", help="Builds the program, run in the project directory; may be repeated."),
]
Project = Annotated[Path | None, Option("-p", "--project-directory", help="Default: the current directory.")]
KernelName = Annotated[str | None, Option("-k", "--kernel", help="Only kernels that match this expression.")]
TopN = Annotated[int, Option("--top-n", least=1, help="How many kernels, by device time, are looked at.")]
Target = Annotated[str | None, Option("--target", help="The chip that the emulator models: mi300x, h100, …")]
BackendName = Annotated[str, Option("--backend", help="auto, emulator, cuda or rocm.")]
Json = Annotated[bool, Option("--json", help="Events as JSON lines on standard output.")]
RunRoot = Annotated[Path | None, Option("--run-root", help="Where run directories go.")]
RunDeadline = Annotated[float, Option("--run-deadline", least=0.1, help="Seconds for one run of the program.")]
BuildDeadline = Annotated[float, Option("--build-deadline", least=0.1, help="Seconds for one build.")]
Verbose = Annotated[bool, Option("-v", "--verbose", help="Say more.")]
RunArgument = Annotated[Path | None, Argument(help="A run directory; default: the latest.")]


@app.main
def improve(
    program: tuple[str, ...],
    formula: Formula = "diagnoseOnly",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    num_attempts: Annotated[int, Option("--num-attempts", least=0, help="Proposals of the model.")] = 10,
    model: Annotated[str | None, Option("-m", "--model", help="Model name at the provider.")] = None,
    provider: Annotated[str | None, Option("-r", "--provider", help="openai, anthropic, …")] = None,
    api_base: Annotated[str | None, Option("--api-base", help="URL of an OpenAI-compatible server.")] = None,
    price: Annotated[
        str | None, Option("--price", help="INPUT,OUTPUT in USD per million tokens, where nobody publishes it.")
    ] = None,
    unittest_command: Annotated[
        str | None, Option("--unittest-command", help="Must succeed on every accepted candidate.")
    ] = None,
    in_place: Annotated[bool, Option("-l", "--in-place", help="Write an accepted patch to the project.")] = False,
    output_file: Annotated[Path | None, Option("-o", "--output-file", help="Copy of report.json.")] = None,
    rtol: Annotated[float | None, Option("--rtol", least=0, help="Overrides the derived tolerance.")] = None,
    atol: Annotated[float | None, Option("--atol", least=0, help="Overrides the derived tolerance.")] = None,
    budget_usd: Annotated[float | None, Option("--budget-usd", least=0)] = None,
    budget_tokens: Annotated[int | None, Option("--budget-tokens", least=0)] = None,
    budget_minutes: Annotated[float | None, Option("--budget-minutes", least=0)] = None,
    replay: Annotated[Path | None, Option("--replay", help="Take the model's replies from this run.")] = None,
    backend: BackendName = "auto",
    target: Target = None,
    run_root: RunRoot = None,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    keep_work: Annotated[bool, Option("--keep-work", help="Keep the scratch copies.")] = False,
    json_events: Json = False,
    verbose: Verbose = False,
    version: Annotated[bool, Option("--version", help="Print the version.")] = False,
) -> int:
    """Run the main job when no subcommand is named."""
    if version:
        print(f"intelliperf {__version__}")
        return 0
    from intelliperf.cli.improve import improve_application

    options = Options(
        command=program,
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
        run_root=run_root,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        keep_work=keep_work,
        json_events=json_events,
        verbose=verbose,
    )
    return improve_application(options)


@app.command
def diagnose(
    program: tuple[str, ...],
    formula: Formula = "diagnoseOnly",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    backend: BackendName = "auto",
    target: Target = None,
    run_root: RunRoot = None,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> int:
    """Profile, diagnose and locate; change nothing."""
    from intelliperf.cli.improve import improve_application

    options = Options(
        command=program,
        formula=formula,
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        backend=backend,
        target=target,
        run_root=run_root,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
        diagnose_only=True,
    )
    return improve_application(options)


@app.command
def emulate(
    program: tuple[str, ...],
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    target: Target = None,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_output: Annotated[bool, Option("--json", help="The table as JSON.")] = False,
) -> int:
    """Run a program on the emulator and print what every source line did to memory."""
    from intelliperf.cli.emulate import emulate_application

    options = Options(
        command=program,
        build_command=tuple(build_command or ()),
        project_directory=project_directory,
        kernel=kernel,
        top_n=top_n,
        backend="emulator",
        target=target,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_output,
    )
    return emulate_application(options)


@app.command
def verify(
    program: tuple[str, ...],
    patch: Annotated[Path, Argument(help="A unified diff against the project.")],
    formula: Formula = "diagnoseOnly",
    build_command: Build = None,
    project_directory: Project = None,
    kernel: KernelName = None,
    top_n: TopN = 10,
    unittest_command: Annotated[str | None, Option("--unittest-command")] = None,
    rtol: Annotated[float | None, Option("--rtol", least=0)] = None,
    atol: Annotated[float | None, Option("--atol", least=0)] = None,
    allow_geometry: Annotated[bool, Option("--allow-geometry", help="The patch may change launches.")] = False,
    allow_kernels: Annotated[bool, Option("--allow-kernels", help="It may add or split kernels.")] = False,
    backend: BackendName = "auto",
    target: Target = None,
    run_root: RunRoot = None,
    run_deadline: RunDeadline = 300.0,
    build_deadline: BuildDeadline = 900.0,
    json_events: Json = False,
) -> int:
    """Judge somebody's patch as if it were a candidate: intelliperf verify PATCH -- ./app."""
    from intelliperf.cli.verify import verify_patch

    options = Options(
        command=program,
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
        run_root=run_root,
        run_deadline=run_deadline,
        build_deadline=build_deadline,
        json_events=json_events,
    )
    return verify_patch(options, patch, allow_geometry, allow_kernels)


@app.command
def apply(run: RunArgument = None) -> int:
    """Write the accepted patch of a run to its project."""
    from intelliperf.cli.runs import apply_run

    return apply_run(run)


@app.command
def report(run: RunArgument = None) -> int:
    """Print the summary of a run."""
    from intelliperf.cli.runs import print_report

    return print_report(run)


@app.command
def resume(run: RunArgument = None) -> int:
    """Go on with a run that was interrupted."""
    from intelliperf.cli.improve import resume_run

    return resume_run(run)


@app.command
def doctor() -> int:
    """Say what is there, what is missing and the command that fixes it; run a self-test."""
    from intelliperf.cli.doctor import examine

    return examine()


@app.command
def formulas() -> int:
    """List the formulas."""
    from intelliperf.cli.runs import list_formulas

    return list_formulas()


def invoke(arguments: list[str]) -> int:
    """Split off the application, then let the parser have the rest. Returns the exit status."""
    ours, application = arguments, []
    if "--" in arguments:
        split = arguments.index("--")
        ours, application = arguments[:split], arguments[split + 1 :]
    ours = [_dashed(argument) for argument in ours]
    from intelliperf.cli.configuration import defaults

    asked_for_help = not {"-h", "--help"}.isdisjoint(ours)
    values = {} if asked_for_help else defaults(ours)
    return app.run(ours, tuple(application), values)


def _dashed(argument: str) -> str:
    """`--top_n=3` and `--top-n=3` are the same option."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    return name.replace("_", "-") + equals + value
