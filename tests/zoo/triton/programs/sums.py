"""Sum of numbers; every program adds its own part to one address."""

import sys

import triton
import triton.language as tl
from arrays import Array


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(out_ptr, tl.sum(values))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    x = Array("i32", [i * 37 % 101 for i in range(n)])
    out = Array("i32", [0])
    total[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    print(out.values())


if __name__ == "__main__":
    main()
