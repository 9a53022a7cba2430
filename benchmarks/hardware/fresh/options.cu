// Prices of options by Black and Scholes: in double by way of constants, records of five fields, fields apart.
#include "../corpus/corpus.h"
struct Option {
  float spot, strike, years, rate, swing;
};
template <class T>
__host__ __device__ float price(T spot, T strike, T years, T rate, T swing) {
  const T spread = swing * sqrt(years);
  const T high = (log(spot / strike) + (rate + swing * swing / 2) * years) / spread;
  const T root = T(0.70710678118654752);
  return float(spot * erfc(-high * root) / 2 - strike * exp(-rate * years) * erfc((spread - high) * root) / 2);
}
__global__ void promoted(const float* x, float* y, int n) {
  int i = INDEX;
  if (i < n) y[i] = price<double>(x[i] + 1, x[n + i] + 1, x[2 * n + i] + 0.1, 0.05, x[3 * n + i] + 0.1);
}
__global__ void single(const float* x, float* y, int n) {
  int i = INDEX;
  if (i < n) y[i] = price<float>(x[i] + 1, x[n + i] + 1, x[2 * n + i] + 0.1f, 0.05f, x[3 * n + i] + 0.1f);
}
__global__ void records(const Option* x, float* y, int n) {
  int i = INDEX;
  if (i >= n) return;
  const Option own = x[i];
  y[i] = price<float>(own.spot, own.strike, own.years, own.rate, own.swing);
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 16), blocks = (n + 255) / 256;
  const auto values = floats(size_t(n) * 4);
  std::vector<Option> options;
  for (int i = 0; i < n; ++i)
    options.push_back({values[i] + 1, values[n + i] + 1, values[2 * n + i] + 0.1f, 0.05f, values[3 * n + i] + 0.1f});
  const float* x = c.input(values);
  const Option* records_of_all = c.input(options);
  float* y = c.output(made<float>(n, [&](size_t i) {
    const Option& o = options[i];
    return price<double>(o.spot, o.strike, o.years, o.rate, o.swing);
  }), 1e-4);
  c.variant("promoted", [&] { promoted<<<blocks, 256>>>(x, y, n); });
  c.variant("single", [&] { single<<<blocks, 256>>>(x, y, n); });
  c.variant("records", [&] { records<<<blocks, 256>>>(records_of_all, y, n); });
  return c.end();
}
