"""What went wrong under rocprofv3, in words with a remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from intelliperf.errors import ApplicationFailed, BackendUnavailable
from intelliperf.processes.endings import check_ended_well, ended_well
from intelliperf.processes.process import Completed
from intelliperf.profiling.rocprofv3.blocks import base_name
from intelliperf.profiling.rocprofv3.recordings import CountedDispatch
from intelliperf.profiling.rocprofv3.tool import Rocprof
from intelliperf.records import Application

_KFD = Path("/dev/kfd")
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
_MOST_PARANOID = 2
_TOO_MANY = re.compile(r"EXCEEDS_HW_LIMIT|exceeds? (?:the )?hardware|could not construct profile cfg", re.IGNORECASE)
# Of the device or its counters: an application has its own files, which it may not be permitted to open.
_DENIED = re.compile(
    r"^(?=.*(?:permission denied|not permitted|perf_event_paranoid|CAP_PERFMON|CAP_SYS_ADMIN))"
    r"(?=.*(?:kfd|/dev/dri|renderD|perf|rocprof|counter|aqlprofile|hsa)).*$",
    re.IGNORECASE | re.MULTILINE,
)
# Zero for no kernel that ran; others may well be.
_NEVER_ZERO = frozenset({"GRBM_GUI_ACTIVE", "GRBM_COUNT", "SQ_WAVES", "SQ_BUSY_CYCLES", "SQ_WAVE_CYCLES"})
_NO_COUNTERS = re.compile(r"HW architecture is not supported|unordered_map::at|_Map_base::at")
_ARGUMENT = re.compile(r"unrecognized arguments?: (.*)")
_LIST = r"(?:\w+(?:\[\d+\])?(?:, )?)*"
_NOT_ALL_FOUND = re.compile(
    rf"Unable to find all counters for agent \d+ \(gpu-\d+, (?P<architecture>\w+)\) in "
    rf"\[(?P<asked>{_LIST})\]\. Found: \[(?P<found>{_LIST})\]"
)
_NO_SAMPLING = re.compile(r"Given PC sampling configuration is not supported")
_SAMPLING_OFF = re.compile(r"PC sampling unavailable\. The feature is implicitly disabled")
_NO_DECODER = re.compile(r"trace-decoder library path not found|INVALID_SHADER_DATA", re.IGNORECASE)
_ASLEEP = (
    "every counter reads zero on {architecture}, because its clocks sleep while it is counted: set a stable power "
    "state for the run, as root: amd-smi set --perf-level STABLE_STD (or write profile_standard to "
    "/sys/class/drm/card*/device/power_dpm_force_performance_level), and back to auto afterwards"
)
_NOT_COUNTED = (
    "every counter of {symbol} reads zero on {architecture}, which cannot be for a kernel that ran: is another "
    "profiler using the counters, or a virtual machine hiding them?"
)


class CountersDenied(BackendUnavailable):
    """rocprofv3 runs, but this user may not use the device or its counters."""


class CountersAsleep(BackendUnavailable):
    """Counters were read, and all are zero."""


class NoSampling(BackendUnavailable):
    """The device, its driver or its firmware takes no PC samples in this way."""


class NoThreadTrace(BackendUnavailable):
    """No thread trace was taken, or the tool could not decode it."""


class TooManyCounters(BackendUnavailable):
    """The counters of one pass do not fit into the hardware's slots."""


def permission_problem(kfd: Path = _KFD, paranoid: Path = _PARANOID) -> str | None:
    """What keeps this user from the device or its counters, with the remedy; None where nothing is known to."""
    if not kfd.exists():
        return f"{kfd} is not there: load the amdgpu driver, or pass the device into the container (--device {kfd})"
    if not os.access(kfd, os.R_OK | os.W_OK):
        return (
            f"this user may not use {kfd}: add it to the groups render and video (usermod -aG render,video USER) and "
            "log in again; in a container, --group-add render --group-add video"
        )
    if paranoid.exists() and int(paranoid.read_text().strip() or 0) > _MOST_PARANOID:
        return (
            f"{paranoid} is above {_MOST_PARANOID}: some counters need sysctl kernel.perf_event_paranoid="
            f"{_MOST_PARANOID}, or CAP_PERFMON"
        )
    return None


def check_run(done: Completed, application: Application, rocprof: Rocprof, counters: Sequence[str] = ()) -> None:
    """Raises what fits: `TooManyCounters`, `CountersDenied`, `BackendUnavailable` or `ApplicationFailed`."""
    if done.ok and ended_well(done, application):
        return
    said = done.tail("stdout") + done.tail("stderr")
    if _TOO_MANY.search(said):
        raise TooManyCounters(
            f"{rocprof.name} {_ending(done)}, because these counters do not fit into one pass on this device: "
            f"{' '.join(counters)}"
        )
    if _NO_SAMPLING.search(said):
        # Some releases hang after they have said it.
        raise NoSampling(
            f"{rocprof.name} says that no GPU here takes PC samples in this way: it needs a recent driver, and "
            "stochastic sampling recent firmware; see rocprofv3-avail info --pc-sampling"
        )
    if _SAMPLING_OFF.search(said):
        raise NoSampling(
            f"{rocprof.name} takes PC samples only with ROCPROFILER_PC_SAMPLING_BETA_ENABLED=ON in the environment, "
            "which something between us and it removes"
        )
    check_decoded(done, rocprof)
    if done.timed_out:
        doing = f" while counting {' '.join(counters)}" if counters else ""
        raise ApplicationFailed(
            f"{application.command[0]} under {rocprof.name} timed out after {done.seconds:.0f} s{doing}, and was "
            "killed with all its processes: give it longer or a smaller problem; if it ends without the profiler, "
            "look for GPU resets in dmesg"
        )
    refused = _ARGUMENT.search(said)
    if refused:
        raise BackendUnavailable(f"{rocprof.name} ({rocprof.program}) does not know {refused[1].strip()}")
    if _NO_COUNTERS.search(said):
        raise BackendUnavailable(
            f"{rocprof.name} fails on a GPU of this machine that has no counters, perhaps one inside the processor: "
            "hide it from the run with ROCR_VISIBLE_DEVICES, or disable it in the firmware, or use a newer ROCm"
        )
    denied = _DENIED.search(said)
    if denied:
        raise CountersDenied(
            permission_problem()
            or f"{rocprof.name} may not read counters here: run as root or with CAP_PERFMON; its words: "
            f"{denied[0].strip()[:200]}"
        )
    check_ended_well(done, application, f"under {rocprof.name}")


def check_decoded(done: Completed, rocprof: Rocprof) -> None:
    """Raises `NoThreadTrace` where the tool says that it cannot read a thread trace, however it ended."""
    if _NO_DECODER.search(done.tail("stdout") + done.tail("stderr")):
        raise NoThreadTrace(
            f"{rocprof.name} has no fitting decoder of thread traces: install AMD's rocprof-trace-decoder (part of "
            "ROCm since 7.12), or name its directory in ROCPROF_ATT_LIBRARY_PATH"
        )


def _ending(done: Completed) -> str:
    if done.signal_name == "SIGABRT" or done.exit_status == 134:
        return "aborted inside the application"
    return f"ended with {done.describe()}"


def unknown_counters(said: str, architecture: str) -> frozenset[str]:
    """Counters that the tool says it does not have on this architecture; other GPUs of the machine do not matter."""
    missing: set[str] = set()
    for found in _NOT_ALL_FOUND.finditer(said):
        if found["architecture"] == architecture:
            missing |= _listed(found["asked"]) - _listed(found["found"])
    return frozenset(missing)


def _listed(text: str) -> set[str]:
    return {name.strip() for name in text.split(",") if name.strip()}


def check_counted(dispatches: Sequence[CountedDispatch], architecture: str) -> None:
    """Raises `CountersAsleep` where all counters of a dispatch are zero, and one of them cannot be."""
    for one in dispatches:
        impossible = any(base_name(name) in _NEVER_ZERO for name in one.values)
        if impossible and not any(one.values.values()):
            rdna = architecture.startswith(("gfx11", "gfx12"))
            text = _ASLEEP if rdna else _NOT_COUNTED
            raise CountersAsleep(text.format(architecture=architecture, symbol=one.symbol))
