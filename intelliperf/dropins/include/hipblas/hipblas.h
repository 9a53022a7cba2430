// hipBLAS: computed on the host, by the machine's BLAS where there is one; its time is a roofline's.
#ifndef HIPBLAS_H
#define HIPBLAS_H

#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime_api.h>
#include <hip/library_types.h>
#include <stdint.h>

#define hipblasVersionMajor 2
#define hipblasVersionMinor 2
#define HIPBLAS_EXPORT

typedef void* hipblasHandle_t;
typedef __half hipblasHalf;
typedef hipFloatComplex hipblasComplex;
typedef hipDoubleComplex hipblasDoubleComplex;
typedef int64_t hipblasStride;
typedef enum {
  HIPBLAS_STATUS_SUCCESS = 0,
  HIPBLAS_STATUS_NOT_INITIALIZED = 1,
  HIPBLAS_STATUS_ALLOC_FAILED = 2,
  HIPBLAS_STATUS_INVALID_VALUE = 3,
  HIPBLAS_STATUS_MAPPING_ERROR = 4,
  HIPBLAS_STATUS_EXECUTION_FAILED = 5,
  HIPBLAS_STATUS_INTERNAL_ERROR = 6,
  HIPBLAS_STATUS_NOT_SUPPORTED = 7,
  HIPBLAS_STATUS_ARCH_MISMATCH = 8,
  HIPBLAS_STATUS_HANDLE_IS_NULLPTR = 9,
  HIPBLAS_STATUS_INVALID_ENUM = 10,
  HIPBLAS_STATUS_UNKNOWN = 11
} hipblasStatus_t;
typedef enum { HIPBLAS_OP_N = 111, HIPBLAS_OP_T = 112, HIPBLAS_OP_C = 113 } hipblasOperation_t;
typedef enum { HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE } hipblasPointerMode_t;
typedef enum { HIPBLAS_FILL_MODE_UPPER = 121, HIPBLAS_FILL_MODE_LOWER = 122, HIPBLAS_FILL_MODE_FULL = 123 } hipblasFillMode_t;
typedef enum { HIPBLAS_DIAG_NON_UNIT = 131, HIPBLAS_DIAG_UNIT = 132 } hipblasDiagType_t;
typedef enum { HIPBLAS_SIDE_LEFT = 141, HIPBLAS_SIDE_RIGHT = 142, HIPBLAS_SIDE_BOTH = 143 } hipblasSideMode_t;
typedef enum { HIPBLAS_ATOMICS_NOT_ALLOWED = 0, HIPBLAS_ATOMICS_ALLOWED = 1 } hipblasAtomicsMode_t;
typedef enum { HIPBLAS_DEFAULT_MATH, HIPBLAS_XF32_XDL_MATH, HIPBLAS_PEDANTIC_MATH, HIPBLAS_TENSOR_OP_MATH } hipblasMath_t;
typedef enum { HIPBLAS_GEMM_DEFAULT = 160 } hipblasGemmAlgo_t;
typedef enum {
  HIPBLAS_R_16F = 150, HIPBLAS_R_32F = 151, HIPBLAS_R_64F = 152,
  HIPBLAS_C_16F = 153, HIPBLAS_C_32F = 154, HIPBLAS_C_64F = 155,
  HIPBLAS_R_8I = 160, HIPBLAS_R_8U = 161, HIPBLAS_R_32I = 162, HIPBLAS_R_32U = 163,
  HIPBLAS_R_16B = 168, HIPBLAS_C_16B = 169
} hipblasDatatype_t;
typedef enum {
  HIPBLAS_COMPUTE_16F = 0,
  HIPBLAS_COMPUTE_16F_PEDANTIC = 1,
  HIPBLAS_COMPUTE_32F = 2,
  HIPBLAS_COMPUTE_32F_PEDANTIC = 3,
  HIPBLAS_COMPUTE_32F_FAST_16F = 4,
  HIPBLAS_COMPUTE_32F_FAST_16BF = 5,
  HIPBLAS_COMPUTE_32F_FAST_TF32 = 6,
  HIPBLAS_COMPUTE_64F = 7,
  HIPBLAS_COMPUTE_64F_PEDANTIC = 8,
  HIPBLAS_COMPUTE_32I = 9,
  HIPBLAS_COMPUTE_32I_PEDANTIC = 10
} hipblasComputeType_t;
#if defined(HIPBLAS_V2)
#define SIMT_HIPBLAS_TYPE hipDataType
#define SIMT_HIPBLAS_COMPUTE hipblasComputeType_t
#else
#define SIMT_HIPBLAS_TYPE hipblasDatatype_t
#define SIMT_HIPBLAS_COMPUTE hipblasDatatype_t
#endif

SIMT_C_BEGIN
hipblasStatus_t hipblasCreate(hipblasHandle_t* handle);
hipblasStatus_t hipblasDestroy(hipblasHandle_t handle);
hipblasStatus_t hipblasSetStream(hipblasHandle_t handle, hipStream_t stream);
hipblasStatus_t hipblasGetStream(hipblasHandle_t handle, hipStream_t* stream);
hipblasStatus_t hipblasSetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t mode);
hipblasStatus_t hipblasGetPointerMode(hipblasHandle_t handle, hipblasPointerMode_t* mode);
hipblasStatus_t hipblasSetAtomicsMode(hipblasHandle_t handle, hipblasAtomicsMode_t mode);
hipblasStatus_t hipblasGetAtomicsMode(hipblasHandle_t handle, hipblasAtomicsMode_t* mode);
hipblasStatus_t hipblasSetMathMode(hipblasHandle_t handle, hipblasMath_t mode);
hipblasStatus_t hipblasGetMathMode(hipblasHandle_t handle, hipblasMath_t* mode);
const char* hipblasStatusToString(hipblasStatus_t status);
#define SIMT_HANDLE hipblasHandle_t
#define SIMT_OP hipblasOperation_t
#define SIMT_FILL hipblasFillMode_t
#define SIMT_DIAG hipblasDiagType_t
#define SIMT_SIDE hipblasSideMode_t
#define SIMT_STRIDE hipblasStride
#define SIMT_BLAS_FLOAT_COMPLEX hipblasComplex
#define SIMT_BLAS_DOUBLE_COMPLEX hipblasDoubleComplex
#define SIMT_BLAS(L, l, camel, snake, parameters, arguments) hipblasStatus_t hipblas##L##camel parameters;
#define SIMT_BLAS_INDEX(l, camel, parameters, arguments) hipblasStatus_t hipblasI##l##camel parameters;
#include <simt/blas_functions.h>
#undef SIMT_BLAS_INDEX
#undef SIMT_BLAS
#undef SIMT_BLAS_DOUBLE_COMPLEX
#undef SIMT_BLAS_FLOAT_COMPLEX
#undef SIMT_STRIDE
#undef SIMT_SIDE
#undef SIMT_DIAG
#undef SIMT_FILL
#undef SIMT_OP
#undef SIMT_HANDLE
hipblasStatus_t hipblasHgemm(hipblasHandle_t handle, hipblasOperation_t transa, hipblasOperation_t transb, int m, int n, int k, const hipblasHalf* alpha, const hipblasHalf* a, int lda, const hipblasHalf* b, int ldb, const hipblasHalf* beta, hipblasHalf* c, int ldc);
hipblasStatus_t hipblasGemmEx(hipblasHandle_t handle, hipblasOperation_t transa, hipblasOperation_t transb, int m, int n, int k, const void* alpha, const void* a, SIMT_HIPBLAS_TYPE atype, int lda, const void* b, SIMT_HIPBLAS_TYPE btype, int ldb, const void* beta, void* c, SIMT_HIPBLAS_TYPE ctype, int ldc, SIMT_HIPBLAS_COMPUTE compute, hipblasGemmAlgo_t algorithm);
hipblasStatus_t hipblasGemmStridedBatchedEx(hipblasHandle_t handle, hipblasOperation_t transa, hipblasOperation_t transb, int m, int n, int k, const void* alpha, const void* a, SIMT_HIPBLAS_TYPE atype, int lda, hipblasStride stridea, const void* b, SIMT_HIPBLAS_TYPE btype, int ldb, hipblasStride strideb, const void* beta, void* c, SIMT_HIPBLAS_TYPE ctype, int ldc, hipblasStride stridec, int batches, SIMT_HIPBLAS_COMPUTE compute, hipblasGemmAlgo_t algorithm);
SIMT_C_END
#endif
