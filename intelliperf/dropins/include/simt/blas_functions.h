// The functions that cuBLAS, hipBLAS and rocBLAS have in common: one list for their headers and the runtime.
// SIMT_BLAS(L, l, camel, snake, parameters, arguments) per function of one number type; the includer defines it and
//   SIMT_HANDLE, SIMT_OP, SIMT_FILL, SIMT_DIAG, SIMT_SIDE   the library's types
//   SIMT_OP_OF(x), SIMT_FILL_OF(x), …                        arguments as the runtime takes them
//   SIMT_BLAS_FLOAT_COMPLEX, SIMT_BLAS_DOUBLE_COMPLEX        number types
// No include guard.
// clang-format off
#define SIMT_BLAS_VECTORS(L, l, T) \
  SIMT_BLAS(L, l, axpy, axpy, (SIMT_HANDLE handle, int n, const T* alpha, const T* x, int incx, T* y, int incy), (handle, n, alpha, x, incx, y, incy)) \
  SIMT_BLAS(L, l, scal, scal, (SIMT_HANDLE handle, int n, const T* alpha, T* x, int incx), (handle, n, alpha, x, incx)) \
  SIMT_BLAS(L, l, copy, copy, (SIMT_HANDLE handle, int n, const T* x, int incx, T* y, int incy), (handle, n, x, incx, y, incy)) \
  SIMT_BLAS(L, l, swap, swap, (SIMT_HANDLE handle, int n, T* x, int incx, T* y, int incy), (handle, n, x, incx, y, incy))
#define SIMT_BLAS_MATRICES(L, l, T) \
  SIMT_BLAS(L, l, gemv, gemv, (SIMT_HANDLE handle, SIMT_OP trans, int m, int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy), (handle, SIMT_OP_OF(trans), m, n, alpha, a, lda, x, incx, beta, y, incy)) \
  SIMT_BLAS(L, l, trmv, trmv, (SIMT_HANDLE handle, SIMT_FILL uplo, SIMT_OP trans, SIMT_DIAG diag, int n, const T* a, int lda, T* x, int incx), (handle, SIMT_FILL_OF(uplo), SIMT_OP_OF(trans), SIMT_DIAG_OF(diag), n, a, lda, x, incx)) \
  SIMT_BLAS(L, l, trsv, trsv, (SIMT_HANDLE handle, SIMT_FILL uplo, SIMT_OP trans, SIMT_DIAG diag, int n, const T* a, int lda, T* x, int incx), (handle, SIMT_FILL_OF(uplo), SIMT_OP_OF(trans), SIMT_DIAG_OF(diag), n, a, lda, x, incx)) \
  SIMT_BLAS(L, l, gemm, gemm, (SIMT_HANDLE handle, SIMT_OP transa, SIMT_OP transb, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc), (handle, SIMT_OP_OF(transa), SIMT_OP_OF(transb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) \
  SIMT_BLAS(L, l, gemmBatched, gemm_batched, (SIMT_HANDLE handle, SIMT_OP transa, SIMT_OP transb, int m, int n, int k, const T* alpha, const T* const a[], int lda, const T* const b[], int ldb, const T* beta, T* const c[], int ldc, int batches), (handle, SIMT_OP_OF(transa), SIMT_OP_OF(transb), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, batches)) \
  SIMT_BLAS(L, l, gemmStridedBatched, gemm_strided_batched, (SIMT_HANDLE handle, SIMT_OP transa, SIMT_OP transb, int m, int n, int k, const T* alpha, const T* a, int lda, SIMT_STRIDE stridea, const T* b, int ldb, SIMT_STRIDE strideb, const T* beta, T* c, int ldc, SIMT_STRIDE stridec, int batches), (handle, SIMT_OP_OF(transa), SIMT_OP_OF(transb), m, n, k, alpha, a, lda, stridea, b, ldb, strideb, beta, c, ldc, stridec, batches)) \
  SIMT_BLAS(L, l, symm, symm, (SIMT_HANDLE handle, SIMT_SIDE side, SIMT_FILL uplo, int m, int n, const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc), (handle, SIMT_SIDE_OF(side), SIMT_FILL_OF(uplo), m, n, alpha, a, lda, b, ldb, beta, c, ldc)) \
  SIMT_BLAS(L, l, syrk, syrk, (SIMT_HANDLE handle, SIMT_FILL uplo, SIMT_OP trans, int n, int k, const T* alpha, const T* a, int lda, const T* beta, T* c, int ldc), (handle, SIMT_FILL_OF(uplo), SIMT_OP_OF(trans), n, k, alpha, a, lda, beta, c, ldc)) \
  SIMT_BLAS(L, l, trsm, trsm, (SIMT_HANDLE handle, SIMT_SIDE side, SIMT_FILL uplo, SIMT_OP trans, SIMT_DIAG diag, int m, int n, const T* alpha, const T* a, int lda, T* b, int ldb), (handle, SIMT_SIDE_OF(side), SIMT_FILL_OF(uplo), SIMT_OP_OF(trans), SIMT_DIAG_OF(diag), m, n, alpha, a, lda, b, ldb)) \
  SIMT_BLAS(L, l, geam, geam, (SIMT_HANDLE handle, SIMT_OP transa, SIMT_OP transb, int m, int n, const T* alpha, const T* a, int lda, const T* beta, const T* b, int ldb, T* c, int ldc), (handle, SIMT_OP_OF(transa), SIMT_OP_OF(transb), m, n, alpha, a, lda, beta, b, ldb, c, ldc)) \
  SIMT_BLAS(L, l, dgmm, dgmm, (SIMT_HANDLE handle, SIMT_SIDE side, int m, int n, const T* a, int lda, const T* x, int incx, T* c, int ldc), (handle, SIMT_SIDE_OF(side), m, n, a, lda, x, incx, c, ldc))
#define SIMT_BLAS_REALS(L, l, T) \
  SIMT_BLAS(L, l, dot, dot, (SIMT_HANDLE handle, int n, const T* x, int incx, const T* y, int incy, T* result), (handle, n, x, incx, y, incy, result)) \
  SIMT_BLAS(L, l, nrm2, nrm2, (SIMT_HANDLE handle, int n, const T* x, int incx, T* result), (handle, n, x, incx, result)) \
  SIMT_BLAS(L, l, asum, asum, (SIMT_HANDLE handle, int n, const T* x, int incx, T* result), (handle, n, x, incx, result)) \
  SIMT_BLAS(L, l, rot, rot, (SIMT_HANDLE handle, int n, T* x, int incx, T* y, int incy, const T* c, const T* s), (handle, n, x, incx, y, incy, c, s)) \
  SIMT_BLAS(L, l, ger, ger, (SIMT_HANDLE handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a, int lda), (handle, m, n, alpha, x, incx, y, incy, a, lda)) \
  SIMT_BLAS(L, l, symv, symv, (SIMT_HANDLE handle, SIMT_FILL uplo, int n, const T* alpha, const T* a, int lda, const T* x, int incx, const T* beta, T* y, int incy), (handle, SIMT_FILL_OF(uplo), n, alpha, a, lda, x, incx, beta, y, incy))
#define SIMT_BLAS_COMPLEXES(L, l, T) \
  SIMT_BLAS(L, l, dotu, dotu, (SIMT_HANDLE handle, int n, const T* x, int incx, const T* y, int incy, T* result), (handle, n, x, incx, y, incy, result)) \
  SIMT_BLAS(L, l, dotc, dotc, (SIMT_HANDLE handle, int n, const T* x, int incx, const T* y, int incy, T* result), (handle, n, x, incx, y, incy, result)) \
  SIMT_BLAS(L, l, geru, geru, (SIMT_HANDLE handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a, int lda), (handle, m, n, alpha, x, incx, y, incy, a, lda)) \
  SIMT_BLAS(L, l, gerc, gerc, (SIMT_HANDLE handle, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy, T* a, int lda), (handle, m, n, alpha, x, incx, y, incy, a, lda))
// SIMT_BLAS_INDEX(l, camel, …): cublasIsamax, rocblas_isamax; SIMT_BLAS_NORM(Lr, lr, …): cublasScnrm2, rocblas_scnrm2.
#define SIMT_BLAS_INDICES(l, T) \
  SIMT_BLAS_INDEX(l, amax, (SIMT_HANDLE handle, int n, const T* x, int incx, int* result), (handle, n, x, incx, result)) \
  SIMT_BLAS_INDEX(l, amin, (SIMT_HANDLE handle, int n, const T* x, int incx, int* result), (handle, n, x, incx, result))
#define SIMT_BLAS_NORMS(Lr, lr, T, R) \
  SIMT_BLAS(Lr, lr, nrm2, nrm2, (SIMT_HANDLE handle, int n, const T* x, int incx, R* result), (handle, n, x, incx, result)) \
  SIMT_BLAS(Lr, lr, asum, asum, (SIMT_HANDLE handle, int n, const T* x, int incx, R* result), (handle, n, x, incx, result))

#define SIMT_BLAS_ALL(T1, T2, T3, T4) \
  SIMT_BLAS_VECTORS(S, s, T1) SIMT_BLAS_VECTORS(D, d, T2) SIMT_BLAS_VECTORS(C, c, T3) SIMT_BLAS_VECTORS(Z, z, T4) \
  SIMT_BLAS_MATRICES(S, s, T1) SIMT_BLAS_MATRICES(D, d, T2) SIMT_BLAS_MATRICES(C, c, T3) SIMT_BLAS_MATRICES(Z, z, T4) \
  SIMT_BLAS_REALS(S, s, T1) SIMT_BLAS_REALS(D, d, T2) SIMT_BLAS_COMPLEXES(C, c, T3) SIMT_BLAS_COMPLEXES(Z, z, T4) \
  SIMT_BLAS_INDICES(s, T1) SIMT_BLAS_INDICES(d, T2) SIMT_BLAS_INDICES(c, T3) SIMT_BLAS_INDICES(z, T4) \
  SIMT_BLAS_NORMS(Sc, sc, T3, T1) SIMT_BLAS_NORMS(Dz, dz, T4, T2)
SIMT_BLAS_ALL(float, double, SIMT_BLAS_FLOAT_COMPLEX, SIMT_BLAS_DOUBLE_COMPLEX)
#undef SIMT_BLAS_ALL
#undef SIMT_BLAS_NORMS
#undef SIMT_BLAS_INDICES
#undef SIMT_BLAS_COMPLEXES
#undef SIMT_BLAS_REALS
#undef SIMT_BLAS_MATRICES
#undef SIMT_BLAS_VECTORS
