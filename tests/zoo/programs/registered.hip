// Host memory that the kernel reads and writes as it is. ./app [count] [kind] [factor]
#include "zoo.h"

__global__ void scale(const float* in, float* out, double* extremes, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
  if (i == 0) {
    double low = in[0], high = in[0];
    for (int j = 1; j < n; ++j) {
      low = in[j] < low ? in[j] : low;
      high = in[j] > high ? in[j] : high;
    }
    extremes[0] = low;
    extremes[1] = high;
  }
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 3000);
  const char* kind = zoo::word(argc, argv, 2, "signed");
  const float factor = zoo::number(argc, argv, 3, 3) / 8.0f;
  float* in = nullptr;
  if (hipHostMalloc((void**)&in, n * sizeof(float), hipHostMallocMapped)) return 9;
  std::vector<float> out(n);
  std::vector<double> extremes(2);
  if (hipHostRegister(out.data(), n * sizeof(float), hipHostRegisterMapped)) return 9;
  if (hipHostRegister(extremes.data(), 2 * sizeof(double), hipHostRegisterMapped)) return 9;
  const std::vector<float> drawn = zoo::floats(n, kind);
  memcpy(in, drawn.data(), n * sizeof(float));
  float *din, *dout;
  double* dextremes;
  if (hipHostGetDevicePointer((void**)&din, in, 0) || hipHostGetDevicePointer((void**)&dout, out.data(), 0)) return 9;
  if (hipHostGetDevicePointer((void**)&dextremes, extremes.data(), 0)) return 9;
  scale<<<(n + 127) / 128, 128>>>(din, dout, dextremes, n, factor);
  if (hipDeviceSynchronize()) return 8;
  std::vector<double> exact(n), bounds{drawn[0], drawn[0]};
  for (int i = 0; i < n; ++i) {
    exact[i] = double(drawn[i]) * factor;
    bounds[0] = std::fmin(bounds[0], drawn[i]);
    bounds[1] = std::fmax(bounds[1], drawn[i]);
  }
  zoo::check("scaled", out, exact, 1e-6);
  zoo::same("input", std::vector<float>(in, in + n), drawn);
  zoo::same("extremes", extremes, bounds);
  hipHostUnregister(out.data());
  hipHostUnregister(extremes.data());
  hipHostFree(in);
  return zoo::failed;
}
