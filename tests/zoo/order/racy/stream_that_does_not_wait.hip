// expect: race grid unordered_streams
#include "../zoo.h"
__global__ void sum(const float* in, float* out) { atomicAdd(out, in[threadIdx.x]); }
__global__ void scale(float* in) { in[threadIdx.x] *= 2.0f; }
int main() {
  float *in = device<float>(64, 1.0f), *out = device<float>(1);
  hipStream_t apart;
  if (hipStreamCreateWithFlags(&apart, hipStreamNonBlocking)) return 7;
  sum<<<1, 64, 0, apart>>>(in, out);
  scale<<<1, 64>>>(in);
  return finish(out, 1);
}
