"""Normalises rows; reads the same numbers of the same row several times."""

import torch
import triton
import triton.language as tl


@triton.jit
def normalise(x_ptr, w_ptr, y_ptr, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    live = c < cols
    mean = tl.sum(tl.load(x_ptr + row * cols + c, mask=live, other=0.0), axis=0) / cols
    centred = tl.where(live, tl.load(x_ptr + row * cols + c, mask=live, other=0.0) - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / cols + eps)
    x = tl.load(x_ptr + row * cols + c, mask=live, other=0.0)
    w = tl.load(w_ptr + c, mask=live, other=0.0)
    tl.store(y_ptr + row * cols + c, (x - mean) * scale * w, mask=live)


def main():
    torch.manual_seed(13)
    rows, cols = 512, 1000
    x, w = torch.randn(rows, cols, device="cuda"), torch.rand(cols, device="cuda")
    y = torch.empty_like(x)
    normalise[(rows,)](x, w, y, cols, 1e-5, BLOCK=1024)
    expected = torch.nn.functional.layer_norm(x, (cols,), w)
    print("near" if torch.allclose(y, expected, atol=1e-4) else "WRONG")


if __name__ == "__main__":
    main()
