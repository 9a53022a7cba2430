"""`intelliperf check -- ./app` on small programs, from the build to the exit status."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from intelliperf.cli.check import EXIT_DEFECTS, check_application
from intelliperf.cli.options import CheckOptions

_ZOO = Path(__file__).parents[1] / "zoo" / "order"


def _checked(source: str, project: Path, **wanted: Any) -> int:
    project.mkdir()
    text = (_ZOO / source).read_text().replace('"../zoo.h"', '"zoo.h"')
    (project / Path(source).name).write_text(text)
    shutil.copy(_ZOO / "zoo.h", project)
    build = f"hipcc -O2 -g {Path(source).name} -o app"
    common = {"build_command": (build,), "project_directory": project, "json_events": True}
    return check_application(CheckOptions(("./app",), **common, **wanted))


def test_a_missing_fence_is_named_with_both_lines_and_a_status_for_ci(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sarif = tmp_path / "found.sarif"
    status = _checked("racy/last_block_without_fence.hip", tmp_path / "project", seeds=0, sarif=sarif)
    found = json.loads(capsys.readouterr().out)
    assert status == EXIT_DEFECTS
    (defect,) = found["defects"]
    assert (defect["rule"], defect["level"], defect["kernel"]) == ("missing-release", "error", "total")
    assert "parts[b]" in defect["point"]["text"] and defect["point"]["does"] == "reads"
    assert defect["other"]["text"] == "parts[blockIdx.x] = s[0];" and "block (" in defect["other"]["thread"]
    assert json.loads(sarif.read_text())["runs"][0]["results"][0]["ruleId"] == "missing-release"


_TIMED = """#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void spread(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i * 17) % n] = in[(i * 4097) % n];
}
int main() {
  const int n = 1 << 16;
  float *in, *out, ms = 0;
  hipEvent_t start, end;
  hipEventCreate(&start), hipEventCreate(&end);
  hipMalloc(&in, n * 4), hipMalloc(&out, n * 4), hipMemset(in, 0, n * 4), hipMemset(out, 0, n * 4);
  hipEventRecord(start);
  spread<<<n / 256, 256>>>(in, out, n);
  hipEventRecord(end), hipEventSynchronize(end), hipEventElapsedTime(&ms, start, end);
  std::printf("copied at %.6f\\n", 8e-6 * n / ms);
}
"""


def test_a_rate_by_the_modelled_clock_does_not_depend_on_the_size_of_waves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "timed.hip").write_text(_TIMED)
    options = CheckOptions(
        ("./app",), build_command=("hipcc -O2 timed.hip -o app",), project_directory=project, json_events=True, seeds=0,
    )  # fmt: skip
    status = check_application(options)
    assert (status, json.loads(capsys.readouterr().out)["defects"]) == (0, [])


@pytest.mark.slow
def test_what_is_wrong_with_one_wave_size_only_is_said_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = _checked("racy/wave_of_64.hip", tmp_path / "project", seeds=0)
    found = json.loads(capsys.readouterr().out)
    errors = [defect for defect in found["defects"] if defect["level"] == "error"]
    assert status == EXIT_DEFECTS and errors
    assert all("only with waves of 32 lanes" in defect["what"] for defect in errors)


@pytest.fixture(scope="module")
def misuses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("misuses")
    shutil.copy(Path(__file__).parent / "programs" / "misuses.cu", project)
    return project


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "rules", "status"),
    [
        ("neighbours", {"shuffle-from-ended-lane": "note"}, 0),
        ("unnamed", {"lane-outside-mask": "warning"}, 0),
        ("tail", {"barrier-after-exit": "warning"}, 0),
        ("bins", {"uninitialised-read": "error"}, EXIT_DEFECTS),
        ("claimed", {}, 0),
        ("partly", {"deadlock": "error"}, EXIT_DEFECTS),
        ("freed", {"use-after-free": "error"}, EXIT_DEFECTS),
        ("large", {"invalid-launch": "error", "nothing-ran": "error"}, EXIT_DEFECTS),
        ("sorted", {"assertion": "error"}, EXIT_DEFECTS),
        ("marked", {}, 0),
        ("shifted", {"race": "error"}, EXIT_DEFECTS),
        ("both", {"invalid-launch": "error"}, EXIT_DEFECTS),
    ],
)
def test_misuses_that_happen_to_work_are_named(
    which: str, rules: dict[str, str], status: int, misuses: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("./app", which)
    options = CheckOptions(
        command, build_command=("nvcc -O2 misuses.cu -o app",), project_directory=misuses, json_events=True, seeds=0
    )
    assert check_application(options) == status
    found = json.loads(capsys.readouterr().out)
    assert {defect["rule"]: defect["level"] for defect in found["defects"]} == rules
    assert len(found["defects"]) == len(rules)
    marked = {rule for rule in rules if rule not in ("invalid-launch", "nothing-ran")}
    lines = (misuses / "misuses.cu").read_text().splitlines()
    for defect in (one for one in found["defects"] if one["rule"] in marked):
        assert defect["rule"] in lines[defect["point"]["line"] - 1] and defect["launch"] == 1
