// A step of the heat equation in a cube with a border: threads along the depth, along the rows, marching in depth.
#include "../corpus/corpus.h"
__device__ float stepped(const float* x, int at, int wide) {
  return x[at] + 0.1f * (x[at - 1] + x[at + 1] + x[at - wide] + x[at + wide] + x[at - wide * wide] +
                         x[at + wide * wide] - 6 * x[at]);
}
__global__ void along_depth(const float* x, float* y, int side) {
  const int wide = side + 2, depth = threadIdx.x + blockIdx.x * 32, row = threadIdx.y + blockIdx.y * 4;
  const int at = ((depth + 1) * wide + row + 1) * wide + blockIdx.z + 1;
  y[at] = stepped(x, at, wide);
}
__global__ void along_rows(const float* x, float* y, int side) {
  const int wide = side + 2, column = threadIdx.x + blockIdx.x * 32, row = threadIdx.y + blockIdx.y * 4;
  const int at = ((blockIdx.z + 1) * wide + row + 1) * wide + column + 1;
  y[at] = stepped(x, at, wide);
}
__global__ void marching(const float* x, float* y, int side) {
  const int wide = side + 2, column = threadIdx.x + blockIdx.x * 32, row = threadIdx.y + blockIdx.y * 4;
  int at = ((blockIdx.z * 8 + 1) * wide + row + 1) * wide + column + 1;
  float before = x[at - wide * wide], here = x[at];
  for (int k = 0; k < 8; ++k, at += wide * wide) {
    const float after = x[at + wide * wide];
    y[at] = here + 0.1f * (x[at - 1] + x[at + 1] + x[at - wide] + x[at + wide] + before + after - 6 * here);
    before = here, here = after;
  }
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int side = c.argument(0, 64), wide = side + 2;
  const auto values = floats(size_t(wide) * wide * wide);
  const float* x = c.input(values);
  float* y = c.output(made<float>(values.size(), [&](size_t at) {
    for (size_t place : {at % wide, at / wide % wide, at / wide / wide})
      if (place == 0 || place > size_t(side)) return 0.0f;
    const size_t plane = size_t(wide) * wide;
    return values[at] + 0.1f * (values[at - 1] + values[at + 1] + values[at - wide] + values[at + wide] +
                                values[at - plane] + values[at + plane] - 6 * values[at]);
  }), 1e-4);
  const dim3 block(32, 4);
  c.variant("along_depth", [&] { along_depth<<<dim3(side / 32, side / 4, side), block>>>(x, y, side); });
  c.variant("along_rows", [&] { along_rows<<<dim3(side / 32, side / 4, side), block>>>(x, y, side); });
  c.variant("marching", [&] { marching<<<dim3(side / 32, side / 4, side / 8), block>>>(x, y, side); });
  return c.end();
}
