"""Product of two matrices of halves, tile by tile, with masks at the edges."""

import sys

import triton
import triton.language as tl
from arrays import Array


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


def main():
    m, n, k = (int(value) for value in (sys.argv[1:4] or (48, 80, 64)))
    a = Array("fp16", [(i * 13 % 31 - 15) / 8 for i in range(m * k)])
    b = Array("fp16", [(i * 7 % 29 - 14) / 8 for i in range(k * n)])
    c = Array("fp32", [0.0] * (m * n))
    product[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, c, m, n, k, BM=32, BN=32, BK=32)
    print([f"{value:.5g}" for value in c.values()[:: max(1, m * n // 97)]])


if __name__ == "__main__":
    main()
