// cuBLAS and cublasLt against plain loops; half and bfloat16 to their own rounding.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nvml.h>

#include <cmath>
#include <vector>

#include "check.h"

template <class T>
T* device(const std::vector<T>& from) {
  T* to;
  cudaMalloc(&to, from.size() * sizeof(T));
  cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}
template <class T>
std::vector<T> host(const T* from, size_t count) {
  std::vector<T> to(count);
  cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost);
  return to;
}
template <class T>
std::vector<T> numbers(int count, int step) {
  std::vector<T> out(count);
  for (int i = 0; i < count; ++i) out[i] = T(float((i * step) % 17 - 8) * 0.25f);
  return out;
}
double at(const std::vector<float>& m, int ld, bool t, int i, int j) { return t ? m[j + i * ld] : m[i + j * ld]; }

cublasHandle_t handle;

void level_one_and_two() {
  const int n = 100;
  const auto x = numbers<float>(n, 3), y = numbers<float>(n, 5), a = numbers<float>(n * n, 7);
  float *dx = device(x), *dy = device(y), *da = device(a);
  float alpha = 2, beta = 0.5f, result = 0;
  int index = 0;
  double dot = 0, sum = 0;
  int largest = 0;
  for (int i = 0; i < n; ++i) {
    dot += double(x[i]) * y[i], sum += std::fabs(x[i]);
    if (std::fabs(x[i]) > std::fabs(x[largest])) largest = i;
  }
  expect(cublasSdot(handle, n, dx, 1, dy, 1, &result) == CUBLAS_STATUS_SUCCESS, "dot runs");
  expect_close(result, dot, 1e-5, "dot");
  cublasSasum(handle, n, dx, 1, &result);
  expect_close(result, sum, 1e-6, "asum");
  cublasIsamax(handle, n, dx, 1, &index);
  expect(index == largest + 1, "amax counts from 1");
  cublasSgemv(handle, CUBLAS_OP_T, n, n, &alpha, da, n, dx, 1, &beta, dy, 1);
  const auto out = host(dy, n);
  for (int i = 0; i < n; i += 13) {
    double wanted = 0.5 * y[i];
    for (int k = 0; k < n; ++k) wanted += 2.0 * at(a, n, true, i, k) * x[k];
    expect_close(out[i], wanted, 1e-4, "gemv");
  }
  std::vector<float> upper = a;
  for (int i = 0; i < n; ++i) upper[i + i * n] = 4;
  float* du = device(upper);
  cudaMemcpy(dy, x.data(), n * 4, cudaMemcpyHostToDevice);
  cublasStrmv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, du, n, dy, 1);
  cublasStrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, du, n, dy, 1);
  const auto back = host(dy, n);
  double off = 0;
  for (int i = n - 8; i < n; ++i) off += std::fabs(back[i] - x[i]);
  expect(off < 1e-3, "trsv undoes trmv");
  expect(cublasSgemv(handle, CUBLAS_OP_N, n, n, &alpha, da, 3, dx, 1, &beta, dy, 1) == CUBLAS_STATUS_INVALID_VALUE,
         "a leading dimension below the rows is refused");
  std::vector<float> outside(4);
  expect(cublasSaxpy(handle, 4, &alpha, outside.data(), 1, dy, 1) != CUBLAS_STATUS_SUCCESS,
         "memory of the host is no operand");
}

void products(int m, int n, int k) {
  const auto a = numbers<float>(m * k, 3), b = numbers<float>(k * n, 5), c = numbers<float>(m * n, 11);
  float *da = device(a), *db = device(b);
  for (int form = 0; form < 4; ++form) {
    const bool ta = form & 1, tb = form & 2;
    const float alpha = 1.5f, beta = form ? 0.5f : 0;
    float* dc = device(c);
    expect(cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, da,
                       ta ? k : m, db, tb ? n : k, &beta, dc, m) == CUBLAS_STATUS_SUCCESS, "gemm runs");
    const auto out = host(dc, m * n);
    for (int j = 0; j < n; j += 7)
      for (int i = 0; i < m; i += 5) {
        double wanted = beta * c[i + j * m];
        for (int l = 0; l < k; ++l) wanted += 1.5 * at(a, ta ? k : m, ta, i, l) * at(b, tb ? n : k, tb, l, j);
        expect_close(out[i + j * m] + 1000, wanted + 1000, 1e-5, "gemm");
      }
  }
}

template <class T>
void mixed(cudaDataType type, double error, const char* what) {
  const int m = 24, n = 16, k = 40, batches = 3;
  const auto a = numbers<T>(m * k * batches, 3), b = numbers<T>(k * n * batches, 5);
  T *da = device(a), *db = device(b), *dc = device(std::vector<T>(m * n * batches, T(0.0f)));
  const float one = 1, zero = 0;
  expect(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da, type, m, m * k, db, type, k,
                                    k * n, &zero, dc, type, m, m * n, batches, CUBLAS_COMPUTE_32F,
                                    CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS, what);
  const auto out = host(dc, m * n * batches);
  T* old = device(std::vector<T>(m * n, T(0.0f)));
  expect(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da, type, m, db, type, k, &zero, old, type, m,
                      CUDA_R_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS, "the form of cuBLAS 10");
  const auto same = host(old, m * n);
  for (int i = 0; i < m * n; ++i) expect(float(same[i]) == float(out[i]), "both forms agree");
  for (int batch = 0; batch < batches; ++batch)
    for (int i = 0; i < m; i += 3) {
      double wanted = 0;
      for (int l = 0; l < k; ++l) wanted += float(a[batch * m * k + i + l * m]) * float(b[batch * k * n + l]);
      expect_close(float(out[batch * m * n + i]) + 64, wanted + 64, error, what);
    }
}

void epilogues() {
  const int m = 20, n = 12, k = 8;
  const auto a = numbers<float>(m * k, 3), b = numbers<float>(k * n, 5), bias = numbers<float>(m, 7);
  float *da = device(a), *db = device(b), *dbias = device(bias), *dd = device(std::vector<float>(m * n)),
        *before = device(std::vector<float>(m * n));
  cublasLtHandle_t lt;
  cublasLtCreate(&lt);
  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  const int64_t ld = m;
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof dbias);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &before, sizeof before);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld);
  cublasLtMatrixLayout_t la, lb, ld_;
  cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, m, k, m);
  cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, k, n, k);
  cublasLtMatrixLayoutCreate(&ld_, CUDA_R_32F, m, n, m);
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulHeuristicResult_t found[2];
  int count = 0;
  expect(cublasLtMatmulAlgoGetHeuristic(lt, operation, la, lb, ld_, ld_, preference, 2, found, &count) == 0 && count == 1,
         "a heuristic is found");
  const float one = 1, zero = 0;
  expect(cublasLtMatmul(lt, operation, &one, da, la, db, lb, &zero, dd, ld_, dd, ld_, &found[0].algo, nullptr, 0, 0) == 0,
         "matmul runs");
  const auto out = host(dd, m * n), kept = host(before, m * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      double v = bias[i];
      for (int l = 0; l < k; ++l) v += double(a[i + l * m]) * b[l + j * k];
      expect_close(kept[i + j * m] + 10, v + 10, 1e-5, "what goes into the activation");
      expect_close(out[i + j * m] + 10, 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v))) + 10, 1e-5, "gelu");
    }
  cublasLtDestroy(lt);
}

int main() {
  unsigned int devices = 0;
  expect(nvmlInit() == NVML_SUCCESS && nvmlDeviceGetCount(&devices) == NVML_SUCCESS && devices == 1, "NVML");
  expect(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "a handle");
  level_one_and_two();
  products(20, 15, 9);
  products(70, 60, 50);
  mixed<__half>(CUDA_R_16F, 1e-3, "half");
  mixed<__nv_bfloat16>(CUDA_R_16BF, 8e-3, "bfloat16");
  epilogues();
  cublasDestroy(handle);
  expect(cublasSdot(handle, 1, nullptr, 1, nullptr, 1, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED, "a dead handle");
  return verdict();
}
