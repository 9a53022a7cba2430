"""Shadows beside the registers of machine code: kernels that Triton compiled, each against a variant of itself."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
from shadowruns import UNKNOWN

from intelliperf.emulator.backend import EmulatorBackend
from intelliperf.emulator.native import runtime_library
from intelliperf.processes.sandbox import UNCONFINED
from intelliperf.project.versions import JIT_DIRECTORY
from intelliperf.python.environment import presented
from intelliperf.records import Application, Interception, Kernel, Shadow
from intelliperf.validation.algebraobserver import AlgebraObserver
from intelliperf.validation.buffers.algebra import NOTHING, Account, Level
from intelliperf.validation.buffers.field import Field
from intelliperf.validation.runs.lockstep import Setting, follow_planned
from intelliperf.validation.runs.side import SideRun

_HERE = Path(__file__).resolve().parents[1]
_ARRAYS = _HERE / "zoo" / "triton" / "programs" / "arrays.py"
_DEADLINE_S = 240.0
SOFTMAX = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def softmax(x_ptr, y_ptr, cols, BLOCK: tl.constexpr, V: tl.constexpr):
    at = tl.program_id(0) * cols + tl.arange(0, BLOCK)
    live = tl.arange(0, BLOCK) < cols
    x = tl.load(x_ptr + at, mask=live, other=-float("inf"))
    x -= tl.max(x, axis=0)
    e = tl.exp2(x * 1.4426950408889634) if V == 1 else tl.exp(x)
    total = tl.sum(tl.sum(tl.reshape(e, (4, BLOCK // 4)), axis=0), axis=0) if V == 2 else tl.sum(e, axis=0)
    y = e * (1.0 / total) if V == 3 else e / total
    y = y * 1.00001 if V == 4 else y
    y = y.to(tl.float16).to(tl.float32) if V == 5 else y
    tl.store(y_ptr + at, y, mask=live)

rows, cols = 3, 200
x = Array("fp32", [(i * 29 % 97 - 40) / 16 for i in range(rows * cols)])
y = Array("fp32", [0.0] * (rows * cols))
softmax[(rows,)](x, y, cols, BLOCK=256, V=int(sys.argv[1]))
"""
PRODUCT = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def product(a_ptr, b_ptr, c_ptr, N, BK: tl.constexpr, V: tl.constexpr):
    r = tl.arange(0, 32)
    acc = tl.zeros((32, 32), dtype=tl.float32)
    for k in range(0, N - BK if V == 4 else N, BK):
        rk = k + tl.arange(0, BK)
        rk = N - 1 - rk if V == 2 else rk
        a, b = tl.load(a_ptr + r[:, None] * N + rk[None, :]), tl.load(b_ptr + rk[:, None] * 32 + r[None, :])
        acc = tl.dot(a, b, acc)
        acc = acc.to(tl.float16).to(tl.float32) if V == 3 else acc
    tl.store(c_ptr + r[:, None] * 32 + r[None, :], acc)

v, n = int(sys.argv[1]), 64
a = Array("fp16", [(i * 13 % 31 - 15) / 7 for i in range(32 * n)])
b = Array("fp16", [(i * 7 % 29 - 14) / 9 for i in range(32 * n)])
c = Array("fp32", [0.0] * (32 * 32))
product[(1,)](a, b, c, n, BK=16 if v == 1 else 32, V=v)
"""

# Halves of two words make one, which may be a word that was there for its bits alone.
PACKED = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def product(a_ptr, b_ptr, c_ptr, N, V: tl.constexpr):
    r, acc = tl.arange(0, 64), tl.zeros((64, 64), dtype=tl.float32)
    for start in range(0, N, 32):
        k = start + tl.arange(0, 32)
        a = tl.load(a_ptr + r[:, None] * N + k[None, :], mask=r[:, None] < N, other=0.0)
        b = tl.load(b_ptr + k[:, None] * 64 + r[None, :], mask=r[None, :] < N, other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + r[:, None] * 64 + r[None, :], acc)

a, b = (Array("fp16", [(i * i * step % 211 - 99.5) / 64 for i in range(64 * 64)]) for step in (1, 3))
c = Array("fp32", [0.0] * (64 * 64))
product[(1,)](a, b, c, 64, V=int(sys.argv[1]), num_warps=2 if sys.argv[1] == "1" else 4)
"""

# Each layout packs halves and reads them from LDS in its own way, in the first program as in those behind it.
LAID_OUT = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def product(a_ptr, b_ptr, c_ptr, N, M: tl.constexpr):
    r, c, acc = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, 128), tl.zeros((M, 128), dtype=tl.float32)
    for start in range(0, N, 32):
        k = start + tl.arange(0, 32)
        a = tl.load(a_ptr + r[:, None] * N + k[None, :])
        b = tl.load(b_ptr + k[:, None] * 128 + c[None, :], mask=c[None, :] < 2 * N, other=0.0)
        acc += tl.dot(a, b)
    tl.store(c_ptr + r[:, None] * 128 + c[None, :], acc.to(tl.float16))

a, b = (Array("fp16", [(i * i * step % 211 - 99.5) / 64 for i in range(128 * 64)]) for step in (1, 3))
c = Array("fp16", [0.0] * (128 * 128))
rows, warps = ((64, 4), (32, 4), (128, 8))[int(sys.argv[1])]
product[(128 // rows,)](a, b, c, 64, M=rows, num_warps=warps)
"""

# The lanes of variant 1 have their sign by an integer instruction, and all numbers of a row through vector loads.
TURNED = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def turned(x_ptr, s_ptr, y_ptr, H: tl.constexpr, V: tl.constexpr):
    row, d = tl.program_id(0), tl.arange(0, 2 * H)
    if V == 0:
        h = tl.arange(0, H)
        lo, hi, s = tl.load(x_ptr + row * 2 * H + h), tl.load(x_ptr + row * 2 * H + H + h), tl.load(s_ptr + row)
        tl.store(y_ptr + row * 2 * H + h, lo * 0.1 - hi * s)
        tl.store(y_ptr + row * 2 * H + H + h, hi * 0.1 + lo * s)
    else:
        own, other = tl.load(x_ptr + row * 2 * H + d), tl.load(x_ptr + row * 2 * H + (d ^ H))
        other = tl.where(d < H, -other, other) if V == 1 else tl.where(d < H, other, -other)
        tl.store(y_ptr + row * 2 * H + d, own * 0.1 + other * tl.load(s_ptr + row + 0 * d))

x = Array("fp32", [(i * 29 % 97 - 40) / 17 for i in range(3 * 128)])
s = Array("fp32", [0.3, 1.7, -0.9])
y = Array("fp32", [0.0] * (3 * 128))
turned[(3,)](x, s, y, H=64, V=int(sys.argv[1]), num_warps=1)
"""

# Triton reverses and sorts by exclusive or; between waves no compiler can see that half of it goes away again.
REVERSED = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def reversed_sums(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr, V: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at) * 0.3
    if V == 0:
        y, z = tl.flip(x, 0), tl.sort(x)
    elif V == 1:
        y, z = tl.flip(x, 0), tl.flip(tl.sort(x, descending=True), 0)
    else:
        back = BLOCK - 1 - at
        y = (tl.load(x_ptr + back) * 0.3) * (1.00001 if V == 3 else 1.0)
        z = tl.flip(tl.sort(tl.flip(y, 0)), 0)
        z = tl.flip(z, 0)
    tl.store(y_ptr + at, y)
    tl.store(z_ptr + at, z)

x = Array("fp32", [(i * 29 % 1021 - 400) / 17 for i in range(512)])
y, z = Array("fp32", [0.0] * 512), Array("fp32", [0.0] * 512)
reversed_sums[(1,)](x, y, z, BLOCK=512, V=int(sys.argv[1]))
"""

# A scalar register has had a number of the kernel's when a comparison leaves its mask there.
CHOSEN = """
import sys
import triton, triton.language as tl
from arrays import Array

@triton.jit
def chosen(x_ptr, y_ptr, n, BLOCK: tl.constexpr, V: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, z = tl.load(x_ptr + at, mask=at < n) * 0.3, tl.load(x_ptr + n - 1 - at, mask=at < n) * 0.7
    if V == 1:
        larger = tl.inline_asm_elementwise(
            "v_readfirstlane_b32 s20, $1\\nv_cmp_lt_f32 s[20:21], $1, $2\\nv_cndmask_b32 $0, $1, $2, s[20:21]",
            "=&v,v,v,~{s20},~{s21}", [x, z], tl.float32, True, 1)
    else:
        larger = tl.where(x < z, z, x)
    tl.store(y_ptr + at, larger * (1.50001 if V == 2 else 1.5), mask=at < n)

n = 512
y = Array("fp32", [0.0] * n)
chosen[(4,)](Array("fp32", [k * 37 % 1021 / 203 for k in range(n)]), y, n, BLOCK=128, V=int(sys.argv[1]), num_warps=1)
"""


def interpreter() -> str:
    specification = importlib.util.spec_from_file_location("interpreters", _HERE / "triton" / "interpreters.py")
    assert specification is not None and specification.loader is not None
    finder = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(finder)
    found: str = finder.python_with("triton")
    return found


def compared(project: Path, text: str, variant: int, words: str, target: str) -> tuple[Level, Account, AlgebraObserver]:
    """After the first launch: how variant 0 and this one relate."""
    field = Field.drawn()
    runs = []
    for number in (0, variant):
        own = project / str(number)
        (own / JIT_DIRECTORY).mkdir(parents=True, exist_ok=True)
        (own / "app.py").write_text(text)
        shutil.copy(_ARRAYS, own / "arrays.py")
        plain = Application((interpreter(), "app.py", str(number)), own, own)
        shadow = Shadow(field.fold, half="half" in words, symbolic="unknown" in words)
        asked = Interception(kernels=("*",), shadow=shadow)
        runs.append(SideRun("variant" if number else "original", presented(plain, target, runtime_library()), asked))
    (project / "logs").mkdir(exist_ok=True)
    observer = AlgebraObserver(UNKNOWN, field)
    setting = Setting(EmulatorBackend(project / "records"), Kernel("*", "*"), UNCONFINED, project / "logs", _DEADLINE_S)
    divergence = follow_planned(setting, (runs[0], runs[1]), [(0, 0)], observer).divergences.get("variant")
    account = NOTHING
    for one in (*observer.accounts.values(), *observer.doubtful.values()):
        account = account.joined(one)
    return Level.DIFFERENT if divergence is not None else account.level, account, observer


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize("target", ["mi250x", "mi300x", "mi350x"])
def test_a_softmax_is_followed_through_exponentials_divisions_and_lanes(tmp_path: Path, target: str) -> None:
    for variant, level in (
        (1, Level.EQUAL),
        (2, Level.EQUAL),
        (3, Level.EQUAL),
        (4, Level.DIFFERENT),
        (5, Level.DIFFERENT),
    ):
        found, account, observer = compared(tmp_path, SOFTMAX, variant, "float", target)
        assert found is level, (variant, account, observer.doubt)
        assert level is Level.DIFFERENT or account.elements >= 600, variant
        assert observer.doubt.text == "", variant


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize("target", ["mi300x", "mi350x"])
def test_a_product_of_halves_is_the_same_in_other_tiles_and_orders(tmp_path: Path, target: str) -> None:
    for variant, level in ((1, Level.EQUAL), (2, Level.EQUAL), (3, Level.EQUAL), (4, Level.DIFFERENT)):
        found, account, observer = compared(tmp_path, PRODUCT, variant, "float half", target)
        assert found is level, (variant, account, observer.doubt)
        assert level is Level.DIFFERENT or account.elements >= 1024, variant
        assert observer.doubt.text == "", variant
        assert account.exact_enough is not (variant == 3), "sums that are rounded to halves"


@pytest.mark.triton
@pytest.mark.slow
def test_halves_of_equal_numbers_stay_apart_where_they_are_packed_anew(tmp_path: Path) -> None:
    found, account, observer = compared(tmp_path, PACKED, 1, "float half unknown", "mi300x")
    assert found is Level.EQUAL and account.elements >= 4096, (account, observer.doubt)


@pytest.mark.triton
@pytest.mark.slow
@pytest.mark.parametrize("variant", [1, 2])
def test_unknown_halves_are_the_same_in_every_layout_and_program(tmp_path: Path, variant: int) -> None:
    found, account, observer = compared(tmp_path, LAID_OUT, variant, "float half unknown", "mi300x")
    assert found is Level.EQUAL and account.elements >= 16384, (account, observer.doubt)


@pytest.mark.triton
@pytest.mark.slow
def test_what_changes_its_sign_alone_stays_the_number_that_it_was(tmp_path: Path) -> None:
    for variant, level in ((1, Level.EQUAL), (2, Level.DIFFERENT)):
        found, account, observer = compared(tmp_path, TURNED, variant, "float", "mi300x")
        assert found is level, (variant, account, observer.doubt)
        assert level is Level.DIFFERENT or account.elements >= 384, variant


@pytest.mark.triton
@pytest.mark.slow
def test_what_waves_exchange_by_exclusive_or_stays_the_number_that_it_was(tmp_path: Path) -> None:
    for variant, level in ((1, Level.EQUAL), (2, Level.EQUAL), (3, Level.DIFFERENT)):
        found, account, observer = compared(tmp_path, REVERSED, variant, "float half", "mi300x")
        assert found is level, (variant, account, observer.doubt)
        assert level is Level.DIFFERENT or account.elements >= 512, variant
        assert observer.doubt.text == "", variant


@pytest.mark.triton
@pytest.mark.slow
def test_a_mask_is_no_number_that_was_in_its_register(tmp_path: Path) -> None:
    for variant, level in ((1, Level.EQUAL), (2, Level.DIFFERENT)):
        found, account, observer = compared(tmp_path, CHOSEN, variant, "float", "mi300x")
        assert found is level, (variant, account, observer.doubt)
        assert level is Level.DIFFERENT or account.elements >= 512, variant
