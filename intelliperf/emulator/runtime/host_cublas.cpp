// What cuBLAS has beside BLAS itself: handles, settings, copies of vectors and matrices, products of mixed types.
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host_blas.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt::host {

using blas::Number;

namespace {

double scalar(const void* value, Number compute) { return blas::load(compute, value, 0); }

// The type of alpha and beta, by cublasComputeType_t.
Number scale_of(int compute) {
  switch (compute) {
    case 64:
    case 65:
      return Number::kF16;
    case 70:
    case 71:
      return Number::kF64;
    case 72:
    case 73:
      return Number::kI32;
    default:
      return Number::kF32;
  }
}

MixedProduct product(int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int at, int lda,
                     const void* b, int bt, int ldb, const void* beta, void* c, int ct, int ldc, Number scale) {
  MixedProduct p;
  p.transa = ta, p.transb = tb, p.m = m, p.n = n, p.k = k;
  p.alpha = scalar(alpha, scale), p.beta = scalar(beta, scale);
  p.a = a, p.b = b, p.c = c, p.d = c;
  p.a_type = Number(at), p.b_type = Number(bt), p.c_type = p.d_type = Number(ct);
  p.lda = lda, p.ldb = ldb, p.ldc = p.ldd = ldc;
  return p;
}

const char* status_name(int status) {
  switch (status) {
    case 0:
      return "CUBLAS_STATUS_SUCCESS";
    case 1:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case 7:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case 13:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 15:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

BlasHandle* first_handle = nullptr;  // of the interface without handles
int first_status = kBlasSuccess;

}  // namespace

extern "C" {
int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);
int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                      int kind, Stream* stream);
int cudaStreamSynchronize(Stream* stream);

SIMT_EXPORT int cublasCreate(BlasHandle** handle) { return make_blas_handle(handle); }
SIMT_EXPORT int cublasDestroy(BlasHandle* handle) { return drop_blas_handle(handle); }
SIMT_EXPORT int cublasGetVersion(BlasHandle*, int* version) { return *version = 120405, kBlasSuccess; }
SIMT_EXPORT int cublasGetProperty(int type, int* value) {
  const int parts[] = {12, 4, 5};
  if (type < 0 || type > 2) return kBlasInvalidValue;
  return *value = parts[type], kBlasSuccess;
}
SIMT_EXPORT size_t cublasGetCudartVersion() { return 12040; }

// The interface without handles has one, made on first use.
SIMT_EXPORT BlasHandle* __simt_cublas_handle() {
  if (!first_handle) make_blas_handle(&first_handle);
  return first_handle;
}
SIMT_EXPORT void __simt_cublas_status(int status) {
  if (status != kBlasSuccess) first_status = status;
}
SIMT_EXPORT int cublasGetError() { return std::exchange(first_status, static_cast<int>(kBlasSuccess)); }
SIMT_EXPORT int cublasInit() { return __simt_cublas_handle() ? kBlasSuccess : kBlasNotInitialized; }
SIMT_EXPORT int cublasShutdown() {
  if (first_handle) drop_blas_handle(std::exchange(first_handle, nullptr));
  return kBlasSuccess;
}
SIMT_EXPORT int cublasAlloc(int n, int bytes, void** pointer) {
  if (n <= 0 || bytes <= 0) return kBlasInvalidValue;
  return cudaMalloc(pointer, size_t(n) * size_t(bytes)) ? kBlasAllocFailed : kBlasSuccess;
}
SIMT_EXPORT int cublasFree(void* pointer) { return cudaFree(pointer) ? kBlasInvalidValue : kBlasSuccess; }
SIMT_EXPORT int cublasSetKernelStream(Stream* stream) { return __simt_cublas_handle()->stream = stream, kBlasSuccess; }
SIMT_EXPORT const char* cublasGetStatusName(int status) { return status_name(status); }
SIMT_EXPORT const char* cublasGetStatusString(int status) { return status_name(status); }

#define SIMT_SETTING(name, parameter, statement)                \
  SIMT_EXPORT int cublas##name(BlasHandle* handle, parameter) { \
    if (!is_blas_handle(handle)) return kBlasNotInitialized;    \
    statement;                                                  \
    return kBlasSuccess;                                        \
  }
SIMT_SETTING(SetStream, Stream* stream, handle->stream = stream)
SIMT_SETTING(GetStream, Stream** stream, *stream = handle->stream)
SIMT_SETTING(SetPointerMode, int mode, handle->on_device = mode == 1)
SIMT_SETTING(GetPointerMode, int* mode, *mode = handle->on_device)
SIMT_SETTING(SetAtomicsMode, int mode, handle->atomics_mode = mode)
SIMT_SETTING(GetAtomicsMode, int* mode, *mode = handle->atomics_mode)
SIMT_SETTING(SetMathMode, int mode, handle->math_mode = mode)
SIMT_SETTING(GetMathMode, int* mode, *mode = handle->math_mode)
SIMT_SETTING(SetSmCountTarget, int, (void)0)
#undef SIMT_SETTING
SIMT_EXPORT int cublasSetWorkspace(BlasHandle* handle, void*, size_t) {
  return is_blas_handle(handle) ? kBlasSuccess : kBlasNotInitialized;
}

// A matrix is copied column by column, a vector as a matrix of one row.
SIMT_EXPORT int cublasSetMatrixAsync(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb,
                                     Stream* stream) {
  if (rows < 0 || columns < 0 || bytes <= 0 || lda <= 0 || ldb <= 0) return kBlasInvalidValue;
  const size_t width = size_t(rows) * size_t(bytes);
  const int error = cudaMemcpy2DAsync(b, size_t(ldb) * size_t(bytes), a, size_t(lda) * size_t(bytes), width,
                                      size_t(columns), 4, stream);
  return error == kSuccess ? kBlasSuccess : 11;
}
SIMT_EXPORT int cublasGetMatrixAsync(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb,
                                     Stream* stream) {
  return cublasSetMatrixAsync(rows, columns, bytes, a, lda, b, ldb, stream);
}
SIMT_EXPORT int cublasSetMatrix(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb) {
  const int status = cublasSetMatrixAsync(rows, columns, bytes, a, lda, b, ldb, nullptr);
  return status == kBlasSuccess && cudaStreamSynchronize(nullptr) != kSuccess ? 11 : status;
}
SIMT_EXPORT int cublasGetMatrix(int rows, int columns, int bytes, const void* a, int lda, void* b, int ldb) {
  return cublasSetMatrix(rows, columns, bytes, a, lda, b, ldb);
}
SIMT_EXPORT int cublasSetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return cublasSetMatrix(1, n, bytes, x, incx, y, incy);
}
SIMT_EXPORT int cublasGetVector(int n, int bytes, const void* x, int incx, void* y, int incy) {
  return cublasSetMatrix(1, n, bytes, x, incx, y, incy);
}
SIMT_EXPORT int cublasSetVectorAsync(int n, int bytes, const void* x, int incx, void* y, int incy, Stream* stream) {
  return cublasSetMatrixAsync(1, n, bytes, x, incx, y, incy, stream);
}
SIMT_EXPORT int cublasGetVectorAsync(int n, int bytes, const void* x, int incx, void* y, int incy, Stream* stream) {
  return cublasSetMatrixAsync(1, n, bytes, x, incx, y, incy, stream);
}

SIMT_EXPORT int cublasGemmEx(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                             int at, int lda, const void* b, int bt, int ldb, const void* beta, void* c, int ct,
                             int ldc, int compute, int) {
  const Call call(Vendor::kCuda);
  return gemm_ex("cublasGemmEx", handle,
                 product(ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, scale_of(compute)));
}
SIMT_EXPORT int cublasSgemmEx(BlasHandle* handle, int ta, int tb, int m, int n, int k, const float* alpha,
                              const void* a, int at, int lda, const void* b, int bt, int ldb, const float* beta,
                              void* c, int ct, int ldc) {
  const Call call(Vendor::kCuda);
  return gemm_ex("cublasSgemmEx", handle,
                 product(ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, Number::kF32));
}
SIMT_EXPORT int cublasGemmBatchedEx(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                    const void* const a[], int at, int lda, const void* const b[], int bt, int ldb,
                                    const void* beta, void* const c[], int ct, int ldc, int batches, int compute, int) {
  const Call call(Vendor::kCuda);
  MixedProduct p =
      product(ta, tb, m, n, k, alpha, nullptr, at, lda, nullptr, bt, ldb, beta, nullptr, ct, ldc, scale_of(compute));
  p.many_a = a, p.many_b = b, p.many_c = c, p.many_d = c, p.batches = batches;
  return gemm_ex("cublasGemmBatchedEx", handle, p);
}
SIMT_EXPORT int cublasGemmStridedBatchedEx(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                           const void* a, int at, int lda, long long stride_a, const void* b, int bt,
                                           int ldb, long long stride_b, const void* beta, void* c, int ct, int ldc,
                                           long long stride_c, int batches, int compute, int) {
  const Call call(Vendor::kCuda);
  MixedProduct p = product(ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, scale_of(compute));
  p.stride_a = stride_a, p.stride_b = stride_b, p.stride_c = p.stride_d = stride_c, p.batches = batches;
  return gemm_ex("cublasGemmStridedBatchedEx", handle, p);
}
SIMT_EXPORT int cublasHgemm(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a,
                            int lda, const void* b, int ldb, const void* beta, void* c, int ldc) {
  const Call call(Vendor::kCuda);
  return gemm_ex("cublasHgemm", handle,
                 product(ta, tb, m, n, k, alpha, a, 2, lda, b, 2, ldb, beta, c, 2, ldc, Number::kF16));
}
SIMT_EXPORT int cublasHgemmStridedBatched(BlasHandle* handle, int ta, int tb, int m, int n, int k, const void* alpha,
                                          const void* a, int lda, long long stride_a, const void* b, int ldb,
                                          long long stride_b, const void* beta, void* c, int ldc, long long stride_c,
                                          int batches) {
  const Call call(Vendor::kCuda);
  MixedProduct p = product(ta, tb, m, n, k, alpha, a, 2, lda, b, 2, ldb, beta, c, 2, ldc, Number::kF16);
  p.stride_a = stride_a, p.stride_b = stride_b, p.stride_c = p.stride_d = stride_c, p.batches = batches;
  return gemm_ex("cublasHgemmStridedBatched", handle, p);
}
}  // extern "C"

// ---- cublasLt -----------------------------------------------------------------------------------------------

namespace {

struct Layout {  // cublasLtMatrixLayoutOpaque_t
  int type, order;
  uint64_t rows, columns;
  int64_t ld, stride;
  int batches;
};
struct Descriptor {  // cublasLtMatmulDescOpaque_t
  int compute, scale, pointer_mode, transa, transb, epilogue;
  int bias_type;
  const void* bias;
  void* auxiliary;
  int64_t auxiliary_ld;
};
static_assert(sizeof(Layout) <= 64 && sizeof(Descriptor) <= 256, "the header's opaque types");

template <class T>
int put(T& member, const void* value, size_t bytes) {
  if (bytes < sizeof(T)) return kBlasInvalidValue;
  memcpy(&member, value, sizeof(T));
  return kBlasSuccess;
}
enum Epilogue : int { kRelu = 2, kBias = 4, kGelu = 32, kAuxiliary = 128 };

int lt_product(const Descriptor& d, const Layout& a, const Layout& b, const Layout& c, const Layout& out,
               MixedProduct& p) {
  const int known = kRelu | kBias | kGelu | kAuxiliary | 1;
  const bool relu_mask = (d.epilogue & kAuxiliary) && (d.epilogue & kRelu);  // a bit per element
  if ((d.epilogue & ~known) || relu_mask || a.order != 0 || b.order != 0 || out.order != 0 || d.pointer_mode > 1)
    return kBlasNotSupported;
  p.transa = d.transa, p.transb = d.transb;
  p.m = int64_t(out.rows), p.n = int64_t(out.columns), p.k = int64_t(d.transa == 0 ? a.columns : a.rows);
  const uint64_t a_rows = d.transa == 0 ? a.rows : a.columns, b_rows = d.transb == 0 ? b.rows : b.columns;
  const uint64_t b_columns = d.transb == 0 ? b.columns : b.rows;
  if (a_rows != out.rows || b_columns != out.columns || b_rows != uint64_t(p.k)) return kBlasInvalidValue;
  p.a_type = Number(a.type), p.b_type = Number(b.type), p.c_type = Number(c.type), p.d_type = Number(out.type);
  p.lda = a.ld, p.ldb = b.ld, p.ldc = c.ld, p.ldd = out.ld;
  p.stride_a = a.stride, p.stride_b = b.stride, p.stride_c = c.stride, p.stride_d = out.stride;
  p.batches = out.batches;
  if (d.epilogue & kBias) p.bias = d.bias, p.bias_type = d.bias_type < 0 ? p.d_type : Number(d.bias_type);
  if (d.epilogue & kRelu) p.activation = Activation::kRelu;
  if (d.epilogue & kGelu) p.activation = Activation::kGelu;
  if (d.epilogue & kAuxiliary) p.before = d.auxiliary, p.ld_before = d.auxiliary_ld;
  return kBlasSuccess;
}

}  // namespace

extern "C" {
SIMT_EXPORT int cublasLtCreate(BlasHandle** handle) { return make_blas_handle(handle); }
SIMT_EXPORT int cublasLtDestroy(BlasHandle* handle) { return drop_blas_handle(handle); }
SIMT_EXPORT size_t cublasLtGetVersion() { return 120405; }
SIMT_EXPORT const char* cublasLtGetStatusName(int status) { return status_name(status); }
SIMT_EXPORT const char* cublasLtGetStatusString(int status) { return status_name(status); }
SIMT_EXPORT int cublasLtMatmulDescCreate(Descriptor** made, int compute, int scale) {
  *made = static_cast<Descriptor*>(calloc(1, 256));
  (*made)->compute = compute, (*made)->scale = scale, (*made)->epilogue = 1, (*made)->bias_type = -1;
  return kBlasSuccess;
}
SIMT_EXPORT int cublasLtMatmulDescDestroy(Descriptor* descriptor) { return free(descriptor), kBlasSuccess; }
SIMT_EXPORT int cublasLtMatmulDescSetAttribute(Descriptor* d, int attribute, const void* value, size_t bytes) {
  switch (attribute) {
    case 0:
      return put(d->compute, value, bytes);
    case 1:
      return put(d->scale, value, bytes);
    case 2:
      return put(d->pointer_mode, value, bytes);
    case 3:
      return put(d->transa, value, bytes);
    case 4:
      return put(d->transb, value, bytes);
    case 7:
      return put(d->epilogue, value, bytes);
    case 8:
      return put(d->bias, value, bytes);
    case 11:
      return put(d->auxiliary, value, bytes);
    case 12:
      return put(d->auxiliary_ld, value, bytes);
    case 26:
      return put(d->bias_type, value, bytes);
    default:
      return not_supported("this attribute of cublasLtMatmulDesc"), kBlasNotSupported;
  }
}
SIMT_EXPORT int cublasLtMatrixLayoutCreate(Layout** made, int type, uint64_t rows, uint64_t columns, int64_t ld) {
  *made = static_cast<Layout*>(calloc(1, 64));
  **made = Layout{type, 0, rows, columns, ld, 0, 1};
  return kBlasSuccess;
}
SIMT_EXPORT int cublasLtMatrixLayoutDestroy(Layout* layout) { return free(layout), kBlasSuccess; }
SIMT_EXPORT int cublasLtMatrixLayoutSetAttribute(Layout* l, int attribute, const void* value, size_t bytes) {
  switch (attribute) {
    case 0:
      return put(l->type, value, bytes);
    case 1:
      return put(l->order, value, bytes);
    case 2:
      return put(l->rows, value, bytes);
    case 3:
      return put(l->columns, value, bytes);
    case 4:
      return put(l->ld, value, bytes);
    case 5:
      return put(l->batches, value, bytes);
    case 6:
      return put(l->stride, value, bytes);
    default:
      return not_supported("this attribute of cublasLtMatrixLayout"), kBlasNotSupported;
  }
}
SIMT_EXPORT int cublasLtMatmulPreferenceCreate(void** made) { return *made = calloc(1, 64), kBlasSuccess; }
SIMT_EXPORT int cublasLtMatmulPreferenceDestroy(void* preference) { return free(preference), kBlasSuccess; }
SIMT_EXPORT int cublasLtMatmulPreferenceSetAttribute(void*, int, const void*, size_t) { return kBlasSuccess; }
// One algorithm, which needs no workspace.
SIMT_EXPORT int cublasLtMatmulAlgoGetHeuristic(BlasHandle*, const Descriptor* d, const Layout* a, const Layout* b,
                                               const Layout* c, const Layout* out, void*, int wanted, void* results,
                                               int* found) {
  MixedProduct p;
  const int status = lt_product(*d, *a, *b, *c, *out, p);
  *found = status == kBlasSuccess && wanted > 0 ? 1 : 0;
  if (*found) memset(results, 0, 96);  // cublasLtMatmulHeuristicResult_t: its state is success
  return *found ? kBlasSuccess : status == kBlasSuccess ? kBlasInvalidValue : kBlasNotSupported;
}
SIMT_EXPORT int cublasLtMatmul(BlasHandle* handle, const Descriptor* d, const void* alpha, const void* a,
                               const Layout* al, const void* b, const Layout* bl, const void* beta, const void* c,
                               const Layout* cl, void* out, const Layout* dl, const void*, void*, size_t,
                               Stream* stream) {
  const Call call(Vendor::kCuda);
  if (!is_blas_handle(handle)) return kBlasNotInitialized;
  MixedProduct p;
  const int status = lt_product(*d, *al, *bl, *cl, *dl, p);
  if (status != kBlasSuccess) {
    if (status == kBlasNotSupported) not_supported("cublasLtMatmul with this epilogue or order of elements");
    return status;
  }
  p.alpha = scalar(alpha, Number(d->scale)), p.beta = scalar(beta, Number(d->scale));
  p.a = a, p.b = b, p.c = c, p.d = out;
  return run_mixed_product("cublasLtMatmul", stream, p);
}
}  // extern "C"

}  // namespace simt::host
