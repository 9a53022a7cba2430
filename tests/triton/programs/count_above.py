"""How many numbers lie above a threshold; programs that found some report them to one counter."""

import torch
import triton
import triton.language as tl


@triton.jit
def count_kernel(values, counter, size, threshold, BLOCK_SIZE: tl.constexpr):
    block_start = tl.program_id(axis=0) * BLOCK_SIZE
    offs = block_start + tl.arange(0, BLOCK_SIZE)
    v = tl.load(values + offs, mask=offs < size, other=float("-inf"))
    hits = tl.sum(tl.where(v > threshold, 1, 0), axis=0)
    if hits > 0:
        tl.atomic_add(counter, hits)


def count_above(values: torch.Tensor, threshold: float) -> int:
    counter = torch.zeros((), dtype=torch.int32, device=values.device)
    size = values.numel()
    grid = lambda meta: (triton.cdiv(size, meta["BLOCK_SIZE"]),)  # noqa: E731
    count_kernel[grid](values, counter, size, threshold, BLOCK_SIZE=128)
    return int(counter)


if __name__ == "__main__":
    torch.manual_seed(22)
    values = torch.randn(900_001, device="cuda")
    print("right" if count_above(values, 0.25) == int((values > 0.25).sum()) else "WRONG")
