"""Sums numbers; each of many programs adds its own sum to one address."""

import torch
import triton
import triton.language as tl


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(out_ptr, tl.sum(values))


def main():
    torch.manual_seed(1)
    n = 1_000_003
    x = torch.randint(0, 100, (n,), dtype=torch.int32, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    total[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    torch.cuda.synchronize()
    print("sum", int(out), "right" if int(out) == int(x.sum()) else "WRONG")


if __name__ == "__main__":
    main()
