from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from intelliperf.cuda import sanitizer
from intelliperf.cuda.sanitizer import Sanitizer
from intelliperf.cuda.sanitizer_report import parse
from intelliperf.cuda.toolkit import Toolkit
from intelliperf.records import Application, Check, CheckStatus, Kernel

_RECORDED = Path(__file__).parent / "recordings" / "sanitizer"
_KERNEL = Kernel("_Z4blurPKfPfi", "blur")
_TOOLS = [tool.name for tool in sanitizer.TOOLS]
_CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
_SOURCE = "__global__ void blur() {\n  a[0] = in[9];\n  out[n] = 1;\n  o[i] += t[k];\n}\n"


def _report(*faults: tuple[str, int], file: str = "app.cu") -> str:
    blocks = [
        f"========= {kind}\n=========     at _Z4blurPKfPfi+0x200 in {file}:{line}\n"
        f"=========     by thread (127,0,0) in block (7,0,0)\n========= \n"
        for kind, line in faults
    ]
    return f"========= COMPUTE-SANITIZER\n{''.join(blocks)}========= ERROR SUMMARY: {len(faults)} errors\n"


@pytest.mark.parametrize(
    ("tool", "kind", "line", "count"),
    [
        ("memcheck", "Invalid __global__ write", 12, 1),
        ("racecheck", "race between read and write", 16, 256),
        ("initcheck", "Uninitialized __global__ memory read", 20, 64),
        ("synccheck", "Barrier error detected. Divergent thread(s) in warp", 23, 14),
    ],
)
def test_every_planted_fault_is_read_from_its_recording(tool: str, kind: str, line: int, count: int) -> None:
    report = parse((_RECORDED / f"{tool}-planted.txt").read_text())
    found = report.findings[0]
    assert report.complete
    assert (found.kind, found.count) == (kind, count)
    assert found.spot is not None
    assert (found.spot.file, found.spot.line) == ("planted.cu", line)
    assert re.fullmatch(rf"_ZN12_GLOBAL__N_117planted_{tool}E\w+|_ZN12_GLOBAL__N_116planted_{tool}E\w+", found.kernel)


def test_the_thread_and_what_follows_from_the_fault_are_told() -> None:
    report = parse((_RECORDED / "memcheck-planted.txt").read_text())
    assert [str(finding) for finding in report.findings][1:] == [
        "cudaErrorLaunchFailure from cudaDeviceSynchronize, 1 time",
        "cudaErrorLaunchFailure from cudaFree, 2 times",
    ]
    assert report.findings[0].thread == "thread (63,0,0) of block (0,0,0)"


def test_a_fault_in_a_device_function_belongs_to_its_kernel() -> None:
    report = parse((_RECORDED / "initcheck-device-function.txt").read_text())
    found = report.findings[0]
    assert found.spot is not None
    assert (found.kernel, found.spot.function, found.spot.line) == ("_Z4blurPKfPfi", "_Z9neighbourIfET_PKS0_i", 6)


def test_a_report_without_its_summary_is_not_complete() -> None:
    assert not parse("========= COMPUTE-SANITIZER\n========= Error: Target application terminated\n").complete
    assert parse(_CLEAN).complete


def test_errors_of_an_unknown_layout_are_still_errors() -> None:
    report = parse("========= COMPUTE-SANITIZER\n========= Something new\n========= ERROR SUMMARY: 3 errors\n")
    assert [(finding.kind, finding.count) for finding in report.findings] == [("Something new", 3)]


class _Bench:
    """A machine with a toolkit made of scripts; reports are files named after tool and directory."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        self.home = home
        self.script("toolkit/bin/nvcc", 'while [ "$1" != -o ]; do shift; done; echo "#!/bin/sh" > "$2"; chmod +x "$2"')
        self.toolkit = Toolkit(home / "toolkit", home / "toolkit/bin/nvcc", "13.0")
        for side in ("original", "candidate"):
            (home / side).mkdir()
            (home / side / "app.cu").write_text(_SOURCE)
            for tool in _TOOLS:
                self.report(side, tool, _CLEAN)
        for tool in _TOOLS:
            (home / f"control-{tool}").write_text((_RECORDED / f"{tool}-planted.txt").read_text())
        self.script(
            "toolkit/bin/compute-sanitizer",
            f"""
            while [ $# -gt 0 ]; do
              case "$1" in
                --tool) tool=$2; shift ;;
                --log-file) log=$2; shift ;;
                --launch-count) few=yes; shift ;;
                */planted-*) cp {home}/control-$tool "$log"; exit 1 ;;
                ./app) [ -z "$few$(cat slow-$tool 2>&1 > /dev/null)" ] && exec sleep 20
                  cp report-$tool "$log"; exit 0 ;;
              esac
              shift
            done""",
        )

    def script(self, name: str, body: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def report(self, side: str, tool: str, text: str) -> None:
        (self.home / side / f"report-{tool}").write_text(text)

    def checks(self, deadline_s: float = 20.0) -> dict[str, Check]:
        original, candidate = (
            Application(("./app",), self.home / side, self.home / side) for side in ("original", "candidate")
        )
        made = Sanitizer(self.toolkit, self.home / "logs").checks(original, candidate, _KERNEL, deadline_s)
        return {check.name: check for check in made}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Bench:
    return _Bench(tmp_path, monkeypatch)


def test_two_clean_programs_pass_after_the_controls(bench: _Bench) -> None:
    checks = bench.checks()
    assert list(checks) == ["out of bounds", "races", "uninitialised reads", "synchronisation"]
    assert {check.status for check in checks.values()} == {CheckStatus.PASSED}
    assert checks["races"].detail == "racecheck, which finds a planted fault here: none new"


def test_a_tool_that_misses_its_planted_fault_says_nothing(bench: _Bench) -> None:
    (bench.home / "control-racecheck").write_text(_CLEAN)
    checks = bench.checks()
    assert checks["races"].status is CheckStatus.NOT_RUN
    assert "does not find a planted fault here" in checks["races"].detail
    assert checks["out of bounds"].status is CheckStatus.PASSED


def test_a_missing_tool_is_not_run_and_has_a_remedy(bench: _Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (bench.home / "toolkit/bin/compute-sanitizer").unlink()
    monkeypatch.setenv("PATH", "/nowhere")
    checks = bench.checks()
    assert {check.status for check in checks.values()} == {CheckStatus.NOT_RUN}
    assert "cuda-sanitizer" in checks["races"].detail


def test_a_new_fault_is_a_failure_with_kernel_line_and_thread(bench: _Bench) -> None:
    bench.report("candidate", "memcheck", _report(("Invalid __global__ write of size 4 bytes", 3)))
    check = bench.checks()["out of bounds"]
    assert check.status is CheckStatus.FAILED
    assert check.detail == (
        "the candidate introduces Invalid __global__ write at app.cu:3 in _Z4blurPKfPfi, "
        "first by thread (127,0,0) of block (7,0,0), 1 time (memcheck)"
    )


def test_what_the_original_does_already_is_told_and_not_blamed(bench: _Bench) -> None:
    fault = ("Invalid __global__ read of size 4 bytes", 2)
    bench.report("original", "memcheck", _report(fault))
    # The candidate reads wider and its line has moved.
    (bench.home / "candidate" / "app.cu").write_text("\n\n" + _SOURCE)
    bench.report("candidate", "memcheck", _report(("Invalid __global__ read of size 16 bytes", 4)))
    check = bench.checks()["out of bounds"]
    assert check.status is CheckStatus.PASSED
    assert "the original has Invalid __global__ read at app.cu:2" in check.detail


def test_a_second_fault_beside_an_old_one_is_new(bench: _Bench) -> None:
    old = ("Invalid __global__ read of size 4 bytes", 2)
    bench.report("original", "memcheck", _report(old))
    bench.report("candidate", "memcheck", _report(old, ("Invalid __global__ read of size 4 bytes", 4)))
    check = bench.checks()["out of bounds"]
    assert check.status is CheckStatus.FAILED
    assert "app.cu:4" in check.detail
    assert "app.cu:2" not in check.detail


def test_a_list_that_was_cut_short_blames_no_kernel_that_was_faulty_before(bench: _Bench) -> None:
    cut = "========= ERROR SUMMARY: 900 errors were not printed. Use --print-limit option\n"
    bench.report("original", "initcheck", _report(("Uninitialized __global__ memory read", 2)) + cut)
    bench.report("candidate", "initcheck", _report(("Uninitialized __global__ memory read", 4)))
    check = bench.checks()["uninitialised reads"]
    assert check.status is CheckStatus.WEAK
    assert "the rest was not looked at" in check.detail


def test_a_tool_that_dies_under_the_candidate_is_not_a_pass(bench: _Bench) -> None:
    bench.report("candidate", "synccheck", "========= COMPUTE-SANITIZER\n========= Error: Internal error\n")
    check = bench.checks()["synchronisation"]
    assert check.status is CheckStatus.NOT_RUN
    assert "of the candidate: exit status 0: Error: Internal error" in check.detail


def test_a_run_that_takes_too_long_looks_at_the_first_launches_and_says_so(bench: _Bench) -> None:
    (bench.home / "candidate" / "slow-racecheck").touch()
    check = bench.checks(deadline_s=1.5)["races"]
    assert check.status is CheckStatus.WEAK
    assert "only the first 4 launches of the kernel" in check.detail


def test_initcheck_is_not_cut_short_since_it_would_miss_who_wrote(bench: _Bench) -> None:
    (bench.home / "candidate" / "slow-initcheck").touch()
    check = bench.checks(deadline_s=1.5)["uninitialised reads"]
    assert check.status is CheckStatus.NOT_RUN
    assert "initcheck of the candidate: timed out after" in check.detail
