"""A product whose tiles are so large that most of the chip has none."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        b = tl.load(b_ptr + depth[:, None] * n + cols[None, :], mask=cols[None, :] < n, other=0.0)
        total += tl.dot(a, b)
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + cols[None, :], total.to(tl.float16), mask=inside)


def main():
    torch.manual_seed(12)
    m, n, k = 200, 256, 512
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    b = torch.randn(k, n, device="cuda", dtype=torch.float16)
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    BM, BN = 128, 128
    grid = (triton.cdiv(m, BM), triton.cdiv(n, BN))
    product[grid](a, b, c, m, n, k, BM, BN, BK=32, num_warps=4)
    print("near" if torch.allclose(c.float(), a.float() @ b.float(), atol=0.1, rtol=1e-2) else "WRONG")


if __name__ == "__main__":
    main()
