// A filter whose taps are constants of the device, with a mode in a struct. ./app [count] [mode] [taps] [kind]
#include "zoo.h"

struct Options {
  short mode;  // 0: as it is, 1: absolute, 2: squared
  short taps;
  unsigned char mirrored;
  float gain;
};

__constant__ float taps[16];

__global__ void filter(const float* in, float* out, int n, Options o) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int t = 0; t < o.taps; ++t) {
    int at = i + t - o.taps / 2;
    if (at < 0) at = o.mirrored ? -at : 0;
    if (at >= n) at = o.mirrored ? 2 * n - 2 - at : n - 1;
    sum += taps[t] * in[at];
  }
  sum *= o.gain;
  if (o.mode == 1) sum = fabsf(sum);
  if (o.mode == 2) sum = sum * sum;
  out[i] = sum;
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 4000);
  const short mode = (short)zoo::number(argc, argv, 2, 0), count = (short)zoo::number(argc, argv, 3, 5);
  const char* kind = zoo::word(argc, argv, 4, "signed");
  const Options o{mode, count, 1, 0.25f};
  const std::vector<float> in = zoo::floats(n, kind), weights = zoo::floats(16, "plain", 9);
  if (hipMemcpyToSymbol(HIP_SYMBOL(taps), weights.data(), sizeof taps)) return 9;
  float* out = zoo::device<float>(n);
  filter<<<(n + 63) / 64, 64>>>(zoo::device(in), out, n, o);
  std::vector<double> exact(n);
  for (int i = 0; i < n; ++i) {
    for (int t = 0; t < count; ++t) {
      const int at = i + t - count / 2;
      exact[i] += double(weights[t]) * in[at < 0 ? -at : at >= n ? 2 * n - 2 - at : at];
    }
    exact[i] *= 0.25;
    exact[i] = mode == 1 ? std::fabs(exact[i]) : mode == 2 ? exact[i] * exact[i] : exact[i];
  }
  zoo::check("filtered", zoo::host(out, n), exact, 1e-5);
  return zoo::failed;
}
