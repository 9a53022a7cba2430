"""Copies a matrix that lies by columns; the strides are not specialised, so the compiler knows neither of them."""

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["stride_m", "stride_n"])
def doubled(x_ptr, y_ptr, M, N, stride_m, stride_n, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    inside = (m < M) & (n < N)
    x = tl.load(x_ptr + m * stride_m + n * stride_n, mask=inside)
    tl.store(y_ptr + m * stride_m + n * stride_n, x + x, mask=inside)


def main():
    torch.manual_seed(10)
    M, N = 4000, 2000
    x = torch.rand(N, M, device="cuda").t()
    y = torch.empty(N, M, device="cuda").t()
    doubled[(triton.cdiv(M, 64), triton.cdiv(N, 32))](x, y, M, N, x.stride(0), x.stride(1), BM=64, BN=32)
    print("right" if torch.equal(y, x + x) else "WRONG")


if __name__ == "__main__":
    main()
