// expect: out_of_bounds
#include "../zoo.h"
__global__ void scale(float* x, int n) { x[blockIdx.x * 256 + threadIdx.x] *= 2.0f; }
int main() { float* x = ascending<float>(1000); scale<<<4, 256>>>(x, 1000); return finish(x, 1000); }
