"""The installed rocprofv3: where it is, how old it is, and what to say on its command line."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from intelliperf.errors import BackendUnavailable, UsageError
from intelliperf.processes.process import output_of

OLDEST = (6, 2)
PREFIX = "%pid%"  # rocprofv3 puts the process's number in, so that processes do not overwrite each other's files
_COUNTERS_AS_ARGUMENTS = (6, 3)
_DEADLINE_S = 60.0
_SAMPLES_SINCE = (6, 3)
# The release that brought it, and the chips: rocprofiler-compute refuses MI100 and Strix Halo, and MI200 for stochastic
# sampling; gfx1200 and gfx1201 are known from users' reports only.
_SAMPLING: Mapping[str, tuple[tuple[int, int], frozenset[str]]] = {
    "stochastic": ((7, 0), frozenset({"gfx942", "gfx950"})),
    "host_trap": (_SAMPLES_SINCE, frozenset({"gfx90a", "gfx942", "gfx950", "gfx1200", "gfx1201"})),
}
# By AMD's table of thread trace support. Its option came with ROCm 7.0.
_THREAD_TRACE_SINCE = (7, 0)
_THREAD_TRACE = frozenset(
    {
        *("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1101", "gfx1102"),
        *("gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201"),
    }
)
_ONE_SIMD = "gfx1"  # RDNA, where --att-simd-select is a number, not a mask
_SDK_TO_ROCM = {(0, 4): (6, 2), (0, 5): (6, 3), (0, 6): (6, 4), (1, 0): (7, 0), (1, 1): (7, 1)}
_NUMBERS = re.compile(r"(\d+)\.(\d+)")
_TOOLS_LIBRARY = "HSA_TOOLS_LIB"


@dataclass(frozen=True)
class Rocprof:
    """An installed rocprofv3 of a ROCm release that we can read."""

    program: Path
    version: tuple[int, int]  # of ROCm

    @property
    def name(self) -> str:
        return f"rocprofv3 of ROCm {self.version[0]}.{self.version[1]}"


def find_rocprof(program: Path | None = None, environment: Mapping[str, str] | None = None) -> Rocprof:
    """`program`, else the one on PATH, else ROCm's usual places. Raises `BackendUnavailable` with the remedy."""
    known = dict(os.environ if environment is None else environment)
    places = [program] if program is not None else _places(known)
    found = next((place for place in places if place is not None and os.access(place, os.X_OK)), None)
    if found is None:
        where = f"at {program}" if program is not None else "on PATH, in $ROCM_PATH/bin or in /opt/rocm*/bin"
        raise BackendUnavailable(
            f"rocprofv3 is not {where}: install ROCm 6.2 or later (package rocprofiler-sdk) and put its bin on PATH"
        )
    return Rocprof(found, _checked(*_version(found), found))


def _places(environment: Mapping[str, str]) -> list[Path | None]:
    on_path = shutil.which("rocprofv3", path=environment.get("PATH", ""))
    roots = [environment.get(name) for name in ("ROCM_PATH", "ROCM_HOME")]
    usual = sorted(Path("/opt").glob("rocm*"), reverse=True)
    return [
        Path(on_path) if on_path else None,
        *(Path(root) / "bin" / "rocprofv3" for root in roots if root),
        *(root / "bin" / "rocprofv3" for root in usual),
    ]


def _version(program: Path) -> tuple[tuple[int, int] | None, str]:
    """By --version, which releases before 7.0 lack, else by the release's own note; and the tool's last output."""
    known_by = program.stat()
    stated, last = _asked(program, known_by.st_mtime_ns, known_by.st_size)
    note = program.resolve().parent.parent / ".info" / "version"
    if stated is None and note.exists():
        numbers = _NUMBERS.search(note.read_text("utf-8", "replace"))
        stated = (int(numbers[1]), int(numbers[2])) if numbers else None
    return stated, last


@lru_cache(maxsize=8)
def _asked(program: Path, changed_ns: int, size: int) -> tuple[tuple[int, int] | None, str]:
    """Once while the program is the same: every run looks for it, and to start Python for an answer takes a while."""
    done, out, err = output_of([str(program), "--version"], _DEADLINE_S)
    words = (err.strip() or out.strip()).splitlines()
    return parse_version(out + err) if done.ok else None, words[-1].strip() if words else done.describe()


def parse_version(text: str) -> tuple[int, int] | None:
    """ROCm's release in the output of --version; from the tool's own number where ROCm's is not stated."""
    stated = dict(line.strip().split(":", 1) for line in text.splitlines() if ":" in line)
    rocm = _NUMBERS.search(stated.get("rocm_version", ""))
    if rocm:
        return int(rocm[1]), int(rocm[2])
    own = _NUMBERS.search(stated.get("version", ""))
    return _SDK_TO_ROCM.get((int(own[1]), int(own[2]))) if own else None


def _checked(version: tuple[int, int] | None, words: str, program: Path) -> tuple[int, int]:
    if version is None:
        raise BackendUnavailable(
            f"{program} does not tell its version ({words}), and there is no .info/version above it: "
            "is it AMD's rocprofv3, and whole?"
        )
    if version < OLDEST:
        raise BackendUnavailable(
            f"{program} is of ROCm {version[0]}.{version[1]}: install {OLDEST[0]}.{OLDEST[1]} or later"
        )
    return version


def refuse_tools_library(environment: Mapping[str, str]) -> None:
    """A profiler and an HSA tools library in one process exclude each other: ROCr loads one of them only.

    Raises `UsageError` where the variable would reach the run.
    """
    value = {**os.environ, **environment}.get(_TOOLS_LIBRARY)
    if value:
        raise UsageError(
            f"{_TOOLS_LIBRARY}={value} is set: ROCr skips tools libraries under rocprofv3, so that one of both "
            "would silently do nothing; unset it for profiling"
        )


def trace_request() -> tuple[str, ...]:
    return ("--kernel-trace", "--memory-copy-trace", "--mangled-kernels")


def counter_request(rocprof: Rocprof, counters: Sequence[str], kernels: Sequence[str], logs: Path) -> tuple[str, ...]:
    """One pass. ROCm 6.2 takes counters from a file only, which is written to `logs`."""
    chosen = symbol_pattern(kernels)
    if rocprof.version >= _COUNTERS_AS_ARGUMENTS:
        return ("--pmc", *counters, "--kernel-include-regex", chosen, "--mangled-kernels")
    request = logs / "pass.json"
    job = {"pmc": list(counters), "kernel_include_regex": chosen}
    request.write_text(json.dumps({"jobs": [job]}), encoding="utf-8")
    return ("-i", str(request), "--mangled-kernels")


def check_sampling(rocprof: Rocprof, architecture: str, method: str) -> None:
    """Raises `BackendUnavailable` where PC samples of that kind are not available."""
    since, chips = _SAMPLING[method]
    _check(rocprof, f"{method.replace('_', ' ')} samples", since, architecture, chips)


def check_thread_trace(rocprof: Rocprof, architecture: str) -> None:
    """Raises `BackendUnavailable` where thread traces are not available."""
    _check(rocprof, "thread traces", _THREAD_TRACE_SINCE, architecture, _THREAD_TRACE)


def _check(rocprof: Rocprof, what: str, since: tuple[int, int], architecture: str, chips: frozenset[str]) -> None:
    if rocprof.version < since:
        raise BackendUnavailable(f"{rocprof.name} takes no {what}: install {since[0]}.{since[1]} or later")
    if architecture not in chips:
        raise BackendUnavailable(
            f"{rocprof.name} takes no {what} on {architecture}, only on {', '.join(sorted(chips))}"
        )


def sampling_request(method: str, interval: int) -> tuple[str, ...]:
    """`interval` in microseconds for "host_trap" and in cycles, a power of two, for "stochastic".

    Dispatches are traced in the same run: samples tell their number, not their kernel.
    """
    units = {"host_trap": "time", "stochastic": "cycles"}
    if method not in units:
        raise UsageError(f"no such way to sample: {method}; there are {', '.join(units)}")
    return (
        "--kernel-trace",
        *("--pc-sampling-beta-enabled", "--pc-sampling-method", method),
        *("--pc-sampling-unit", units[method], "--pc-sampling-interval", str(interval), "--mangled-kernels"),
    )


def thread_trace_request(kernel: str, architecture: str) -> tuple[str, ...]:
    """The first dispatch of a kernel on one compute unit of one shader engine."""
    simds = ("--att-simd-select", "0x0") if architecture.startswith(_ONE_SIMD) else ()
    chosen = ("--kernel-include-regex", symbol_pattern([kernel]), "--mangled-kernels")
    return ("--att", "--att-target-cu", "1", "--att-shader-engine-mask", "0x1", *simds, *chosen)


def symbol_pattern(kernels: Sequence[str]) -> str:
    """An ECMAScript regular expression for exactly these mangled names, with or without the descriptor's ".kd"."""
    escaped = "|".join(re.sub(r"([^\w])", r"\\\1", symbol) for symbol in dict.fromkeys(kernels))
    return rf"^({escaped})(\.kd)?$"


def command(
    rocprof: Rocprof, request: Sequence[str], output: Path, target: Sequence[str], launcher: Sequence[str] = ()
) -> list[str]:
    """The launcher comes first: job launchers and emulators start the profiler, not the profiler them."""
    return [
        *launcher,
        str(rocprof.program),
        *request,
        *("--output-format", "csv", "-d", str(output), "-o", PREFIX, "--"),
        *target,
    ]
