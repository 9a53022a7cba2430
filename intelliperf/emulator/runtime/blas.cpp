#include "blas.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace simt::blas {
namespace {

constexpr int64_t kWorthACall = 32 * 32 * 32;  // multiplications below which plain loops are as fast

// The CBLAS interface of a library with 32-bit integers; scipy's build prefixes the names.
class Library {
 public:
  static const Library& instance() {
    static const auto* const library = new Library;
    return *library;
  }
  void* symbol(const char* name) const {
    if (!handle_) return nullptr;
    void* found = dlsym(handle_, ("scipy_" + std::string(name)).c_str());
    return found ? found : dlsym(handle_, name);
  }
  const std::string& name() const { return name_; }

 private:
  Library() {
    const char* named = getenv("INTELLIPERF_BLAS");
    for (const char* candidate : {named, "libopenblas.so.0", "libcblas.so.3"}) {
      if (!candidate || !*candidate) continue;
      if (!(handle_ = dlopen(candidate, RTLD_NOW | RTLD_LOCAL))) continue;
      name_ = std::string("the BLAS of ") + candidate;
      using SetThreads = void (*)(int);
      // One thread: sums are then added up in one order, and no thread of the library's outlives a fork.
      if (auto set = reinterpret_cast<SetThreads>(symbol("openblas_set_num_threads"))) set(1);
      return;
    }
    name_ = "plain loops";
  }
  void* handle_ = nullptr;
  std::string name_;
};

constexpr int kColumnMajor = 102;
int cblas(int operation) { return 111 + operation; }  // CblasNoTrans, CblasTrans, CblasConjTrans

template <class T>
struct Names;
template <>
struct Names<float> {
  static constexpr const char* gemm = "cblas_sgemm";
};
template <>
struct Names<double> {
  static constexpr const char* gemm = "cblas_dgemm";
};
template <>
struct Names<std::complex<float>> {
  static constexpr const char* gemm = "cblas_cgemm";
};
template <>
struct Names<std::complex<double>> {
  static constexpr const char* gemm = "cblas_zgemm";
};

template <class T>
constexpr bool is_complex = sizeof(T) != sizeof(decltype(std::abs(T())));

template <class T>
bool by_library(int transa, int transb, int m, int n, int k, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                T beta, T* c, int64_t ldc) {
  if (int64_t{m} * n * k < kWorthACall) return false;
  static void* const function = Library::instance().symbol(Names<T>::gemm);
  if (!function) return false;
  const int ta = cblas(transa), tb = cblas(transb), la = int(lda), lb = int(ldb), lc = int(ldc);
  if constexpr (is_complex<T>) {
    using Gemm = void (*)(int, int, int, int, int, int, const void*, const void*, int, const void*, int, const void*,
                          void*, int);
    reinterpret_cast<Gemm>(function)(kColumnMajor, ta, tb, m, n, k, &alpha, a, la, b, lb, &beta, c, lc);
  } else {
    using Gemm = void (*)(int, int, int, int, int, int, T, const T*, int, const T*, int, T, T*, int);
    reinterpret_cast<Gemm>(function)(kColumnMajor, ta, tb, m, n, k, alpha, a, la, b, lb, beta, c, lc);
  }
  return true;
}

// op(A) as a dense m x k matrix.
template <class T>
std::vector<T> dense(int operation, int m, int k, const T* a, int64_t lda) {
  std::vector<T> out(size_t(m) * k);
  for (int column = 0; column < k; ++column)
    for (int row = 0; row < m; ++row) {
      const T v = operation == kPlain ? a[row + column * lda] : a[column + row * lda];
      out[row + size_t(column) * m] = operation == kConjugated ? conjugate(v) : v;
    }
  return out;
}

float half_value(uint16_t bits) {
  _Float16 v;
  memcpy(&v, &bits, sizeof v);
  return float(v);
}
uint16_t half_bits(double value) {
  const auto v = static_cast<_Float16>(value);
  uint16_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}
float bfloat_value(uint16_t bits) {
  const uint32_t word = uint32_t(bits) << 16;
  float v;
  memcpy(&v, &word, sizeof v);
  return v;
}
uint16_t bfloat_bits(double value) {
  const auto v = static_cast<float>(value);
  uint32_t word;
  memcpy(&word, &v, sizeof word);
  if (v != v) return uint16_t(word >> 16 | 0x40);
  return uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

}  // namespace

size_t size_of(Number type) {
  switch (type) {
    case Number::kI8:
      return 1;
    case Number::kF16:
    case Number::kBf16:
      return 2;
    case Number::kF32:
    case Number::kI32:
      return 4;
    case Number::kF64:
    case Number::kC32:
      return 8;
    case Number::kC64:
      return 16;
  }
  return 0;
}

double load(Number type, const void* from, size_t index) {
  switch (type) {
    case Number::kI8:
      return static_cast<const int8_t*>(from)[index];
    case Number::kF16:
      return half_value(static_cast<const uint16_t*>(from)[index]);
    case Number::kBf16:
      return bfloat_value(static_cast<const uint16_t*>(from)[index]);
    case Number::kI32:
      return static_cast<const int32_t*>(from)[index];
    case Number::kF64:
      return static_cast<const double*>(from)[index];
    default:
      return static_cast<const float*>(from)[index];
  }
}

void store(Number type, void* to, size_t index, double value) {
  switch (type) {
    case Number::kI8:
      static_cast<int8_t*>(to)[index] = int8_t(value);
      break;
    case Number::kF16:
      static_cast<uint16_t*>(to)[index] = half_bits(value);
      break;
    case Number::kBf16:
      static_cast<uint16_t*>(to)[index] = bfloat_bits(value);
      break;
    case Number::kI32:
      static_cast<int32_t*>(to)[index] = int32_t(value);
      break;
    case Number::kF64:
      static_cast<double*>(to)[index] = value;
      break;
    default:
      static_cast<float*>(to)[index] = float(value);
      break;
  }
}

const char* implementation() { return Library::instance().name().c_str(); }

template <class T>
void gemm(int transa, int transb, int m, int n, int k, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
          T beta, T* c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (by_library(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) return;
  const std::vector<T> left = dense(transa, m, k, a, lda);
  std::vector<T> sum(static_cast<size_t>(m));
  for (int column = 0; column < n; ++column) {
    std::fill(sum.begin(), sum.end(), T(0));
    for (int inner = 0; inner < k; ++inner) {
      T factor = transb == kPlain ? b[inner + column * ldb] : b[column + inner * ldb];
      if (transb == kConjugated) factor = conjugate(factor);
      const T* from = left.data() + size_t(inner) * m;
      for (int row = 0; row < m; ++row) sum[size_t(row)] += from[row] * factor;
    }
    for (int row = 0; row < m; ++row) {
      T& out = c[row + column * ldc];
      out = beta == T(0) ? alpha * sum[size_t(row)] : alpha * sum[size_t(row)] + beta * out;
    }
  }
}

#define SIMT_GEMM(T) \
  template void gemm<T>(int, int, int, int, int, T, const T*, int64_t, const T*, int64_t, T, T*, int64_t);
SIMT_GEMM(float)
SIMT_GEMM(double)
SIMT_GEMM(std::complex<float>)
SIMT_GEMM(std::complex<double>)
#undef SIMT_GEMM

}  // namespace simt::blas
