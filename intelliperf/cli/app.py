"""The commands, as one visible table of functions; their options are fields of the records in `cli.options`.

Everything after the first `--` is the application's and never reaches the option parser.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from intelliperf import __version__
from intelliperf.cli import EXIT_INTERRUPTED
from intelliperf.cli.options import (
    ALIASES,
    CHECKS,
    DEVICE,
    LIMITS,
    OUTPUT,
    PROJECT,
    CheckOptions,
    NightOptions,
    Options,
    ReplayOptions,
    ResumeOptions,
    ReviewOptions,
    RunOptions,
)
from intelliperf.cli.parsing import command_of, takes
from intelliperf.errors import UsageError

# click's ClickException, which typer carries but does not name
_PARSER_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
COMPLETING = "_INTELLIPERF_COMPLETE"  # set by a shell's completion script when it asks for words
_EMULATED = (*PROJECT, "target", *LIMITS, "json_events", "verbose")


@takes(Options)
def improve(
    options: Options,
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> int | None:
    """Find a GPU bottleneck, rewrite the kernel, and prove that the rewrite is correct and faster.

    Usage: intelliperf -- ./app ARGS
    """
    if context.invoked_subcommand is not None:
        _refuse_misplaced(context)
        return None
    if version:
        print(f"intelliperf {__version__}")
        return 0
    from intelliperf.cli.improve import improve_application

    return improve_application(options)


@takes(Options, ("formula", *PROJECT, *DEVICE, *LIMITS, *OUTPUT, "output_file"), preset={"diagnose_only": True})
def diagnose(options: Options) -> int:
    """Rank the kernels, name their bottlenecks and lines.

    Usage: intelliperf diagnose -- ./app
    """
    from intelliperf.cli.improve import improve_application

    return improve_application(options)


@takes(Options, _EMULATED, preset={"backend": "emulator"}, told={"json_events": "The table as JSON."})
def emulate(options: Options) -> int:
    """Count what every source line does to memory, on the emulator.

    Usage: intelliperf emulate -- ./app
    """
    from intelliperf.cli.emulate import emulate_application

    return emulate_application(options)


@takes(Options, (*PROJECT, "output_file", *DEVICE, *LIMITS, *OUTPUT), preset={"diagnose_only": True})
def survey(options: Options) -> int:
    """Print all kernels, lines and findings as one JSON document.

    Usage: intelliperf survey -- ./app
    """
    from intelliperf.cli.survey import survey_application

    return survey_application(options)


@takes(Options, (*PROJECT, *DEVICE, "flush_l2", *LIMITS, *OUTPUT), preset={"diagnose_only": True})
def compare(
    options: Options,
    against: Annotated[
        Path, typer.Option("--against", metavar="DIR", help="Another version's project directory: the one before.")
    ],
) -> int:
    """Time two versions of a program against each other.

    Usage: intelliperf compare --against ../before -k NAME -- ./app
    """
    from intelliperf.cli.compare import compare_versions

    return compare_versions(options, against)


@takes(Options, _EMULATED, preset={"backend": "emulator", "diagnose_only": True})
def bisect(
    options: Options,
    good: Annotated[str, typer.Option("--good", metavar="REV", help="A commit where the kernel was as it should be.")],
    bad: Annotated[str, typer.Option("--bad", metavar="REV", help="A later commit where it does too much.")] = "HEAD",
    metric: Annotated[
        str, typer.Option("--metric", metavar="METRIC", help="What is watched: sectors_32b, …")
    ] = "device_time_ns",
) -> int:
    """Find the commit and lines that made a kernel slower.

    On the emulator. Usage: intelliperf bisect --good REV -- ./app
    """
    from intelliperf.cli.bisect import bisect_commits

    return bisect_commits(options, good, bad, metric)


@takes(
    CheckOptions,
    ("build_command", "project_directory", "target", *CHECKS, *LIMITS, "json_events", "verbose"),
    preset={"backend": "emulator"},
    told={"json_events": "The defects as JSON."},
)
def check(options: CheckOptions) -> int:
    """Look for races, missing barriers and bad accesses.

    On the emulator. Usage: intelliperf check -- ./app
    """
    from intelliperf.cli.check import check_application

    return check_application(options)


@takes(
    Options,
    (
        "formula",
        *PROJECT,
        "unittest_command",
        "rtol",
        "atol",
        *DEVICE,
        "flush_l2",
        "record_limit",
        "judge_run",
        "also_run",
        *LIMITS,
        *OUTPUT,
        "output_file",
    ),
    preset={"formula": "diagnoseOnly"},
)
def verify(
    options: Options,
    patch: Annotated[
        str, typer.Argument(metavar="PATCH", help="A patch, a directory, or a range of commits as HEAD~1..HEAD.")
    ],
    allow_geometry: Annotated[bool, typer.Option("--allow-geometry", help="The patch may change launches.")] = False,
    allow_kernels: Annotated[
        bool, typer.Option("--allow-kernels", help="It may change, add and split kernels.")
    ] = False,
) -> int:
    """Judge an existing patch as if it were a candidate.

    Usage: intelliperf verify PATCH -- ./app
    """
    from intelliperf.cli.verify import verify_patch

    return verify_patch(options, patch, allow_geometry, allow_kernels)


@takes(RunOptions)
def apply(options: RunOptions) -> int:
    """Write the accepted patch of a run to its project."""
    from intelliperf.cli.runs import apply_run

    return apply_run(options)


@takes(RunOptions)
def report(
    options: RunOptions,
    program_output: Annotated[
        bool, typer.Option("--program-output", help="What the program itself printed in its first run.")
    ] = False,
) -> int:
    """Print the summary of a run."""
    from intelliperf.cli.runs import print_report

    return print_report(options, program_output)


@takes(ReplayOptions)
def replay(options: ReplayOptions) -> int:
    """Launch a run's recorded dispatches again.

    Original and candidate are compared and timed. Usage: intelliperf replay RUN --kernel NAME
    """
    from intelliperf.cli.replay import replay_run

    return replay_run(options)


@takes(ResumeOptions)
def resume(options: ResumeOptions) -> int:
    """Resume a run that was interrupted or paused.

    A run pauses where a model provider fails.
    """
    from intelliperf.cli.improve import resume_run

    return resume_run(options)


@takes(Options, ("launcher", "emulated_launcher"))
def doctor(
    options: Options,
    amd: Annotated[bool, typer.Option("--amd", help="The whole chain on an AMD GPU, with a bundle of logs.")] = False,
    bundle: Annotated[
        Path | None, typer.Option("--bundle", metavar="FILE", help="Where the bundle of --amd goes.")
    ] = None,
) -> int:
    """Say what is missing and how to install it; run a self-test."""
    if amd:
        from intelliperf.cli.doctoramd import default_bundle, examine_amd

        return examine_amd(options.launcher, options.emulated_launcher, bundle or default_bundle())
    from intelliperf.cli.doctor import examine

    return examine()


@takes(NightOptions)
def nightly(options: NightOptions) -> int:
    """Survey, search and judge all targets of a file, once."""
    from intelliperf.cli.nightly import print_schema, run_night

    if options.schema:
        return print_schema()
    if options.night is not None and not options.resume:
        raise UsageError("--night goes with --resume")
    return run_night(options)


def mcp(
    root: Annotated[
        Path, typer.Option("--root", metavar="DIR", help="No tool looks at projects outside of this directory.")
    ] = Path(),
) -> None:
    """Serve a coding agent over standard input and output.

    Its tools: diagnose, emulate, check, verify, improve, replay and report.
    """
    from intelliperf.cli.mcp import serve_tools

    raise typer.Exit(serve_tools(root))


@takes(ReviewOptions)
def review(options: ReviewOptions) -> int:
    """Review patches in a browser.

    Accept into a branch, reject with a reason, comment.
    """
    from intelliperf.cli.review import review_patches

    return review_patches(options)


def formulas() -> None:
    """List the formulas."""
    from intelliperf.cli.runs import list_formulas

    raise typer.Exit(list_formulas())


def completion(
    shell: Annotated[
        str, typer.Argument(metavar="bash|zsh|fish", help="The shell.", autocompletion=lambda: ["bash", "zsh", "fish"])
    ],
) -> None:
    """Print a completion script for bash, zsh or fish.

    Usage: eval "$(intelliperf completion bash)"
    """
    from intelliperf.cli.completion import print_script

    raise typer.Exit(print_script(shell))


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
    replay,
    resume,
    nightly,
    review,
    mcp,
    doctor,
    formulas,
    completion,
)
_WITHOUT_FILE = frozenset({"doctor", "formulas", "completion", "mcp", "nightly", "review"})


def application(words: Sequence[str] = ("--help",)) -> typer.Typer:
    """The commands that `words` may mean, since each takes a millisecond or two to make; all of them for a help text.

    A command stands first. Where the first word is an option, another one may still name a misplaced command.
    """
    named = [command for command in COMMANDS if command.__name__ in words]
    mistyped = not named and not "".join(words[:1]).startswith("-")
    made = typer.Typer(
        name="intelliperf",
        no_args_is_help=False,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    chips = _chips() if _asks_for_help(words) else None
    made.callback(invoke_without_command=True, epilog=chips)(improve)
    for command in COMMANDS if mistyped or _asks_for_help(words) else named:
        shown = chips if "target" in inspect.signature(command).parameters else None
        made.command(epilog=shown)(command)
    return made


def _chips() -> str:
    from intelliperf.devices.models import target_names

    return f"Chips that --target takes: {', '.join(target_names())}."


def _refuse_misplaced(context: typer.Context) -> None:
    """Options in front of a subcommand would be those of the main job, and lost."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name == "COMMANDLINE":
            name, option = context.invoked_subcommand, max(parameter.opts, key=len)
            raise UsageError(f"{option} goes after the command: intelliperf {name} {option} …")


def invoke(arguments: list[str]) -> int:
    """Split off the application, then let the parser have the rest. Returns the exit status."""
    ours, program = arguments, []
    if "--" in arguments:
        split = arguments.index("--")
        ours, program = arguments[:split], arguments[split + 1 :]
    ours = [_dashed(argument) for argument in ours]
    from intelliperf.cli.configuration import NOTHING, configured

    if COMPLETING in os.environ:
        from intelliperf.cli.completion import prepare

        prepare()
    without_file = (
        COMPLETING in os.environ
        or _asks_for_help(ours)
        or "--version" in ours
        or not _WITHOUT_FILE.isdisjoint(ours[:1])
    )
    file = NOTHING if without_file else configured(ours)
    given = {"command": tuple(program)} if "--" in arguments else {"command": file.command, "typed_in": file.directory}
    try:
        parser = command_of(application(ours if COMPLETING not in os.environ else ("--help",)))
        status = parser.main(
            args=ours,
            prog_name="intelliperf",
            complete_var=COMPLETING,
            obj=given,
            standalone_mode=False,
            default_map=file.defaults,
        )
    except typer.Abort:
        raise KeyboardInterrupt from None
    except _PARSER_ERROR as error:
        message = error.format_message()  # type: ignore[attr-defined]
        unknown = "No such command" in message and "--" not in arguments
        hint = " (the program goes after --, as in: intelliperf -- ./app ARGS)" if unknown else ""
        raise UsageError(f"{message}{hint}") from error
    if status == EXIT_INTERRUPTED:  # the parser's own word for it
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _asks_for_help(words: Sequence[str]) -> bool:
    return not {"-h", "--help"}.isdisjoint(words)


def _dashed(argument: str) -> str:
    """`--top_n=3` and `--top-n=3` are the same option; an older spelling is its newer one."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    name = name[2:].replace("-", "_")
    return "--" + ALIASES.get(name, name).replace("_", "-") + equals + value
