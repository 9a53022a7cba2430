"""Standardises features: one program per column of a table that lies by rows, two passes over it."""

import torch
import triton
import triton.language as tl


@triton.jit
def standardise(table, result, n_samples, n_features, eps, CHUNK: tl.constexpr):
    feature = tl.program_id(axis=0)
    lane = tl.arange(0, CHUNK)
    total = tl.zeros([CHUNK], dtype=tl.float32)
    squares = tl.zeros([CHUNK], dtype=tl.float32)
    for start in range(0, n_samples, CHUNK):
        s = start + lane
        v = tl.load(table + s * n_features + feature, mask=s < n_samples, other=0.0)
        total += v
        squares += v * v
    mean = tl.sum(total) / n_samples
    var = tl.sum(squares) / n_samples - mean * mean
    scale = 1.0 / tl.sqrt(var + eps)
    for start in range(0, n_samples, CHUNK):
        s = start + lane
        v = tl.load(table + s * n_features + feature, mask=s < n_samples)
        tl.store(result + s * n_features + feature, (v - mean) * scale, mask=s < n_samples)


def main():
    torch.manual_seed(30)
    samples, features = 700, 1216
    table = torch.rand(samples, features, device="cuda")
    result = torch.empty_like(table)
    standardise[(features,)](table, result, samples, features, 1e-6, CHUNK=128)
    expected = (table - table.mean(0)) / (table.var(0, unbiased=False) + 1e-6).sqrt()
    print("near" if torch.allclose(result, expected, rtol=1e-2, atol=1e-2) else "WRONG")


if __name__ == "__main__":
    main()
