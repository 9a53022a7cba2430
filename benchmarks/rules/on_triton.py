"""What is found in planted Triton programs, and what the rules alone make of them.

    python benchmarks/rules/on_triton.py [--python INTERPRETER] [--keep DIR] [PROGRAM ...]

The programs are those of the tests, `tests/triton/programs`; INTERPRETER has Triton and PyTorch. Each is improved as a
user would do it, `intelliperf -- python PROGRAM` on the emulator without a model. One line per program: whether the
planted bottleneck was found at its line, and what was accepted; below it each attempt. The last line has the totals.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from run import TOOL, device_ns, outcome_of, told

PROGRAMS = Path(__file__).resolve().parents[2] / "tests" / "triton" / "programs"
PLANTED = {  # program → formulas of which any names the fault, and what stands in its line; None: in the launch
    "best_distance": ({"atomicContention"}, "tl.atomic_min("),
    "bias_gradient": ({"atomicContention"}, "tl.atomic_add("),
    "column_sums": ({"memoryAccess"}, "x = tl.load(x_ptr"),
    "complex_magnitude": ({"memoryAccess", "memoryLocality"}, "= tl.load(z_ptr"),
    "contended_lanes": ({"atomicContention"}, "tl.atomic_add("),
    "contended_max": ({"atomicContention"}, "tl.atomic_max("),
    "contended_sum": ({"atomicContention"}, "tl.atomic_add("),
    "count_above": ({"atomicContention"}, "tl.atomic_add("),
    "dot_product": ({"atomicContention"}, "tl.atomic_add("),
    "feature_scale": ({"memoryAccess", "memoryLocality"}, "v = tl.load("),
    "fetched_again": ({"memoryLocality", "memoryAccess"}, "tl.load(x_ptr"),
    "few_lanes": ({"launchConfig"}, None),
    "few_programs": ({"launchConfig"}, None),
    "gelu_one_warp": ({"registerPressure", "occupancy", "launchConfig"}, ""),
    "interleaved_parts": ({"memoryAccess", "memoryLocality"}, "tl.store(z"),
    "lane_chunks": ({"memoryAccess", "memoryLocality"}, "tl.load(x_ptr"),
    "letter_counts": ({"atomicContention"}, "tl.atomic_add("),
    "linear_layer": ({"memoryAccess"}, "tl.store(c_ptrs"),
    "product": ({"memoryAccess"}, "tl.store(c, acc)"),
    "runs_per_lane": ({"memoryAccess", "memoryLocality"}, "tl.load(readings"),
    "scaled_chunks": ({"memoryAccess", "memoryLocality"}, "x_ptr + where"),
    "spilled_rows": ({"registerPressure"}, ""),
    "swapped_index": ({"memoryAccess", "memoryLocality"}, "tl.load(inp"),
    "unit_stride": ({"memoryAccess"}, "tl.load(x_ptr"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with Triton and PyTorch")
    parser.add_argument("--keep", type=Path, help="directory for the runs; default: a temporary one")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    found = accepted = 0
    chosen = options.programs or sorted(PLANTED)
    with tempfile.TemporaryDirectory() as scratch:
        for name in chosen:
            report = improved(name, options.python, (options.keep or Path(scratch)) / name)
            here, gain = is_found(name, report), gained(report)
            found, accepted = found + here, accepted + (gain is not None)
            made = "nothing accepted" if gain is None else f"{gain:.2f}x (modelled)"
            print(f"{name}: {'found' if here else 'NOT FOUND'}; {made}; {report['seconds']:.0f} s", flush=True)
            print("\n".join(f"    {line}" for line in told(report)), flush=True)
    print(f"{found} of {len(chosen)} found at their line; {accepted} improved by rules alone")


def improved(name: str, python: str, directory: Path) -> Any:
    project = directory / "project"
    project.mkdir(parents=True, exist_ok=True)
    for file in (f"{name}.py", "helpers.py"):
        shutil.copy(PROGRAMS / file, project / file)
    report = directory / "report.json"
    places = ("-p", str(project), "--run-root", str(directory / "runs"), "-o", str(report))
    argv = (sys.executable, "-c", TOOL, "--backend", "emulator", *places, "--", python, f"{name}.py")
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)
    (directory / "output").write_text(done.stdout + done.stderr)
    if not report.is_file():
        raise SystemExit(f"{name}: {done.stdout}{done.stderr}")
    return json.loads(report.read_text())


def is_found(name: str, report: Any) -> bool:
    formulas, text = PLANTED[name]
    for diagnosis in report["diagnoses"]:
        if diagnosis["finding"]["formula"] not in formulas:
            continue
        lines = [one["text"] for one in diagnosis["evidence"]]
        if text is None or any(text in line for line in lines):
            return True
    return False


def gained(report: Any) -> float | None:
    """All device time before by all after."""
    if not any(outcome_of(attempt) == "ACCEPTED" for attempt in report["attempts"]):
        return None
    return device_ns(report["profiles"]) / device_ns(report["after"])


if __name__ == "__main__":
    main()
