// Mixes many channels per thread, several rounds: a filter bank whose state lives in registers.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    hipError_t status = (call);                                                            \
    if (status != hipSuccess) {                                                            \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorString(status)); \
      return 1;                                                                            \
    }                                                                                      \
  } while (0)

constexpr int kChannels = 160;
constexpr int kApart = 64;  // samples between two channels
constexpr int kThreads = 256;

__global__ void mix(const float* samples, const float* gains, float* mixed, int count, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float state[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) state[c] = samples[i + c * kApart];
  for (int r = 0; r < rounds; ++r) {
    float gain = gains[r];
#pragma unroll
    for (int c = 0; c < kChannels; ++c) state[c] = state[c] * gain + state[(c * 5 + 1) % kChannels];
  }
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kChannels; ++c) sum += state[c] * state[(c + 1) % kChannels];
  mixed[i] = sum;
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1 << 17, rounds = argc > 2 ? std::atoi(argv[2]) : 8;
  const int length = count + kChannels * kApart;
  std::vector<float> samples(length), gains(rounds), mixed(count);
  for (int i = 0; i < length; ++i) samples[i] = 0.001f * float(i * 31 % 97);
  for (int r = 0; r < rounds; ++r) gains[r] = -0.5f + 0.01f * float(r);

  float *device_samples, *device_gains, *device_mixed;
  CHECK(hipMalloc(&device_samples, length * sizeof(float)));
  CHECK(hipMalloc(&device_gains, rounds * sizeof(float)));
  CHECK(hipMalloc(&device_mixed, count * sizeof(float)));
  CHECK(hipMemcpy(device_samples, samples.data(), length * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(device_gains, gains.data(), rounds * sizeof(float), hipMemcpyHostToDevice));
  mix<<<(count + kThreads - 1) / kThreads, kThreads>>>(device_samples, device_gains, device_mixed, count, rounds);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(mixed.data(), device_mixed, count * sizeof(float), hipMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < count; i += count / 64 + 1) {
    std::vector<float> state(kChannels);
    for (int c = 0; c < kChannels; ++c) state[c] = samples[i + c * kApart];
    for (int r = 0; r < rounds; ++r)
      for (int c = 0; c < kChannels; ++c) state[c] = state[c] * gains[r] + state[(c * 5 + 1) % kChannels];
    double sum = 0, size = 0;
    for (int c = 0; c < kChannels; ++c) {
      sum += double(state[c]) * state[(c + 1) % kChannels];
      size += std::fabs(double(state[c]) * state[(c + 1) % kChannels]);
    }
    wrong += !(std::fabs(mixed[i] - sum) <= 1e-4 * size);
  }
  std::printf("%d samples, %d rounds: %s\n", count, rounds, wrong ? "FAIL" : "PASS");
  CHECK(hipFree(device_samples));
  CHECK(hipFree(device_gains));
  CHECK(hipFree(device_mixed));
  return wrong != 0;
}
