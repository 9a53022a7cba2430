// expect: race grid
#include "../zoo.h"
__global__ void mark(int* out) { if (threadIdx.x == 0) out[blockIdx.x / 2] = blockIdx.x; }
int main() { int* out = device<int>(8); mark<<<16, 64>>>(out); return finish(out, 8); }
