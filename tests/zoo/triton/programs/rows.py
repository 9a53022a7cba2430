"""Softmax of rows, one program per row."""

import sys

import triton
import triton.language as tl
from arrays import Array


@triton.jit
def softmax(x_ptr, y_ptr, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    live = c < cols
    x = tl.load(x_ptr + row * stride + c, mask=live, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + c, e / tl.sum(e, axis=0), mask=live)


def main():
    rows, cols = 24, int(sys.argv[1]) if len(sys.argv) > 1 else 208
    scale = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    x = Array("fp32", [scale * (i * 29 % 97 - 40) / 16 for i in range(rows * cols)])
    y = Array("fp32", [0.0] * (rows * cols))
    softmax[(rows,)](x, y, cols, cols, BLOCK=256)
    print([f"{value:.4g}" for value in y.values()[:: max(1, cols // 5)]])


if __name__ == "__main__":
    main()
