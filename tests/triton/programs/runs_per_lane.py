"""Largest reading of each sensor block; every thread walks through readings of its own, as on a CPU."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_peak(readings, peaks, total, BLOCK: tl.constexpr, PER_THREAD: tl.constexpr):
    pid = tl.program_id(0)
    tid = pid * BLOCK + tl.arange(0, BLOCK)
    peak = tl.full((BLOCK,), float("-inf"), dtype=tl.float32)
    for j in range(PER_THREAD):
        i = tid * PER_THREAD + j
        peak = tl.maximum(peak, tl.load(readings + i, mask=i < total, other=float("-inf")))
    tl.store(peaks + pid, tl.max(peak, axis=0))


def main():
    torch.manual_seed(29)
    BLOCK, PER_THREAD = 128, 16
    total = 1500 * BLOCK * PER_THREAD - 77
    readings = torch.randn(total, device="cuda")
    peaks = torch.empty(1500, device="cuda")
    block_peak[(1500,)](readings, peaks, total, BLOCK=BLOCK, PER_THREAD=PER_THREAD)
    padded = torch.nn.functional.pad(readings, (0, 77), value=float("-inf"))
    print("right" if torch.equal(peaks, padded.view(1500, -1).max(1).values) else "WRONG")


if __name__ == "__main__":
    main()
