/* The first interface of cuBLAS in C, whose names the second one has as well. */
#include <cublas.h>

int main(void) {
  float *a = 0, *b = 0, *c = 0, sum;
  double most;
  if (cublasInit() != CUBLAS_STATUS_SUCCESS) return 1;
  cublasAlloc(4, sizeof(float), (void**)&a);
  cublasSgemm('n', 'T', 2, 2, 2, 1.0f, a, 2, b, 2, 0.0f, c, 2);
  cublasStrsm('L', 'u', 'n', 'n', 2, 2, 1.0f, a, 2, b, 2);
  sum = cublasSdot(4, a, 1, b, 1) + cublasScasum(2, (const cuComplex*)a, 1);
  most = cublasIdamax(2, (const double*)a, 1);
  cublasFree(a);
  return sum > most ? (int)cublasGetError() : (int)cublasShutdown();
}
