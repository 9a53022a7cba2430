#include <cstdlib>
#include <iostream>
#include <vector>

#include "transpose.h"

int main(int argc, char** argv) {
  const std::size_t rows = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1500;
  const std::size_t columns = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2048;

  std::vector<float> in(rows * columns), out(rows * columns, -1.0f);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1000003);

  if (!linalg::transpose(in.data(), out.data(), rows, columns)) return EXIT_FAILURE;

  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      if (out[c * rows + r] != in[r * columns + c]) {
        std::cout << "FAIL at row " << r << ", column " << c << '\n';
        return EXIT_FAILURE;
      }
    }
  }
  std::cout << "transposed " << rows << " x " << columns << ": PASS\n";
  return EXIT_SUCCESS;
}
