// hipFFT: transforms of up to three dimensions, on the host; their time is a roofline's.
#ifndef HIPFFT_H_
#define HIPFFT_H_

#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <stddef.h>

#define HIPFFT_FORWARD -1
#define HIPFFT_BACKWARD 1

typedef enum {
  HIPFFT_SUCCESS = 0,
  HIPFFT_INVALID_PLAN = 1,
  HIPFFT_ALLOC_FAILED = 2,
  HIPFFT_INVALID_TYPE = 3,
  HIPFFT_INVALID_VALUE = 4,
  HIPFFT_INTERNAL_ERROR = 5,
  HIPFFT_EXEC_FAILED = 6,
  HIPFFT_SETUP_FAILED = 7,
  HIPFFT_INVALID_SIZE = 8,
  HIPFFT_UNALIGNED_DATA = 9,
  HIPFFT_INCOMPLETE_PARAMETER_LIST = 10,
  HIPFFT_INVALID_DEVICE = 11,
  HIPFFT_PARSE_ERROR = 12,
  HIPFFT_NO_WORKSPACE = 13,
  HIPFFT_NOT_IMPLEMENTED = 14,
  HIPFFT_NOT_SUPPORTED = 16
} hipfftResult_t;
typedef enum {
  HIPFFT_R2C = 0x2a,
  HIPFFT_C2R = 0x2c,
  HIPFFT_C2C = 0x29,
  HIPFFT_D2Z = 0x6a,
  HIPFFT_Z2D = 0x6c,
  HIPFFT_Z2Z = 0x69
} hipfftType_t;
typedef hipfftResult_t hipfftResult;
typedef hipfftType_t hipfftType;
typedef struct hipfftHandle_t* hipfftHandle;
typedef float hipfftReal;
typedef double hipfftDoubleReal;
typedef hipFloatComplex hipfftComplex;
typedef hipDoubleComplex hipfftDoubleComplex;

#ifdef __cplusplus
extern "C" {
#endif
hipfftResult hipfftCreate(hipfftHandle* plan);
hipfftResult hipfftDestroy(hipfftHandle plan);
hipfftResult hipfftSetStream(hipfftHandle plan, hipStream_t stream);
hipfftResult hipfftSetAutoAllocation(hipfftHandle plan, int automatic);
hipfftResult hipfftSetWorkArea(hipfftHandle plan, void* area);
hipfftResult hipfftGetSize(hipfftHandle plan, size_t* bytes);
hipfftResult hipfftGetVersion(int* version);
hipfftResult hipfftPlan1d(hipfftHandle* plan, int x, hipfftType type, int batch);
hipfftResult hipfftMakePlan1d(hipfftHandle plan, int x, hipfftType type, int batch, size_t* bytes);
hipfftResult hipfftPlan2d(hipfftHandle* plan, int x, int y, hipfftType type);
hipfftResult hipfftMakePlan2d(hipfftHandle plan, int x, int y, hipfftType type, size_t* bytes);
hipfftResult hipfftPlan3d(hipfftHandle* plan, int x, int y, int z, hipfftType type);
hipfftResult hipfftMakePlan3d(hipfftHandle plan, int x, int y, int z, hipfftType type, size_t* bytes);
hipfftResult hipfftPlanMany(hipfftHandle* plan, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed, int out_stride,
    int out_distance, hipfftType type, int batch);
hipfftResult hipfftMakePlanMany(hipfftHandle plan, int rank, int* n, int* in_embed, int in_stride, int in_distance, int* out_embed, int out_stride,
    int out_distance, hipfftType type, int batch, size_t* bytes);
hipfftResult hipfftMakePlanMany64(hipfftHandle plan, int rank, long long* n, long long* in_embed, long long in_stride, long long in_distance, long long* out_embed, long long out_stride,
    long long out_distance, hipfftType type, long long batch, size_t* bytes);
hipfftResult hipfftExecC2C(hipfftHandle plan, hipfftComplex* in, hipfftComplex* out, int direction);
hipfftResult hipfftExecZ2Z(hipfftHandle plan, hipfftDoubleComplex* in, hipfftDoubleComplex* out, int direction);
hipfftResult hipfftExecR2C(hipfftHandle plan, hipfftReal* in, hipfftComplex* out);
hipfftResult hipfftExecC2R(hipfftHandle plan, hipfftComplex* in, hipfftReal* out);
hipfftResult hipfftExecD2Z(hipfftHandle plan, hipfftDoubleReal* in, hipfftDoubleComplex* out);
hipfftResult hipfftExecZ2D(hipfftHandle plan, hipfftDoubleComplex* in, hipfftDoubleReal* out);
#ifdef __cplusplus
}
#endif

#endif
