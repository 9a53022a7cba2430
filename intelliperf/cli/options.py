"""Every option, once: its type, default, flags and help are a field of a frozen record.

`cli.parsing` makes the option parser of a command from the fields that the command takes; the configuration file and
its schema read the same table. Paths are meant from where they were typed; timeouts are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

ALIASES = {
    "run_deadline": "run_timeout",
    "build_deadline": "build_timeout",
    "replay": "replies_from",
}  # older spellings, hidden but taken
BACKEND_NAMES = ("auto", "emulator", "cuda", "rocm")
EXECUTOR_NAMES = ("compiled", "machine")


def _formulas() -> list[str]:
    from intelliperf.formulas import FORMULAS

    return list(FORMULAS)


def _targets() -> list[str]:
    from intelliperf.devices.models import target_names

    return list(target_names())


def _option(*flags: str, **more: Any) -> Any:
    return typer.Option(*flags, **more)


@dataclass(frozen=True)
class Options:
    """What a command on an application was asked for."""

    command: tuple[str, ...]
    formula: Annotated[
        str,
        _option(
            "-f",
            "--formula",
            metavar="FORMULA",
            help="The bottleneck to look for; default: each. See `intelliperf formulas`.",
            autocompletion=_formulas,
        ),
    ] = "all"
    build_command: Annotated[
        tuple[str, ...],
        _option(
            "-b",
            "--build-command",
            metavar="COMMAND",
            help="Builds the program, run in the project directory; may be repeated.",
        ),
    ] = ()
    project_directory: Annotated[
        Path | None, _option("-p", "--project-directory", metavar="DIR", help="Default: the current directory.")
    ] = None
    kernel: Annotated[
        str | None, _option("-k", "--kernel", metavar="REGEX", help="Only kernels whose name matches.")
    ] = None
    top_n: Annotated[
        int, _option("--top-n", metavar="N", min=1, help="How many kernels, by device time, are examined.")
    ] = 10
    num_attempts: Annotated[
        int, _option("--num-attempts", metavar="N", min=0, help="Limit of model proposals per finding.")
    ] = 10
    parallel: Annotated[
        int,
        _option(
            "--parallel",
            metavar="N",
            min=0,
            help="Candidates requested from the model at once; 0: by the number of cores.",
        ),
    ] = 0
    model: Annotated[
        str | None, _option("-m", "--model", metavar="MODEL", help="A language model, by its provider's name for it.")
    ] = None
    provider: Annotated[str | None, _option("-r", "--provider", metavar="PROVIDER", help="openai, anthropic, …")] = None
    api_base: Annotated[str | None, _option("--api-base", metavar="URL", help="An OpenAI-compatible server.")] = None
    price: Annotated[
        str | None,
        _option("--price", metavar="IN,OUT", help="USD per million tokens, for a model without a published price."),
    ] = None
    unittest_command: Annotated[
        str | None,
        _option("--unittest-command", metavar="COMMAND", help="Must succeed on every accepted candidate."),
    ] = None
    judge_run: Annotated[
        str | None,
        _option(
            "--judge-run",
            metavar="COMMAND",
            help="On a GPU: a smaller command for the emulator's gates, run by a shell.",
        ),
    ] = None
    also_run: Annotated[
        tuple[str, ...],
        _option(
            "--also-run",
            metavar="COMMAND",
            help="A further command, run by a shell, whose results must stay the same too; may be repeated.",
        ),
    ] = ()
    in_place: Annotated[bool, _option("-l", "--in-place", help="Write an accepted patch to the project at once.")] = (
        False
    )
    output_file: Annotated[
        Path | None, _option("-o", "--output-file", metavar="FILE", help="Copy the JSON result to this file.")
    ] = None
    rtol: Annotated[
        float | None, _option("--rtol", metavar="X", min=0, help="Relative tolerance; overrides the derived one.")
    ] = None
    atol: Annotated[
        float | None, _option("--atol", metavar="X", min=0, help="Absolute tolerance; overrides the derived one.")
    ] = None
    budget_usd: Annotated[
        float | None, _option("--budget-usd", metavar="USD", min=0, help="Spending limit for models.")
    ] = None
    budget_tokens: Annotated[
        int | None, _option("--budget-tokens", metavar="N", min=0, help="Token limit for models.")
    ] = None
    budget_minutes: Annotated[
        float | None, _option("--budget-minutes", metavar="MINUTES", min=0, help="Time limit for the whole run.")
    ] = None
    replies_from: Annotated[
        Path | None, _option("--replies-from", metavar="RUN", help="Take the model's replies from this run.")
    ] = None
    reviews: Annotated[
        Path | None,
        _option(
            "--reviews", metavar="FILE", help="Reviews of earlier patches; what they reject is not proposed again."
        ),
    ] = None
    record_limit: Annotated[
        str,
        _option(
            "--record-limit",
            metavar="SIZE",
            help="Disk space for one kernel's recorded launches; 0: judge whole runs only.",
        ),
    ] = "4G"
    backend: Annotated[
        str,
        _option(
            "--backend",
            metavar="BACKEND",
            help="auto, emulator, cuda or rocm.",
            autocompletion=lambda: list(BACKEND_NAMES),
        ),
    ] = "auto"
    target: Annotated[
        str | None,
        _option(
            "--target",
            metavar="CHIP",
            help="The chip that the emulator models; listed below.",
            autocompletion=_targets,
        ),
    ] = None
    executor: Annotated[
        str,
        _option(
            "--executor",
            metavar="EXECUTOR",
            help="What the emulator runs: device code compiled for this machine, or machine: the GPU's own.",
            autocompletion=lambda: list(EXECUTOR_NAMES),
        ),
    ] = "compiled"
    launcher: Annotated[
        str | None,
        _option(
            "--launcher",
            metavar="COMMAND",
            help="Put before the program in every run: 'srun -n 1', 'rocjitsu run --', …",
        ),
    ] = None
    emulated_launcher: Annotated[
        bool, _option("--emulated-launcher", help="The launcher emulates a GPU: gains are modelled, not measured.")
    ] = False
    flush_l2: Annotated[
        bool, _option("--flush-l2", help="Empty the L2 before every timed launch of the kernel (not --backend rocm).")
    ] = False
    expect_exit: Annotated[
        int, _option("--expect-exit", metavar="STATUS", min=0, max=255, help="The program's exit status, if not 0.")
    ] = 0
    pass_env: Annotated[
        tuple[str, ...],
        _option("--pass-env", metavar="NAME", help="A variable that judged runs may read; may be repeated."),
    ] = ()
    run_root: Annotated[
        Path | None, _option("--run-root", metavar="DIR", help="Directory that takes the run directories.")
    ] = None
    run_timeout: Annotated[
        float, _option("--run-timeout", metavar="SECONDS", min=0.1, help="Timeout of one run of the program.")
    ] = 300.0
    build_timeout: Annotated[
        float, _option("--build-timeout", metavar="SECONDS", min=0.1, help="Timeout of one build.")
    ] = 900.0
    stop_after_launches: Annotated[
        int | None,
        _option("--stop-after-launches", metavar="N", min=1, help="End the program after N launches (emulator)."),
    ] = None
    tolerate: Annotated[
        bool, _option("--tolerate", help="Continue after bad accesses where a GPU would (emulator).")
    ] = False
    keep_work: Annotated[bool, _option("--keep-work", help="Keep the scratch copies.")] = False
    json_events: Annotated[bool, _option("--json", help="Events as JSON lines on standard output.")] = False
    verbose: Annotated[bool, _option("-v", "--verbose", help="Print more: stage times, build output.")] = False
    diagnose_only: bool = False
    typed_in: Path | None = None  # where `command` is meant; None: the current directory


# What commands on an application have in common, in the order of their help.
PROJECT = ("build_command", "project_directory", "kernel", "top_n")
DEVICE = ("backend", "target", "executor", "launcher", "emulated_launcher")
LIMITS = ("expect_exit", "pass_env", "run_timeout", "stop_after_launches", "tolerate", "build_timeout")
OUTPUT = ("run_root", "json_events", "verbose")
CHECKS = ("seeds", "seed", "strict", "other_wave", "sarif")


@dataclass(frozen=True)
class CheckOptions(Options):
    """What `intelliperf check` takes besides."""

    seeds: Annotated[int, _option("--seeds", metavar="N", min=0, help="Runs in random order.")] = 1
    seed: Annotated[
        int | None, _option("--seed", metavar="SEED", min=1, help="Only this order, to reproduce a defect.")
    ] = None
    strict: Annotated[bool, _option("--strict", help="A warning counts as an error.")] = False
    other_wave: Annotated[
        bool, _option("--other-wave/--one-wave", help="Run HIP programs with waves of 32 and of 64 lanes.")
    ] = True
    sarif: Annotated[Path | None, _option("--sarif", metavar="FILE", help="Also write the defects as SARIF 2.1.0.")] = (
        None
    )


@dataclass(frozen=True)
class RunOptions:
    """Which run `apply`, `report` and `resume` are about."""

    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="A run directory or its name; default: the latest that fits.")
    ] = None
    run_root: Annotated[
        Path | None, _option("--run-root", metavar="DIR", help="Directory that holds the run directories.")
    ] = None


@dataclass(frozen=True)
class ResumeOptions(RunOptions):
    """What `intelliperf resume` takes besides."""

    without_model: Annotated[
        bool, _option("--without-model", help="Ask no model any more: report what was found so far.")
    ] = False


@dataclass(frozen=True)
class ReplayOptions(RunOptions):
    """What `intelliperf replay` takes besides."""

    run: Annotated[
        Path | None,
        typer.Argument(metavar="[RUN]", help="A run directory, its name, or a file of --export; default: the latest."),
    ] = None
    kernel: Annotated[
        str | None, _option("-k", "--kernel", metavar="REGEX", help="Only kernels whose name matches.")
    ] = None
    candidate: Annotated[
        Path | None, _option("--candidate", metavar="PROGRAM", help="This build instead of the run's accepted one.")
    ] = None
    export: Annotated[
        Path | None,
        _option("--export", metavar="FILE", help="Write the recording, with the data in it, to a file of its own."),
    ] = None
    run_timeout: Annotated[float, _option("--run-timeout", metavar="SECONDS", min=0.1, help="For one replay.")] = 300.0


@dataclass(frozen=True)
class NightOptions:
    """What `intelliperf nightly` was asked for."""

    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Default: nightly.toml or intelliperf.toml here.")
    ] = None
    resume: Annotated[bool, _option("--resume", help="Resume the latest interrupted night, or --night.")] = False
    night: Annotated[Path | None, _option("--night", metavar="DIR", help="The night to resume.")] = None
    only: Annotated[tuple[str, ...], _option("--only", metavar="TARGET", help="This target; may be repeated.")] = ()
    database: Annotated[
        str | None, _option("--database", metavar="URL", help="postgresql://… or the path of an SQLite file.")
    ] = None
    nights: Annotated[Path | None, _option("--nights", metavar="DIR", help="Where nights' directories go.")] = None
    ray: Annotated[
        str | None, _option("--ray", metavar="ADDRESS", help="auto, local, or the address of a Ray cluster.")
    ] = None
    workers: Annotated[int | None, _option("--workers", metavar="N", min=1, help="Tasks at once, without Ray.")] = None
    budget_usd: Annotated[
        float | None, _option("--budget-usd", metavar="USD", min=0, help="The most that models may cost.")
    ] = None
    budget_tokens: Annotated[
        int | None, _option("--budget-tokens", metavar="N", min=0, help="Token limit for models.")
    ] = None
    budget_minutes: Annotated[
        float | None, _option("--budget-minutes", metavar="MINUTES", min=0, help="Time limit for the whole night.")
    ] = None
    budget_device_minutes: Annotated[
        float | None,
        _option("--budget-device-minutes", metavar="MINUTES", min=0, help="The most device time, over all tasks."),
    ] = None
    search: Annotated[bool, _option("--search/--no-search", help="Look for patches.")] = True
    schema: Annotated[bool, _option("--schema", help="Print the JSON Schema of the file.")] = False
    json_events: Annotated[bool, _option("--json", help="Events as JSON lines on standard output.")] = False


@dataclass(frozen=True)
class ReviewOptions:
    """What `intelliperf review` was asked for."""

    runs: Annotated[
        tuple[Path, ...], typer.Argument(metavar="[RUN]...", help="Run directories whose patches are added.")
    ] = ()
    database: Annotated[
        str | None, _option("--database", metavar="URL", help="postgresql://… or the path of an SQLite file.")
    ] = None
    export: Annotated[
        Path | None, _option("--export", metavar="FILE", help="Write one run's page to this file instead.")
    ] = None
    accepted: Annotated[
        Path | None,
        _option("--accepted", metavar="DIR", help="Write accepted patches and pull request texts there instead."),
    ] = None
    listen: Annotated[
        str, _option("--listen", metavar="HOST:PORT", help="Other addresses than loopback require TLS.")
    ] = "127.0.0.1:0"
    tls_cert: Annotated[Path | None, _option("--tls-cert", metavar="FILE", help="Certificate chain, PEM.")] = None
    tls_key: Annotated[Path | None, _option("--tls-key", metavar="FILE", help="Its private key, PEM.")] = None
    password_file: Annotated[
        Path | None, _option("--password-file", metavar="FILE", help="Reviewers and hashes of their passwords.")
    ] = None
    hash_password: Annotated[
        str | None, _option("--hash-password", metavar="NAME", help="Print a line for --password-file.")
    ] = None
