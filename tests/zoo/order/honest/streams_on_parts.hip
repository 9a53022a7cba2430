// expect: nothing
#include "../zoo.h"
__global__ void twice(float* x) { x[blockIdx.x * 64 + threadIdx.x] *= 2.0f; }
__global__ void total(const float* x, float* out) { for (int i = threadIdx.x; i < 512; i += 64) atomicAdd(out, x[i]); }
int main() {
  float *x = device<float>(512, 1.5f), *out = device<float>(1);
  hipStream_t streams[2];
  for (hipStream_t& s : streams)
    if (hipStreamCreate(&s)) return 7;
  for (int part = 0; part < 4; ++part) twice<<<2, 64, 0, streams[part % 2]>>>(x + part * 128);
  total<<<1, 64>>>(x, out);
  twice<<<8, 64, 0, streams[1]>>>(x);
  if (hipDeviceSynchronize()) return 7;
  total<<<1, 64, 0, streams[0]>>>(x, out);
  return finish(out, 1);
}
