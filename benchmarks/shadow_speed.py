"""What a kernel's shadow costs: time of launches with shadows over that of the fast version, in one run each.

    python benchmarks/shadow_speed.py [repetitions]

Programs time their own launches by the processor's time; the smallest of the repetitions counts. Targets: 4 for
streaming and atomic kernels, 10 for products, 40 for transcendental functions.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from intelliperf.emulator.buildenvironment import build_environment
from intelliperf.records import Shadow
from intelliperf.validation.buffers.field import Field

PROGRAM = r"""
#include <hip/hip_runtime.h>
#include <cstdio>
#include <ctime>
#include <vector>
constexpr int N = 1 << 20, S = 192;
__global__ void add(const float* x, const float* y, float* o) {
  int i = blockIdx.x * 256 + threadIdx.x;
  o[i] = x[i] + y[i];
}
__global__ void atomics(const float* x, const float* y, float* o) {
  int i = blockIdx.x * 256 + threadIdx.x;
  atomicAdd(o, x[i] * y[i]);
}
__global__ void tree(const float* x, const float* y, float* o) {
  __shared__ float s[256];
  int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x;
  s[t] = x[i];
  __syncthreads();
  for (int d = 128; d; d /= 2) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
  if (t == 0) o[blockIdx.x] = s[0];
}
__global__ void product(const float* x, const float* y, float* o) {
  int i = blockIdx.x * 256 + threadIdx.x, r = i / S, c = i % S;
  if (r >= S) return;
  float s = 0;
  for (int k = 0; k < S; ++k) s += x[r * S + k] * y[k * S + c];
  o[i] = s;
}
__global__ void tiled(const float* x, const float* y, float* o) {
  __shared__ float a[16][16], b[16][16];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (int k = 0; k < S; k += 16) {
    a[threadIdx.y][threadIdx.x] = x[r * S + k + threadIdx.x];
    b[threadIdx.y][threadIdx.x] = y[(k + threadIdx.y) * S + c];
    __syncthreads();
    for (int j = 0; j < 16; ++j) s += a[threadIdx.y][j] * b[j][threadIdx.x];
    __syncthreads();
  }
  o[r * S + c] = s;
}
__global__ void exponentials(const float* x, const float* y, float* o) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < 8; ++k) v = expf(-v);
  o[i] = v;
}
__global__ void roots(const float* x, const float* y, float* o) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < 8; ++k) v = rsqrtf(v + 1.0f);
  o[i] = v;
}
__global__ void whole(const int* x, int* o) { int i = blockIdx.x * 256 + threadIdx.x; o[i] = x[i] * 3 + 1; }
double now() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int argc, char** argv) {
  std::vector<float> h(N);
  for (int i = 0; i < N; ++i) h[i] = 0.5f + 0.001f * (i % 977);
  float *x, *y, *o;
  hipMalloc(&x, 4 * N), hipMalloc(&y, 4 * N), hipMalloc(&o, 4 * N);
  hipMemcpy(y, h.data(), 4 * N, hipMemcpyHostToDevice);
  const auto time = [&](const char* name, double per, auto launch) {
    double best = 1e30;
    for (int k = 0; k < 4; ++k) {
      h[0] = float(k), hipMemcpy(x, h.data(), 4 * N, hipMemcpyHostToDevice), hipMemset(o, 0, 4 * N);
      const double begun = now();
      launch();
      hipDeviceSynchronize();
      const double spent = now() - begun;
      if (k > 1 && spent < best) best = spent;
    }
    std::printf("%s %.3f\n", name, best / per);
  };
  time("add", N, [&] { add<<<N / 256, 256>>>(x, y, o); });
  time("atomics", N, [&] { atomics<<<N / 256, 256>>>(x, y, o); });
  time("tree", N, [&] { tree<<<N / 256, 256>>>(x, y, o); });
  time("product", double(S) * S * S, [&] { product<<<S * S / 256, 256>>>(x, y, o); });
  time("tiled", double(S) * S * S, [&] { tiled<<<dim3(S / 16, S / 16), dim3(16, 16)>>>(x, y, o); });
  time("exponentials", 8.0 * N / 16, [&] { exponentials<<<N / 256 / 16, 256>>>(x, y, o); });
  time("roots", 8.0 * N / 16, [&] { roots<<<N / 256 / 16, 256>>>(x, y, o); });
  time("whole", N, [&] { whole<<<N / 256, 256>>>((const int*)x, (int*)o); });
}
"""


def measured(program: Path, environment: dict[str, str]) -> dict[str, float]:
    """Nanoseconds per operation, by kernel."""
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True, timeout=600)
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)$", done.stdout, re.MULTILINE)}


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with tempfile.TemporaryDirectory(prefix="intelliperf-shadow-") as name:
        source, program = Path(name) / "speed.hip", Path(name) / "speed"
        source.write_text(PROGRAM)
        environment = {**os.environ, **build_environment(), "INTELLIPERF_SHADOWS": "1"}
        subprocess.run(["hipcc", "-O2", source, "-o", program], env=environment, check=True)
        shaded = {**environment, "INTELLIPERF_SHADOW": str(Shadow(Field.drawn().fold, free_functions=True))}
        fast = [measured(program, environment) for _ in range(repetitions)]
        slow = [measured(program, shaded) for _ in range(repetitions)]
        lawful = [measured(program, {**shaded, "INTELLIPERF_SHADOW": shaded["INTELLIPERF_SHADOW"].split()[0]})]
    print("kernel        fast, ns  shadow, ns  ratio")
    for kernel in fast[0]:
        one, other = (min(run[kernel] for run in runs) for runs in (fast, slow))
        print(f"{kernel:<12} {one:9.2f}  {other:10.2f}  {other / one:5.1f}")
    one, other = min(run["roots"] for run in fast), lawful[0]["roots"]
    print(f"roots, where the candidate needs their laws: {other:.0f} ns, {other / one:.1f}")


if __name__ == "__main__":
    main()
