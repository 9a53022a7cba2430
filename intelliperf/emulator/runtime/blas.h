// Dense linear algebra on the host, for the BLAS libraries' stand-ins: column-major, 0-based, by the machine's own BLAS
// (scipy-openblas or the system's) where there is one and the product is large, else by plain loops.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>

namespace simt::blas {

enum Operation : int { kPlain = 0, kTransposed = 1, kConjugated = 2 };
enum Fill : int { kLower = 0, kUpper = 1 };
enum Diagonal : int { kStored = 0, kOnes = 1 };
enum Side : int { kLeft = 0, kRight = 1 };

// Number types by the value of cudaDataType.
enum class Number : int { kF32 = 0, kF64 = 1, kF16 = 2, kI8 = 3, kC32 = 4, kC64 = 5, kI32 = 10, kBf16 = 14 };
size_t size_of(Number type);  // bytes; 0 for a type that is not known
double load(Number type, const void* from, size_t index);
void store(Number type, void* to, size_t index, double value);  // rounded to nearest, ties to even

// C = alpha * op(A) * op(B) + beta * C; C is not read where beta is 0.
template <class T>
void gemm(int transa, int transb, int m, int n, int k, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
          T beta, T* c, int64_t ldc);
// "the BLAS of libopenblas.so.0" or "plain loops".
const char* implementation();

inline float conjugate(float v) { return v; }
inline double conjugate(double v) { return v; }
template <class R>
std::complex<R> conjugate(std::complex<R> v) {
  return std::conj(v);
}

}  // namespace simt::blas
