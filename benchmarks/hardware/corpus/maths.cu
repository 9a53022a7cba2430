// Arithmetic: divisions or shifts, one chain or four, double or float, exact or fast functions.
#include "corpus.h"
__global__ void divided(const int* x, int* y, int n, int divisor) {
  int i = INDEX, value = x[i], sum = 0;
  for (int k = 0; k < 16; ++k) sum += (value + k) / divisor + (value + k) % divisor;
  y[i] = sum;
}
__global__ void shifted(const int* x, int* y, int n, int bits) {
  int i = INDEX, value = x[i], sum = 0;
  for (int k = 0; k < 16; ++k) sum += ((value + k) >> bits) + ((value + k) & ((1 << bits) - 1));
  y[i] = sum;
}
template <class T>
__device__ T series(T x, int terms) {
  T sum = 0, power = 1;
  for (int k = 1; k <= terms; ++k) sum = sum * x + power, power = power * T(0.5);
  return sum;
}
__global__ void doubles(const float* x, float* y, int terms) { y[INDEX] = float(series(double(x[INDEX]), terms)); }
__global__ void singles(const float* x, float* y, int terms) { y[INDEX] = series(x[INDEX], terms); }
__global__ void one_chain(const float* x, float* y, int rounds) {
  float sum = x[INDEX];
  for (int k = 0; k < rounds; ++k) sum = sum * 0.5f + 0.25f;
  y[INDEX] = sum;
}
__global__ void four_chains(const float* x, float* y, int rounds) {
  float sum[4] = {x[INDEX], 0, 1, 2};
  for (int k = 0; k < rounds / 4; ++k)
    for (int j = 0; j < 4; ++j) sum[j] = sum[j] * 0.5f + 0.25f;
  y[INDEX] = (sum[0] + sum[1] + sum[2] + sum[3]) / 4;
}
__global__ void functions(const float* x, float* y, int rounds) {
  float value = x[INDEX], sum = 0;
  for (int k = 0; k < rounds; ++k) sum += sinf(value + k) * expf(-value) + powf(value + 1, 0.3f);
  y[INDEX] = sum;
}
__global__ void fast_functions(const float* x, float* y, int rounds) {
  float value = x[INDEX], sum = 0;
  for (int k = 0; k < rounds; ++k) sum += __sinf(value + k) * __expf(-value) + __powf(value + 1, 0.3f);
  y[INDEX] = sum;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 18), bits = 5, blocks = n / 256, rounds = 16;
  const auto numbers = made<int>(n, [](size_t i) { return noise(unsigned(i)); });
  const auto values = floats(n);
  const int* x = c.input(numbers);
  const float* z = c.input(values);
  const auto quotients = made<int>(n, [&](size_t i) {
    int sum = 0;
    for (int k = 0; k < 16; ++k) sum += ((numbers[i] + k) >> bits) + (numbers[i] + k) % 32;
    return sum;
  });
  float* y = c.checked<float>(n, [=](const std::vector<float>& found) {
    for (int i = 0; i < n; ++i) {
      int whole;
      std::copy_n(reinterpret_cast<const char*>(&found[i]), 4, reinterpret_cast<char*>(&whole));
      double sum = 0, power = 1, calls = 0;
      for (int k = 0; k < 64; ++k) sum = sum * values[i] + power, power *= 0.5;
      for (int k = 0; k < rounds; ++k)
        calls += std::sin(values[i] + k) * std::exp(-values[i]) + std::pow(values[i] + 1, 0.3);
      if (whole != quotients[i] && std::abs(found[i] - sum) > 1e-3 && std::abs(found[i] - calls) > 1e-2 &&
          std::abs(found[i] - 0.5) > 1e-3)
        return std::to_string(i);
    }
    return std::string();
  });
  c.variant("divided", [&] { divided<<<blocks, 256>>>(x, (int*)y, n, 1 << bits); });
  c.variant("shifted", [&] { shifted<<<blocks, 256>>>(x, (int*)y, n, bits); });
  c.variant("doubles", [&] { doubles<<<blocks, 256>>>(z, y, 64); });
  c.variant("singles", [&] { singles<<<blocks, 256>>>(z, y, 64); });
  c.variant("one_chain", [&] { one_chain<<<blocks, 256>>>(z, y, 512); });
  c.variant("four_chains", [&] { four_chains<<<blocks, 256>>>(z, y, 512); });
  c.variant("functions", [&] { functions<<<blocks, 256>>>(z, y, rounds); });
  c.variant("fast_functions", [&] { fast_functions<<<blocks, 256>>>(z, y, rounds); });
  return c.end();
}
