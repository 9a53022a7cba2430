// expect: race grid lost_update
#include "../zoo.h"
__global__ void count(const int* in, volatile int* counter) {
  if (threadIdx.x == 0) *counter = *counter + in[blockIdx.x];
}
int main() { int* c = device<int>(1); count<<<16, 64>>>(ascending<int>(256), c); return finish(c, 1); }
