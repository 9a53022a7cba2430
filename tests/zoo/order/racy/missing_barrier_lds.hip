// expect: race block
#include "../zoo.h"
__global__ void reverse(const int* in, int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
int main() { int* out = device<int>(1024); reverse<<<4, 256>>>(ascending<int>(1024), out); return finish(out, 1024); }
