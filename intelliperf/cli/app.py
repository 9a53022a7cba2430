"""The commands and their options, as visible tables.

Everything after the first `--` is the application's and never reaches the option parser.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from intelliperf import __version__
from intelliperf.cli.configuration import defaults
from intelliperf.cli.options import Options
from intelliperf.cli.parsing import (
    Argument,
    Command,
    CommandLine,
    Option,
    convert,
    find_command,
    help_text,
    path_argument,
    read,
)
from intelliperf.errors import UsageError

_FORMULA = Option(
    "formula", ("-f", "--formula"), "The bottleneck to look for; see `intelliperf formulas`.", default="diagnoseOnly"
)
_BUILD = Option(
    "build_command",
    ("-b", "--build-command"),
    "Builds the program, run in the project directory; may be repeated.",
    tuple,
    (),
)
_PROJECT = Option("project_directory", ("-p", "--project-directory"), "Default: the current directory.", Path)
_KERNEL = Option("kernel", ("-k", "--kernel"), "Only kernels that match this expression.")
_TOP_N = Option("top_n", ("--top-n",), "How many kernels, by device time, are looked at.", int, 10, 1)
_UNIT_TESTS = Option("unittest_command", ("--unittest-command",), "Must succeed on every accepted candidate.")
_RTOL = Option("rtol", ("--rtol",), "Overrides the derived tolerance.", float, minimum=0)
_ATOL = Option("atol", ("--atol",), "Overrides the derived tolerance.", float, minimum=0)
_BACKEND = Option("backend", ("--backend",), "auto, emulator, cuda or rocm.", default="auto")
_TARGET = Option("target", ("--target",), "The chip that the emulator models: mi300x, h100, …")
_LAUNCHER = Option(
    "launcher", ("--launcher",), "Stands before the program in every run: 'srun -n 1', 'rocjitsu run --', …"
)
_EMULATED_LAUNCHER = Option(
    "emulated_launcher",
    ("--emulated-launcher",),
    "The launcher emulates a GPU: gains are modelled, not measured.",
    bool,
    False,
)
_RUN_ROOT = Option("run_root", ("--run-root",), "Where run directories go.", Path)
_RUN_DEADLINE = Option("run_deadline", ("--run-deadline",), "Seconds for one run of the program.", float, 300.0, 0.1)
_BUILD_DEADLINE = Option("build_deadline", ("--build-deadline",), "Seconds for one build.", float, 900.0, 0.1)
_JSON = Option("json_events", ("--json",), "Events as JSON lines on standard output.", bool, False)

_WHAT = (_FORMULA, _BUILD, _PROJECT, _KERNEL, _TOP_N)
_DEVICE = (_BACKEND, _TARGET, _LAUNCHER, _EMULATED_LAUNCHER)
_DEADLINES = (_RUN_DEADLINE, _BUILD_DEADLINE)
_RUN = Argument("run", "A run directory; default: the latest.")


def _improve(values: dict[str, Any]) -> int:
    if values.pop("version"):
        print(f"intelliperf {__version__}")
        return 0
    from intelliperf.cli.improve import improve_application

    return improve_application(Options(**values))


def _diagnose(values: dict[str, Any]) -> int:
    from intelliperf.cli.improve import improve_application

    return improve_application(Options(**values, diagnose_only=True))


def _emulate(values: dict[str, Any]) -> int:
    from intelliperf.cli.emulate import emulate_application

    return emulate_application(Options(**values, backend="emulator"))


def _verify(values: dict[str, Any]) -> int:
    from intelliperf.cli.verify import verify_patch

    patch, geometry, kernels = (values.pop(name) for name in ("patch", "allow_geometry", "allow_kernels"))
    return verify_patch(Options(**values), patch, geometry, kernels)


def _apply(values: dict[str, Any]) -> int:
    from intelliperf.cli.runs import apply_run

    return apply_run(values["run"])


def _report(values: dict[str, Any]) -> int:
    from intelliperf.cli.runs import print_report

    return print_report(values["run"])


def _resume(values: dict[str, Any]) -> int:
    from intelliperf.cli.improve import resume_run

    return resume_run(values["run"])


def _doctor(values: dict[str, Any]) -> int:
    if values["amd"]:
        from intelliperf.cli.doctoramd import default_bundle, examine_amd

        return examine_amd(values["launcher"], values["emulated_launcher"], values["bundle"] or default_bundle())
    from intelliperf.cli.doctor import examine

    return examine()


def _formulas(_values: dict[str, Any]) -> int:
    from intelliperf.cli.runs import list_formulas

    return list_formulas()


MAIN = Command(
    "intelliperf",
    "Find a GPU bottleneck, rewrite the kernel, prove that it is right and faster.\n\n"
    "The program goes after --: intelliperf --formula atomicContention -- ./app ARGS",
    _improve,
    (
        *_WHAT,
        Option("num_attempts", ("--num-attempts",), "Proposals of the model.", int, 10, 0),
        Option("model", ("-m", "--model"), "Model name at the provider."),
        Option("provider", ("-r", "--provider"), "openai, anthropic, …"),
        Option("api_base", ("--api-base",), "URL of an OpenAI-compatible server."),
        Option("price", ("--price",), "INPUT,OUTPUT in USD per million tokens, where nobody publishes it."),
        _UNIT_TESTS,
        Option("in_place", ("-l", "--in-place"), "Write an accepted patch to the project.", bool, False),
        Option("output_file", ("-o", "--output-file"), "Copy of report.json.", Path),
        _RTOL,
        _ATOL,
        Option("budget_usd", ("--budget-usd",), "What the model may cost.", float, minimum=0),
        Option("budget_tokens", ("--budget-tokens",), "How many tokens it may take.", int, minimum=0),
        Option("budget_minutes", ("--budget-minutes",), "How long the run may propose and judge.", float, minimum=0),
        Option("replay", ("--replay",), "Take the model's replies from this run.", Path),
        *_DEVICE,
        _RUN_ROOT,
        *_DEADLINES,
        Option("keep_work", ("--keep-work",), "Keep the scratch copies.", bool, False),
        _JSON,
        Option("verbose", ("-v", "--verbose"), "Say more.", bool, False),
        Option("version", ("--version",), "Print the version.", bool, False),
    ),
)
COMMANDS = (
    Command(
        "diagnose",
        "Profile, diagnose and locate; change nothing.",
        _diagnose,
        (*_WHAT, *_DEVICE, _RUN_ROOT, *_DEADLINES, _JSON),
    ),
    Command(
        "emulate",
        "Run a program on the emulator and print what every source line did to memory.",
        _emulate,
        (
            *(_BUILD, _PROJECT, _KERNEL, _TOP_N, _TARGET),
            *_DEADLINES,
            Option("json_events", ("--json",), "The table as JSON.", bool, False),
        ),
    ),
    Command(
        "verify",
        "Judge somebody's patch as if it were a candidate: intelliperf verify PATCH -- ./app.",
        _verify,
        (
            *_WHAT,
            *(_UNIT_TESTS, _RTOL, _ATOL),
            Option("allow_geometry", ("--allow-geometry",), "The patch may change launches.", bool, False),
            Option("allow_kernels", ("--allow-kernels",), "It may add or split kernels.", bool, False),
            *_DEVICE,
            _RUN_ROOT,
            *_DEADLINES,
            _JSON,
        ),
        Argument("patch", "A unified diff against the project.", required=True),
    ),
    Command("apply", "Write the accepted patch of a run to its project.", _apply, argument=_RUN),
    Command("report", "Print the summary of a run.", _report, argument=_RUN),
    Command("resume", "Go on with a run that was interrupted.", _resume, argument=_RUN),
    Command(
        "doctor",
        "Say what is there, what is missing and the command that fixes it; run a self-test.",
        _doctor,
        (
            Option("amd", ("--amd",), "The whole chain on an AMD GPU, with a bundle of logs.", bool, False),
            _LAUNCHER,
            _EMULATED_LAUNCHER,
            Option("bundle", ("--bundle",), "Where the bundle of --amd goes.", Path),
        ),
    ),
    Command("formulas", "List the formulas.", _formulas),
)


def invoke(arguments: list[str]) -> int:
    """Split off the application, then let the parser have the rest. Returns the exit status."""
    ours, application = arguments, []
    if "--" in arguments:
        split = arguments.index("--")
        ours, application = arguments[:split], arguments[split + 1 :]
    command, line = MAIN, read(ours, MAIN.options, stop_at_positional=True)
    if line.positional:
        command = find_command(line.positional[0], COMMANDS)
        if line.given:  # they would be those of the main job, and lost
            name = next(iter(line.given)).name
            raise UsageError(f"{name} goes after the command: intelliperf {command.name} {name} …")
        line = read(line.positional[1:], command.options)
    if line.help:
        print(_help(command))
        return 0
    return command.run(_values(command, line, defaults(ours), application))


def _values(
    command: Command, line: CommandLine, configured: dict[str, object], application: list[str]
) -> dict[str, Any]:
    """By field: what was typed, else what the configuration file says, else the default."""
    values: dict[str, Any] = {option.field: option.default for option in command.options}
    for option in command.options:
        if configured.get(option.field) is not None:
            values[option.field] = convert(option, configured[option.field])
    values |= {option.field: value for option, value in line.given.items()}
    path = path_argument(command, line.positional)
    if command.argument is not None:
        values[command.argument.name] = path
    if _BUILD in command.options:
        values["command"] = tuple(application)
    return values


def _help(command: Command) -> str:
    if command is MAIN:
        return help_text("intelliperf [OPTIONS] -- PROGRAM [ARGS]\n       intelliperf COMMAND …", MAIN, COMMANDS)
    words = [f"intelliperf {command.name} [OPTIONS]"]
    if command.argument is not None:
        name = command.argument.name.upper()
        words.append(name if command.argument.required else f"[{name}]")
    words += ["-- PROGRAM [ARGS]"] if _BUILD in command.options else []
    return help_text(" ".join(words), command)
