// cuFFT: transforms of up to three dimensions, on the host; their time is a roofline's.
#ifndef CUFFT_H_
#define CUFFT_H_

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#include <stddef.h>

#define CUFFTAPI
#define CUFFT_VER_MAJOR 11
#define CUFFT_VER_MINOR 2
#define CUFFT_VER_PATCH 3
#define CUFFT_VERSION 11203
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef enum {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_PARSE_ERROR = 12,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_LICENSE_ERROR = 15,
  CUFFT_NOT_SUPPORTED = 16
} cufftResult_t;
typedef cufftResult_t cufftResult;
typedef enum {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType_t;
typedef cufftType_t cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

#ifdef __cplusplus
extern "C" {
#endif
cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftDestroy(cufftHandle plan);
cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
cufftResult cufftSetAutoAllocation(cufftHandle plan, int automatic);
cufftResult cufftSetWorkArea(cufftHandle plan, void* area);
cufftResult cufftGetSize(cufftHandle plan, size_t* bytes);
cufftResult cufftGetVersion(int* version);
cufftResult cufftPlan1d(cufftHandle* plan, int x, cufftType type, int batch);
cufftResult cufftMakePlan1d(cufftHandle plan, int x, cufftType type, int batch, size_t* bytes);
cufftResult cufftPlan2d(cufftHandle* plan, int x, int y, cufftType type);
cufftResult cufftMakePlan2d(cufftHandle plan, int x, int y, cufftType type, size_t* bytes);
cufftResult cufftPlan3d(cufftHandle* plan, int x, int y, int z, cufftType type);
cufftResult cufftMakePlan3d(cufftHandle plan, int x, int y, int z, cufftType type, size_t* bytes);
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed, int out_stride,
    int out_distance, cufftType type, int batch);
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed, int out_stride,
    int out_distance, cufftType type, int batch, size_t* bytes);
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long* n, long long* in_embed, long long in_stride, long long in_distance, long long* out_embed, long long out_stride,
    long long out_distance, cufftType type, long long batch, size_t* bytes);
cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction);
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction);
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out);
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out);
#ifdef __cplusplus
}
#endif

#endif
