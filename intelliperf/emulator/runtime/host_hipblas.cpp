// What hipBLAS and rocBLAS have beside BLAS itself: handles, settings, products of mixed types.
#include "host_blas.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt::host {

using blas::Number;

int hipblas_status(int status) {
  switch (status) {
    case kBlasSuccess:
      return 0;
    case kBlasNotInitialized:
      return 1;
    case kBlasAllocFailed:
      return 2;
    case kBlasInvalidValue:
    case kBlasInvalidPointer:
      return 3;
    case kBlasNotSupported:
      return 7;
    default:
      return 5;  // execution failed
  }
}
int rocblas_status(int status) {
  switch (status) {
    case kBlasSuccess:
      return 0;
    case kBlasNotInitialized:
      return 1;  // invalid handle
    case kBlasAllocFailed:
      return 5;
    case kBlasInvalidPointer:
      return 3;
    case kBlasInvalidValue:
      return 4;  // invalid size
    case kBlasNotSupported:
      return 2;
    default:
      return 6;  // internal error
  }
}

namespace {

// hipblasDatatype_t and rocblas_datatype, or hipDataType, whose values are CUDA's.
int number_type(int type) {
  switch (type) {
    case 150:
      return int(Number::kF16);
    case 151:
      return int(Number::kF32);
    case 152:
      return int(Number::kF64);
    case 154:
      return int(Number::kC32);
    case 155:
      return int(Number::kC64);
    case 160:
      return int(Number::kI8);
    case 162:
      return int(Number::kI32);
    case 168:
      return int(Number::kBf16);
    default:
      return type;
  }
}
// hipblasComputeType_t: 0, 1 half; 2, 3, 4, 5, 6 float; 7, 8 double; 9, 10 int32. Older calls give a data type.
Number scale_type(int compute) {
  if (compute >= 100) return Number(number_type(compute));
  return compute < 2 ? Number::kF16 : compute < 7 ? Number::kF32 : compute < 9 ? Number::kF64 : Number::kI32;
}

struct Given {  // the arguments that all forms have
  int ta, tb, m, n, k;
  const void *alpha, *a;
  int at, lda;
  const void* b;
  int bt, ldb;
  const void *beta, *c;
  int ct, ldc;
  void* d;
  int dt, ldd;
};
MixedProduct product(const Given& g, Number scale) {
  MixedProduct p;
  p.transa = g.ta - 111, p.transb = g.tb - 111, p.m = g.m, p.n = g.n, p.k = g.k;
  if (!g.alpha || !g.beta) return p.m = -1, p;  // refused as a size
  p.alpha = blas::load(scale, g.alpha, 0), p.beta = blas::load(scale, g.beta, 0);
  p.a = g.a, p.b = g.b, p.c = g.c, p.d = g.d;
  p.a_type = Number(number_type(g.at)), p.b_type = Number(number_type(g.bt));
  p.c_type = Number(number_type(g.ct)), p.d_type = Number(number_type(g.dt));
  p.lda = g.lda, p.ldb = g.ldb, p.ldc = g.ldc, p.ldd = g.ldd;
  return p;
}

}  // namespace

extern "C" {
SIMT_EXPORT int hipblasCreate(BlasHandle** handle) { return hipblas_status(make_blas_handle(handle)); }
SIMT_EXPORT int hipblasDestroy(BlasHandle* handle) { return hipblas_status(drop_blas_handle(handle)); }
SIMT_EXPORT int rocblas_create_handle(BlasHandle** handle) { return rocblas_status(make_blas_handle(handle)); }
SIMT_EXPORT int rocblas_destroy_handle(BlasHandle* handle) { return rocblas_status(drop_blas_handle(handle)); }
SIMT_EXPORT void rocblas_initialize() {}
#define SIMT_SETTING(hip, roc, parameter, statement)             \
  SIMT_EXPORT int hipblas##hip(BlasHandle* handle, parameter) {  \
    if (!is_blas_handle(handle)) return 1;                       \
    statement;                                                   \
    return 0;                                                    \
  }                                                              \
  SIMT_EXPORT int rocblas_##roc(BlasHandle* handle, parameter) { \
    if (!is_blas_handle(handle)) return 1;                       \
    statement;                                                   \
    return 0;                                                    \
  }
SIMT_SETTING(SetStream, set_stream, Stream* stream, handle->stream = stream)
SIMT_SETTING(GetStream, get_stream, Stream** stream, *stream = handle->stream)
SIMT_SETTING(SetPointerMode, set_pointer_mode, int mode, handle->on_device = mode == 1)
SIMT_SETTING(GetPointerMode, get_pointer_mode, int* mode, *mode = handle->on_device)
SIMT_SETTING(SetAtomicsMode, set_atomics_mode, int mode, handle->atomics_mode = mode)
SIMT_SETTING(GetAtomicsMode, get_atomics_mode, int* mode, *mode = handle->atomics_mode)
SIMT_SETTING(SetMathMode, set_math_mode, int mode, handle->math_mode = mode)
SIMT_SETTING(GetMathMode, get_math_mode, int* mode, *mode = handle->math_mode)
#undef SIMT_SETTING
SIMT_EXPORT const char* hipblasStatusToString(int status) {
  return status == 0   ? "HIPBLAS_STATUS_SUCCESS"
         : status == 3 ? "HIPBLAS_STATUS_INVALID_VALUE"
         : status == 7 ? "HIPBLAS_STATUS_NOT_SUPPORTED"
                       : "HIPBLAS_STATUS_EXECUTION_FAILED";
}
SIMT_EXPORT const char* rocblas_status_to_string(int status) {
  return status == 0   ? "rocblas_status_success"
         : status == 3 ? "rocblas_status_invalid_pointer"
         : status == 4 ? "rocblas_status_invalid_size"
         : status == 2 ? "rocblas_status_not_implemented"
                       : "rocblas_status_internal_error";
}

SIMT_EXPORT int hipblasGemmEx(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                              int at, int lda, const void* b, int bt, int ldb, const void* beta, void* c, int ct,
                              int ldc, int compute, int) {
  const Call call(Vendor::kHip);
  const Given given{ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, c, ct, ldc};
  return hipblas_status(gemm_ex("hipblasGemmEx", handle, product(given, scale_type(compute))));
}
SIMT_EXPORT int hipblasGemmStridedBatchedEx(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                            const void* a, int at, int lda, long long stride_a, const void* b, int bt,
                                            int ldb, long long stride_b, const void* beta, void* c, int ct, int ldc,
                                            long long stride_c, int batches, int compute, int) {
  const Call call(Vendor::kHip);
  MixedProduct p =
      product({ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, c, ct, ldc}, scale_type(compute));
  p.stride_a = stride_a, p.stride_b = stride_b, p.stride_c = p.stride_d = stride_c, p.batches = batches;
  return hipblas_status(gemm_ex("hipblasGemmStridedBatchedEx", handle, p));
}
SIMT_EXPORT int hipblasHgemm(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                             int lda, const void* b, int ldb, const void* beta, void* c, int ldc) {
  const Call call(Vendor::kHip);
  const Given given{ta, tb, m, n, k, alpha, a, 150, lda, b, 150, ldb, beta, c, 150, ldc, c, 150, ldc};
  return hipblas_status(gemm_ex("hipblasHgemm", handle, product(given, Number::kF16)));
}
SIMT_EXPORT int rocblas_gemm_ex(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                const void* a, int at, int lda, const void* b, int bt, int ldb, const void* beta,
                                const void* c, int ct, int ldc, void* d, int dt, int ldd, int compute, int, int32_t,
                                uint32_t) {
  const Call call(Vendor::kHip);
  const Given given{ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, d, dt, ldd};
  return rocblas_status(gemm_ex("rocblas_gemm_ex", handle, product(given, scale_type(compute))));
}
SIMT_EXPORT int rocblas_gemm_strided_batched_ex(BlasHandle* handle, int ta, int tb, int m, int n, int k,
                                                const void* alpha, const void* a, int at, int lda, int64_t stride_a,
                                                const void* b, int bt, int ldb, int64_t stride_b, const void* beta,
                                                const void* c, int ct, int ldc, int64_t stride_c, void* d, int dt,
                                                int ldd, int64_t stride_d, int batches, int compute, int, int32_t,
                                                uint32_t) {
  const Call call(Vendor::kHip);
  MixedProduct p =
      product({ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, d, dt, ldd}, scale_type(compute));
  p.stride_a = stride_a, p.stride_b = stride_b, p.stride_c = stride_c, p.stride_d = stride_d, p.batches = batches;
  return rocblas_status(gemm_ex("rocblas_gemm_strided_batched_ex", handle, p));
}
}  // extern "C"

}  // namespace simt::host
