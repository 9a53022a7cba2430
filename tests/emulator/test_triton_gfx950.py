"""Triton programs as compiled for gfx950, whose products read LDS transposed and load into it directly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from test_triton_programs import interpreter

_ARRAYS = Path(__file__).resolve().parents[1] / "zoo" / "triton" / "programs" / "arrays.py"
_DEADLINE_S = 180
# What the instructions do, by plain Python: 64 programs' elements are the lanes of one wave.
_INSTRUCTIONS = """
import struct
import triton, triton.language as tl
from arrays import Array

@triton.jit
def swapped(x_ptr, y_ptr, ASM: tl.constexpr):
    at = tl.arange(0, 64)
    x, y = tl.inline_asm_elementwise(
        ASM, "=v,=v,0,1", [tl.load(x_ptr + at), tl.load(y_ptr + at)], (tl.int32, tl.int32), False, 1)
    tl.store(x_ptr + at, x)
    tl.store(y_ptr + at, y)

@triton.jit
def combined(x_ptr, y_ptr, z_ptr, out_ptr, ASM: tl.constexpr):
    at = tl.arange(0, 64)
    given = [tl.load(x_ptr + at), tl.load(y_ptr + at), tl.load(z_ptr + at)]
    tl.store(out_ptr + at, tl.inline_asm_elementwise(ASM, "=v,v,v,v", given, tl.int32, False, 1))

def swap(name, apart):
    x, y = list(range(64)), list(range(100, 164))
    first, second = Array("i32", x), Array("i32", y)
    swapped[(1,)](first, second, f"{name} $0, $1", num_warps=1)
    for begin in range(0, 64, 2 * apart):
        for lane in range(begin, begin + apart):
            x[lane + apart], y[lane] = y[lane], x[lane + apart]
    assert (list(first.values()), list(second.values())) == (x, y), name

def signed(word):
    return word - (1 << 32) if word >> 31 else word

def bits(value):
    return struct.unpack("i", struct.pack("f", value))[0]

def combine(asm, of, given=None):
    words = given or [[signed((n * k + 77) * 2654435761 & 0xFFFFFFFF) for n in range(64)] for k in (1, 3, 7)]
    out = Array("i32", [0] * 64)
    combined[(1,)](*(Array("i32", one) for one in words), out, asm, num_warps=1)
    assert list(out.values()) == [signed(of(*one) & 0xFFFFFFFF) for one in zip(*words)], asm

swap("v_permlane16_swap_b32", 16)
swap("v_permlane32_swap_b32", 32)
for table in (0x96, 0xE8, 0x1B, 0x40):
    def of(x, y, z, table=table):
        found = 0
        for bit in range(32):
            found |= (table >> ((x >> bit & 1) << 2 | (y >> bit & 1) << 1 | z >> bit & 1) & 1) << bit
        return found
    combine(f"v_bitop3_b32 $0, $1, $2, $3 bitop3:{table}", of)
combine("v_prng_b32 $0, $1", lambda x, y, z: x << 1 ^ (197 if x < 0 else 0))
floats = [[bits(value) for value in (one * 16)] for one in (
    [1.0, -0.0, 2.5, float("nan")], [3.0, 0.0, -7.0, 1.0], [2.0, 0.0, 4.0, 2.0])]
def order(word):  # -0 below +0
    return struct.unpack("f", struct.pack("i", word))[0] or (word < 0) * -1e-45
def least(x, y, z):
    return 0x7FC00000 if x & 0x7FFFFFFF > 0x7F800000 else min((x, y, z), key=order)
combine("v_minimum3_f32 $0, $1, $2, $3", least, floats)
halfway = [[bits(1 + 2**-8)] * 64, [bits(1 + 3 * 2**-8)] * 64, [0] * 64]  # to even: down and up
combine("v_cvt_pk_bf16_f32 $0, $1, $2", lambda x, y, z: 0x3F82_3F80, halfway)
combine("v_cvt_pk_f16_f32 $0, $1, $2", lambda x, y, z: 0x3C0C_3C04, halfway)
combine("v_cvt_f32_bf16 $0, $1", lambda x, y, z: x << 16)
"""
_PRODUCTS = """
import triton, triton.language as tl
from arrays import Array

@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, STEP: tl.constexpr):
    rm, rn = tl.program_id(0) * 32 + tl.arange(0, 32), tl.program_id(1) * 32 + tl.arange(0, 32)
    acc = tl.zeros((32, 32), tl.float32)
    for k in range(0, K, STEP):
        rk = k + tl.arange(0, STEP)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))

M, N, K = 50, 48, 160
a, b = [n * 37 % 13 - 6 for n in range(M * K)], [n * 53 % 11 - 5 for n in range(K * N)]
c = Array("fp32", [0.0] * (M * N))
compiled = product[(2, 2)](Array("fp16", a), Array("fp16", b), c, M, N, K, STEP=32, num_warps=2)
assert compiled.metadata.target.arch == "gfx950"
assert "v_mfma_f32_" in compiled.asm["amdgcn"] and "_tr_b16" in compiled.asm["amdgcn"]
wanted = [sum(a[m * K + k] * b[k * N + n] for k in range(K)) for m in range(M) for n in range(N)]
assert list(c.values()) == wanted
"""


def _diagnosed(project: Path, source: str) -> tuple[int, str]:
    (project / "arrays.py").write_text(_ARRAYS.read_text())
    (project / "app.py").write_text(source)
    argv = [sys.executable, "-m", "intelliperf", "emulate", "--target", "mi350x", "--", interpreter("triton"), "app.py"]
    done = subprocess.run(argv, cwd=project, capture_output=True, text=True, timeout=_DEADLINE_S, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.triton
def test_instructions_of_gfx950_do_what_their_names_mean_to_llvm(tmp_path: Path) -> None:
    status, told = _diagnosed(tmp_path, _INSTRUCTIONS)
    assert status == 0, told


@pytest.mark.triton
def test_a_product_by_transposed_reads_is_right(tmp_path: Path) -> None:
    status, told = _diagnosed(tmp_path, _PRODUCTS)
    assert status == 0, told


@pytest.mark.triton
def test_an_instruction_of_gfx950_that_is_not_executed_is_named(tmp_path: Path) -> None:
    stochastic = 'combine("v_cvt_sr_bf16_f32 $0, $1, $2", lambda x, y, z: 1)\n'
    status, told = _diagnosed(tmp_path, _INSTRUCTIONS + stochastic)
    assert status == 1 and "instruction not implemented: 'v_cvt_sr_bf16_f32" in told, told
