// What the BLAS libraries' stand-ins share: handles, results, products of mixed number types.
#pragma once
#include <cstdint>

#include "blas.h"
#include "host_api.h"
#include "library_call.h"

namespace simt::host {

struct BlasHandle {
  Stream* stream = nullptr;
  bool on_device = false;  // pointer mode: results stay in device memory
  int math_mode = 0, atomics_mode = 0;
};

enum BlasStatus : int {  // cuBLAS's values
  kBlasSuccess = 0,
  kBlasNotInitialized = 1,
  kBlasAllocFailed = 3,
  kBlasInvalidValue = 7,
  kBlasExecutionFailed = 13,
  kBlasNotSupported = 15,
  kBlasInvalidPointer = -1,  // ours: an invalid value to all but rocBLAS
};
int blas_status(int error);  // of the host API
int hipblas_status(int status);
int rocblas_status(int status);

int make_blas_handle(BlasHandle** handle);
int drop_blas_handle(BlasHandle* handle);
bool is_blas_handle(BlasHandle* handle);

enum class Activation : uint8_t { kNone, kRelu, kGelu };

// D = activation(alpha * op(A) * op(B) + beta * C + bias), batch by batch; column-major.
struct MixedProduct {
  int transa = 0, transb = 0;
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
  blas::Number a_type{}, b_type{}, c_type{}, d_type{};
  int64_t lda = 1, ldb = 1, ldc = 1, ldd = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
  int batches = 1;
  const void* const* many_a = nullptr;  // pointers instead of strides
  const void* const* many_b = nullptr;
  const void* const* many_c = nullptr;
  void* const* many_d = nullptr;
  // Epilogue
  const void* bias = nullptr;  // one per row of D
  blas::Number bias_type{};
  Activation activation = Activation::kNone;
  void* before = nullptr;  // where what goes into the activation is kept
  int64_t ld_before = 0;
};
int run_mixed_product(const char* name, Stream* stream, const MixedProduct& p);
int gemm_ex(const char* name, BlasHandle* handle, const MixedProduct& p);

}  // namespace simt::host
