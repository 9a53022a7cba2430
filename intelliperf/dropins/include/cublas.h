// The first interface of cuBLAS, without handles: scalars come by value and settings as letters. Overloads in C++; in C
// the names of the second interface give way.
#pragma once
#include "cublas_v2.h"

#define cublasStatus cublasStatus_t

SIMT_C_BEGIN
cublasStatus_t cublasInit(void);
cublasStatus_t cublasShutdown(void);
cublasStatus_t cublasGetError(void);  // the last one, which is forgotten with that
cublasStatus_t cublasAlloc(int n, int bytes, void** pointer);
cublasStatus_t cublasFree(void* pointer);
cublasStatus_t cublasSetKernelStream(cudaStream_t stream);
cublasHandle_t __simt_cublas_handle(void);         // of all these calls
void __simt_cublas_status(cublasStatus_t status);  // for cublasGetError
SIMT_C_END

static inline int __simt_is_letter(char given, char letter) { return (given | 0x20) == letter; }
static inline cublasOperation_t __simt_blas_op(char c) {
  return __simt_is_letter(c, 't') ? CUBLAS_OP_T : __simt_is_letter(c, 'c') ? CUBLAS_OP_C : CUBLAS_OP_N;
}
static inline cublasFillMode_t __simt_blas_fill(char c) {
  return __simt_is_letter(c, 'u') ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
static inline cublasDiagType_t __simt_blas_diag(char c) {
  return __simt_is_letter(c, 'u') ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}
static inline cublasSideMode_t __simt_blas_side(char c) {
  return __simt_is_letter(c, 'r') ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}

#ifdef __cplusplus
#define SIMT_FIRST(name) name
#else
#define SIMT_FIRST(name) __simt_first_##name
#endif
// clang-format off
#define SIMT_CALL(name, ...) __simt_cublas_status(name(__simt_cublas_handle(), __VA_ARGS__))
#define SIMT_VALUE(R, name, ...) R result = {0}; SIMT_CALL(name, __VA_ARGS__, &result); return result
#define SIMT_FIRST_ALL(L, T) \
  static inline void SIMT_FIRST(cublas##L##axpy)(int n, T alpha, const T* x, int incx, T* y, int incy) { SIMT_CALL(cublas##L##axpy, n, &alpha, x, incx, y, incy); } \
  static inline void SIMT_FIRST(cublas##L##scal)(int n, T alpha, T* x, int incx) { SIMT_CALL(cublas##L##scal, n, &alpha, x, incx); } \
  static inline void SIMT_FIRST(cublas##L##copy)(int n, const T* x, int incx, T* y, int incy) { SIMT_CALL(cublas##L##copy, n, x, incx, y, incy); } \
  static inline void SIMT_FIRST(cublas##L##swap)(int n, T* x, int incx, T* y, int incy) { SIMT_CALL(cublas##L##swap, n, x, incx, y, incy); } \
  static inline void SIMT_FIRST(cublas##L##gemv)(char trans, int m, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y, int incy) { SIMT_CALL(cublas##L##gemv, __simt_blas_op(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy); } \
  static inline void SIMT_FIRST(cublas##L##trmv)(char uplo, char trans, char diag, int n, const T* a, int lda, T* x, int incx) { SIMT_CALL(cublas##L##trmv, __simt_blas_fill(uplo), __simt_blas_op(trans), __simt_blas_diag(diag), n, a, lda, x, incx); } \
  static inline void SIMT_FIRST(cublas##L##trsv)(char uplo, char trans, char diag, int n, const T* a, int lda, T* x, int incx) { SIMT_CALL(cublas##L##trsv, __simt_blas_fill(uplo), __simt_blas_op(trans), __simt_blas_diag(diag), n, a, lda, x, incx); } \
  static inline void SIMT_FIRST(cublas##L##gemm)(char transa, char transb, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) { SIMT_CALL(cublas##L##gemm, __simt_blas_op(transa), __simt_blas_op(transb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc); } \
  static inline void SIMT_FIRST(cublas##L##symm)(char side, char uplo, int m, int n, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) { SIMT_CALL(cublas##L##symm, __simt_blas_side(side), __simt_blas_fill(uplo), m, n, &alpha, a, lda, b, ldb, &beta, c, ldc); } \
  static inline void SIMT_FIRST(cublas##L##syrk)(char uplo, char trans, int n, int k, T alpha, const T* a, int lda, T beta, T* c, int ldc) { SIMT_CALL(cublas##L##syrk, __simt_blas_fill(uplo), __simt_blas_op(trans), n, k, &alpha, a, lda, &beta, c, ldc); } \
  static inline void SIMT_FIRST(cublas##L##trmm)(char side, char uplo, char trans, char diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb) { SIMT_CALL(cublas##L##trmm, __simt_blas_side(side), __simt_blas_fill(uplo), __simt_blas_op(trans), __simt_blas_diag(diag), m, n, &alpha, a, lda, b, ldb, b, ldb); } \
  static inline void SIMT_FIRST(cublas##L##trsm)(char side, char uplo, char trans, char diag, int m, int n, T alpha, const T* a, int lda, T* b, int ldb) { SIMT_CALL(cublas##L##trsm, __simt_blas_side(side), __simt_blas_fill(uplo), __simt_blas_op(trans), __simt_blas_diag(diag), m, n, &alpha, a, lda, b, ldb); }
#define SIMT_FIRST_REAL(L, T) \
  static inline T SIMT_FIRST(cublas##L##dot)(int n, const T* x, int incx, const T* y, int incy) { SIMT_VALUE(T, cublas##L##dot, n, x, incx, y, incy); } \
  static inline void SIMT_FIRST(cublas##L##rot)(int n, T* x, int incx, T* y, int incy, T c, T s) { SIMT_CALL(cublas##L##rot, n, x, incx, y, incy, &c, &s); } \
  static inline void SIMT_FIRST(cublas##L##ger)(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda) { SIMT_CALL(cublas##L##ger, m, n, &alpha, x, incx, y, incy, a, lda); } \
  static inline void SIMT_FIRST(cublas##L##symv)(char uplo, int n, T alpha, const T* a, int lda, const T* x, int incx, T beta, T* y, int incy) { SIMT_CALL(cublas##L##symv, __simt_blas_fill(uplo), n, &alpha, a, lda, x, incx, &beta, y, incy); }
#define SIMT_FIRST_COMPLEX(L, T) \
  static inline T SIMT_FIRST(cublas##L##dotu)(int n, const T* x, int incx, const T* y, int incy) { SIMT_VALUE(T, cublas##L##dotu, n, x, incx, y, incy); } \
  static inline T SIMT_FIRST(cublas##L##dotc)(int n, const T* x, int incx, const T* y, int incy) { SIMT_VALUE(T, cublas##L##dotc, n, x, incx, y, incy); } \
  static inline void SIMT_FIRST(cublas##L##geru)(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda) { SIMT_CALL(cublas##L##geru, m, n, &alpha, x, incx, y, incy, a, lda); } \
  static inline void SIMT_FIRST(cublas##L##gerc)(int m, int n, T alpha, const T* x, int incx, const T* y, int incy, T* a, int lda) { SIMT_CALL(cublas##L##gerc, m, n, &alpha, x, incx, y, incy, a, lda); }
// l: the letter of the index functions; Lr: of the norms, which are real; R: their type
#define SIMT_FIRST_NORMS(l, Lr, T, R) \
  static inline int SIMT_FIRST(cublasI##l##amax)(int n, const T* x, int incx) { SIMT_VALUE(int, cublasI##l##amax, n, x, incx); } \
  static inline int SIMT_FIRST(cublasI##l##amin)(int n, const T* x, int incx) { SIMT_VALUE(int, cublasI##l##amin, n, x, incx); } \
  static inline R SIMT_FIRST(cublas##Lr##asum)(int n, const T* x, int incx) { SIMT_VALUE(R, cublas##Lr##asum, n, x, incx); } \
  static inline R SIMT_FIRST(cublas##Lr##nrm2)(int n, const T* x, int incx) { SIMT_VALUE(R, cublas##Lr##nrm2, n, x, incx); }
SIMT_FIRST_ALL(S, float) SIMT_FIRST_ALL(D, double) SIMT_FIRST_ALL(C, cuComplex) SIMT_FIRST_ALL(Z, cuDoubleComplex)
SIMT_FIRST_REAL(S, float) SIMT_FIRST_REAL(D, double)
SIMT_FIRST_COMPLEX(C, cuComplex) SIMT_FIRST_COMPLEX(Z, cuDoubleComplex)
SIMT_FIRST_NORMS(s, S, float, float) SIMT_FIRST_NORMS(d, D, double, double)
SIMT_FIRST_NORMS(c, Sc, cuComplex, float) SIMT_FIRST_NORMS(z, Dz, cuDoubleComplex, double)
// clang-format on
#undef SIMT_FIRST_NORMS
#undef SIMT_FIRST_COMPLEX
#undef SIMT_FIRST_REAL
#undef SIMT_FIRST_ALL
#undef SIMT_VALUE
#undef SIMT_CALL
#undef SIMT_FIRST

#ifndef __cplusplus
#include <simt/cublas_first.h>
#endif
