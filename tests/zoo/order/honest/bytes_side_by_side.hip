// expect: nothing
#include "../zoo.h"
__global__ void narrow(const int* in, unsigned char* out) { const int i = blockIdx.x * 64 + threadIdx.x; out[i] = (unsigned char)in[i]; }
int main() { unsigned char* out = device<unsigned char>(250); narrow<<<3, 64>>>(ascending<int>(250), out); return finish(out, 192); }
