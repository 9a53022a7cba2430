"""Mean of squares; every lane adds its own number to one address."""

import torch
import triton
import triton.language as tl


@triton.jit
def squares(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds x*x of a block of numbers."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    # one address for all lanes
    tl.atomic_add(out_ptr + tl.zeros((BLOCK,), dtype=tl.int32), x * x, mask=mask)


def main():
    torch.manual_seed(2)
    n = 1_000_003
    x = torch.rand(n, device="cuda")
    out = torch.zeros(1, device="cuda")
    BLOCK = 256
    grid = (triton.cdiv(n, BLOCK),)
    squares[grid](x, out, n, BLOCK=BLOCK, num_warps=4)
    expected = float((x.double() ** 2).sum())
    print("near" if abs(float(out) - expected) < 1e-3 * expected else "WRONG")


if __name__ == "__main__":
    main()
