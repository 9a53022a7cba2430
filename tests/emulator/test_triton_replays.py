"""Candidates of Triton programs judged on recorded dispatches: without the program, without Triton."""

from __future__ import annotations

import importlib.util
from functools import cached_property
from pathlib import Path

import pytest

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.native import runtime_library
from intelliperf.errors import NotReplayable
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.project.versions import KEPT_CODE
from intelliperf.python.environment import presented
from intelliperf.records import (
    Application,
    Candidate,
    CheckStatus,
    Declaration,
    FileEdit,
    Finding,
    Metric,
    Origin,
    OriginKind,
    Outcome,
    Verdict,
    content_hash,
)
from intelliperf.validation.judge import Judge
from intelliperf.validation.replaygate import NAME, Recorder
from intelliperf.validation.trial import Case, Settings

_FINDER = Path(__file__).resolve().parents[1] / "triton" / "interpreters.py"
_ARRAYS = Path(__file__).resolve().parents[1] / "zoo" / "triton" / "programs" / "arrays.py"
# Two variants of one kernel by its constant, a third where 16 does not divide the count.
_PROGRAM = """
import triton, triton.language as tl
from arrays import Array

with open("runs", "a") as runs:
    runs.write("x")

@triton.jit
def chunks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane, acc = tl.arange(0, BLOCK), tl.zeros((BLOCK,), dtype=tl.int32)
    for k in range(32):
        at = tl.program_id(0) * BLOCK * 32 + lane * 32 + k
        acc += tl.load(x_ptr + at, mask=at < n, other=0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(acc))

x, out = Array("i32", [i % 7 for i in range(65536)]), Array("i32", [0] * 64)
for n, block in ((65536, 128), (65536, 256), (65531, 128)):
    chunks[(triton.cdiv(n, block * 32),)](x, out, n, BLOCK=block)
print(out.values()[0])
"""
_APART = "lane * 32 + k\n"
_TOGETHER = "lane + k * BLOCK\n"


# Programs of a fixed number, each with a row, whatever its length.
_ROWS = """
import triton, triton.language as tl
from arrays import Array

open("runs", "a").write("x")

@triton.jit
def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(acc))

x, out = Array("i32", [i % 7 for i in range(4096)]), Array("i32", [0] * 4)
sums[(4,)](x, out, 1024, BLOCK=128)
print(out.values())
"""


class Bench:
    def __init__(self, root: Path, program: str = _PROGRAM) -> None:
        specification = importlib.util.spec_from_file_location("interpreters", _FINDER)
        assert specification is not None and specification.loader is not None
        finder = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(finder)
        self._python = finder.python_with("triton")
        self.root = root
        self.backend = EmulatorBackend(root / "device")
        self.recorder = Recorder(root / "recordings", root / "images", 1 << 26, least_seconds=0.0)
        self.judge = Judge(self.backend, UNCONFINED, Settings(60.0, 5.0), self.recorder)
        (root / "logs").mkdir()
        self.program = program
        self.reference = self.version("reference", program)

    def version(self, name: str, text: str) -> Application:
        directory = self.root / name
        directory.mkdir()
        (directory / "app.py").write_text(text)
        (directory / "arrays.py").write_text(_ARRAYS.read_text())
        return presented(Application((self._python, "app.py"), directory, directory), None, runtime_library())

    def runs(self, name: str) -> int:
        return len((self.root / name / "runs").read_text())

    @cached_property
    def finding(self) -> Finding:
        (kernel,) = self.backend.profile(self.reference, 60.0).kernels
        return Finding("atomicContention", kernel, "", 0.5, Metric.SECTORS, 8.0, 1.0, 4.0)

    def verdict(self, name: str, *pairs: str, geometry: bool = False) -> Verdict:
        """`pairs`: what stands there once, and what then."""
        text = self.program
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert text.count(old) == 1
            text = text.replace(old, new)
        edit = FileEdit("app.py", content_hash(self.program), text)
        return self.judge.judge(
            Case(
                Candidate((edit,), "", Origin(OriginKind.USER, "planted"), Declaration(geometry=geometry)),
                self.finding,
                self.reference,
                self.reference,
                {"app.py": self.program, "arrays.py": _ARRAYS.read_text()},
                ("app.py",),
                lambda: self.version(name, text),
                self.root / "logs",
                None,
            )
        )


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("replays"))


def note(verdict: Verdict) -> tuple[CheckStatus, str]:
    (check,) = [check for check in verdict.checks if check.name == NAME]
    return check.status, check.detail


@pytest.mark.slow
@pytest.mark.triton
def test_a_right_candidate_is_judged_by_one_run_of_its_own_and_by_replays(bench: Bench) -> None:
    before = bench.runs("reference") if (bench.root / "reference" / "runs").exists() else 0
    verdict = bench.verdict("right", _APART, _TOGETHER)
    assert verdict.outcome in (Outcome.ACCEPTED, Outcome.NOT_FASTER) and verdict.on_recordings, verdict.detail
    assert "all 3 dispatches" in note(verdict)[1]
    assert bench.runs("right") == 1
    assert bench.runs("reference") - before <= 2  # profiled and recorded


@pytest.mark.slow
@pytest.mark.triton
def test_each_version_launches_what_it_has_compiled_itself_in_its_own_shapes(bench: Bench) -> None:
    verdict = bench.verdict("wrong", _APART, "lane + (k ^ 1) * BLOCK + (tl.num_programs(0) == 8)\n")
    assert not verdict.accepted and "dispatches recorded" in verdict.detail, verdict.detail
    codes = {path.name for path in (bench.root / "wrong" / KEPT_CODE).iterdir()}
    assert codes and not codes & {path.name for path in (bench.root / "reference" / KEPT_CODE).iterdir()}
    verdict = bench.verdict("reshaped", "BLOCK=block)", "BLOCK=block, num_warps=2)", geometry=True)
    assert "dispatches recorded" in verdict.detail or note(verdict)[0] is CheckStatus.PASSED, verdict.detail
    assert bench.runs("reshaped") == 1


@pytest.mark.slow
@pytest.mark.triton
def test_sizes_are_raised_where_launches_may_have_another_geometry(tmp_path: Path) -> None:
    bench = Bench(tmp_path, _ROWS)
    baked = ("range(0, n, BLOCK)", "range(0, min(n, 1024), BLOCK)")
    verdict = bench.verdict("baked", *baked, "BLOCK=128)", "BLOCK=128, num_warps=2)", geometry=True)
    assert verdict.outcome is Outcome.WRONG_OUTPUT, verdict.detail
    assert "a larger size" in verdict.detail, verdict.detail
    passed = {check.name for check in verdict.checks if check.status is CheckStatus.PASSED}
    assert "recorded: dispatches and buffers" in passed, "what was looked at before is told as well"


# A mask is left out where a heuristic finds that the tile divides the rows; and rows that one tile has to hold.
_EVEN = """
import triton, triton.language as tl
from arrays import Array

@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    acc = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        if EVEN:
            acc += tl.load(x_ptr + tl.program_id(0) * n + at)
        else:
            acc += tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(acc))

x, out = Array("i32", [i % 7 for i in range(96 * 16)]), Array("i32", [0] * 16)
sums[(16,)](x, out, 96)
print(out.values())
"""
_SMALLER_TILE = ('{"BLOCK": 64}', '{"BLOCK": 32}')
_WHOLE_ROW = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    acc = tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(acc))

n = 200
x, out = Array("i32", [i % 7 for i in range(n * 16)]), Array("i32", [0] * 16)
sums[(16,)](x, out, n, BLOCK=triton.next_power_of_2(n))
print(out.values())
"""
_IN_TILES = """    acc = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + tl.program_id(0) * n + at, mask=at < n, other=0)
"""


@pytest.mark.slow
@pytest.mark.triton
def test_numbers_that_constants_were_derived_from_stay_where_both_versions_derive_the_same(tmp_path: Path) -> None:
    bench = Bench(tmp_path, _EVEN)
    assert bench.verdict("smaller", *_SMALLER_TILE, geometry=True).outcome is not Outcome.WRONG_OUTPUT
    unmasked = ("* n + at)", "* n + at, mask=at < 96, other=0)")
    assert bench.verdict("baked", *_SMALLER_TILE, *unmasked, geometry=True).outcome is Outcome.WRONG_OUTPUT
    cut = ("range(0, n, BLOCK)", "range(0, min(n, 96), BLOCK)")
    assert bench.verdict("cut", *cut, geometry=True).outcome is Outcome.WRONG_OUTPUT


@pytest.mark.slow
@pytest.mark.triton
def test_rows_longer_than_the_one_tile_that_holds_them_are_not_asked_for(tmp_path: Path) -> None:
    bench = Bench(tmp_path, _WHOLE_ROW)
    whole = _WHOLE_ROW[_WHOLE_ROW.index("    at = ") : _WHOLE_ROW.index("    tl.store")]
    launch = ("BLOCK=triton.next_power_of_2(n))", "BLOCK=triton.next_power_of_2(n) // 4)")
    assert bench.verdict("tiles", whole, _IN_TILES, *launch, geometry=True).outcome is not Outcome.WRONG_OUTPUT
    baked = _IN_TILES.replace("at < n", "at < 200")
    assert bench.verdict("baked", whole, baked, *launch, geometry=True).outcome is Outcome.WRONG_OUTPUT


@pytest.mark.slow
@pytest.mark.triton
def test_a_number_that_16_divides_in_the_program_is_altered_in_replays(bench: Bench) -> None:
    """The recorded run compiled what the program would have had for it."""
    right_here = "lane + k * BLOCK + (n % 2) * (n != 65531)\n"
    verdict = bench.verdict("divisible", _APART, right_here)
    assert not verdict.accepted and "scalar argument" in verdict.detail, verdict.detail


@pytest.mark.slow
@pytest.mark.triton
def test_what_was_kept_is_missed_in_words(bench: Bench) -> None:
    if not bench.recorder.recordings.exists():
        bench.verdict("first", _APART, _TOGETHER)
    (plan,) = (path for path in bench.recorder.images.glob("*/plan.json"))
    empty = bench.version("empty", _PROGRAM)
    from intelliperf.recordings.file import RecordingFile
    from intelliperf.validation.runs.lockstep import Setting
    from intelliperf.validation.runs.recording import left_otherwise

    setting = Setting(bench.backend, bench.finding.profile.kernel, UNCONFINED, bench.root / "logs", 60.0)
    (recorded,) = bench.recorder.recordings.iterdir()
    with RecordingFile(recorded) as source, pytest.raises(NotReplayable, match="has not compiled such a kernel"):
        left_otherwise(setting, bench.backend.replayed(empty, plan), source)
