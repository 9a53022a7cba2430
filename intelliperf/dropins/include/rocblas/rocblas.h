// rocBLAS: computed on the host, by the machine's BLAS where there is one; its time is a roofline's.
#ifndef ROCBLAS_H
#define ROCBLAS_H

#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime_api.h>
#include <stdint.h>

#define ROCBLAS_VERSION_MAJOR 4
#define ROCBLAS_VERSION_MINOR 2
typedef struct _rocblas_handle* rocblas_handle;
typedef int rocblas_int;
typedef int64_t rocblas_stride;
typedef __half rocblas_half;
typedef hipFloatComplex rocblas_float_complex;
typedef hipDoubleComplex rocblas_double_complex;
typedef enum rocblas_status_ {
  rocblas_status_success = 0,
  rocblas_status_invalid_handle = 1,
  rocblas_status_not_implemented = 2,
  rocblas_status_invalid_pointer = 3,
  rocblas_status_invalid_size = 4,
  rocblas_status_memory_error = 5,
  rocblas_status_internal_error = 6,
  rocblas_status_perf_degraded = 7,
  rocblas_status_size_query_mismatch = 8,
  rocblas_status_size_increased = 9,
  rocblas_status_size_unchanged = 10,
  rocblas_status_invalid_value = 11,
  rocblas_status_continue = 12
} rocblas_status;
typedef enum rocblas_operation_ {
  rocblas_operation_none = 111,
  rocblas_operation_transpose = 112,
  rocblas_operation_conjugate_transpose = 113
} rocblas_operation;
typedef enum rocblas_fill_ { rocblas_fill_upper = 121, rocblas_fill_lower = 122, rocblas_fill_full = 123 } rocblas_fill;
typedef enum rocblas_diagonal_ { rocblas_diagonal_non_unit = 131, rocblas_diagonal_unit = 132 } rocblas_diagonal;
typedef enum rocblas_side_ { rocblas_side_left = 141, rocblas_side_right = 142, rocblas_side_both = 143 } rocblas_side;
typedef enum rocblas_pointer_mode_ { rocblas_pointer_mode_host = 0, rocblas_pointer_mode_device = 1 } rocblas_pointer_mode;
typedef enum rocblas_atomics_mode_ { rocblas_atomics_not_allowed = 0, rocblas_atomics_allowed = 1 } rocblas_atomics_mode;
typedef enum rocblas_math_mode_ { rocblas_default_math = 0, rocblas_xf32_xdl_math_op = 1 } rocblas_math_mode;
typedef enum rocblas_gemm_algo_ { rocblas_gemm_algo_standard = 0, rocblas_gemm_algo_solution_index = 1 } rocblas_gemm_algo;
typedef enum rocblas_gemm_flags_ { rocblas_gemm_flags_none = 0 } rocblas_gemm_flags;
typedef enum rocblas_datatype_ {
  rocblas_datatype_f16_r = 150, rocblas_datatype_f32_r = 151, rocblas_datatype_f64_r = 152,
  rocblas_datatype_f16_c = 153, rocblas_datatype_f32_c = 154, rocblas_datatype_f64_c = 155,
  rocblas_datatype_i8_r = 160, rocblas_datatype_u8_r = 161, rocblas_datatype_i32_r = 162,
  rocblas_datatype_bf16_r = 168, rocblas_datatype_bf16_c = 169
} rocblas_datatype;

SIMT_C_BEGIN
rocblas_status rocblas_create_handle(rocblas_handle* handle);
rocblas_status rocblas_destroy_handle(rocblas_handle handle);
void rocblas_initialize(void);
rocblas_status rocblas_set_stream(rocblas_handle handle, hipStream_t stream);
rocblas_status rocblas_get_stream(rocblas_handle handle, hipStream_t* stream);
rocblas_status rocblas_set_pointer_mode(rocblas_handle handle, rocblas_pointer_mode mode);
rocblas_status rocblas_get_pointer_mode(rocblas_handle handle, rocblas_pointer_mode* mode);
rocblas_status rocblas_set_atomics_mode(rocblas_handle handle, rocblas_atomics_mode mode);
rocblas_status rocblas_get_atomics_mode(rocblas_handle handle, rocblas_atomics_mode* mode);
rocblas_status rocblas_set_math_mode(rocblas_handle handle, rocblas_math_mode mode);
const char* rocblas_status_to_string(rocblas_status status);
#define SIMT_HANDLE rocblas_handle
#define SIMT_OP rocblas_operation
#define SIMT_FILL rocblas_fill
#define SIMT_DIAG rocblas_diagonal
#define SIMT_SIDE rocblas_side
#define SIMT_STRIDE rocblas_stride
#define SIMT_BLAS_FLOAT_COMPLEX rocblas_float_complex
#define SIMT_BLAS_DOUBLE_COMPLEX rocblas_double_complex
#define SIMT_BLAS(L, l, camel, snake, parameters, arguments) rocblas_status rocblas_##l##snake parameters;
#define SIMT_BLAS_INDEX(l, camel, parameters, arguments) rocblas_status rocblas_i##l##camel parameters;
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
rocblas_status rocblas_gemm_ex(rocblas_handle handle, rocblas_operation transa, rocblas_operation transb, rocblas_int m, rocblas_int n, rocblas_int k, const void* alpha, const void* a, rocblas_datatype atype, rocblas_int lda, const void* b, rocblas_datatype btype, rocblas_int ldb, const void* beta, const void* c, rocblas_datatype ctype, rocblas_int ldc, void* d, rocblas_datatype dtype, rocblas_int ldd, rocblas_datatype compute, rocblas_gemm_algo algorithm, int32_t solution, uint32_t flags);
rocblas_status rocblas_gemm_strided_batched_ex(rocblas_handle handle, rocblas_operation transa, rocblas_operation transb, rocblas_int m, rocblas_int n, rocblas_int k, const void* alpha, const void* a, rocblas_datatype atype, rocblas_int lda, rocblas_stride stridea, const void* b, rocblas_datatype btype, rocblas_int ldb, rocblas_stride strideb, const void* beta, const void* c, rocblas_datatype ctype, rocblas_int ldc, rocblas_stride stridec, void* d, rocblas_datatype dtype, rocblas_int ldd, rocblas_stride strided, rocblas_int batches, rocblas_datatype compute, rocblas_gemm_algo algorithm, int32_t solution, uint32_t flags);
SIMT_C_END
#endif
