"""Histogram of bytes with few values: every lane adds one to its bin."""

import torch
import triton
import triton.language as tl


@triton.jit
def histogram_kernel(data_ptr, bins_ptr, num_elements, num_bins: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    idx = pid * BLOCK + tl.arange(0, BLOCK)
    m = idx < num_elements
    letters = tl.load(data_ptr + idx, mask=m, other=0)
    tl.atomic_add(bins_ptr + letters, 1, mask=m)


def histogram(data, num_bins):
    bins = torch.zeros(num_bins, dtype=torch.int32, device=data.device)
    n = data.numel()
    histogram_kernel[(triton.cdiv(n, 1024),)](data, bins, n, num_bins, BLOCK=1024)
    return bins


if __name__ == "__main__":
    torch.manual_seed(26)
    data = torch.randint(0, 16, (400_000,), device="cuda", dtype=torch.int32)
    print("right" if torch.equal(histogram(data, 16), torch.bincount(data, minlength=16).int()) else "WRONG")
