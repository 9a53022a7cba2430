// The interface of cuBLAS without handles, as programs of before CUDA 4 call it.
#include <cublas.h>

#include <cstdio>

static int failures;
static void expect(bool holds, const char* what) {
  if (!holds) std::printf("wrong: %s\n", what), ++failures;
}

int main() {
  expect(cublasInit() == CUBLAS_STATUS_SUCCESS, "init");
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, -1, 2, 1, 0};  // 2 x 3 and 3 x 2, by columns
  float *da = nullptr, *db = nullptr, *dc = nullptr, c[4] = {};
  cublasAlloc(6, sizeof(float), (void**)&da);
  cublasAlloc(6, sizeof(float), (void**)&db);
  cublasStatus status = cublasAlloc(4, sizeof(float), (void**)&dc);
  expect(status == CUBLAS_STATUS_SUCCESS, "alloc");
  cublasSetMatrix(2, 3, sizeof(float), a, 2, da, 2);
  cublasSetVector(6, sizeof(float), b, 1, db, 1);
  cublasSgemm('N', 'n', 2, 2, 3, 2.0f, da, 2, db, 3, 0.0f, dc, 2);
  cublasGetMatrix(2, 2, sizeof(float), dc, 2, c, 2);
  expect(c[0] == -8 && c[1] == -8 && c[2] == 10 && c[3] == 16, "gemm");
  cublasSgemm('T', 'T', 2, 2, 3, 1.0f, db, 3, da, 2, 1.0f, dc, 2);  // its transpose is half of what stands there
  cublasGetVector(4, sizeof(float), dc, 1, c, 1);
  expect(c[0] == -12 && c[1] == -3 && c[2] == 6 && c[3] == 24, "gemm, transposed");
  expect(cublasSdot(6, da, 1, db, 1) == 11 && cublasSasum(6, db, 1) == 5, "dot, asum");
  expect(cublasIsamax(6, db, 1) == 4, "amax counts from 1");
  cublasSscal(6, 0.5f, da, 1);
  cublasSaxpy(6, -1.0f, db, 1, da, 1);
  float y[6];
  cublasGetVector(6, sizeof(float), da, 1, y, 1);
  expect(y[0] == -0.5f && y[5] == 3, "scal, axpy");
  const double triangle[4] = {2, 1, 0, 4}, right[2] = {4, 10};
  double *dt = nullptr, *dr = nullptr, x[2];
  cublasAlloc(4, sizeof(double), (void**)&dt);
  cublasAlloc(2, sizeof(double), (void**)&dr);
  cublasSetVector(4, sizeof(double), triangle, 1, dt, 1);
  cublasSetVector(2, sizeof(double), right, 1, dr, 1);
  cublasDtrsm('L', 'L', 'N', 'N', 2, 1, 1.0, dt, 2, dr, 2);
  cublasGetVector(2, sizeof(double), dr, 1, x, 1);
  expect(x[0] == 2 && x[1] == 2, "trsm");
  cublasDtrmm('L', 'L', 'N', 'U', 2, 1, 1.0, dt, 2, dr, 2);
  cublasGetVector(2, sizeof(double), dr, 1, x, 1);
  expect(x[0] == 2 && x[1] == 4, "trmm");
  expect(cublasGetError() == CUBLAS_STATUS_SUCCESS, "no error so far");
  cublasSgemm('N', 'N', -1, 2, 3, 1.0f, da, 2, db, 3, 0.0f, dc, 2);
  expect(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE && cublasGetError() == CUBLAS_STATUS_SUCCESS, "an error, once");
  for (void* memory : {(void*)da, (void*)db, (void*)dc, (void*)dt, (void*)dr}) cublasFree(memory);
  expect(cublasShutdown() == CUBLAS_STATUS_SUCCESS, "shutdown");
  if (!failures) std::puts("all good");
  return failures != 0;
}
