"""The action's scripts, with stand-ins for `gh` and `intelliperf` that record what they were asked."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")
sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

import github  # noqa: E402
from reviewed import AFTER, BEFORE, make_history, make_run  # noqa: E402

from intelliperf.cli.options import ReviewOptions  # noqa: E402
from intelliperf.cli.review import review_patches  # noqa: E402
from intelliperf.history.records import Choice  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "intelliperf"


def stand_in(place: Path, name: str, script: str) -> None:
    place.mkdir(exist_ok=True)
    (place / name).write_text(f"#!/bin/bash\n{script}\n")
    (place / name).chmod(0o755)


def run(script: str, place: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", **variables}
    return subprocess.run([ACTION / script], cwd=place, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("known", "expected"), [("", "POST"), ("77", "PATCH")])
def test_the_comment_is_updated_and_not_repeated(tmp_path: Path, known: str, expected: str) -> None:
    log = (
        f'if [[ "$*" == *--jq* ]]; then echo "{known}"; exit; fi\n'
        f'echo "$*" >>{tmp_path}/calls; last="${{@: -1:1}}"; cat "${{last#body=@}}" >{tmp_path}/body'
    )
    stand_in(tmp_path / "bin", "gh", log)
    (tmp_path / "summary.md").write_text("verdict for @somebody\n" + "x" * 90_000)
    done = run("comment.sh", tmp_path, REPOSITORY="o/r", NUMBER="5", SUMMARY=str(tmp_path / "summary.md"))
    assert done.returncode == 0, done.stderr
    (call,) = (tmp_path / "calls").read_text().splitlines()
    assert f"-X {expected}" in call and ("comments/77" in call) == bool(known)
    body = (tmp_path / "body").read_text()
    assert body.startswith("<!-- intelliperf verify -->\n") and "@somebody" not in body and len(body) < 65_536


def test_the_comment_folds_the_patch_and_ends_its_block_where_it_is_cut(tmp_path: Path) -> None:
    stand_in(
        tmp_path / "bin",
        "gh",
        f'[[ "$*" == *--jq* ]] || {{ last="${{@: -1:1}}"; cat "${{last#body=@}}" >{tmp_path}/body; }}',
    )
    patch = "````diff\n" + "+x\n" * 40_000 + "````\n"
    (tmp_path / "summary.md").write_text(f"# refused\n\n| a | b |\n\n## Patch\n\n{patch}")
    done = run("comment.sh", tmp_path, REPOSITORY="o/r", NUMBER="5", SUMMARY=str(tmp_path / "summary.md"))
    assert done.returncode == 0, done.stderr
    body = (tmp_path / "body").read_text()
    assert body.index("| a | b |") < body.index("<details><summary>Patch</summary>") and len(body) < 65_536
    assert body.rstrip().endswith("… (cut)\n````\n\n</details>")


def verify(tmp_path: Path, script: str, command: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    stand_in(tmp_path / "bin", "intelliperf", script)
    settings = {"MODE": "verify", "COMMAND": command, "BUILD": "", "PROJECT": ".", "BASE": "abc", "TARGET": "mi300x"}
    files = {
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "out"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "sum"),
    }
    return run("run.sh", tmp_path, **settings, **files, FILE=""), tmp_path / "out"


def test_a_verdict_is_handed_on_and_a_command_is_one_word(tmp_path: Path) -> None:
    run_directory = tmp_path / "intelliperf-runs" / "a"
    script = (
        f"printf '%s\\n' \"$@\" >{tmp_path}/words; mkdir -p {run_directory}; cd {run_directory}\n"
        "echo verdict >summary.md; touch report.json report.html; exit 3"
    )
    done, out = verify(tmp_path, script, "./app 'a b'; $(touch owned)")
    assert done.returncode == 0, done.stderr
    assert "status=3\n" in out.read_text() and (tmp_path / "sum").read_text() == "verdict\n"
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:2] == ["verify", "abc..HEAD"] and words[-1] == "./app 'a b'; $(touch owned)"
    assert not (tmp_path / "owned").exists()


def test_without_a_verdict_nothing_is_claimed(tmp_path: Path) -> None:
    done, out = verify(tmp_path, "echo 'error: does not build' >&2; exit 1", "./app")
    assert done.returncode == 0 and "status=1\n" in out.read_text()
    summary = (tmp_path / "sum").read_text()
    assert "no verdict" in summary and "does not build" in summary and "accepted" not in summary


def test_workflows_pin_actions_and_put_no_input_into_a_script() -> None:
    for path in (*(ROOT / "docs" / "ci").glob("*.yml"), ACTION / "action.yml"):
        text = path.read_text()
        for used in re.findall(r"uses: ([^\s]+)", text):
            assert re.search(r"@[0-9a-f]{40}$|@COMMIT$", used), f"{path.name}: {used}"
        for used in re.findall(r"image: ([^\s]+)|@ (git[^\s\"]+)", text):
            assert re.search(r"@sha256:([0-9a-f]{64}|DIGEST)$|@COMMIT$", "".join(used)), f"{path.name}: {used}"
        assert not re.search(r"run:.*\$\{\{", text), path.name
        assert "pull_request_target:" not in text


# ---- end to end: a repository, the real gh, and a stand-in for GitHub's API ------------------------


def git(directory: Path, *words: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    done = subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def hub() -> Iterator[github.GitHub]:
    with github.GitHub(github.Repository()) as started:
        yield started


STRIDED = """\
#include <cstdio>
__global__ void total(const float *in, float *out, int n)
{
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}
int main()
{
    const int n = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    total<<<n / 128, 128>>>(in, out, n);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


@pytest.mark.slow
@pytest.mark.gh
def test_a_pull_request_is_judged_commented_on_once_checked_and_scanned(tmp_path: Path, hub: github.GitHub) -> None:
    work = pushed(tmp_path, {"app/total.cu": STRIDED, "app/Makefile": "total: total.cu\n\tnvcc -O2 -o $@ $<\n"})
    base = git(work, "rev-parse", "HEAD")
    settings = {
        "MODE": "verify", "COMMAND": "./total", "BUILD": "make", "PROJECT": "app", "BASE": base, "TARGET": "h100",
        "FILE": "", "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "out"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "sum"), "GITHUB_WORKSPACE": str(work),
    }  # fmt: skip
    results = tmp_path / "intelliperf-results"
    api = {**hub.environment, "REPOSITORY": "o/r", "NUMBER": "7", "REF": "refs/pull/7/head",
           "SUMMARY": str(results / "summary.md"), "SARIF": str(results / "verdict.sarif")}  # fmt: skip
    for text, expected in (
        (STRIDED.replace("2 * in", "3 * in"), "3"),
        (STRIDED.replace("threadIdx.x * gridDim.x + blockIdx.x", "blockIdx.x * blockDim.x + threadIdx.x"), "0"),
    ):
        (work / "app" / "total.cu").write_text(text)
        git(work, "commit", "--quiet", "--all", "-m", "change")
        done = run("run.sh", work, **settings)
        assert done.returncode == 0, done.stderr
        status = dict(line.split("=", 1) for line in (tmp_path / "out").read_text().splitlines())["status"]
        assert status == expected, done.stderr
        for script in ("comment.sh", "check.sh", "sarif.sh"):
            told = run(script, work, **api, STATUS=status, SHA=git(work, "rev-parse", "HEAD"))
            assert told.returncode == 0, told.stderr
    (comment,) = hub.repository.comments
    assert comment["body"].startswith("<!-- intelliperf verify -->") and "ACCEPTED" in comment["body"]
    assert [check["conclusion"] for check in hub.repository.checks] == ["failure", "success"]
    assert hub.repository.checks[0]["output"]["title"].startswith("verify: patch refused: WRONG_OUTPUT")
    log = json.loads(gzip.decompress(base64.b64decode(hub.repository.sarifs[0]["sarif"])))
    (result,) = log["runs"][0]["results"]
    where = result["locations"][0]["physicalLocation"]
    assert result["ruleId"] == "WRONG_OUTPUT" and where["artifactLocation"]["uri"].endswith("/app/total.cu")
    clean = json.loads(gzip.decompress(base64.b64decode(hub.repository.sarifs[1]["sarif"])))
    assert clean["runs"][0]["results"] == []
    assert hub.repository.sarifs[0]["checkout_uri"] == f"file://{work}"


def pushed(place: Path, files: dict[str, str]) -> Path:
    """A work tree whose origin is a bare repository."""
    git(place, "init", "--quiet", "--bare", "-b", "main", "origin.git")
    git(place, "clone", "--quiet", "origin.git", "work")
    work = place / "work"
    for name, text in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    git(work, "checkout", "--quiet", "-b", "main")
    git(work, "add", "-A")
    git(work, "commit", "--quiet", "-m", "start")
    git(work, "push", "--quiet", "origin", "main")
    return work


@pytest.mark.gh
def test_accepted_patches_become_one_pull_request_each(tmp_path: Path, hub: github.GitHub) -> None:
    work = pushed(tmp_path, {"app/k.hip": BEFORE})
    git(work, "config", "user.name", "Ann")
    git(work, "config", "user.email", "ann@example.com")
    history = make_history(tmp_path, make_run(tmp_path, work / "app"))
    history.decide(1, "ann", Choice.ACCEPT, "good", 0)
    history.close()
    options = ReviewOptions(database=str(tmp_path / "history.db"), accepted=tmp_path / "accepted")
    assert review_patches(options) == 0
    settings = {**hub.environment, "REPOSITORY": "o/r", "BASE": "main", "PROJECT": "app"}
    for _ in range(2):
        done = run("propose.sh", work, **settings, PATCHES=str(tmp_path / "accepted"))
        assert done.returncode == 0, done.stderr
    (pull,) = hub.repository.pulls
    assert pull["base"] == "main" and "not checked: unit tests: no command" in pull["body"]
    branch = pull["head"]["ref"]
    assert git(tmp_path / "origin.git", "show", f"{branch}:app/k.hip") == AFTER.strip()
    assert "IntelliPerf-Patch: 1" in git(tmp_path / "origin.git", "log", "-1", "--format=%B", branch)
    assert git(work, "rev-parse", "HEAD") == git(work, "rev-parse", "main")


@pytest.mark.gh
def test_what_was_not_judged_makes_a_neutral_check(tmp_path: Path, hub: github.GitHub) -> None:
    (tmp_path / "summary.md").write_text("# intelliperf verify: no verdict\n")
    settings = {**hub.environment, "REPOSITORY": "o/r", "SHA": "abc", "SUMMARY": str(tmp_path / "summary.md")}
    assert run("check.sh", tmp_path, **settings, STATUS="1").returncode == 0
    assert run("sarif.sh", tmp_path, **settings, SARIF=str(tmp_path / "none"), REF="r").returncode == 0
    (check,) = hub.repository.checks
    assert check["conclusion"] == "neutral" and hub.repository.sarifs == []
