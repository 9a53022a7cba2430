// A sparse matrix times a vector and a dense matrix, by each format, base and order.
#include <cusparse.h>

#include <cstdio>

static int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) ++failures, std::printf("line %d: %s\n", __LINE__, #condition)

template <class T>
T* on_device(const T (&values)[5]) {
  T* copy;
  cudaMalloc(&copy, sizeof values);
  cudaMemcpy(copy, values, sizeof values, cudaMemcpyHostToDevice);
  return copy;
}

int main() {
  // 1 . 2 / . 3 . / 4 . 5 and a fourth, empty row: 4 rows, 3 columns.
  int* offsets = on_device({0, 2, 3, 5, 5});
  int* columns = on_device({0, 2, 1, 0, 2});
  int* rows1 = on_device({1, 1, 2, 3, 3});
  int* columns1 = on_device({1, 3, 2, 1, 3});
  float* values = on_device({1.f, 2.f, 3.f, 4.f, 5.f});
  float* x = on_device({1.f, 10.f, 100.f, 1000.f, 0.f});
  float *y, got[8], one = 1, half = 0.5f, zero = 0;
  cudaMallocManaged(&y, sizeof got);

  cusparseHandle_t handle;
  EXPECT(cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS);
  cusparseSpMatDescr_t csr, coo, refused;
  cusparseCreateCsr(&csr, 4, 3, 5, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                    CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateCoo(&coo, 4, 3, 5, rows1, columns1, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F);
  EXPECT(cusparseCreateCsr(&refused, 4, 3, 5, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_C_32F) == CUSPARSE_STATUS_NOT_SUPPORTED);
  cusparseDnVecDescr_t three, four, turned, out;
  cusparseCreateDnVec(&three, 3, x, CUDA_R_32F);
  cusparseCreateDnVec(&four, 4, y, CUDA_R_32F);
  cusparseCreateDnVec(&turned, 4, x, CUDA_R_32F);
  cusparseCreateDnVec(&out, 3, y, CUDA_R_32F);

  for (auto matrix : {csr, coo}) {
    for (int i = 0; i < 4; ++i) y[i] = 2;
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, three, &half, four, CUDA_R_32F,
                 CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
    cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
    EXPECT(got[0] == 202 && got[1] == 31 && got[2] == 505 && got[3] == 1);
    cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &half, matrix, turned, &zero, out, CUDA_R_32F,
                 CUSPARSE_SPMV_ALG_DEFAULT, nullptr);
    cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
    EXPECT(got[0] == 200.5f && got[1] == 15 && got[2] == 251);
  }
  EXPECT(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, csr, turned, &zero, four, CUDA_R_32F,
                      CUSPARSE_SPMV_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_INVALID_VALUE);

  cusparseDnMatDescr_t b, c;  // B is 3 x 1, C is 4 x 2 by rows of which one column is used
  cusparseCreateDnMat(&b, 1, 3, 1, x, CUDA_R_32F, CUSPARSE_ORDER_COL);
  cusparseCreateDnMat(&c, 4, 1, 2, y, CUDA_R_32F, CUSPARSE_ORDER_ROW);
  for (int i = 0; i < 8; ++i) y[i] = 7;
  EXPECT(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &one, csr, b, &zero, c,
                      CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr) == CUSPARSE_STATUS_SUCCESS);
  cudaMemcpy(got, y, sizeof got, cudaMemcpyDeviceToHost);
  EXPECT(got[0] == 201 && got[1] == 7 && got[2] == 30 && got[4] == 504 && got[6] == 0 && got[7] == 7);
  std::printf(failures ? "%d failed\n" : "all good\n", failures);
  return failures != 0;
}
