// Euclidean norm of rows of a matrix that is handed over as a struct; a typedef for the element.
#include <hip/hip_runtime.h>
#include <iostream>
#include <vector>

typedef double real;

struct Matrix {
  real* data;
  int rows;
  int cols;
};

__global__ void norms(Matrix m, real* result) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j;
  real sum;
  if (i < m.rows) {
    sum = 0;
    for (j = 0; j < m.cols; j++) {
      sum += m.data[i * m.cols + j] * m.data[i * m.cols + j];
    }
    result[i] = sqrt(sum);
  }
}

int main() {
  Matrix m;
  m.rows = 1536;
  m.cols = 400;
  std::vector<real> host(m.rows * m.cols), out(m.rows);
  for (size_t i = 0; i < host.size(); i++) host[i] = (i % 23) * 0.5;
  real* result;
  hipMalloc(&m.data, host.size() * sizeof(real));
  hipMalloc(&result, m.rows * sizeof(real));
  hipMemcpy(m.data, host.data(), host.size() * sizeof(real), hipMemcpyHostToDevice);
  norms<<<(m.rows + 255) / 256, 256>>>(m, result);
  hipMemcpy(out.data(), result, m.rows * sizeof(real), hipMemcpyDeviceToHost);
  real total = 0;
  for (real v : out) total += v;
  std::cout << (long)total << std::endl;
}
