"""The command line of rocprofv3, release by release: what it does not know, it refuses."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

_TRUE, _FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")
# Options that take a truth value or none, with the release that brought them.
_SWITCHES = {
    ("--output-config",): "6.4",
    ("-r", "--runtime-trace"): "6.3",
    ("-s", "--sys-trace"): "6.2",
    ("--hip-trace",): "6.2",
    ("--marker-trace",): "6.2",
    ("--kernel-trace",): "6.2",
    ("--memory-copy-trace",): "6.2",
    ("--memory-allocation-trace",): "6.3",
    ("--scratch-memory-trace",): "6.2",
    ("--hsa-trace",): "6.2",
    ("--rccl-trace",): "6.4",
    ("--hip-runtime-trace",): "6.2",
    ("--hip-compiler-trace",): "6.2",
    ("--hsa-core-trace",): "6.2",
    ("--hsa-amd-trace",): "6.2",
    ("--pc-sampling-beta-enabled",): "6.3",
    ("--stats",): "6.2",
    ("-S", "--summary"): "6.3",
    ("-D", "--summary-per-domain"): "6.3",
    ("-M", "--mangled-kernels"): "6.2",
    ("-T", "--truncate-kernels"): "6.2",
    ("--kernel-rename",): "6.2",
    ("-L", "--list-avail"): "6.3",
    ("--group-by-queue",): "7.0",
    ("--att", "--advanced-thread-trace"): "7.0",
}
_VALUES: dict[tuple[str, ...], tuple[str, dict[str, Any]]] = {
    ("-i", "--input"): ("6.2", {}),
    ("-o", "--output-file"): ("6.2", {}),
    ("-d", "--output-directory"): ("6.2", {}),
    ("--log-level",): ("6.2", {"choices": ("fatal", "error", "warning", "info", "trace", "env", "config")}),
    ("-E", "--extra-counters"): ("6.3", {}),
    ("--pmc",): ("6.3", {"nargs": "*"}),
    ("--pc-sampling-unit",): ("6.3", {"choices": ("instructions", "cycles", "time")}),
    ("--pc-sampling-method",): ("6.3", {"choices": ("stochastic", "host_trap")}),
    ("--pc-sampling-interval",): ("6.3", {"type": int}),
    ("--kernel-include-regex",): ("6.2", {}),
    ("--kernel-exclude-regex",): ("6.2", {}),
    ("--kernel-iteration-range",): ("6.2", {"nargs": "+"}),
    ("--preload",): ("6.2", {"nargs": "*"}),
    ("--rocm-root",): ("7.0", {}),
    ("-A", "--agent-index"): ("7.0", {"choices": ("absolute", "relative", "type-relative")}),
    ("--minimum-output-data",): ("7.0", {"type": int}),
    ("--att-library-path",): ("7.0", {"nargs": "+"}),
    ("--att-target-cu",): ("7.0", {}),
    ("--att-simd-select",): ("7.0", {}),
    ("--att-shader-engine-mask",): ("7.0", {}),
    ("--att-buffer-size",): ("7.0", {}),
}
_JOB_KEYS = {"pmc", "kernel_include_regex", "kernel_exclude_regex", "kernel_iteration_range"}


@dataclass(frozen=True)
class Job:
    """One run of the application."""

    counters: list[str]
    kernel_trace: bool
    mangled: bool
    include: str | None
    output_directory: str | None
    output_file: str | None
    formats: list[str]
    sub_directory: str = ""
    sampling: dict[str, Any] = field(default_factory=dict)
    thread_trace: bool = False


def fatal(message: str) -> NoReturn:
    sys.stderr.write(f"Fatal error: {message}\n")
    raise SystemExit(1)


def _truth(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"invalid truth value {text}")


def parse(argv: Sequence[str], release: str) -> tuple[list[Job], list[str], bool]:
    """Jobs, the application after "--", and whether only the version is asked for."""
    own, application = list(argv), []
    if "--" in own:
        at = own.index("--")
        own, application = own[:at], own[at + 1 :]
    parser = argparse.ArgumentParser(prog="rocprofv3", allow_abbrev=False)
    if release >= "7.0":
        parser.add_argument("-v", "--version", action="store_true")
    for flags, since in _SWITCHES.items():
        if release >= since:
            parser.add_argument(*flags, nargs="?", const=True, default=None, type=_truth)
    for names, (since, more) in _VALUES.items():
        if release >= since:
            parser.add_argument(*names, **more)
    formats = ("csv", "json", "pftrace", "otf2") + (("rocpd",) if release >= "7.0" else ())
    parser.add_argument("-f", "--output-format", nargs="+", choices=formats, default=[])
    parsed = parser.parse_args(own)
    if getattr(parsed, "version", False):
        return [], [], True
    return _jobs(parsed), application, False


def _jobs(parsed: argparse.Namespace) -> list[Job]:
    asked: list[dict[str, Any]] = [{}]
    sub_directory = ""
    if parsed.input:
        sub_directory = "pass_"
        asked = json.loads(Path(parsed.input).read_text())["jobs"]
        for one in asked:
            if extra := set(one) - _JOB_KEYS:
                fatal(f"unknown keys in the input file: {', '.join(sorted(extra))}")
    counters = [name for text in getattr(parsed, "pmc", None) or [] for name in text.split(",") if name]
    sampling = {
        name: getattr(parsed, f"pc_sampling_{name}", None) for name in ("beta_enabled", "method", "unit", "interval")
    }
    if any(sampling.values()):
        if not sampling["beta_enabled"] and "ROCPROFILER_PC_SAMPLING_BETA_ENABLED" not in os.environ:
            fatal(
                "PC sampling unavailable. The feature is implicitly disabled. To enable it, use "
                "--pc-sampling-beta-enable option or set ROCPROFILER_PC_SAMPLING_BETA_ENABLED=ON in the environment"
            )
        if not all(sampling[name] for name in ("method", "unit", "interval")):
            fatal("All three PC sampling configurations need to be set")
        if sampling["interval"] <= 0:
            fatal("PC sampling interval must be a positive number.")
        if (sampling["method"], sampling["unit"]) not in (("host_trap", "time"), ("stochastic", "cycles")):
            sys.stderr.write(
                "E0101 tool.cpp:2005] Given PC sampling configuration is not supported on any of the agents\n"
            )
            raise SystemExit(1)
        if sampling["method"] == "stochastic" and (sampling["interval"] < 256 or sampling["interval"].bit_count() > 1):
            fatal("the interval of stochastic PC sampling must be a power of two, 256 or more")
        if counters:
            fatal("counters and PC samples in one run can hang the device")
    thread_trace = bool(getattr(parsed, "att", None))
    if thread_trace and not (parsed.att_library_path or os.environ.get("ROCPROF_ATT_LIBRARY_PATH")):
        fatal("rocprof-trace-decoder library path not found")
    return [
        Job(
            counters=one.get("pmc", counters),
            kernel_trace=bool(parsed.kernel_trace),
            mangled=bool(parsed.mangled_kernels),
            include=one.get("kernel_include_regex", parsed.kernel_include_regex),
            output_directory=parsed.output_directory,
            output_file=parsed.output_file,
            formats=parsed.output_format,
            sub_directory=sub_directory,
            sampling=sampling if any(sampling.values()) else {},
            thread_trace=thread_trace,
        )
        for one in asked
    ]
