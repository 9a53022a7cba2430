"""Real nights on the emulator: a patch is found, judged and merged; a planted regression is named; work is resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from intelliperf.project.journal import SCRATCH

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

import raycluster  # noqa: E402

pytestmark = pytest.mark.slow
PROGRAM = """\
#include <cstdio>
__global__ void gather(const float *in, float *out, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n)
        out[i] = 2 * in[i];
}
int main()
{
    const int n = 4096;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    gather<<<n / 128, 128>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""
NIGHT = """\
[nightly]
workers = 1

[targets.gather]
directory = "gather"
devices = [{ backend = "emulator", target = "h100" }]
commands = { only = ["./gather"] }
owners = ["ann"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    project = tmp_path / "gather"
    project.mkdir()
    (tmp_path / "nightly.toml").write_text(NIGHT)
    (project / "Makefile").write_text("gather: gather.cu\n\tnvcc -O2 -o $@ $<\n")
    git(project, "init", "-q")
    commit(project, PROGRAM, "start")
    return tmp_path


def git(project: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *identity, *words], cwd=project, check=True, capture_output=True, text=True).stdout


def commit(project: Path, text: str, subject: str) -> str:
    (project / "gather.cu").write_text(text)
    git(project, "add", "-A")
    git(project, "commit", "-qm", subject)
    return git(project, "rev-parse", "HEAD").strip()


def night(place: Path, *options: str) -> tuple[int, dict[str, Any]]:
    words = [sys.executable, "-m", "intelliperf", "nightly", "--no-search", *options]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=300)
    written = sorted((place / ".intelliperf" / "nights").glob("*/night.json"))
    assert written, done.stderr
    return done.returncode, json.loads(written[-1].read_text())


def test_a_planted_regression_is_named_with_its_line_and_commit_by_night_and_by_bisect(place: Path) -> None:
    project = place / "gather"
    good = git(project, "rev-parse", "HEAD").strip()
    assert night(place)[0] == 0
    shuffled = PROGRAM.replace("in[i]", "in[(i * 33) % n]")
    bad = commit(project, shuffled, "shuffle the reads")
    commit(project, shuffled + "// a note\n", "add a note")
    status, report = night(place)
    (regression,) = report["regressions"]
    assert status == 4 and regression["good_commit"] == good
    assert [line.partition(" ")[2] for line in regression["commits"]] == ["add a note", "shuffle the reads"]
    (line, *_) = regression["lines"]
    assert (line["file"], line["line"], line["metric"]) == ("gather.cu", 6, "sectors_32b")
    assert line["after"] == 8 * line["before"], "33 elements apart, each read of 4 bytes touches a sector of its own"
    words = ["bisect", "--good", good, "--metric", "sectors_32b", "--target", "h100", "--", "./gather"]
    done = subprocess.run(
        [sys.executable, "-m", "intelliperf", *words], cwd=project, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0 and f"  {bad} shuffle the reads" in done.stdout.splitlines(), done.stdout + done.stderr
    assert git(project, "status", "--porcelain") == ""


TIMES = {"started_at", "ended_at", "seconds", "directory", "spent", "pool", "database", "at", "found_at", "notes"}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


@pytest.mark.ray
def test_ray_and_the_local_pool_give_the_same_results(place: Path) -> None:
    shown = []
    for name, options in (("local", ()), ("ray", ("--ray", "local"))):
        nights = place / name / "nights"
        words = [sys.executable, "-m", "intelliperf", "nightly", "--no-search", "--nights", str(nights), *options]
        with_token = raycluster.environment()
        done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=300, env=with_token)
        assert done.returncode == 0, done.stderr
        (written,) = nights.glob("*/night.json")
        (seen,) = nights.glob("*/tasks/*/runs/*/survey.json")
        survey = json.loads(seen.read_text())
        shown.append((without_times(json.loads(written.read_text())), survey["profiles"], survey["lines"]))
    assert shown[0] == shown[1]


def seen_by(nights: Path) -> tuple[Any, list[Any]]:
    (written,) = nights.glob("*/night.json")
    surveys = [json.loads(path.read_text()) for path in sorted(nights.glob("*/tasks/*/runs/*/survey.json"))]
    kept = {survey["application"]["project"]: (survey["profiles"], survey["lines"]) for survey in surveys}
    return without_times(json.loads(written.read_text())), sorted(kept.items())


@pytest.mark.ray
def test_two_nodes_of_which_a_worker_is_killed_give_what_the_local_pool_gives(place: Path) -> None:
    shutil.copytree(place / "gather", place / "other")
    other = NIGHT.replace("gather", "other").partition("[targets.")[2].replace("./other", "./gather")
    (place / "nightly.toml").write_text(NIGHT + "\n[targets." + other)
    local, spread = place / "local" / "nights", place / "ray" / "nights"
    words = [sys.executable, "-m", "intelliperf", "nightly", "--no-search", "--nights"]
    done = subprocess.run([*words, str(local)], cwd=place, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    environment = raycluster.environment()
    with raycluster.two_nodes(environment) as cluster:
        spread_words = [*words, str(spread), "--ray", cluster.address]
        night_ = subprocess.Popen(spread_words, cwd=place, stdout=subprocess.PIPE, text=True, env=environment)
        killed = None
        while night_.poll() is None and killed is None:
            time.sleep(0.02)
            if any(spread.glob("*/tasks/*/runs/*/events.jsonl")):
                killed = next(iter(cluster.workers("ray::survey-")), None)
        if killed is not None:
            os.kill(killed, signal.SIGKILL)
        said, _ = night_.communicate(timeout=300)
    assert killed is not None and night_.returncode == 0, said
    assert "2 nodes" in said
    assert seen_by(spread) == seen_by(local)


def test_an_interrupted_night_ends_in_order_and_is_resumed(place: Path) -> None:
    makefile = place / "gather" / "Makefile"
    makefile.write_text("gather: gather.cu\n\ttouch $(CURDIR)/building; sleep 100\n")
    words = [sys.executable, "-m", "intelliperf", "nightly", "--no-search"]
    begun = subprocess.Popen(words, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    nights = place / ".intelliperf" / "nights"
    for _ in range(600):
        time.sleep(0.05)
        if any(SCRATCH in path.parts for path in nights.rglob("building")):
            break
    second = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=60)
    assert second.returncode == 2 and "another night is running" in second.stderr
    os.kill(begun.pid, signal.SIGINT)
    _, said = begun.communicate(timeout=60)
    assert begun.returncode == 130 and "nightly --resume" in said
    assert not any(nights.glob("*/night.json"))
    makefile.write_text("gather: gather.cu\n\tnvcc -O2 -o $@ $<\n")
    status, report = night(place, "--resume")
    assert status == 0 and report["night"] == 1 and report["targets"][0]["places"][0]["step"] == "surveyed"
