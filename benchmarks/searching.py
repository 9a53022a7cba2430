"""How much a search with many candidates costs on the emulator, beside one with a single candidate.

    python benchmarks/searching.py [--candidates N] [--host-seconds S]

A histogram is improved by a rewriter that has its candidates ready: a third of them is wrong in one place each, the
others are right and no faster, but for the last one, which is accepted. Each search is a run as from the command line,
with one build and one profile of the original. `S` is what the program does on its host before it launches anything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intelliperf.cli.application import application_of
from intelliperf.cli.options import Options
from intelliperf.cli.wiring import open_run
from intelliperf.pipeline import improve
from intelliperf.project.journal import Journal
from intelliperf.protocols import Proposal, Task
from intelliperf.records import Attempt, Candidate, FileEdit, Origin, OriginKind, content_hash

SOURCE = "count.cu"
LOOP = "  for (int i = first; i < n; i += stride) atomicAdd(&bins[in[i]], 1u);\n"
OWN = """  __shared__ unsigned own[256];
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  for (int i = first; i < n; i += stride) atomicAdd(&own[in[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < 256; bin += blockDim.x)
    if (own[bin]) atomicAdd(&bins[bin], own[bin]);
"""
PROGRAM = """#include <cuda_runtime.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
__global__ void count(const unsigned char* in, unsigned* bins, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
LOOP}
int main(int, char** argv) {
  usleep(static_cast<useconds_t>(1e6 * std::atof(argv[1])));
  const int n = 1 << 18;
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) bytes[i] = i * 7 % 11;
  unsigned char* in;
  unsigned *bins, seen[256];
  cudaMalloc(&in, n);
  cudaMalloc(&bins, sizeof seen);
  cudaMemcpy(in, bytes.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof seen);
  count<<<64, 256>>>(in, bins, n);
  cudaMemcpy(seen, bins, sizeof seen, cudaMemcpyDeviceToHost);
  std::printf("%u %u\\n", seen[0], seen[10]);
}
"""


@dataclass(frozen=True)
class Drawer:
    """A rewriter that has its candidates ready."""

    bodies: Sequence[str]
    name: str = "model"

    def propose(self, task: Task, attempts: Sequence[Attempt]) -> Proposal | None:
        if len(attempts) == len(self.bodies):
            return None
        body = self.bodies[len(attempts)]
        edit = FileEdit(SOURCE, content_hash(task.sources[SOURCE]), PROGRAM.replace("LOOP", body))
        return Proposal(Candidate((edit,), "from the drawer", Origin(OriginKind.MODEL, "drawer")), None)


def bodies(count: int) -> list[str]:
    """All different to the compiler."""
    found = []
    for number in range(1, count):
        if number % 3 == 0:
            found.append(LOOP.replace("i < n", f"i < n - {number}"))
        else:
            twice = f"  for (int i = first; i < {number}; i += stride) atomicAdd(&bins[in[i]], 0u);\n"
            found.append(twice + LOOP)
    return [*found, OWN]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--host-seconds", type=float, default=3.0)
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone is not None:
        search(options.alone, options.host_seconds)
        return
    spent = {}
    for count in (1, 1, options.candidates):  # the first one fills caches
        before, begun = os.times(), time.monotonic()
        words = [sys.executable, __file__, "--alone", str(count), "--host-seconds", str(options.host_seconds)]
        subprocess.run(words, check=True)
        after = os.times()
        busy = sum(after[2:4]) - sum(before[2:4])
        spent[count] = time.monotonic() - begun, busy
        print(f"{count} candidates: {spent[count][0]:.1f} s, {busy:.1f} s of processor time", flush=True)
    many, one = spent[options.candidates], spent[1]
    times, busy_times = many[0] / one[0], many[1] / one[1]
    print(f"{options.candidates} candidates take {times:.2f} times one, in processor time {busy_times:.2f}")


def search(count: int, host_seconds: float) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "project"
        project.mkdir()
        (project / SOURCE).write_text(PROGRAM.replace("LOOP", LOOP))
        os.chdir(project)
        options = Options(
            command=("./count", str(host_seconds)),
            formula="atomicContention",
            build_command=(f"nvcc -O2 {SOURCE} -o count",),
            backend="emulator",
            num_attempts=count,
        )
        application, _ = application_of(options)
        with Journal.create(Path(scratch) / "runs", "searching", lambda *_, **__: None) as journal:
            run = open_run(options, application, journal)
            run.rewriters = (Drawer(bodies(count)),)
            report = improve(run)
        outcomes = [attempt.verdict.outcome.value for attempt in report.attempts if attempt.verdict is not None]
        print(", ".join(f"{outcomes.count(one)} {one}" for one in sorted(set(outcomes))), flush=True)


if __name__ == "__main__":
    main()
