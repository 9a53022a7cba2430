// cuBLAS, hipBLAS and rocBLAS: one core behind three sets of names. Scalars are read where they are: host and device
// share their memory here.
#include "host_blas.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

namespace host {
namespace {

std::set<BlasHandle*>& handles() {
  static auto* const instance = new std::set<BlasHandle*>;
  return *instance;
}

template <class T>
constexpr double kFlops = sizeof(T) == sizeof(decltype(std::abs(T()))) ? 2 : 8;  // of one multiplication and addition
template <class T>
constexpr bool kDouble = sizeof(decltype(std::abs(T()))) == 8;

template <class T>
Extent2D vector(const T* x, int64_t n, int64_t step) {
  if (n <= 0) return {};
  return {x, uint64_t((n - 1) * (step < 0 ? -step : step) + 1) * sizeof(T)};
}
template <class T>
Extent2D matrix(const T* a, int64_t rows, int64_t columns, int64_t lda) {
  if (rows <= 0 || columns <= 0) return {};
  return {a, uint64_t((columns - 1) * lda + rows) * sizeof(T)};
}
// The first element of a vector in the order of the algorithm: negative steps begin at the end.
template <class T>
T* begin(T* x, int64_t n, int64_t step) {
  return step < 0 ? x - (n - 1) * step : x;
}

template <class T, class Work>
int call(BlasHandle* handle, const char* name, double products, std::vector<Extent2D> reads,
         std::vector<Extent2D> writes, Work work, bool waits = false) {
  if (!handles().count(handle)) return kBlasNotInitialized;
  for (const std::vector<Extent2D>* extents : {&reads, &writes})
    for (const Extent2D& extent : *extents)
      if (!extent.base && extent.bytes) return kBlasInvalidPointer;
  const LibraryCall what{name, products * kFlops<T>, kDouble<T>, std::move(reads), std::move(writes)};
  return blas_status(run_library_call(what, handle->stream, waits, std::move(work)));
}

// Results that come back to the host make it wait.
bool to_host(const BlasHandle* handle) {
  return handles().count(const_cast<BlasHandle*>(handle)) && !handle->on_device;
}

bool bad(int64_t lda, int64_t rows) { return lda < (rows > 1 ? rows : 1); }
template <class... P>
bool missing(const P*... pointers) {
  return ((pointers == nullptr) || ...);
}

template <class T>
int axpy(const char* name, BlasHandle* handle, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
  if (missing(alpha)) return kBlasInvalidPointer;
  return call<T>(handle, name, n, {vector(x, n, incx), vector(y, n, incy)}, {vector(y, n, incy)},
                 [=, a = *alpha, from = begin(x, n, incx), to = begin(y, n, incy)] {
                   for (int64_t i = 0; i < n; ++i) to[i * incy] += a * from[i * incx];
                 });
}
template <class T>
int scal(const char* name, BlasHandle* handle, int n, const T* alpha, T* x, int incx) {
  if (missing(alpha)) return kBlasInvalidPointer;
  return call<T>(handle, name, n / 2.0, {vector(x, n, incx)}, {vector(x, n, incx)}, [=, a = *alpha] {
    for (int64_t i = 0; i < n; ++i) x[i * incx] *= a;
  });
}
template <class T>
int copy(const char* name, BlasHandle* handle, int n, const T* x, int incx, T* y, int incy) {
  return call<T>(handle, name, 0, {vector(x, n, incx)}, {vector(y, n, incy)},
                 [=, from = begin(x, n, incx), to = begin(y, n, incy)] {
                   for (int64_t i = 0; i < n; ++i) to[i * incy] = from[i * incx];
                 });
}
template <class T>
int swap(const char* name, BlasHandle* handle, int n, T* x, int incx, T* y, int incy) {
  return call<T>(handle, name, 0, {vector(x, n, incx), vector(y, n, incy)}, {vector(x, n, incx), vector(y, n, incy)},
                 [=, a = begin(x, n, incx), b = begin(y, n, incy)] {
                   for (int64_t i = 0; i < n; ++i) std::swap(a[i * incx], b[i * incy]);
                 });
}
template <class T, class Product>
int reduce(const char* name, BlasHandle* handle, int n, const T* x, int incx, const T* y, int incy, T* result,
           Product product) {
  return call<T>(
      handle, name, n, {vector(x, n, incx), vector(y, n, incy)}, {},
      [=, a = begin(x, n, incx), b = begin(y, n, incy)] {
        T sum(0);
        for (int64_t i = 0; i < n; ++i) sum += product(a[i * incx]) * b[i * incy];
        *result = sum;
      },
      to_host(handle));
}
template <class T>
int dot(const char* name, BlasHandle* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
  return reduce(name, handle, n, x, incx, y, incy, result, [](T v) { return v; });
}
template <class T>
int dotu(const char* name, BlasHandle* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
  return reduce(name, handle, n, x, incx, y, incy, result, [](T v) { return v; });
}
template <class T>
int dotc(const char* name, BlasHandle* handle, int n, const T* x, int incx, const T* y, int incy, T* result) {
  return reduce(name, handle, n, x, incx, y, incy, result, [](T v) { return blas::conjugate(v); });
}
template <class T, class R>
int nrm2(const char* name, BlasHandle* handle, int n, const T* x, int incx, R* result) {
  return call<T>(
      handle, name, n, {vector(x, n, incx)}, {},
      [=] {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += double(std::norm(x[i * incx]));
        *result = R(std::sqrt(sum));
      },
      to_host(handle));
}
template <class R>
double one_norm(R v) {
  return std::abs(v);
}
template <class R>
double one_norm(std::complex<R> v) {
  return double(std::abs(v.real())) + double(std::abs(v.imag()));
}
template <class T, class R>
int asum(const char* name, BlasHandle* handle, int n, const T* x, int incx, R* result) {
  return call<T>(
      handle, name, n / 2.0, {vector(x, n, incx)}, {},
      [=] {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += one_norm(x[i * incx]);
        *result = R(sum);
      },
      to_host(handle));
}
// 1-based, the first of several; 0 for an empty vector.
template <class T>
int extreme(const char* name, BlasHandle* handle, int n, const T* x, int incx, int* result, bool least) {
  return call<T>(
      handle, name, n / 2.0, {vector(x, n, incx)}, {},
      [=] {
        int64_t at = 0;
        for (int64_t i = 1; i < n; ++i) {
          const double a = one_norm(x[i * incx]), b = one_norm(x[at * incx]);
          if (least ? a < b : a > b) at = i;
        }
        *result = n > 0 ? int(at + 1) : 0;
      },
      to_host(handle));
}
template <class T>
int amax(const char* name, BlasHandle* handle, int n, const T* x, int incx, int* result) {
  return extreme(name, handle, n, x, incx, result, false);
}
template <class T>
int amin(const char* name, BlasHandle* handle, int n, const T* x, int incx, int* result) {
  return extreme(name, handle, n, x, incx, result, true);
}
template <class T>
int rot(const char* name, BlasHandle* handle, int n, T* x, int incx, T* y, int incy, const T* cosine, const T* sine) {
  return call<T>(handle, name, 2.0 * n, {vector(x, n, incx), vector(y, n, incy)},
                 {vector(x, n, incx), vector(y, n, incy)},
                 [=, c = *cosine, s = *sine, a = begin(x, n, incx), b = begin(y, n, incy)] {
                   for (int64_t i = 0; i < n; ++i) {
                     const T u = a[i * incx], v = b[i * incy];
                     a[i * incx] = c * u + s * v;
                     b[i * incy] = c * v - s * u;
                   }
                 });
}

// op(A)(row, column) of a matrix of which all, or one triangle, is stored.
template <class T>
T element(const T* a, int64_t lda, int operation, int64_t row, int64_t column) {
  const T v = operation == blas::kPlain ? a[row + column * lda] : a[column + row * lda];
  return operation == blas::kConjugated ? blas::conjugate(v) : v;
}
template <class T>
int gemv(const char* name, BlasHandle* handle, int operation, int m, int n, const T* alpha, const T* a, int lda,
         const T* x, int incx, const T* beta, T* y, int incy) {
  const int rows = operation == blas::kPlain ? m : n, columns = operation == blas::kPlain ? n : m;
  if (bad(lda, m)) return kBlasInvalidValue;
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n, {matrix(a, m, n, lda), vector(x, columns, incx)}, {vector(y, rows, incy)},
                 [=, p = *alpha, q = *beta, from = begin(x, columns, incx), to = begin(y, rows, incy)] {
                   for (int64_t row = 0; row < rows; ++row) {
                     T sum(0);
                     for (int64_t i = 0; i < columns; ++i) sum += element(a, lda, operation, row, i) * from[i * incx];
                     T& out = to[row * incy];
                     out = q == T(0) ? p * sum : p * sum + q * out;
                   }
                 });
}
template <class T>
int symv(const char* name, BlasHandle* handle, int fill, int n, const T* alpha, const T* a, int lda, const T* x,
         int incx, const T* beta, T* y, int incy) {
  if (bad(lda, n)) return kBlasInvalidValue;
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(n) * n, {matrix(a, n, n, lda), vector(x, n, incx)}, {vector(y, n, incy)},
                 [=, p = *alpha, q = *beta, from = begin(x, n, incx), to = begin(y, n, incy)] {
                   for (int64_t row = 0; row < n; ++row) {
                     T sum(0);
                     for (int64_t i = 0; i < n; ++i) {
                       const bool stored = fill == blas::kUpper ? row <= i : row >= i;
                       sum += (stored ? a[row + i * lda] : a[i + row * lda]) * from[i * incx];
                     }
                     T& out = to[row * incy];
                     out = q == T(0) ? p * sum : p * sum + q * out;
                   }
                 });
}
template <class T, class Change>
int rank_one(const char* name, BlasHandle* handle, int m, int n, const T* alpha, const T* x, int incx, const T* y,
             int incy, T* a, int lda, Change changed) {
  if (bad(lda, m)) return kBlasInvalidValue;
  if (missing(alpha)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n, {vector(x, m, incx), vector(y, n, incy), matrix(a, m, n, lda)},
                 {matrix(a, m, n, lda)}, [=, p = *alpha, u = begin(x, m, incx), v = begin(y, n, incy)] {
                   for (int64_t column = 0; column < n; ++column)
                     for (int64_t row = 0; row < m; ++row)
                       a[row + column * int64_t{lda}] += p * u[row * incx] * changed(v[column * incy]);
                 });
}
template <class T>
int ger(const char* name, BlasHandle* h, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a,
        int lda) {
  return rank_one(name, h, m, n, alpha, x, incx, y, incy, a, lda, [](T v) { return v; });
}
template <class T>
int geru(const char* name, BlasHandle* h, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy,
         T* a, int lda) {
  return rank_one(name, h, m, n, alpha, x, incx, y, incy, a, lda, [](T v) { return v; });
}
template <class T>
int gerc(const char* name, BlasHandle* h, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy,
         T* a, int lda) {
  return rank_one(name, h, m, n, alpha, x, incx, y, incy, a, lda, [](T v) { return blas::conjugate(v); });
}

// A triangular matrix as a dense one, op and diagonal applied.
template <class T>
std::vector<T> triangle(int fill, int operation, int diagonal, int n, const T* a, int64_t lda) {
  std::vector<T> out(size_t(n) * n, T(0));
  for (int64_t column = 0; column < n; ++column)
    for (int64_t row = 0; row < n; ++row) {
      if (fill == blas::kUpper ? row > column : row < column) continue;
      T v = row == column && diagonal == blas::kOnes ? T(1) : a[row + column * lda];
      if (operation == blas::kConjugated) v = blas::conjugate(v);
      out[size_t(operation == blas::kPlain ? row + column * n : column + row * n)] = v;
    }
  return out;
}
bool lower_after(int fill, int operation) { return (fill == blas::kLower) == (operation == blas::kPlain); }

// Solves op(A) x = x in place, for a vector with a step.
template <class T>
void solve(const std::vector<T>& a, bool lower, int64_t n, T* x, int64_t step) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = lower ? i : n - 1 - i;
    T v = x[row * step];
    for (int64_t j = lower ? 0 : row + 1; j < (lower ? row : n); ++j) v -= a[size_t(row + j * n)] * x[j * step];
    x[row * step] = v / a[size_t(row + row * n)];
  }
}
template <class T>
int trmv(const char* name, BlasHandle* handle, int fill, int operation, int diagonal, int n, const T* a, int lda, T* x,
         int incx) {
  if (bad(lda, n)) return kBlasInvalidValue;
  return call<T>(handle, name, double(n) * n / 2, {matrix(a, n, n, lda), vector(x, n, incx)}, {vector(x, n, incx)},
                 [=, to = begin(x, n, incx)] {
                   const std::vector<T> full = triangle(fill, operation, diagonal, n, a, lda);
                   std::vector<T> out(size_t(n), T(0));
                   for (int64_t row = 0; row < n; ++row)
                     for (int64_t i = 0; i < n; ++i) out[size_t(row)] += full[size_t(row + i * n)] * to[i * incx];
                   for (int64_t row = 0; row < n; ++row) to[row * incx] = out[size_t(row)];
                 });
}
template <class T>
int trsv(const char* name, BlasHandle* handle, int fill, int operation, int diagonal, int n, const T* a, int lda, T* x,
         int incx) {
  if (bad(lda, n)) return kBlasInvalidValue;
  return call<T>(handle, name, double(n) * n / 2, {matrix(a, n, n, lda), vector(x, n, incx)}, {vector(x, n, incx)},
                 [=, to = begin(x, n, incx)] {
                   solve(triangle(fill, operation, diagonal, n, a, lda), lower_after(fill, operation), n, to, incx);
                 });
}
template <class T>
int trsm(const char* name, BlasHandle* handle, int side, int fill, int operation, int diagonal, int m, int n,
         const T* alpha, const T* a, int lda, T* b, int ldb) {
  const int order = side == blas::kLeft ? m : n;
  if (bad(lda, order) || bad(ldb, m)) return kBlasInvalidValue;
  if (missing(alpha)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n * order / 2, {matrix(a, order, order, lda), matrix(b, m, n, ldb)},
                 {matrix(b, m, n, ldb)}, [=, p = *alpha] {
                   // X op(A) = B is op(A)^T X^T = B^T: rows of B against the transposed triangle.
                   std::vector<T> full = triangle(fill, operation, diagonal, order, a, lda);
                   bool lower = lower_after(fill, operation);
                   if (side == blas::kRight) {
                     for (int64_t i = 0; i < order; ++i)
                       for (int64_t j = 0; j < i; ++j)
                         std::swap(full[size_t(i + j * order)], full[size_t(j + i * order)]);
                     lower = !lower;
                   }
                   for (int64_t column = 0; column < n; ++column)
                     for (int64_t row = 0; row < m; ++row) b[row + column * ldb] *= p;
                   if (side == blas::kLeft)
                     for (int64_t column = 0; column < n; ++column) solve(full, lower, order, b + column * ldb, 1);
                   else
                     for (int64_t row = 0; row < m; ++row) solve(full, lower, order, b + row, ldb);
                 });
}
template <class T>
int trmm(const char* name, BlasHandle* handle, int side, int fill, int operation, int diagonal, int m, int n,
         const T* alpha, const T* a, int lda, const T* b, int ldb, T* c, int ldc) {
  const int order = side == blas::kLeft ? m : n;
  if (bad(lda, order) || bad(ldb, m) || bad(ldc, m)) return kBlasInvalidValue;
  if (missing(alpha)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n * order / 2, {matrix(a, order, order, lda), matrix(b, m, n, ldb)},
                 {matrix(c, m, n, ldc)}, [=, p = *alpha] {
                   const std::vector<T> full = triangle(fill, operation, diagonal, order, a, lda);
                   std::vector<T> from(size_t(m) * n);
                   for (int64_t column = 0; column < n; ++column)
                     for (int64_t row = 0; row < m; ++row) from[size_t(row + column * m)] = b[row + column * ldb];
                   if (side == blas::kLeft)
                     blas::gemm(0, 0, m, n, m, p, full.data(), m, from.data(), m, T(0), c, ldc);
                   else
                     blas::gemm(0, 0, m, n, n, p, from.data(), m, full.data(), n, T(0), c, ldc);
                 });
}
template <class T>
int gemm(const char* name, BlasHandle* handle, int transa, int transb, int m, int n, int k, const T* alpha, const T* a,
         int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {
  const bool flat_a = transa == blas::kPlain, flat_b = transb == blas::kPlain;
  if (m < 0 || n < 0 || k < 0 || bad(lda, flat_a ? m : k) || bad(ldb, flat_b ? k : n) || bad(ldc, m))
    return kBlasInvalidValue;
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n * k,
                 {matrix(a, flat_a ? m : k, flat_a ? k : m, lda), matrix(b, flat_b ? k : n, flat_b ? n : k, ldb)},
                 {matrix(c, m, n, ldc)},
                 [=, p = *alpha, q = *beta] { blas::gemm(transa, transb, m, n, k, p, a, lda, b, ldb, q, c, ldc); });
}
template <class T, class Place>
int batched(const char* name, BlasHandle* handle, int transa, int transb, int m, int n, int k, const T* alpha, int lda,
            int ldb, const T* beta, int ldc, int batches, Place place) {
  const bool flat_a = transa == blas::kPlain, flat_b = transb == blas::kPlain;
  if (m < 0 || n < 0 || k < 0 || batches < 0 || bad(lda, flat_a ? m : k) || bad(ldb, flat_b ? k : n) || bad(ldc, m))
    return kBlasInvalidValue;
  std::vector<Extent2D> reads, writes;
  for (int batch = 0; batch < batches; ++batch) {
    const auto [a, b, c] = place(batch);
    reads.push_back(matrix(a, flat_a ? m : k, flat_a ? k : m, lda));
    reads.push_back(matrix(b, flat_b ? k : n, flat_b ? n : k, ldb));
    writes.push_back(matrix(c, m, n, ldc));
  }
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n * k * batches, std::move(reads), std::move(writes),
                 [=, p = *alpha, q = *beta] {
                   for (int batch = 0; batch < batches; ++batch) {
                     const auto [a, b, c] = place(batch);
                     blas::gemm(transa, transb, m, n, k, p, a, lda, b, ldb, q, c, ldc);
                   }
                 });
}
template <class T>
struct Places {
  const T *a, *b;
  T* c;
};
template <class T>
int gemm_batched(const char* name, BlasHandle* handle, int transa, int transb, int m, int n, int k, const T* alpha,
                 const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc,
                 int batches) {
  if (missing(a, b, c)) return kBlasInvalidPointer;
  return batched(name, handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches,
                 [=](int i) { return Places<T>{a[i], b[i], c[i]}; });
}
template <class T>
int gemm_strided_batched(const char* name, BlasHandle* handle, int transa, int transb, int m, int n, int k,
                         const T* alpha, const T* a, int lda, int64_t stridea, const T* b, int ldb, int64_t strideb,
                         const T* beta, T* c, int ldc, int64_t stridec, int batches) {
  return batched(name, handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches,
                 [=](int i) { return Places<T>{a + i * stridea, b + i * strideb, c + i * stridec}; });
}
template <class T>
int symm(const char* name, BlasHandle* handle, int side, int fill, int m, int n, const T* alpha, const T* a, int lda,
         const T* b, int ldb, const T* beta, T* c, int ldc) {
  const int order = side == blas::kLeft ? m : n;
  if (bad(lda, order) || bad(ldb, m) || bad(ldc, m)) return kBlasInvalidValue;
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(m) * n * order, {matrix(a, order, order, lda), matrix(b, m, n, ldb)},
                 {matrix(c, m, n, ldc)}, [=, p = *alpha, q = *beta] {
                   std::vector<T> full(size_t(order) * order);
                   for (int64_t i = 0; i < order; ++i)
                     for (int64_t j = 0; j < order; ++j) {
                       const bool stored = fill == blas::kUpper ? i <= j : i >= j;
                       full[size_t(i + j * order)] = stored ? a[i + j * lda] : a[j + i * lda];
                     }
                   if (side == blas::kLeft)
                     blas::gemm(0, 0, m, n, m, p, full.data(), m, b, ldb, q, c, ldc);
                   else
                     blas::gemm(0, 0, m, n, n, p, b, ldb, full.data(), n, q, c, ldc);
                 });
}
// Only the triangle that is named changes.
template <class T>
int syrk(const char* name, BlasHandle* handle, int fill, int operation, int n, int k, const T* alpha, const T* a,
         int lda, const T* beta, T* c, int ldc) {
  const bool flat = operation == blas::kPlain;
  if (bad(lda, flat ? n : k) || bad(ldc, n)) return kBlasInvalidValue;
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  return call<T>(handle, name, double(n) * n * k / 2, {matrix(a, flat ? n : k, flat ? k : n, lda)},
                 {matrix(c, n, n, ldc)}, [=, p = *alpha, q = *beta] {
                   std::vector<T> full(size_t(n) * n);
                   blas::gemm(flat ? 0 : 1, flat ? 1 : 0, n, n, k, p, a, lda, a, lda, T(0), full.data(), n);
                   for (int64_t j = 0; j < n; ++j)
                     for (int64_t i = 0; i < n; ++i) {
                       if (fill == blas::kUpper ? i > j : i < j) continue;
                       T& out = c[i + j * ldc];
                       out = q == T(0) ? full[size_t(i + j * n)] : full[size_t(i + j * n)] + q * out;
                     }
                 });
}
template <class T>
int geam(const char* name, BlasHandle* handle, int transa, int transb, int m, int n, const T* alpha, const T* a,
         int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {
  const bool flat_a = transa == blas::kPlain, flat_b = transb == blas::kPlain;
  if (missing(alpha, beta)) return kBlasInvalidPointer;
  const T p = *alpha, q = *beta;
  std::vector<Extent2D> reads;  // what a factor of 0 leaves out may be null
  if (p != T(0)) reads.push_back(matrix(a, flat_a ? m : n, flat_a ? n : m, lda));
  if (q != T(0)) reads.push_back(matrix(b, flat_b ? m : n, flat_b ? n : m, ldb));
  return call<T>(handle, name, double(m) * n, std::move(reads), {matrix(c, m, n, ldc)}, [=] {
    std::vector<T> out(size_t(m) * n);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        T sum(0);
        if (p != T(0)) sum += p * element(a, lda, transa, i, j);
        if (q != T(0)) sum += q * element(b, ldb, transb, i, j);
        out[size_t(i + j * m)] = sum;
      }
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) c[i + j * ldc] = out[size_t(i + j * m)];
  });
}
template <class T>
int dgmm(const char* name, BlasHandle* handle, int side, int m, int n, const T* a, int lda, const T* x, int incx, T* c,
         int ldc) {
  const int length = side == blas::kLeft ? m : n;
  return call<T>(handle, name, double(m) * n / 2, {matrix(a, m, n, lda), vector(x, length, incx)},
                 {matrix(c, m, n, ldc)}, [=, factors = begin(x, length, incx)] {
                   for (int64_t j = 0; j < n; ++j)
                     for (int64_t i = 0; i < m; ++i)
                       c[i + j * ldc] = a[i + j * lda] * factors[(side == blas::kLeft ? i : j) * incx];
                 });
}

}  // namespace

int blas_status(int error) {
  switch (error) {
    case kSuccess:
      return kBlasSuccess;
    case kInvalidHandle:
      return kBlasInvalidValue;
    default:
      return kBlasExecutionFailed;
  }
}
int make_blas_handle(BlasHandle** handle) {
  if (!handle) return kBlasInvalidValue;
  *handle = new BlasHandle;
  handles().insert(*handle);
  return kBlasSuccess;
}
int drop_blas_handle(BlasHandle* handle) {
  if (!handles().erase(handle)) return kBlasNotInitialized;
  delete handle;
  return kBlasSuccess;
}
bool is_blas_handle(BlasHandle* handle) { return handles().count(handle) != 0; }

// C = alpha * op(A) * op(B) + beta * C in the numbers of each, computed in float or double.
int gemm_ex(const char* name, BlasHandle* handle, const MixedProduct& p) {
  if (!handles().count(handle)) return kBlasNotInitialized;
  if (p.m < 0 || p.n < 0 || p.k < 0) return kBlasInvalidValue;
  return run_mixed_product(name, handle->stream, p);
}

#define SIMT_HANDLE BlasHandle*
#define SIMT_OP int
#define SIMT_FILL int
#define SIMT_DIAG int
#define SIMT_SIDE int
#define SIMT_STRIDE long long int
#define SIMT_BLAS_FLOAT_COMPLEX std::complex<float>
#define SIMT_BLAS_DOUBLE_COMPLEX std::complex<double>
int cublas_status(int status) { return status == kBlasInvalidPointer ? int(kBlasInvalidValue) : status; }

#define SIMT_GIVEN(...) __VA_ARGS__
#define SIMT_NAMED(name, arguments) SIMT_NAMED2(name, SIMT_GIVEN arguments)
#define SIMT_NAMED2(name, ...) (name, __VA_ARGS__)

extern "C" {
#define SIMT_OP_OF(x) x
#define SIMT_FILL_OF(x) x
#define SIMT_DIAG_OF(x) x
#define SIMT_SIDE_OF(x) x
#define SIMT_BLAS(L, l, camel, snake, parameters, arguments)              \
  SIMT_EXPORT int cublas##L##camel parameters {                           \
    const Call call(Vendor::kCuda);                                       \
    return cublas_status(snake SIMT_NAMED("cublas" #L#camel, arguments)); \
  }
#define SIMT_BLAS_INDEX(l, camel, parameters, arguments)                    \
  SIMT_EXPORT int cublasI##l##camel parameters {                            \
    const Call call(Vendor::kCuda);                                         \
    return cublas_status(camel SIMT_NAMED("cublasI" #l #camel, arguments)); \
  }
#include "simt/blas_functions.h"
#undef SIMT_BLAS
#undef SIMT_BLAS_INDEX
#define SIMT_TRMM(L, T)                                                                                      \
  SIMT_EXPORT int cublas##L##trmm(BlasHandle* handle, int side, int uplo, int trans, int diag, int m, int n, \
                                  const T* alpha, const T* a, int lda, const T* b, int ldb, T* c, int ldc) { \
    const Call call(Vendor::kCuda);                                                                          \
    return cublas_status(                                                                                    \
        trmm("cublas" #L "trmm", handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, c, ldc));     \
  }
SIMT_TRMM(S, float)
SIMT_TRMM(D, double)
SIMT_TRMM(C, std::complex<float>)
SIMT_TRMM(Z, std::complex<double>)
#undef SIMT_TRMM
#undef SIMT_OP_OF
#undef SIMT_FILL_OF
#undef SIMT_DIAG_OF
#undef SIMT_SIDE_OF

// hipBLAS and rocBLAS have CBLAS's values.
#define SIMT_OP_OF(x) ((x) - 111)
#define SIMT_FILL_OF(x) ((x) == 121 ? int(blas::kUpper) : int(blas::kLower))
#define SIMT_DIAG_OF(x) ((x) - 131)
#define SIMT_SIDE_OF(x) ((x) - 141)
#define SIMT_BLAS(L, l, camel, snake, parameters, arguments)                  \
  SIMT_EXPORT int hipblas##L##camel parameters {                              \
    const Call call(Vendor::kHip);                                            \
    return hipblas_status(snake SIMT_NAMED("hipblas" #L#camel, arguments));   \
  }                                                                           \
  SIMT_EXPORT int rocblas_##l##snake parameters {                             \
    const Call call(Vendor::kHip);                                            \
    return rocblas_status(snake SIMT_NAMED("rocblas_" #l #snake, arguments)); \
  }
#define SIMT_BLAS_INDEX(l, camel, parameters, arguments)                       \
  SIMT_EXPORT int hipblasI##l##camel parameters {                              \
    const Call call(Vendor::kHip);                                             \
    return hipblas_status(camel SIMT_NAMED("hipblasI" #l #camel, arguments));  \
  }                                                                            \
  SIMT_EXPORT int rocblas_i##l##camel parameters {                             \
    const Call call(Vendor::kHip);                                             \
    return rocblas_status(camel SIMT_NAMED("rocblas_i" #l #camel, arguments)); \
  }
#include "simt/blas_functions.h"
}  // extern "C"

}  // namespace host
}  // namespace simt
