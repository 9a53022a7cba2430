"""Smallest squared distance to a point over all pairs; every lane lowers the same address."""

import torch
import triton
import triton.language as tl


@triton.jit
def nearest(xs, ys, best, px, py, n, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    ok = i < n
    dx = tl.load(xs + i, mask=ok, other=0) - px
    dy = tl.load(ys + i, mask=ok, other=0) - py
    d2 = tl.where(ok, dx * dx + dy * dy, 2147483647)
    tl.atomic_min(best, tl.min(d2, axis=0))


if __name__ == "__main__":
    torch.manual_seed(28)
    n = 700_001
    xs = torch.randint(0, 20_000, (n,), dtype=torch.int32, device="cuda")
    ys = torch.randint(0, 20_000, (n,), dtype=torch.int32, device="cuda")
    best = torch.full((1,), 2**31 - 1, dtype=torch.int32, device="cuda")
    nearest[(triton.cdiv(n, 128),)](xs, ys, best, 777, 10_001, n, TILE=128)
    print("right" if int(best) == int(((xs - 777) ** 2 + (ys - 10_001) ** 2).min()) else "WRONG")
