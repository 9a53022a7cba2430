// expect: nothing
#include "../zoo.h"
__global__ void mark(const int* in, int* out) { if (in[blockIdx.x * 64 + threadIdx.x] > 3) *out = 1; }
int main() { int* out = device<int>(1); mark<<<16, 64>>>(ascending<int>(1024), out); return finish(out, 1); }
