"""Scalar product of two vectors through a helper in another file; each program adds to one address."""

import torch
import triton
import triton.language as tl
from helpers import products


@triton.autotune(
    configs=[triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 128}, num_warps=2)],
    key=["n"],
    reset_to_zero=["out_ptr"],
)
@triton.jit
def scalar_product(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    first = tl.program_id(axis=0) * BLOCK
    partial = products(a_ptr, b_ptr, first, n, BLOCK)
    tl.atomic_add(out_ptr + 0, tl.sum(partial, axis=0), sem="relaxed")


def main():
    torch.manual_seed(4)
    n = 2_000_000
    a, b = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    out = torch.zeros(1, device="cuda")
    scalar_product[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](a, b, out, n)
    expected = float((a.double() * b.double()).sum())
    print("near" if abs(float(out) - expected) < 1e-3 * expected else "WRONG")


if __name__ == "__main__":
    main()
