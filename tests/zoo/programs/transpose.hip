// A transposition, and the result once more in doubles. ./app [columns] [rows] [kind]
#include "zoo.h"

__global__ void transpose(const float* in, float* out, double* wide, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < nx && y < ny) {
    out[x * ny + y] = in[y * nx + x];
    wide[x * ny + y] = 2.0 * in[y * nx + x];
  }
}

int main(int argc, char** argv) {
  const int nx = zoo::number(argc, argv, 1, 100), ny = zoo::number(argc, argv, 2, 70);
  const char* kind = zoo::word(argc, argv, 3, "signed");
  const std::vector<float> in = zoo::floats(nx * ny, kind);
  float* out = zoo::device<float>(nx * ny);
  double* wide = zoo::device<double>(nx * ny);
  transpose<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(zoo::device(in), out, wide, nx, ny);
  std::vector<float> expected(nx * ny);
  std::vector<double> doubled(nx * ny);
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      expected[x * ny + y] = in[y * nx + x];
      doubled[x * ny + y] = 2.0 * in[y * nx + x];
    }
  zoo::same("transposed", zoo::host(out, nx * ny), expected);
  zoo::same("doubled", zoo::host(wide, nx * ny), doubled);
  return zoo::failed;
}
