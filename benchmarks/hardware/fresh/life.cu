// One step of Conway's game on a board that wraps around; one byte per cell.
#include "../corpus/corpus.h"
__device__ unsigned char next(int neighbours, int alive) { return neighbours == 3 || (alive && neighbours == 2); }
__device__ int around(const unsigned char* x, int row, int column, int side) {
  int sum = 0;
  for (int i = side - 1; i <= side + 1; ++i)
    for (int j = side - 1; j <= side + 1; ++j) sum += x[(row + i) % side * side + (column + j) % side];
  return sum - x[row * side + column];
}
__global__ void down(const unsigned char* x, unsigned char* y, int side) {
  const int row = INDEX % side, column = INDEX / side;
  y[row * side + column] = next(around(x, row, column, side), x[row * side + column]);
}
__global__ void across(const unsigned char* x, unsigned char* y, int side) {
  const int row = INDEX / side, column = INDEX % side;
  y[row * side + column] = next(around(x, row, column, side), x[row * side + column]);
}
__global__ void masked(const unsigned char* x, unsigned char* y, int side) {
  const int row = blockIdx.y, column = INDEX, left = (column - 1) & (side - 1), right = (column + 1) & (side - 1);
  const unsigned char *above = x + ((row - 1) & (side - 1)) * side, *own = x + row * side;
  const unsigned char* below = x + ((row + 1) & (side - 1)) * side;
  const int sum = above[left] + above[column] + above[right] + own[left] + own[right] + below[left] + below[column] +
                  below[right];
  y[row * side + column] = next(sum, own[column]);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int side = c.argument(0, 256), n = side * side;
  const auto cells = made<unsigned char>(n, [](size_t i) { return noise(unsigned(i)) % 3 == 0; });
  const unsigned char* x = c.input(cells);
  unsigned char* y = c.output(made<unsigned char>(n, [&](size_t at) {
    int sum = 0;
    for (int k = 0; k < 9; ++k)
      if (k != 4) sum += cells[(at / side + side + k / 3 - 1) % side * side + (at + side + k % 3 - 1) % side];
    return sum == 3 || (cells[at] && sum == 2);
  }));
  c.variant("down", [&] { down<<<n / 256, 256>>>(x, y, side); });
  c.variant("across", [&] { across<<<n / 256, 256>>>(x, y, side); });
  c.variant("masked", [&] { masked<<<dim3(side / 256, side), 256>>>(x, y, side); });
  return c.end();
}
