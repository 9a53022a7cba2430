"""Real and imaginary parts from polar numbers, stored as pairs: each store leaves every second element out."""

import torch
import triton
import triton.language as tl


@triton.jit
def from_polar(radius, angle, z, count, B: tl.constexpr):
    idx = tl.program_id(0) * B + tl.arange(0, B)
    keep = idx < count
    rho = tl.load(radius + idx, mask=keep)
    phi = tl.load(angle + idx, mask=keep)
    re = rho * tl.cos(phi)
    im = rho * tl.sin(phi)
    tl.store(z + idx * 2, re, mask=keep)
    tl.store(z + idx * 2 + 1, im, mask=keep)


def polar(radius, angle):
    out = torch.empty(radius.numel(), 2, device=radius.device)
    from_polar[(triton.cdiv(radius.numel(), 512),)](radius, angle, out, radius.numel(), B=512)
    return out


if __name__ == "__main__":
    torch.manual_seed(24)
    radius, angle = torch.rand(1_000_003, device="cuda"), torch.rand(1_000_003, device="cuda")
    expected = torch.stack((radius * angle.cos(), radius * angle.sin()), 1)
    print("near" if torch.allclose(polar(radius, angle), expected, atol=1e-5) else "WRONG")
