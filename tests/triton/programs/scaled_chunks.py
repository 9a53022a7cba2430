"""Scales numbers in place of a copy; each lane writes a run of its own."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr, RUN: tl.constexpr):
    base = tl.program_id(0) * (BLOCK * RUN)
    lanes = tl.arange(0, BLOCK)
    for step in range(0, RUN):
        where = base + lanes * RUN + step
        live = where < n
        value = tl.load(x_ptr + where, mask=live)
        tl.store(y_ptr + where, value * factor, mask=live)


def main():
    torch.manual_seed(6)
    n = 4_000_003
    x = torch.rand(n, device="cuda")
    y = torch.empty_like(x)
    scale[(triton.cdiv(n, 256 * 16),)](x, y, n, 0.5, BLOCK=256, RUN=16)
    print("right" if torch.equal(y, x * 0.5) else "WRONG")


if __name__ == "__main__":
    main()
