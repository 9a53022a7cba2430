// A sum of floats, every thread with an atomic of its own. ./app [count] [kind of data]
#include "zoo.h"

__global__ void total(const float* x, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(sum, x[i]);
  }
}

int main(int argc, char** argv) {
  const int n = zoo::number(argc, argv, 1, 20000);
  const char* kind = zoo::word(argc, argv, 2, "plain");
  const std::vector<float> x = zoo::floats(n, kind);
  const float* in = zoo::device(x);
  float* sum = zoo::device<float>(1);
  const int block = 256;
  total<<<(n + block - 1) / block, block>>>(in, sum, n);
  double exact = 0;
  for (float v : x) exact += v;
  zoo::check("sum", zoo::host(sum, 1), {exact}, 1e-3);
  return zoo::failed;
}
