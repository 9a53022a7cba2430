"""Programs with kernels drawn at random, each line of which makes accesses of one kind."""

from __future__ import annotations

import random

_TYPES = ("float", "double", "int", "short", "unsigned char", "long long")
_BLOCKS = (64, 128, 192, 256)
_ELEMENTS = 1 << 14  # of each array; indices wrap around them


def program(seed: int, kernels: int) -> str:
    """A HIP program whose kernels differ in types, strides, gathers, tiles, loops, conditions and atomics."""
    draw = random.Random(seed)
    texts, launches = [], []
    for number in range(kernels):
        block = draw.choice(_BLOCKS)
        texts.append(_kernel(draw, number, block))
        launches.append(f"  kernel{number}<<<{draw.randint(3, 40)}, {block}>>>(in, out, where, sums, {_ELEMENTS - 1});")
    return "\n".join(
        [
            "#include <hip/hip_runtime.h>",
            "#include <cstdio>",
            "#include <vector>",
            *texts,
            "int main() {",
            f"  const int all = {_ELEMENTS};",
            "  std::vector<int> places(all);",
            f"  for (int i = 0; i < all; ++i) places[i] = i * {2 * draw.randint(20, 4000) + 1} % all;",
            "  char *in, *out;",
            "  int *where, *sums;",
            "  hipMalloc(&in, all * 8), hipMalloc(&out, all * 16), hipMalloc(&where, all * 4), hipMalloc(&sums, 4096);",
            "  hipMemset(in, 1, all * 8), hipMemset(out, 0, all * 16), hipMemset(sums, 0, 4096);",
            "  hipMemcpy(where, places.data(), all * 4, hipMemcpyHostToDevice);",
            *launches,
            "  std::vector<int> found(1024);",
            "  hipMemcpy(found.data(), sums, 4096, hipMemcpyDeviceToHost);",
            "  long long whole = 0;",
            "  for (int one : found) whole += one;",
            '  std::printf("%lld\\n", whole);',
            "  return 0;",
            "}",
            "",
        ]
    )


def _kernel(draw: random.Random, number: int, block: int) -> str:
    kind = draw.choice(_TYPES)
    tile = draw.randrange(2)
    lines = [
        f"__global__ void kernel{number}(const char* from, char* to, const int* where, int* sums, int mask) {{",
        f"  const auto* in = reinterpret_cast<const {kind}*>(from);",
        f"  auto* out = reinterpret_cast<{kind}*>(to);",
        f"  __shared__ {kind} tile[{2 * block}];" if tile else "",
        "  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;",
        f"  {kind} sum = ({kind})t;",
    ]
    steps = draw.sample((_strided, _gathered, _loop, _condition, _atomic), draw.randint(1, 3))
    for step in steps:
        lines += step(draw, kind)
    if tile:
        lines += _tile(draw, block)
    lines += [f"  out[(i * {draw.choice((1, 1, 3, 5, 33))}) & mask] = sum;", "}"]
    return "\n".join(line for line in lines if line)


def _strided(draw: random.Random, kind: str) -> list[str]:
    return [f"  sum += in[(i * {draw.choice((1, 2, 5, 8, 31, 32, 64))} + {draw.randint(0, 40)}) & mask];"]


def _gathered(draw: random.Random, kind: str) -> list[str]:
    return [
        "  {",
        f"    const int at = where[(i * {draw.choice((1, 3))}) & mask];",
        "    sum += in[at];",
        "  }",
    ]


def _loop(draw: random.Random, kind: str) -> list[str]:
    return [
        "#pragma unroll 1",
        f"  for (int k = 0; k <= i % {draw.randint(2, 9)}; ++k)",
        f"    sum += in[(i + k * {draw.choice((1, 17, 64, 129))}) & mask];",
    ]


def _condition(draw: random.Random, kind: str) -> list[str]:
    return [
        f"  if (t % {draw.choice((2, 3, 7, 32))} < {draw.randint(1, 2)})",
        f"    out[mask + 1 + ((i + {draw.randint(100, 900)}) & mask)] = sum;",
    ]


def _atomic(draw: random.Random, kind: str) -> list[str]:
    word = draw.choice(("atomicAdd", "atomicMax", "atomicXor"))
    return [f"  {word}(sums + (i * {draw.choice((1, 3, 7))} & {draw.choice((0, 7, 63, 1023))}), where[i & mask] & 7);"]


def _tile(draw: random.Random, block: int) -> list[str]:
    return [
        f"  tile[t * {draw.choice((1, 2))}] = sum;",
        "  __syncthreads();",
        f"  sum += tile[(t * {draw.choice((1, 2, 4, 8, 17))}) % {block}];",
    ]
