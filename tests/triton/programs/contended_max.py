"""Largest number per group; a two-dimensional grid, and lanes that all raise the same address."""

import torch
import triton
import triton.language as tl


@triton.jit
def largest(x_ptr, out_ptr, length, BLOCK: tl.constexpr):
    group = tl.program_id(1)
    chunk = tl.program_id(0)
    cols = chunk * BLOCK + tl.arange(0, BLOCK)
    keep = cols < length
    x = tl.load(x_ptr + group * length + cols, mask=keep, other=-2147483648)
    target = out_ptr + group + cols * 0
    tl.atomic_max(target, x, mask=keep)


def main():
    torch.manual_seed(3)
    groups, length = 3, 400_000
    x = torch.randint(0, 2**30, (groups, length), dtype=torch.int32, device="cuda")
    out = torch.full((groups,), -(2**31), dtype=torch.int32, device="cuda")
    largest[(triton.cdiv(length, 256), groups)](x, out, length, BLOCK=256)
    print("right" if torch.equal(out, x.max(dim=1).values) else "WRONG", out.tolist())


if __name__ == "__main__":
    main()
