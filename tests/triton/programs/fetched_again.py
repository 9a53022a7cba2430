"""Normalises rows; reads the same numbers of the same row several times."""

import torch
import triton
import triton.language as tl


@triton.jit
def normalise(x_ptr, w_ptr, y_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    live = c < cols
    x = tl.load(x_ptr + row * cols + c, mask=live, other=-float("inf"))
    top = tl.max(x, axis=0)
    mean = tl.sum(tl.load(x_ptr + row * cols + c, mask=live, other=0.0), axis=0) / cols
    w = tl.load(w_ptr + c, mask=live, other=0.0)
    tl.store(y_ptr + row * cols + c, (x - mean) / (top - mean + eps) * w, mask=live)


def main():
    torch.manual_seed(13)
    rows, cols = 4096, 1000
    x, w = torch.randn(rows, cols, device="cuda"), torch.rand(cols, device="cuda")
    y = torch.empty_like(x)
    normalise[(rows,)](x, w, y, cols, 1e-5, BLOCK=1024)
    mean = x.mean(1, keepdim=True)
    expected = (x - mean) / (x.max(1, keepdim=True).values - mean + 1e-5) * w
    print("near" if torch.allclose(y, expected, atol=1e-4) else "WRONG")


if __name__ == "__main__":
    main()
