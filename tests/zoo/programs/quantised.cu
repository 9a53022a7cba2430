// A product of 8-bit matrices with scales, and each row's largest sum. ./app [rows] [columns] [depth] [kind]
#include <algorithm>
#include "zoo.h"

__global__ void product(const signed char* a, const signed char* b, const float* rows, const float* columns,
                        const float* bias, signed char* c, int* peak, int m, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  int sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  const float scaled = float(sum) * (rows[row] * columns[column]) + bias[column];
  const int rounded = __float2int_rn(scaled);
  c[row * n + column] = static_cast<signed char>(max(-128, min(127, rounded)));
  atomicMax(peak + row, sum);
}

int main(int argc, char** argv) {
  const int m = zoo::number(argc, argv, 1, 45), n = zoo::number(argc, argv, 2, 52), k = zoo::number(argc, argv, 3, 68);
  const char* kind = zoo::word(argc, argv, 4, "plain");
  const std::vector<int> x = zoo::ints(m * k, 256, kind, 2), y = zoo::ints(k * n, 256, kind, 7);
  std::vector<signed char> a(m * k), b(k * n), expected(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = (signed char)(x[i] - 128);
  for (int i = 0; i < k * n; ++i) b[i] = (signed char)(y[i] - 128);
  if (!strcmp(kind, "lowest")) a.assign(m * k, -128), b.assign(k * n, -128);
  if (!strcmp(kind, "opposed")) a.assign(m * k, 90), b.assign(k * n, -77);
  std::vector<float> rows = zoo::floats(m, "plain", 4), columns = zoo::floats(n, "plain", 5),
                     bias = zoo::floats(n, "huge", 6);
  for (float& r : rows) r = std::ldexp(r, -11);
  if (!strcmp(kind, "ties")) rows.assign(m, 0.0625f), columns.assign(n, 0.0625f);
  for (float& v : bias) v = std::floor(v) / 4;
  std::vector<int> peaks(m, INT32_MIN);
  int* peak = zoo::device(peaks);
  signed char* c = zoo::device<signed char>(m * n);
  const dim3 block(16, 8), grid((n + 15) / 16, (m + 7) / 8);
  product<<<grid, block>>>(zoo::device(a), zoo::device(b), zoo::device(rows), zoo::device(columns), zoo::device(bias),
                           c, peak, m, n, k);
  for (int r = 0; r < m; ++r)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += a[r * k + i] * b[i * n + j];
      peaks[r] = std::max(peaks[r], sum);
      const float rounded = std::nearbyint(std::fmaf(float(sum), rows[r] * columns[j], bias[j]));
      expected[r * n + j] = (signed char)std::fmax(-128.0f, std::fmin(127.0f, rounded));
    }
  zoo::same("c", zoo::host(c, m * n), expected);
  zoo::same("peak", zoo::host(peak, m), peaks);
  return zoo::failed;
}
