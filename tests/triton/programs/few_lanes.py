"""Adds vectors in blocks that are smaller than the warps that work on them."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    x = tl.load(x_ptr + i, mask=live)
    y = tl.load(y_ptr + i, mask=live)
    tl.store(out_ptr + i, x + y, mask=live)


def main():
    torch.manual_seed(11)
    n = 600_001
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    out = torch.empty_like(x)
    grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
    add[grid](x, y, out, n, BLOCK=32, num_warps=8)
    print("right" if torch.equal(out, x + y) else "WRONG")


if __name__ == "__main__":
    main()
