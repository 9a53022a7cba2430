"""`intelliperf verify PATCH -- ./app` as a user's shell runs it: patches in every form, honest and not."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

DEADLINE_S = 240.0
SOURCE = "größe.cu"
DEVICE = """#pragma once
#define KERNEL(name) extern "C" __global__ void name
"""
PROGRAM = """#include "device.h"
#include <cstdio>
#include <cuda_runtime.h>

KERNEL(scale)(float* out, const float* in, int rows, int columns) {
  __shared__ float first;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = (t % rows) * columns + t / rows;
  if (threadIdx.x == 0) first = in[0];
  __syncthreads();
  if (t < rows * columns) out[i] = 2.0f * in[i] + first;
}

int main() {
  const int rows = 64, columns = 125, n = rows * columns;
  float *in, *out;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  for (int i = 0; i < n; ++i) in[i] = 0.37f * (i % 101) + 0.01f;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  scale<<<(n + 255) / 256, 256>>>(out, in, rows, columns);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float spent = 0;
  cudaEventElapsedTime(&spent, start, stop);
  printf("scale %8.5f\\n", spent);
  for (int i = 0; i < n; ++i) if (out[i] != 2.0f * in[i] + in[0]) { puts("FAIL"); return 1; }
  puts("PASS");
}
"""
FAST = ("const int i = (t % rows) * columns + t / rows;", "const int i = t;")
STORE = "out[i] = 2.0f * in[i] + first;"


@dataclass(frozen=True)
class Verified:
    """One finished command; `verdict` is None where it came to none."""

    status: int
    text: str
    verdict: dict[str, str] | None


@dataclass(frozen=True)
class Repository:
    """A repository with the project in a subdirectory."""

    project: Path

    def patch(self, *changes: tuple[str, str], prefixes: tuple[str, str] = ("a/", "b/")) -> str:
        text = PROGRAM
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        names = [prefix + SOURCE for prefix in prefixes]
        return "".join(difflib.unified_diff(PROGRAM.splitlines(True), text.splitlines(True), *names))

    def verify(self, patch: str, *options: str) -> Verified:
        path = self.project.parent / "given.patch"
        path.write_bytes(patch.encode())
        runs = self.project / ".intelliperf" / "runs"
        before = set(runs.glob("*/report.json"))
        done = subprocess.run(
            [sys.executable, "-m", "intelliperf", "verify", str(path), *options, "--", "./app"],
            cwd=self.project,
            env=dict(os.environ),
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        written = set(runs.glob("*/report.json")) - before
        attempts = [json.loads(report.read_text())["attempts"] for report in written]
        verdict = attempts[0][0]["verdict"] if attempts else None
        return Verified(done.returncode, done.stdout + done.stderr, verdict)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    project = tmp_path_factory.mktemp("repository") / "tools" / "scale it"
    project.mkdir(parents=True)
    (project / SOURCE).write_text(PROGRAM)
    (project / "device.h").write_text(DEVICE)
    (project / "Makefile").write_text(f"app: {SOURCE} device.h\n\tnvcc -O2 -o app {SOURCE}\n")
    return Repository(project)


@pytest.mark.slow
def test_a_right_patch_from_the_top_of_the_repository_fails_only_for_a_gain_within_the_models_error(repository):
    patch = repository.patch(FAST, prefixes=("a/tools/scale it/", "b/tools/scale it/"))
    header = f"diff --git a/tools/scale it/{SOURCE} b/tools/scale it/{SOURCE}\nindex 1111111..2222222 100644\n"
    verified = repository.verify(header + patch.replace(f"{SOURCE}\n", f"{SOURCE}\t\n", 2))
    assert verified.status == 3, verified.text
    assert verified.verdict and verified.verdict["outcome"] == "NOT_FASTER"


def test_a_patch_of_comments_is_refused_before_anything_runs(repository):
    verified = repository.verify(repository.patch((FAST[0], f"{FAST[0]}  // as before")))
    assert verified.status == 3, verified.text
    assert verified.verdict and verified.verdict["outcome"] == "NOT_FASTER"
    assert "it changes nothing that the compiler sees" in verified.text and "profile" not in verified.text
    reports = [json.loads(one.read_text()) for one in repository.project.glob(".intelliperf/runs/*/report.json")]
    mine = [one for one in reports if "changes nothing that" in one["attempts"][0]["verdict"]["detail"]]
    assert [(one["finding"], one["profiles"]) for one in mine] == [(None, [])]


CHEATS = {
    "the last elements left out": ([FAST, ("if (t < rows", "if (t + 3 < rows")], "WRONG_OUTPUT", "8000 differ"),
    "a barrier left out": ([FAST, ("  __syncthreads();\n", "")], "RACE", f"{SOURCE}:9 "),
    "a store far outside": (
        [(STORE, STORE + " if (t == 70) out[rows << 20] = 1.0f;")],
        "MEMORY_ERROR",
        f"in kernel scale, block (0,0,0), thread 70, {SOURCE}:11",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheating_patch_ends_with_its_outcome_and_status_3(repository, name):
    changes, outcome, told = CHEATS[name]
    verified = repository.verify(repository.patch(*changes, prefixes=("", "")).replace("\n", "\r\n"))
    assert verified.status == 3, verified.text
    assert verified.verdict and verified.verdict["outcome"] == outcome, verified.verdict
    assert told in verified.verdict["detail"]


def test_a_patch_that_adds_a_file_is_judged_and_refused(repository):
    added = "--- /dev/null\n+++ b/cheat.h\n@@ -0,0 +1 @@\n+#define printf(...) 0\n"
    verified = repository.verify(repository.patch(FAST) + added)
    assert verified.status == 3, verified.text
    assert verified.verdict and verified.verdict["outcome"] == "FORBIDDEN_EDIT"
    assert "cheat.h" in verified.verdict["detail"]


@pytest.mark.parametrize("patch", ["", "no patch\n", "--- a/none.cu\n+++ b/none.cu\n@@ -1 +1 @@\n-a\n+b\n"])
def test_what_does_not_apply_is_a_usage_error(repository, patch):
    verified = repository.verify(patch)
    assert verified.status == 2, verified.text
    assert "does not apply" in verified.text
