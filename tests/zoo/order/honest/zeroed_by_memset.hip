// expect: nothing
#include "../zoo.h"
__global__ void add(int* x) { atomicAdd(&x[threadIdx.x % 4], 1); }
int main() { int* x = device<int>(4, 7); if (hipMemset(x, 0, 16)) return 7; add<<<4, 64>>>(x); add<<<4, 64>>>(x); return finish(x, 4); }
