// Products of mixed number types: GemmEx and its relatives, half precision, and cublasLt's epilogues.
#include <cmath>
#include <vector>

#include "host_blas.h"

namespace simt::host {
namespace {

using blas::Number;

bool complete(const MixedProduct& p) {
  for (Number type : {p.a_type, p.b_type, p.c_type, p.d_type})
    if (blas::size_of(type) == 0) return false;
  return p.m >= 0 && p.n >= 0 && p.k >= 0 && p.batches >= 0;
}

Extent2D extent(const void* base, Number type, int64_t rows, int64_t columns, int64_t ld) {
  if (rows <= 0 || columns <= 0) return {};
  return {base, uint64_t((columns - 1) * ld + rows) * blas::size_of(type)};
}

template <class T>
std::vector<T> numbers(Number type, const void* from, int64_t rows, int64_t columns, int64_t ld) {
  std::vector<T> out(size_t(rows * columns));
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) out[size_t(i + j * rows)] = T(blas::load(type, from, size_t(i + j * ld)));
  return out;
}

const void* at(const void* base, const void* const* many, int batch, int64_t stride, Number type) {
  if (many) return many[batch];
  return base ? static_cast<const char*>(base) + int64_t{batch} * stride * int64_t(blas::size_of(type)) : nullptr;
}

// The tanh form, as cublasLt documents its GELU.
double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); }

template <class T>
void multiply(const MixedProduct& p, int batch) {
  const void* a = at(p.a, p.many_a, batch, p.stride_a, p.a_type);
  const void* b = at(p.b, p.many_b, batch, p.stride_b, p.b_type);
  const void* c = at(p.c, p.many_c, batch, p.stride_c, p.c_type);
  void* d = const_cast<void*>(at(p.d, const_cast<const void* const*>(p.many_d), batch, p.stride_d, p.d_type));
  const bool flat_a = p.transa == blas::kPlain, flat_b = p.transb == blas::kPlain;
  const int64_t rows_a = flat_a ? p.m : p.k, rows_b = flat_b ? p.k : p.n;
  const std::vector<T> left = numbers<T>(p.a_type, a, rows_a, flat_a ? p.k : p.m, p.lda);
  const std::vector<T> right = numbers<T>(p.b_type, b, rows_b, flat_b ? p.n : p.k, p.ldb);
  std::vector<T> out(size_t(p.m * p.n));
  blas::gemm<T>(p.transa, p.transb, int(p.m), int(p.n), int(p.k), T(p.alpha), left.data(), rows_a > 0 ? rows_a : 1,
                right.data(), rows_b > 0 ? rows_b : 1, T(0), out.data(), p.m > 0 ? p.m : 1);
  for (int64_t j = 0; j < p.n; ++j)
    for (int64_t i = 0; i < p.m; ++i) {
      double v = double(out[size_t(i + j * p.m)]);
      if (p.beta != 0) v += p.beta * blas::load(p.c_type, c, size_t(i + j * p.ldc));
      if (p.bias) v += blas::load(p.bias_type, p.bias, size_t(i));
      if (p.before) blas::store(p.d_type, p.before, size_t(i + j * p.ld_before), v);
      if (p.activation == Activation::kRelu) v = v > 0 ? v : 0;
      if (p.activation == Activation::kGelu) v = gelu(v);
      blas::store(p.d_type, d, size_t(i + j * p.ldd), v);
    }
}

template <class T>
int complex_product(const char* name, Stream* stream, const MixedProduct& p) {
  if (p.batches != 1 || p.bias || p.activation != Activation::kNone) return kBlasNotSupported;
  const bool flat_a = p.transa == blas::kPlain, flat_b = p.transb == blas::kPlain;
  const LibraryCall what{name,
                         8.0 * double(p.m) * double(p.n) * double(p.k),
                         sizeof(T) == 16,
                         {extent(p.a, p.a_type, flat_a ? p.m : p.k, flat_a ? p.k : p.m, p.lda),
                          extent(p.b, p.b_type, flat_b ? p.k : p.n, flat_b ? p.n : p.k, p.ldb)},
                         {extent(p.d, p.d_type, p.m, p.n, p.ldd)}};
  return blas_status(run_library_call(what, stream, false, [p] {
    blas::gemm<T>(p.transa, p.transb, int(p.m), int(p.n), int(p.k), T(p.alpha), static_cast<const T*>(p.a), p.lda,
                  static_cast<const T*>(p.b), p.ldb, T(p.beta), static_cast<T*>(p.d), p.ldd);
  }));
}

}  // namespace

int run_mixed_product(const char* name, Stream* stream, const MixedProduct& p) {
  if (!complete(p)) return kBlasNotSupported;
  if (p.a_type == Number::kC32) return complex_product<std::complex<float>>(name, stream, p);
  if (p.a_type == Number::kC64) return complex_product<std::complex<double>>(name, stream, p);
  LibraryCall what;
  what.name = name;
  what.flops = 2.0 * double(p.m) * double(p.n) * double(p.k) * p.batches;
  what.double_precision = p.a_type == Number::kF64;
  const bool flat_a = p.transa == blas::kPlain, flat_b = p.transb == blas::kPlain;
  for (int batch = 0; batch < p.batches; ++batch) {
    const void* d = at(p.d, const_cast<const void* const*>(p.many_d), batch, p.stride_d, p.d_type);
    what.reads.push_back(extent(at(p.a, p.many_a, batch, p.stride_a, p.a_type), p.a_type, flat_a ? p.m : p.k,
                                flat_a ? p.k : p.m, p.lda));
    what.reads.push_back(extent(at(p.b, p.many_b, batch, p.stride_b, p.b_type), p.b_type, flat_b ? p.k : p.n,
                                flat_b ? p.n : p.k, p.ldb));
    if (p.beta != 0)
      what.reads.push_back(extent(at(p.c, p.many_c, batch, p.stride_c, p.c_type), p.c_type, p.m, p.n, p.ldc));
    what.writes.push_back(extent(d, p.d_type, p.m, p.n, p.ldd));
  }
  if (p.bias) what.reads.push_back(extent(p.bias, p.bias_type, p.m, 1, p.m));
  if (p.before) what.writes.push_back(extent(p.before, p.d_type, p.m, p.n, p.ld_before));
  // Whole numbers up to 2^53 are exact in double.
  const bool wide = p.a_type == Number::kF64 || p.a_type == Number::kI8;
  return blas_status(run_library_call(what, stream, false, [p, wide] {
    for (int batch = 0; batch < p.batches; ++batch) wide ? multiply<double>(p, batch) : multiply<float>(p, batch);
  }));
}

}  // namespace simt::host
