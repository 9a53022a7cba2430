// expect: race
#include "../zoo.h"
__global__ void count(const int* in, int* counter) {
  if (in[blockIdx.x * 64 + threadIdx.x] % 2) counter[0] += 1;
}
int main() { int* c = device<int>(1); count<<<4, 64>>>(ascending<int>(256), c); return finish(c, 1); }
