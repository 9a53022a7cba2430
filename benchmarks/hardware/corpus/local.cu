// How often each of 32 keys comes up in a thread's own 64 bytes, as a checksum; in private memory, LDS, registers.
#include "corpus.h"
__global__ void in_private(const unsigned char* x, int* y, int n) {
  int i = INDEX, counts[32] = {};
  for (int k = 0; k < 64; ++k) counts[x[k * n + i]]++;
  int sum = 0;
  for (int k = 0; k < 32; ++k) sum += counts[k] * counts[k];
  y[i] = sum;
}
__global__ void in_lds(const unsigned char* x, int* y, int n) {
  __shared__ int counts[32][128];
  int i = INDEX;
  for (int k = 0; k < 32; ++k) counts[k][threadIdx.x] = 0;
  for (int k = 0; k < 64; ++k) counts[x[k * n + i]][threadIdx.x]++;
  int sum = 0;
  for (int k = 0; k < 32; ++k) sum += counts[k][threadIdx.x] * counts[k][threadIdx.x];
  y[i] = sum;
}
__global__ void in_lds_by_thread(const unsigned char* x, int* y, int n) {
  __shared__ int counts[128][32];
  int i = INDEX;
  for (int k = 0; k < 32; ++k) counts[threadIdx.x][k] = 0;
  for (int k = 0; k < 64; ++k) counts[threadIdx.x][x[k * n + i]]++;
  int sum = 0;
  for (int k = 0; k < 32; ++k) sum += counts[threadIdx.x][k] * counts[threadIdx.x][k];
  y[i] = sum;
}
__global__ void in_registers(const unsigned char* x, int* y, int n) {
  int i = INDEX;
  int counts[32] = {};
  for (int k = 0; k < 64; ++k) {
    const int key = x[k * n + i];
#pragma unroll
    for (int at = 0; at < 32; ++at) counts[at] += key == at;
  }
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) sum += counts[k] * counts[k];
  y[i] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 15);
  const auto keys = made<unsigned char>(size_t(n) * 64, [](size_t i) { return noise(unsigned(i)) % 32; });
  const unsigned char* x = c.input(keys);
  int* y = c.output(made<int>(n, [&](size_t i) {
    int counts[32] = {}, sum = 0;
    for (int k = 0; k < 64; ++k) ++counts[keys[size_t(k) * n + i]];
    for (int count : counts) sum += count * count;
    return sum;
  }));
  c.variant("in_private", [&] { in_private<<<n / 128, 128>>>(x, y, n); });
  c.variant("in_lds_by_thread", [&] { in_lds_by_thread<<<n / 128, 128>>>(x, y, n); });
  c.variant("in_lds", [&] { in_lds<<<n / 128, 128>>>(x, y, n); });
  c.variant("in_registers", [&] { in_registers<<<n / 128, 128>>>(x, y, n); });
  return c.end();
}
