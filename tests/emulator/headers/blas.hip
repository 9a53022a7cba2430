// hipBLAS and rocBLAS: the same core under their names and values.
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <rocblas/rocblas.h>

#include "check.h"

int main() {
  const int m = 6, n = 5, k = 4;
  float *a, *b, *c, *d;
  (void)hipMallocManaged((void**)&a, m * k * 4);
  (void)hipMallocManaged((void**)&b, k * n * 4);
  (void)hipMallocManaged((void**)&c, m * n * 4);
  (void)hipMallocManaged((void**)&d, m * n * 4);
  for (int i = 0; i < m * k; ++i) a[i] = float(i % 7);
  for (int i = 0; i < k * n; ++i) b[i] = float(i % 5);
  const float one = 1, zero = 0;
  hipblasHandle_t hip;
  rocblas_handle roc;
  expect(hipblasCreate(&hip) == HIPBLAS_STATUS_SUCCESS && rocblas_create_handle(&roc) == rocblas_status_success, "handles");
  expect(hipblasSgemm(hip, HIPBLAS_OP_N, HIPBLAS_OP_N, m, n, k, &one, a, m, b, k, &zero, c, m) == 0, "hipblasSgemm");
  expect(rocblas_gemm_ex(roc, rocblas_operation_none, rocblas_operation_none, m, n, k, &one, a, rocblas_datatype_f32_r, m,
                         b, rocblas_datatype_f32_r, k, &zero, c, rocblas_datatype_f32_r, m, d, rocblas_datatype_f32_r, m,
                         rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0, 0) == 0, "rocblas_gemm_ex");
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      float wanted = 0;
      for (int l = 0; l < k; ++l) wanted += a[i + l * m] * b[l + j * k];
      expect(c[i + j * m] == wanted && d[i + j * m] == wanted, "the product");
    }
  int index = 0;
  expect(rocblas_isamax(roc, m * k, a, 1, &index) == 0 && index == 7, "rocblas_isamax");
  expect(hipblasSgemm(hip, HIPBLAS_OP_N, HIPBLAS_OP_N, m, n, k, &one, a, 1, b, k, &zero, c, m) ==
             HIPBLAS_STATUS_INVALID_VALUE, "a wrong leading dimension");
  const double alpha = 1;
  double* none = nullptr;
  const auto plain = rocblas_operation_none;
  expect(rocblas_dgemm_strided_batched(roc, plain, plain, 1, 1, 1, nullptr, none, 1, 1, none, 1, 1, nullptr, none, 1, 1,
                                       1) == rocblas_status_invalid_pointer, "no scalars");
  expect(rocblas_dgemm(roc, plain, plain, 1, 1, 1, &alpha, none, 1, none, 1, &alpha, none, 1) ==
             rocblas_status_invalid_pointer, "no matrices");
  expect(hipblasDscal(hip, 1, nullptr, none, 1) == HIPBLAS_STATUS_INVALID_VALUE, "no factor");
  expect(hipblasGemmEx(hip, HIPBLAS_OP_N, HIPBLAS_OP_N, m, n, k, nullptr, a, HIPBLAS_R_32F, m, b, HIPBLAS_R_32F, k, &zero,
                       c, HIPBLAS_R_32F, m, HIPBLAS_R_32F, HIPBLAS_GEMM_DEFAULT) == HIPBLAS_STATUS_INVALID_VALUE, "no scalar");
  hipblasDestroy(hip);
  rocblas_destroy_handle(roc);
  return verdict();
}
