"""Speed on Triton programs: a contended reduction from start to end, a product, one access, one import.

    python benchmarks/triton_speed.py [--python INTERPRETER] [--torch INTERPRETER]

INTERPRETER has Triton (and PyTorch, for the last figure). The programs are made here and use Triton alone. Times are of
the wall, but where CPU is said: they mean something on an idle machine only, and the load average stands beside them.

* contended reduction: 1,000,003 numbers, 7,813 programs that each add to one address: the whole `diagnose`, and what
  the kernel takes of it in the traced run;
* product of halves: 1024 x 1024 x 1024 by the matrix instructions, not traced;
* matrix instruction: one wave that multiplies halves in a loop, in seconds of the processor by its MFMAs (32x32x8);
* traced lane access: the reduction's kernel by what its analysed blocks access;
* import: what the presented GPU adds to `import torch`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from intelliperf.emulator.native import runtime_library
from intelliperf.project.versions import JIT_DIRECTORY
from intelliperf.python.environment import presented
from intelliperf.records import Application

ROOT = Path(__file__).resolve().parents[1]
ZOO = ROOT / "tests" / "zoo" / "triton" / "programs"
DEADLINE_S = 600
PRODUCT = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def product(a_ptr, b_ptr, c_ptr, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a, b = a_ptr + rm[:, None] * N + rk[None, :], b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, N, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * N
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc)

n = 1024
a, b, c = Array("fp16", [1.0] * (n * n)), Array("fp16", [0.5] * (n * n)), Array("fp32", [0.0] * (n * n))
product[(n // 128, n // 128)](a, b, c, n, BM=128, BN=128, BK=32, num_warps=4)
assert set(c.values()) == {n / 2}
"""
MATRIX = """
import sys, time, triton, triton.language as tl
from arrays import Array

@triton.jit
def squares(a_ptr, c_ptr, turns):
    r = tl.arange(0, 32)
    at = r[:, None] * 32 + r[None, :]
    a, acc = tl.load(a_ptr + at), tl.zeros((32, 32), dtype=tl.float32)
    for _ in range(turns):
        acc = tl.dot(a, a, acc)
    tl.store(c_ptr + at, acc)

a, c = Array("fp16", [1.0] * 1024), Array("fp32", [0.0] * 1024)
squares[(1,)](a, c, 4, num_warps=1)
before = time.process_time()
squares[(1,)](a, c, 20_004, num_warps=1)
print("seconds", (time.process_time() - before) / 80_016)
assert set(c.values()) == {32.0 * 20_004}
"""
NUMBERS = 1_000_003


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed on Triton programs.")
    parser.add_argument("--python", default=sys.executable, help="an interpreter with Triton")
    parser.add_argument("--torch", help="an interpreter with PyTorch")
    options = parser.parse_args()
    options.python = str(Path(options.python).absolute())  # a link: what it leads to is another environment
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name:
        project = Path(name)
        (project / "arrays.py").write_text((ZOO / "arrays.py").read_text())
        (project / "sums.py").write_text((ZOO / "sums.py").read_text())
        (project / "product.py").write_text(PRODUCT)
        before = children_s()
        diagnose_s, _ = command("diagnose", project, options.python, "sums.py", str(NUMBERS))
        processor_s = children_s() - before
        _, launches = command("emulate", project, options.python, "sums.py", str(NUMBERS))
        (total,) = launches
        accesses = total["events"]
        print(f"contended reduction: diagnose {diagnose_s:.1f} s (20), {processor_s:.1f} CPU s")
        print(
            f"contended reduction: kernel {(total['host_ns_trace'] + total['host_ns_fast']) / 1e9:.2f} s traced (0.3)"
        )
        print(f"traced lane access: {total['host_ns_trace'] / accesses:.0f} ns of {accesses:,} (40)")
        _, launches = command("emulate", project, options.python, "product.py")
        (product,) = launches
        print(f"1024^3 product of halves: {(product['host_ns_fast'] + product['host_ns_trace']) / 1e9:.1f} s (5)")
        (project / "matrix.py").write_text(MATRIX)
        print(f"matrix instruction: {printed_s(project, options.python, 'matrix.py') * 1e6:.2f} CPU us (2)")
    if options.torch:
        print(f"import torch: {import_s(options.torch, True) - import_s(options.torch, False):+.2f} CPU s (1)")


def command(name: str, project: Path, *program: str) -> tuple[float, list[dict[str, float]]]:
    """Wall time of one of our commands, and the kernels' lines of its traced run."""
    traces = project / f"traces-{name}-{len(list(project.iterdir()))}"
    traces.mkdir()
    begun = time.monotonic()
    argv = [sys.executable, "-m", "intelliperf", name, "--backend", "emulator", "--", *program]
    if name == "emulate":
        argv = [sys.executable, __file__, "--as", str(project), str(traces), *program]
    subprocess.run(argv, cwd=project, check=True, capture_output=name != "emulate", timeout=DEADLINE_S)
    seconds = time.monotonic() - begun
    log = traces / "launches.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return seconds, [row for row in rows if row["operation"] == "kernel"]


def printed_s(project: Path, *program: str) -> float:
    """What the program says after the word "seconds", in a run that is not traced."""
    environment = presented_environment(project, list(program))
    told = subprocess.run(
        program, cwd=project, env=environment, check=True, capture_output=True, text=True, timeout=DEADLINE_S
    )
    return float(told.stdout.split("seconds")[1].split()[0])


def presented_environment(project: Path, program: list[str]) -> dict[str, str]:
    (project / JIT_DIRECTORY).mkdir(parents=True, exist_ok=True)
    application = presented(Application(tuple(program), project, project), None, runtime_library())
    return {**os.environ, **dict(application.environment)}


def run_traced(project: str, traces: str, *program: str) -> None:
    environment = presented_environment(Path(project), list(program))
    os.execvpe(program[0], list(program), {**environment, "INTELLIPERF_TRACE_DIR": traces})


def children_s() -> float:
    """Seconds of the processor that ended children took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def import_s(python: str, presented: bool) -> float:
    """Seconds of the processor, the least of three."""
    with tempfile.TemporaryDirectory() as name:
        environment = presented_environment(Path(name), [python]) if presented else dict(os.environ)
        times = []
        for _ in range(3):
            before = children_s()
            subprocess.run([python, "-c", "import torch"], env=environment, check=True, timeout=DEADLINE_S)
            times.append(children_s() - before)
    return min(times)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as"]:
        run_traced(*sys.argv[2:])
    main()
