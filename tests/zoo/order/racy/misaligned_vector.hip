// expect: misaligned
#include "../zoo.h"
__global__ void copy(const float* in, float4* out) { out[threadIdx.x] = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x + 1); }
int main() { float* out = device<float>(256); copy<<<1, 32>>>(ascending<float>(256), reinterpret_cast<float4*>(out)); return finish(out, 128); }
