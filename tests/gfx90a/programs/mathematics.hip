// Functions of 32 and 64 bits over their domains, and divisions, which are exact.
#include "check.h"

constexpr int kCount = 1024, kFunctions = 20;

template <class T>
__device__ void evaluate(T x, T y, T* out) {
  out[0] = sin(x), out[1] = cos(x), out[2] = tan(x), out[3] = exp(y), out[4] = log(fabs(x)), out[5] = pow(fabs(x), y);
  out[6] = sqrt(fabs(x)), out[7] = rsqrt(fabs(x)), out[8] = x / y, out[9] = atan2(x, y), out[10] = erf(y);
  out[11] = fmod(x, y), out[12] = cbrt(x), out[13] = hypot(x, y), out[14] = floor(x) + ceil(y) + trunc(x) + rint(y);
  out[15] = tanh(y), out[16] = exp2(y) + log2(fabs(x)) + log10(fabs(x)), out[17] = asin(T(0.1) * y - T(0.05));
  out[18] = ldexp(x, int(y)) + copysign(T(1), y), out[19] = lgamma(fabs(y) + T(0.5));
}

template <class T>
void wanted(T a, T b, double* out) {
  const double x = a, y = b;
  out[0] = std::sin(x), out[1] = std::cos(x), out[2] = std::tan(x), out[3] = std::exp(y), out[4] = std::log(std::fabs(x));
  out[5] = std::pow(std::fabs(x), y), out[6] = std::sqrt(std::fabs(x)), out[7] = 1 / std::sqrt(std::fabs(x));
  out[8] = a / b, out[9] = std::atan2(x, y), out[10] = std::erf(y), out[11] = std::fmod(x, y), out[12] = std::cbrt(x);
  out[13] = std::hypot(x, y), out[14] = std::floor(x) + std::ceil(y) + std::trunc(x) + std::nearbyint(y);
  out[15] = std::tanh(y), out[16] = std::exp2(y) + std::log2(std::fabs(x)) + std::log10(std::fabs(x));
  out[17] = std::asin(T(T(0.1) * b) - T(0.05)), out[18] = std::ldexp(x, int(y)) + std::copysign(1, y);
  out[19] = std::lgamma(std::fabs(y) + 0.5);
}

template <class T>
__global__ void functions(const T* x, const T* y, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  evaluate(x[i], y[i], out + i * kFunctions);
}

template <class T>
__global__ void divide(const T* x, const T* y, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[i] / y[i];
}

template <class T>
__global__ void classify(const T* x, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T v = x[i];
  out[i] = (isnan(v) ? 1 : 0) | (isinf(v) ? 2 : 0) | (isfinite(v) ? 4 : 0) | (signbit(v) ? 8 : 0) | (v == T(0) ? 16 : 0);
}

template <class T>
T from_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
void check(const char* name, double tolerance, double largest) {
  Buffer<T> x(kCount), y(kCount), out(kCount * kFunctions);
  for (int i = 0; i < kCount; ++i) {
    x.host[i] = T((i - 511.3) * (i % 16 == 15 ? largest : 0.37));
    y.host[i] = T(((i * 37) % 200 - 99.5) * 0.11);
  }
  x.upload(), y.upload();
  functions<<<kCount / 64, 64>>>(x.device, y.device, out.device);
  out.download();
  for (int i = 0; i < kCount; ++i) {
    double answers[kFunctions];
    wanted(x.host[i], y.host[i], answers);
    for (int n = 0; n < kFunctions; ++n) {
      const double found = out.host[i * kFunctions + n], rounded = double(T(answers[n]));
      if (std::fabs(found - rounded) < tolerance * 1e-1 && n < 20) ++checks();
      else expect(name, i * 100 + n, found, rounded, tolerance * (n == 5 || n == 2 ? 30 : 1));
    }
  }
}

template <class T>
void check_division(const char* name) {
  constexpr int kQuotients = 1 << 14;
  Buffer<T> x(kQuotients), y(kQuotients), out(kQuotients);
  Buffer<int> classes(kQuotients);
  const T edges[] = {0,
                     -T(0),
                     1,
                     std::numeric_limits<T>::infinity(),
                     std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::denorm_min(),
                     std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::max(),
                     -std::numeric_limits<T>::max(),
                     -std::numeric_limits<T>::infinity(),
                     T(3) * std::numeric_limits<T>::denorm_min(),
                     T(-5)};
  uint64_t random = 88172645463325252ull;
  const auto next = [&] {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    return random;
  };
  for (int i = 0; i < kQuotients; ++i) {
    x.host[i] = i < 144 ? edges[i / 12] : from_bits<T>(next());
    y.host[i] = i < 144 ? edges[i % 12] : i % 7 ? from_bits<T>(next()) : T(x.host[i] * T(1.37));
  }
  x.upload(), y.upload();
  divide<<<kQuotients / 256, 256>>>(x.device, y.device, out.device);
  classify<<<kQuotients / 256, 256>>>(x.device, classes.device);
  out.download(), classes.download();
  for (int i = 0; i < kQuotients; ++i) {
    const T v = x.host[i], quotient = v / y.host[i];
    expect(name, i, out.host[i], quotient);
    const int kind = (std::isnan(v) ? 1 : 0) | (std::isinf(v) ? 2 : 0) | (std::isfinite(v) ? 4 : 0) |
                     (std::signbit(v) ? 8 : 0) | (v == 0 ? 16 : 0);
    expect("class", i, classes.host[i], kind);
  }
}

int main() {
  check<float>("float", 3e-6, 9.1e5);
  check<double>("double", 4e-15, 3.3e8);
  check_division<float>("float division");
  check_division<double>("double division");
  return finish();
}
