"""Sum of each column, one program per column."""

import torch
import triton
import triton.language as tl


@triton.jit
def column_sum(x_ptr, out_ptr, rows, cols, ROWS: tl.constexpr):
    col = tl.program_id(0)
    r = tl.arange(0, ROWS)
    x = tl.load(x_ptr + r * cols + col, mask=r < rows, other=0.0)
    tl.store(out_ptr + col, tl.sum(x, axis=0))


def main():
    torch.manual_seed(8)
    rows, cols = 500, 768
    x = torch.rand(rows, cols, device="cuda")
    out = torch.empty(cols, device="cuda")
    column_sum[(cols,)](x, out, rows, cols, ROWS=512)
    print("near" if torch.allclose(out, x.sum(0), rtol=1e-4) else "WRONG")


if __name__ == "__main__":
    main()
