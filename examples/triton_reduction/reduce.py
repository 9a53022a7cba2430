"""The energy of a signal: each program adds the squares of one block to a single number, and so they queue for it."""

import torch
import triton
import triton.language as tl

COUNT = 1_000_000
BLOCK = 128


@triton.jit
def signal_energy(samples, energy, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(samples + at, mask=at < count, other=0.0)
    tl.atomic_add(energy, tl.sum(x * x))


def measure(samples: torch.Tensor) -> torch.Tensor:
    energy = torch.zeros(1, device=samples.device)
    grid = (triton.cdiv(samples.numel(), BLOCK),)
    signal_energy[grid](samples, energy, samples.numel(), BLOCK=BLOCK)
    return energy


def main() -> None:
    torch.manual_seed(0)
    samples = torch.randn(COUNT, device="cuda")
    energy = measure(samples)
    expected = (samples.double() ** 2).sum()
    error = abs(energy.item() / expected.item() - 1)
    if error > 1e-3:
        raise SystemExit(f"wrong: {energy.item()}, not {expected.item()}")
    print(f"energy {energy.item():.6g}")


if __name__ == "__main__":
    main()
