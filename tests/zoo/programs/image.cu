// A picture of four channels, blurred three by three, edges repeated. ./app [columns] [rows] [kind]
#include "zoo.h"

struct Pixel {
  unsigned char r, g, b, a;
};

__global__ void blur(const Pixel* in, Pixel* out, int nx, int ny) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int r = 0, g = 0, b = 0, weights = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const int cx = min(max(x + dx, 0), nx - 1), cy = min(max(y + dy, 0), ny - 1);
      const Pixel p = in[cy * nx + cx];
      const int weight = (2 - abs(dx)) * (2 - abs(dy));
      r += weight * p.r;
      g += weight * p.g;
      b += weight * p.b;
      weights += weight;
    }
  }
  const int at = y * nx + x;
  out[at].r = (unsigned char)(r / weights);
  out[at].g = (unsigned char)(g / weights);
  out[at].b = (unsigned char)(b / weights);
  out[at].a = in[at].a;
}

int main(int argc, char** argv) {
  const int nx = zoo::number(argc, argv, 1, 90), ny = zoo::number(argc, argv, 2, 50);
  const char* kind = zoo::word(argc, argv, 3, "plain");
  const std::vector<int> drawn = zoo::ints(4 * nx * ny, 256, kind);
  std::vector<Pixel> in(nx * ny), expected(nx * ny);
  for (size_t i = 0; i < in.size(); ++i) {
    auto byte = [&](int at) { return (unsigned char)drawn[4 * i + at]; };
    in[i] = {byte(0), byte(1), byte(2), byte(3)};
  }
  const Pixel* di = zoo::device(in);
  Pixel* out = zoo::device<Pixel>(nx * ny);
  blur<<<dim3((nx + 15) / 16, (ny + 15) / 16), dim3(16, 16)>>>(di, out, nx, ny);
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      int sums[3] = {};
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const int cx = x + dx < 0 ? 0 : x + dx >= nx ? nx - 1 : x + dx, cy = y + dy < 0 ? 0 : y + dy >= ny ? ny - 1 : y + dy;
          const int weight = (2 - abs(dx)) * (2 - abs(dy));
          const Pixel p = in[cy * nx + cx];
          sums[0] += weight * p.r, sums[1] += weight * p.g, sums[2] += weight * p.b;
        }
      auto byte = [](int sum) { return (unsigned char)(sum / 16); };
      expected[y * nx + x] = {byte(sums[0]), byte(sums[1]), byte(sums[2]), in[y * nx + x].a};
    }
  zoo::same("picture", zoo::host(out, expected.size()), expected);
  return zoo::failed;
}
