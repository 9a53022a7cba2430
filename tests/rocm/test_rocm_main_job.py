"""`intelliperf --backend rocm` on a whole program, on the software gfx90a with the stand-in for rocprofv3."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from rocmdevice import HERE, LAUNCHER, STAND_IN, build_device

pytestmark = pytest.mark.gfx90a
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "reduction"
RUNS = shutil.ignore_patterns(".intelliperf", "app*")
DEADLINE_S = 600.0
COMMON = ("--backend", "rocm", "--launcher", shlex.join(LAUNCHER.words), "-b", "make", "--json")


@dataclass(frozen=True)
class Ended:
    status: int
    report: dict
    words: str


def intelliperf(project: Path, *arguments: str, program: tuple[str, ...] = ("./app", "100000")) -> Ended:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    environment["PATH"] = os.pathsep.join([str(STAND_IN), environment["PATH"]])
    done = subprocess.run(
        [sys.executable, "-m", "intelliperf", *arguments, "--", *program],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    reports = sorted(project.glob(".intelliperf/runs/*/report.json"))
    assert reports, done.stdout + done.stderr
    return Ended(done.returncode, json.loads(reports[-1].read_text()), (reports[-1].parent / "summary.md").read_text())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    build_device()
    copy = tmp_path / "reduction"
    shutil.copytree(EXAMPLE, copy, ignore=RUNS)
    return copy


def verdict_on(project: Path, old: str, new: str) -> str:
    """What `intelliperf verify` says of that change."""
    source = project / "signal_energy.hip"
    text = source.read_text()
    assert text.count(old) == 1
    lines = text.splitlines(keepends=True), text.replace(old, new).splitlines(keepends=True)
    import difflib

    patch = project.parent / "change.diff"
    patch.write_text("".join(difflib.unified_diff(*lines, "a/signal_energy.hip", "b/signal_energy.hip")))
    ended = intelliperf(project, "verify", *COMMON, str(patch))
    assert ended.status == 3
    return ended.report["attempts"][0]["verdict"]["outcome"]


@pytest.mark.slow
def test_a_contended_reduction_ends_with_an_accepted_patch_and_a_modelled_gain(project: Path) -> None:
    ended = intelliperf(project, "-f", "atomicContention", *COMMON)
    assert ended.status == 0, ended.words
    assert ended.report["device"]["emulated"] is True
    assert "ACCEPTED" in [a["verdict"]["outcome"] for a in ended.report["attempts"] if a["verdict"]]
    assert {m["provenance"] for m in ended.report["measurements"]} == {"modelled"}
    assert "on the software gfx90a" in ended.words and "not measured on hardware" in ended.words
    assert ended.report["patch"]
    said = json.dumps(ended.report)
    assert "with a legacy handle, then copied device to host" in said
    recorded = list(project.glob(".intelliperf/runs/*/device/records/*"))
    assert len(recorded) == 2, "lines of the original and of the improved version are looked up once each"
    assert "from the number of its atomic operations" in said  # the device is deterministic: there is no spread to see
    assert "host trap samples" in ended.words


@pytest.mark.slow
@pytest.mark.parametrize("new", ["atomicAdd(energy, 1.01f * s * s);", "(void)s;"])
def test_a_candidate_that_computes_otherwise_or_nothing_is_rejected(project: Path, new: str) -> None:
    assert verdict_on(project, "atomicAdd(energy, s * s);", new) == "WRONG_OUTPUT"


@pytest.mark.slow
def test_a_candidate_that_leaves_out_the_launch_is_rejected(project: Path) -> None:
    (launch,) = (line for line in (project / "signal_energy.hip").read_text().splitlines() if "<<<" in line)
    assert verdict_on(project, launch, f"  if (argc > 9) {launch.strip()}") == "FORBIDDEN_EDIT"


@pytest.mark.slow
def test_recorded_accesses_pin_a_bank_conflict_and_lead_to_an_accepted_patch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCPROF_ATT_LIBRARY_PATH", str(tmp_path))  # a thread trace needs its decoder
    ended = found_by_records(tmp_path, "bankConflict", "columns", "sum = sum * 0.5f + tile", "--rtol", "1e-5")
    (accepted,) = (a for a in ended.report["attempts"] if a["index"] == ended.report["accepted"])
    assert accepted["candidate"]["origin"]["name"] == "pad_lds"
    assert "time per line by a thread trace of " in ended.words
    assert {m["provenance"] for m in ended.report["measurements"]} == {"modelled"}


@pytest.mark.slow
def test_recorded_accesses_pin_scattered_stores(tmp_path: Path) -> None:
    ended = found_by_records(tmp_path, "memoryAccess", "turn", "out[column", "diagnose")
    (store,) = ended.report["evidence"]
    waves, sectors_of_a_wave = 256 * 256 / 64, 32
    assert (store["access"], store["quantities"]["sectors_32b"]["value"]) == ("store", waves * sectors_of_a_wave)


def found_by_records(project: Path, formula: str, name: str, line: str, *more: str) -> Ended:
    shutil.copy(HERE / "programs" / f"{name}.hip", project)
    build = ("-b", f"hipcc -O3 -o app {name}.hip", "--json")
    ended = intelliperf(project, *more, "-f", formula, *COMMON[:4], *build, program=("./app",))
    assert ended.status == 0, ended.words
    (found,) = ended.report["evidence"]
    assert line in found["text"]
    assert found["found_by"].startswith("compiler instrumentation: every access of all ")
    assert "compiler instrumentation" in ended.words
    return ended
