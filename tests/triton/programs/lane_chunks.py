"""Sum of each block where every lane walks through numbers of its own: neighbouring lanes lie far apart."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_sums(x_ptr, out_ptr, BLOCK: tl.constexpr, CHUNK: tl.constexpr):
    pid = tl.program_id(0)
    start = pid * BLOCK * CHUNK
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(CHUNK):
        acc += tl.load(x_ptr + start + tl.arange(0, BLOCK) * CHUNK + k)
    tl.store(out_ptr + pid, tl.sum(acc, axis=0))


def main():
    torch.manual_seed(5)
    blocks, BLOCK, CHUNK = 1216, 256, 32
    x = torch.rand(blocks * BLOCK * CHUNK, device="cuda")
    out = torch.empty(blocks, device="cuda")
    block_sums[(blocks,)](x, out, BLOCK=BLOCK, CHUNK=CHUNK)
    print("near" if torch.allclose(out, x.view(blocks, -1).sum(1), rtol=1e-4) else "WRONG")


if __name__ == "__main__":
    main()
