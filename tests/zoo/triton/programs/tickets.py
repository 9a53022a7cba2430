"""Sum of numbers without atomics on it: whoever is last adds up what all programs have left."""

import sys

import triton
import triton.language as tl
from arrays import Array


@triton.jit
def last_adds(x_ptr, parts_ptr, ticket_ptr, out_ptr, n, BLOCK: tl.constexpr, PARTS: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x_ptr + i, mask=i < n, other=0), axis=0)
    tl.store(parts_ptr + pid, part)
    tl.debug_barrier()
    done = tl.atomic_add(ticket_ptr, 1)
    if done == tl.num_programs(0) - 1:
        k = tl.arange(0, PARTS)
        parts = tl.load(parts_ptr + k, mask=k < tl.num_programs(0), other=0)
        tl.store(out_ptr, tl.sum(parts, axis=0))


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    x = Array("i32", [i * 37 % 101 for i in range(n)])
    parts, ticket, out = Array("i32", [0] * 64), Array("i32", [0]), Array("i32", [0])
    last_adds[(triton.cdiv(n, 128),)](x, parts, ticket, out, n, BLOCK=128, PARTS=64)
    print(out.values())


if __name__ == "__main__":
    main()
