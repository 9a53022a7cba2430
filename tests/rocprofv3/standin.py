"""A stand-in for rocprofv3: as strict about its arguments, and with the files of each release.

It runs the program, takes what the software gfx90a counted of it (GFX90A_COUNTS, one JSON line per dispatch), and
writes the files that the release chosen by ROCPROFV3_STANDIN_VERSION would (6.2, 6.4, 7.0; default 7.0). What the
real tool does when things go wrong is chosen by ROCPROFV3_STANDIN_FAILS: "permission", "zeros", "hang", "no-files",
"no-counters-on-gpu", "sampling", which the device does not do; it does stochastic sampling, as an MI300, only with
ROCPROFV3_STANDIN_STOCHASTIC, and thread traces only where ROCPROF_ATT_LIBRARY_PATH names a decoder;
ROCPROFV3_STANDIN_SLOTS="SQ=4" takes slots away, so that passes abort inside the application.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import standin_files
from standin_arguments import Job, fatal, parse
from standin_counters import Unknown, counters_of, dispatches_in, fits

VERSIONS = {"6.2": "0.4.0", "6.3": "0.5.0", "6.4": "0.6.0", "7.0": "1.0.0"}


def main(argv: Sequence[str]) -> int:
    release = os.environ.get("ROCPROFV3_STANDIN_VERSION", "7.0")
    jobs, application, asks_version = parse(argv, release)
    if asks_version:
        print(f"    version: {VERSIONS[release]}\n    git_revision: 0\n    rocm_version: {release}.0")
        return 0
    if not application:
        fatal("no application: rocprofv3 needs -- before it")
    status = 0
    for number, job in enumerate(jobs, 1):
        status = run(job, application, release, f"{job.sub_directory}{number}" if job.sub_directory else "") or status
    return status


def run(job: Job, application: Sequence[str], release: str, sub_directory: str) -> int:
    fails = os.environ.get("ROCPROFV3_STANDIN_FAILS", "")
    if fails == "permission":
        fatal("could not open /dev/kfd: Permission denied")
    stochastic = job.sampling.get("method") == "stochastic" and not os.environ.get("ROCPROFV3_STANDIN_STOCHASTIC")
    if job.sampling and (fails == "sampling" or stochastic):
        sys.stderr.write("E0101 tool.cpp:2005] Given PC sampling configuration is not supported on any of the agents\n")
        return 1
    if fails == "no-counters-on-gpu" and job.counters:
        sys.stderr.write("error code 39 :: Agent HW architecture is not supported, no counter metrics found.\n")
        sys.stderr.write(
            "terminate called after throwing an instance of 'std::out_of_range'\n  what():  _Map_base::at\n"
        )
        os.kill(os.getpid(), signal.SIGABRT)
    if fails == "hang":
        subprocess.Popen(list(application))
        signal.pause()
    if job.counters and not fits(job.counters):
        # The real one finds out at the first dispatch, inside the application.
        subprocess.Popen(list(application)).kill()
        sys.stderr.write("F0101 tool.cpp:1310] Could not construct profile cfg failed with error code 38: Request ")
        sys.stderr.write("exceeds the capabilities of the hardware to collect\n")
        os.kill(os.getpid(), signal.SIGABRT)
    with tempfile.TemporaryDirectory() as name:
        child = subprocess.Popen(list(application), env={**os.environ, "GFX90A_COUNTS": name})
        status = child.wait()
        if status < 0:
            return 128 - status
        # The real one is part of the application's process, which it leaves its exit status.
        if fails != "no-files" and (status == 0 or any(Path(name).iterdir())):
            write(job, application, Path(name), release, sub_directory, zero=fails == "zeros")
    return status


def write(job: Job, application: Sequence[str], counts: Path, release: str, sub_directory: str, zero: bool) -> None:
    known, unknown = [], []
    for counter in job.counters:
        try:
            counters_of([], counter)
            known.append(counter)
        except Unknown:
            unknown.append(counter)
    if unknown:
        sys.stderr.write(
            f"W0101 tool.cpp:1290] Unable to find all counters for agent 1 (gpu-0, gfx90a) in "
            f"[{', '.join(job.counters)}]. Found: [{', '.join(known)}]\n"
        )
    for path in sorted(counts.glob("*.jsonl")):
        pid = int(path.stem)
        output = Path((job.output_directory or ".").replace("%pid%", path.stem)) / sub_directory
        prefix = (job.output_file or f"{os.uname().nodename}/%pid%").replace("%pid%", path.stem)
        recording = standin_files.Recording(
            pid=pid,
            release=release,
            dispatches=[one for one in dispatches_in(path) if one.kernel is not None],
            counters=known,
            job=job,
            zero=zero,
            application=tuple(application),
        )
        target = output / prefix
        target.parent.mkdir(parents=True, exist_ok=True)
        for format_name in job.formats or (["rocpd"] if release >= "7" else ["csv"]):
            standin_files.WRITERS[format_name](recording, target)
