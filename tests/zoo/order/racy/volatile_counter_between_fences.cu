// expect: race grid lost_update
#include "../zoo.h"
__global__ void count(const int* in, volatile int* counter) {
  __threadfence();
  if (threadIdx.x == 0) *counter = *counter + in[blockIdx.x];
  __threadfence();
}
int main() { int* c = device<int>(1); count<<<16, 64>>>(ascending<int>(256), c); return finish(c, 1); }
