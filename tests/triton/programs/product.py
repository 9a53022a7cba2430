"""Product of two matrices of halves; the accumulators are stored as the matrix unit leaves them."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a = a_ptr + rm[:, None] * K + rk[None, :]
    b = b_ptr + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * N
    c = c_ptr + rm[:, None] * N + rn[None, :]
    tl.store(c, acc)


def main():
    torch.manual_seed(9)
    M = N = 1024
    K = 64
    a = torch.rand(M, K, device="cuda").half()
    b = torch.rand(K, N, device="cuda").half()
    c = torch.empty(M, N, device="cuda")
    product[(M // 64, N // 64)](a, b, c, M, N, K, BM=64, BN=64, BK=32, num_warps=4)
    print("near" if torch.allclose(c, a.float() @ b.float(), rtol=1e-2) else "WRONG")


if __name__ == "__main__":
    main()
