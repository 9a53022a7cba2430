"""Adds a bias per column; the flat index walks down the columns of a matrix that lies by rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_bias(inp, bias, out, n_rows, n_cols, XBLOCK: tl.constexpr):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    xmask = xindex < n_rows * n_cols
    r = xindex % n_rows
    c = xindex // n_rows
    b = tl.load(bias + c, mask=xmask)
    x = tl.load(inp + r * n_cols + c, mask=xmask)
    tl.store(out + r * n_cols + c, x + b, mask=xmask)


def main():
    torch.manual_seed(23)
    rows, cols = 1000, 1504
    x = torch.rand(rows, cols, device="cuda")
    bias = torch.rand(cols, device="cuda")
    y = torch.empty_like(x)
    add_bias[(triton.cdiv(rows * cols, 1024),)](x, bias, y, rows, cols, XBLOCK=1024)
    print("right" if torch.equal(y, x + bias) else "WRONG")


if __name__ == "__main__":
    main()
