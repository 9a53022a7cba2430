"""The corpus on the NVIDIA GPU of this machine: times of every kernel, Nsight Compute's counts of every access.

    python3 on_device.py OUTPUT.json [fresh]

With "fresh" the families that are in no half, without the chip's rates.
Needs nvcc, CUPTI and (for the counts) ncu, but nothing of IntelliPerf, so that it runs where only this folder is.
Times are medians and quartiles of `REPEATS` launches in nanoseconds, with the caches emptied before each and without.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from families import FAMILIES, FRESH, FRESH_FAMILIES, Family

REPEATS = 15
RATES = Path(__file__).parent / "rates.cu"
COMPILE = ("nvcc", "-std=c++20", "-O3", "-arch=native", "-lineinfo")
PROFILE = ("ncu", "--clock-control", "none", "--section", "SourceCounters", "--import-source", "yes", "--metrics")
DUMP = Path(__file__).parents[2] / "intelliperf" / "profiling" / "ncu_dump.py"
COUNTS = {
    "sectors": "memory_l2_theoretical_sectors_global",
    "sectors_ideal": "memory_l2_theoretical_sectors_global_ideal",
    "wavefronts": "memory_l1_wavefronts_shared",
    "wavefronts_ideal": "memory_l1_wavefronts_shared_ideal",
    "executed": "inst_executed",
    "lanes": "thread_inst_executed_true",
}
WHOLE = {
    "duration_ns": "gpu__time_duration.sum",
    "registers": "launch__registers_per_thread",
    "l1_hits": "l1tex__t_sectors_lookup_hit.sum",
    "l1_sectors": "l1tex__t_sectors.sum",
    "l2_sectors": "lts__t_sectors.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "cycles": "sm__cycles_elapsed.max",
}
PROFILE = (*PROFILE, ",".join(WHOLE.values()))
Row = dict[str, Any]
_MEMORY = re.compile(r"(LDG|STG|REDG|RED|ATOMG|ATOM|LDS|STS|ATOMS|LDL|STL|LD|ST)\b")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def build(source: Path, program: Path, *options: str) -> Path:
    subprocess.run([*COMPILE, str(source), "-o", str(program), *options], check=True, capture_output=True)
    return program


@cache
def measuring() -> tuple[str, ...]:
    """Options of a build that times itself, wherever the toolkit keeps CUPTI."""
    root = Path(shutil.which("nvcc") or "").resolve().parents[1]
    places = [
        root,
        root / "extras" / "CUPTI",
        *Path("/usr/local").glob("cuda*"),
        *Path("/usr/local").glob("cuda*/extras/CUPTI"),
    ]
    places += [Path(place) / "nvidia" / "cu13" for place in sys.path] + [
        Path(place) / "nvidia" / "cuda_cupti" for place in sys.path
    ]
    headers = [place / "include" for place in places if (place / "include" / "cupti.h").is_file()]
    libraries = [found.parent for place in places for found in sorted(place.glob("lib*/libcupti.so*"))]
    if not headers or not libraries:
        raise SystemExit(f"no cupti.h or libcupti.so below {', '.join(map(str, places))}")
    (library, *_) = sorted(libraries[0].glob("libcupti.so*"))
    return ("-DMEASURED", f"-I{headers[0]}", str(library), "-Xlinker", f"-rpath={library.parent}")


def both(family: Family, directory: Path) -> tuple[Path, Path]:
    """The program that times itself, and the plain one for the profiler: a process has one CUPTI subscriber."""
    timed = build(family.source, directory / f"{family.name}-timed", *measuring())
    return timed, build(family.source, directory / family.name)


def times(program: Path, size: tuple[int, ...]) -> dict[str, dict[str, list[float]]]:
    environment = {**os.environ, "REPEATS": str(REPEATS)}
    argv = [str(program), *map(str, size)]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        say(f"{' '.join(argv)}: exit {done.returncode}\n{done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        row = json.loads(line)
        variant = row.pop("variant")
        if all(len(samples) == REPEATS for samples in row.values()):
            found[variant] = {state: summary(samples) for state, samples in row.items()}
        else:
            say(f"{' '.join(argv)}: {variant}: {[len(samples) for samples in row.values()]} records of {REPEATS}")
    return found


def summary(samples: list[float]) -> list[float]:
    """Median, lower and upper quartile."""
    low, middle, high = statistics.quantiles(samples, n=4)
    return [middle, low, high]


def profile(program: Path, size: tuple[int, ...], report: Path) -> list[Row]:
    """Per launch: its figures, and those of its accesses by line and machine instruction."""
    argv = [*PROFILE, "-f", "-o", str(report), str(program), *map(str, size)]
    subprocess.run(argv, check=True, capture_output=True, timeout=180)
    extras = Path(shutil.which("ncu") or "").resolve().parent / "extras" / "python"
    if not extras.is_dir():
        (extras,) = sorted(Path("/opt/nvidia/nsight-compute").glob("*/extras/python"))[-1:]
    dump = subprocess.run(
        [sys.executable, str(DUMP), str(extras), f"{report}.ncu-rep"], check=True, capture_output=True, text=True
    )
    return [launch(json.loads(line)) for line in dump.stdout.splitlines()]


def launch(dumped: Row) -> Row:
    lines: dict[str, dict[str, float]] = {}
    whole = {short: dumped["metrics"][name] for short, name in WHOLE.items() if name in dumped["metrics"]}
    for item in dumped["instructions"]:
        found = {short: item["metrics"][name] for short, name in COUNTS.items() if name in item["metrics"]}
        for short in ("executed", "lanes"):
            whole[short] = whole.get(short, 0) + found.get(short, 0)
        instruction = _MEMORY.search(item["sass"])
        if instruction is None:
            continue
        place = f"{Path(item['file']).name}:{item['line']}" if item["file"] else "?"
        row = lines.setdefault(f"{place} {instruction.group(1)}", {})
        for short, value in found.items():
            row[short] = row.get(short, 0) + value
    return {"kernel": dumped["name"].partition("(")[0], **whole, "lines": lines}


def add_times(rows: list[Row], family: Family, program: Path) -> None:
    for size in family.sizes:
        for variant, spent in times(program, size).items():
            rows.append({"family": family.name, "size": list(size), "variant": variant, **spent})


def add_counts(rows: Sequence[Row], family: Family, program: Path, directory: Path) -> None:
    """To the rows of the smallest size; without them where the profiler fails, which it says."""
    size = family.sizes[0]
    counted = [row for row in rows if row["family"] == family.name and row["size"] == list(size)]
    try:
        launches = profile(program, size, directory / f"{family.name}-counted")
        if len(launches) != len(counted):
            raise ValueError(f"{len(launches)} launches of {len(counted)} variants")
    except (subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
        said = getattr(error, "stderr", None) or getattr(error, "stdout", None) or b""
        print(f"{family.name} {size}: not counted: {error!r} {said[-400:]!r}", file=sys.stderr)
        return
    for row, figures in zip(counted, launches, strict=True):
        row["ncu"] = figures


def provenance() -> dict[str, str]:
    query = "--query-gpu=name,driver_version,clocks.max.sm"
    name, driver, clock = output("nvidia-smi", query, "--format=csv,noheader").splitlines()[0].split(", ")
    return {
        "device": name,
        "driver": driver,
        "largest_clock": clock,
        "nvcc": output("nvcc", "--version").splitlines()[-2],
        "ncu": output("ncu", "--version").splitlines()[-1] if shutil.which("ncu") else "none",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "compile": " ".join(COMPILE),
        "profile": " ".join(PROFILE),
        "times": f"[median, quartiles] of {REPEATS} launches in ns, by CUPTI's activity records",
    }


def main() -> None:
    path, deadline = Path(sys.argv[1]), time.monotonic() + float(os.environ.get("COUNT_FOR_S", "3600"))
    fresh = sys.argv[2:] == [FRESH]
    families = FRESH_FAMILIES if fresh else FAMILIES
    rows: list[Row] = []
    record: dict[str, object] = {"provenance": provenance(), "rates": {}, "kernels": rows}
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor() as pool:
        directory = Path(name)
        rates = None if fresh else pool.submit(build, RATES, directory / "rates", *measuring())
        programs = list(pool.map(lambda family: both(family, directory), families.values()))
        if rates is not None:
            record["rates"] = times(rates.result(), ())
        say("built, rates timed")
        for family, (timed, _) in zip(families.values(), programs, strict=True):
            add_times(rows, family, timed)
            path.write_text(json.dumps(record))
        say("all timed")
        for family, (_, plain) in zip(families.values(), programs, strict=True):
            if time.monotonic() > deadline:
                say(f"{family.name} and what follows is not counted: no time left")
                break
            add_counts(rows, family, plain, directory)
            path.write_text(json.dumps(record))
            say(f"{family.name} counted")


def say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
