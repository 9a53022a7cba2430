"""Nsight Compute as a library: run it on chosen kernels, read its report, say what is wrong in clear words.

    application = Application(("./app",), project, project)
    report = profile(find_ncu(), application, r"^_Z3addPf$", ["gpu__time_duration.sum"], 60.0, logs)
    for kernel in report:
        kernel.metrics["gpu__time_duration.sum"]

Kernels are replayed by ncu, which saves and restores the memory that they write, so that those that
accumulate into their outputs are counted right. Clocks are left alone (`--clock-control none`): they are not
ours to change, and counts do not depend on them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.errors import ApplicationFailed, BackendUnavailable, ProtocolError
from intelliperf.processes.process import Completed, run
from intelliperf.records import Application

_DUMP = Path(__file__).with_name("ncu_dump.py")
_READ_DEADLINE_S = 120.0
_PLACES = ("/opt/nvidia/nsight-compute", "/usr/local/cuda/nsight-compute", "/usr/local/NVIDIA-Nsight-Compute")
_PERMISSION = (
    "the driver does not let this user read performance counters (ERR_NVGPUCTRPERM): run as root, or have an "
    "administrator load the driver with NVreg_RestrictProfilingToAdminUsers=0 "
    "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)"
)


_BUSY = "a driver resource was unavailable"  # ncu's words where another tool has the counters
_WAITS_S = (1.0, 4.0, 15.0)  # other intelliperf runs of this machine are waited for before, see `devicelock`
_IN_USE = (
    "the driver does not give the GPU's counters to ncu; another profiler or DCGM may have them: end it, or pause DCGM "
    "(`dcgmi profile --pause`)"
)


class CountersDenied(BackendUnavailable):
    """ncu runs, but the driver does not give this user the counters."""


@dataclass(frozen=True)
class Ncu:
    """An installed Nsight Compute. `extras` holds the Python module that reads reports."""

    program: Path
    extras: Path


@dataclass(frozen=True)
class Instruction:
    """One machine instruction of a profiled kernel; `offset` in bytes from the kernel's first instruction."""

    offset: int
    sass: str
    file: str | None
    line: int | None
    metrics: Mapping[str, float]

    @property
    def opcode(self) -> str:
        """As "LDG.E.128", without predicate and operands."""
        words = [word for word in self.sass.split() if not word.startswith("@")]
        return words[0].rstrip(";") if words else ""

    @property
    def operation(self) -> str:
        """The opcode's first part: "LDG"."""
        return self.opcode.partition(".")[0]


@dataclass(frozen=True)
class ProfiledKernel:
    """One profiled launch. Metrics that the device or this ncu does not have are absent."""

    symbol: str
    name: str
    metrics: Mapping[str, float]
    instructions: tuple[Instruction, ...]


def find_ncu() -> Ncu:
    """The ncu on PATH, else the newest at the usual places. Raises `BackendUnavailable` with the remedy."""
    on_path = shutil.which("ncu")
    candidates = [Path(on_path)] if on_path else []
    candidates += [ncu for place in _PLACES for ncu in sorted(Path(place).glob("*/ncu"), reverse=True)]
    for program in candidates:
        for root in (program.resolve().parent, *program.resolve().parents, *_beside(program)):
            extras = root / "extras" / "python"
            if (extras / "ncu_report.py").exists():
                return Ncu(program, extras)
    if candidates:
        raise BackendUnavailable(f"{candidates[0]} has no extras/python/ncu_report.py: reinstall Nsight Compute")
    raise BackendUnavailable("Nsight Compute is not installed: put ncu on PATH (package cuda-nsight-compute)")


def _beside(program: Path) -> list[Path]:
    """Where a wrapper script on PATH may lead: the newest of the usual places."""
    return [root for place in _PLACES for root in sorted(Path(place).glob("*"), reverse=True)] if program else []


def profile(
    ncu: Ncu,
    application: Application,
    kernel: str,
    metrics: Sequence[str],
    deadline_s: float,
    logs: Path,
    source: bool = True,
    launches: int = 1,
) -> tuple[ProfiledKernel, ...]:
    """The first `launches` launches of the kernels whose mangled name matches `kernel` (a regular expression).

    With `source` every memory instruction comes with its own counts and stall samples. Where another tool has the
    counters, it is tried again for a while. Raises `CountersDenied`, `BackendUnavailable`, `ApplicationFailed` (the
    application fails or ends late, or launches no such kernel) and `ProtocolError` (a report that cannot be read).
    """
    logs.mkdir(parents=True, exist_ok=True)
    report = logs / "report.ncu-rep"
    argv = [
        *(str(ncu.program), "--clock-control", "none", "--kernel-name-base", "mangled"),
        *("--kernel-name", f"regex:{kernel}", "--launch-count", str(launches), "--kill", "no"),
        *("--target-processes", "all", "--force-overwrite", "--export", str(report)),
        *(("--section", "SourceCounters", "--import-source", "yes") if source else ()),
        *("--metrics", ",".join(metrics)),
        *application.argv,
    ]
    for wait_s in (*_WAITS_S, None):
        report.unlink(missing_ok=True)
        done = run(argv, application.directory, deadline_s, logs, "ncu", dict(application.environment))
        if wait_s is None or _BUSY not in _said(done):
            break
        time.sleep(wait_s)
    _check(done, application, report)
    return read_report(ncu, report, logs)


def _said(done: Completed) -> str:
    return done.tail("stdout") + done.tail("stderr")


def _check(done: Completed, application: Application, report: Path) -> None:
    program = application.command[0]
    said = _said(done)
    if "ERR_NVGPUCTRPERM" in said:
        raise CountersDenied(_PERMISSION)
    if _BUSY in said:
        raise BackendUnavailable(_IN_USE)
    complaints = complaints_in(said, application.exit_status)
    if done.timed_out:
        raise ApplicationFailed(f"{program} under ncu: {done.describe()}; profile a smaller problem")
    if "No kernels were profiled" in said:
        raise ApplicationFailed(f"{program} launched no kernel of that name under ncu")
    if not report.exists():
        why = complaints[0] if complaints else done.describe()
        raise BackendUnavailable(f"ncu made no report of {program}: {why}")
    if complaints and not done.ok and "exited" not in complaints[0] and "target" not in complaints[0].lower():
        raise BackendUnavailable(f"ncu fails on {program}: {complaints[0]}")


def complaints_in(said: str, expected_status: int) -> list[str]:
    """ncu's own errors; that the application ends with the status that it should is none.

    What a colon announces follows in lines of their own, with its mark or without, and belongs to the same complaint.
    """
    found: list[str] = []
    for line in said.splitlines():
        marked, text = "==ERROR==" in line, line.rpartition("==ERROR==")[2].strip()
        if found and found[-1].endswith(":") and (marked or not line.startswith("==")):
            found[-1] = f"{found[-1]} {text}".strip()
        elif marked and text:
            found.append(text)
    return [error for error in found if error != f"The application returned an error code ({expected_status})."]


def read_report(ncu: Ncu, report: Path, logs: Path) -> tuple[ProfiledKernel, ...]:
    """Every profiled launch of a report file, in order. Raises `ProtocolError` where no Python can read it."""
    reasons = []
    for python in dict.fromkeys([sys.executable, shutil.which("python3") or "", "/usr/bin/python3"]):
        if not python or not os.access(python, os.X_OK):
            continue
        done = run([python, str(_DUMP), str(ncu.extras), str(report)], logs, _READ_DEADLINE_S, logs, "read")
        if done.ok:
            return parse_dump(done.stdout.read_text("utf-8", "replace"))
        reasons.append(f"{python}: {done.tail('stderr', 500).strip()[-300:] or done.describe()}")
    raise ProtocolError(f"the report of ncu cannot be read with its own module: {'; '.join(reasons)}")


def parse_dump(text: str) -> tuple[ProfiledKernel, ...]:
    """What `ncu_dump.py` printed. Raises `ProtocolError` for anything else."""
    try:
        return tuple(_kernel(json.loads(line)) for line in text.splitlines() if line.strip())
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"this is not a dump of an ncu report: {error}") from error


def _kernel(entry: Mapping[str, object]) -> ProfiledKernel:
    listed = entry["instructions"]
    if not isinstance(listed, list):
        raise TypeError("instructions is not a list")
    # The report lists the module's other kernels, too; those did not run. A kernel's first instruction always does.
    raw = [item for item in listed if "inst_executed" in item["metrics"]]
    first = min((item["address"] for item in raw), default=0)
    instructions = tuple(
        Instruction(
            offset=item["address"] - first,
            sass=item["sass"],
            file=item["file"],
            line=item["line"],
            metrics={name: float(value) for name, value in item["metrics"].items()},
        )
        for item in raw
    )
    return ProfiledKernel(str(entry["kernel"]), str(entry["name"]), _numbers(entry["metrics"]), instructions)


def _numbers(metrics: object) -> dict[str, float]:
    if not isinstance(metrics, Mapping):
        raise TypeError("metrics is not an object")
    kept = {name: value for name, value in metrics.items() if isinstance(value, (int, float))}
    return {str(name): float(value) for name, value in kept.items() if not re.match(r"device__", str(name))}
