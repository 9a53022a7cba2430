// Types and functions of CUDA's driver API beyond contexts and plain memory, for cuda.h alone.
#ifndef SIMT_DRIVER_API_H
#define SIMT_DRIVER_API_H

#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)
#define CU_LAUNCH_PARAM_END ((void*)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)
#define CU_DEVICE_CPU ((CUdevice)-1)
#define CU_DEVICE_INVALID ((CUdevice)-2)
#define CU_IPC_HANDLE_SIZE 64

typedef CUdeviceptr CUdeviceptr_v2;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUlib_st* CUlibrary;
typedef struct CUkern_st* CUkernel;
typedef struct CUlinkState_st* CUlinkState;
typedef void(CUDA_CB* CUhostFn)(void* data);
typedef void(CUDA_CB* CUstreamCallback)(CUstream stream, CUresult status, void* data);
typedef size_t(CUDA_CB* CUoccupancyB2DSize)(int block);
typedef struct CUuuid_st { char bytes[16]; } CUuuid;

typedef enum CUctx_flags_enum {
  CU_CTX_SCHED_AUTO = 0,
  CU_CTX_SCHED_SPIN = 1,
  CU_CTX_SCHED_YIELD = 2,
  CU_CTX_SCHED_BLOCKING_SYNC = 4,
  CU_CTX_BLOCKING_SYNC = 4,
  CU_CTX_MAP_HOST = 8,
  CU_CTX_LMEM_RESIZE_TO_MAX = 16
} CUctx_flags;
typedef enum CUstream_flags_enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 } CUstream_flags;
typedef enum CUevent_flags_enum {
  CU_EVENT_DEFAULT = 0,
  CU_EVENT_BLOCKING_SYNC = 1,
  CU_EVENT_DISABLE_TIMING = 2,
  CU_EVENT_INTERPROCESS = 4
} CUevent_flags;
typedef enum CUmemAttach_flags_enum {
  CU_MEM_ATTACH_GLOBAL = 1,
  CU_MEM_ATTACH_HOST = 2,
  CU_MEM_ATTACH_SINGLE = 4
} CUmemAttach_flags;
#define CU_MEMHOSTALLOC_PORTABLE 1
#define CU_MEMHOSTALLOC_DEVICEMAP 2
#define CU_MEMHOSTALLOC_WRITECOMBINED 4
#define CU_MEMHOSTREGISTER_PORTABLE 1
#define CU_MEMHOSTREGISTER_DEVICEMAP 2
typedef enum CUfunction_attribute_enum {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9
} CUfunction_attribute;
typedef enum CUfunc_cache_enum {
  CU_FUNC_CACHE_PREFER_NONE = 0,
  CU_FUNC_CACHE_PREFER_SHARED = 1,
  CU_FUNC_CACHE_PREFER_L1 = 2,
  CU_FUNC_CACHE_PREFER_EQUAL = 3
} CUfunc_cache;
typedef enum CUsharedconfig_enum {
  CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
  CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
  CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2
} CUsharedconfig;
typedef enum CUcomputemode_enum {
  CU_COMPUTEMODE_DEFAULT = 0,
  CU_COMPUTEMODE_PROHIBITED = 2,
  CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3
} CUcomputemode;
typedef enum CUlimit_enum {
  CU_LIMIT_STACK_SIZE = 0,
  CU_LIMIT_PRINTF_FIFO_SIZE = 1,
  CU_LIMIT_MALLOC_HEAP_SIZE = 2
} CUlimit;
typedef enum CUmemorytype_enum {
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,
  CU_MEMORYTYPE_ARRAY = 3,
  CU_MEMORYTYPE_UNIFIED = 4
} CUmemorytype;
typedef enum CUpointer_attribute_enum {
  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
  CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
} CUpointer_attribute;
typedef enum CUjit_option_enum {
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_THREADS_PER_BLOCK = 1,
  CU_JIT_WALL_TIME = 2,
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7,
  CU_JIT_TARGET_FROM_CUCONTEXT = 8,
  CU_JIT_TARGET = 9,
  CU_JIT_FALLBACK_STRATEGY = 10,
  CU_JIT_GENERATE_DEBUG_INFO = 11,
  CU_JIT_LOG_VERBOSE = 12,
  CU_JIT_GENERATE_LINE_INFO = 13,
  CU_JIT_CACHE_MODE = 14
} CUjit_option;
typedef enum CUjitInputType_enum {
  CU_JIT_INPUT_CUBIN = 0,
  CU_JIT_INPUT_PTX = 1,
  CU_JIT_INPUT_FATBINARY = 2,
  CU_JIT_INPUT_OBJECT = 3,
  CU_JIT_INPUT_LIBRARY = 4
} CUjitInputType;
typedef enum CUmem_advise_enum {
  CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
  CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
  CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
  CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
  CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
  CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6
} CUmem_advise;
typedef struct CUctxCreateParams_st { void* execAffinityParams; int numExecAffinityParams; void* cigParams; } CUctxCreateParams;

SIMT_C_BEGIN
// ---- device and context
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device);
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext* context);
CUresult cuCtxAttach(CUcontext* context, unsigned int flags);
CUresult cuCtxDetach(CUcontext context);
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version);
CUresult cuCtxGetFlags(unsigned int* flags);
CUresult cuCtxGetLimit(size_t* value, CUlimit limit);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetCacheConfig(CUfunc_cache* config);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config);
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest);
// ---- memory
CUresult cuMemAllocHost(void** pointer, size_t bytes);
CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags);
CUresult cuMemFreeHost(void* pointer);
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned int flags);
CUresult cuMemHostGetFlags(unsigned int* flags, void* host);
CUresult cuMemHostRegister(void* host, size_t bytes, unsigned int flags);
CUresult cuMemHostUnregister(void* host);
CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags);
CUresult cuMemAllocPitch(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height, unsigned int element);
CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer);
CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream);
CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr pointer);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream);
// ---- streams and events
CUresult cuStreamCreate(CUstream* stream, unsigned int flags);
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags);
CUresult cuStreamGetPriority(CUstream stream, int* priority);
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned int flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data);
CUresult cuEventCreate(CUevent* event, unsigned int flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);
// ---- modules, libraries, links
CUresult cuModuleLoad(CUmodule* module, const char* file);
CUresult cuModuleLoadData(CUmodule* module, const void* image);
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options, void** values);
CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name);
CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name);
CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options, void** values, unsigned int count,
                           void* library_options, void** library_values, unsigned int library_count);
CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option* options, void** values, unsigned int count,
                               void* library_options, void** library_values, unsigned int library_count);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name);
CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name);
CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel);
CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* link);
CUresult cuLinkAddData(CUlinkState link, CUjitInputType type, void* image, size_t bytes, const char* name,
                       unsigned int count, CUjit_option* options, void** values);
CUresult cuLinkAddFile(CUlinkState link, CUjitInputType type, const char* file, unsigned int count,
                       CUjit_option* options, void** values);
CUresult cuLinkComplete(CUlinkState link, void** image, size_t* bytes);
CUresult cuLinkDestroy(CUlinkState link);
// ---- kernels
CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                        unsigned int by, unsigned int bz, unsigned int shared_bytes, CUstream stream, void** arguments,
                        void** extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                   unsigned int by, unsigned int bz, unsigned int shared_bytes, CUstream stream,
                                   void** arguments);
CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z);
CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes);
CUresult cuParamSetSize(CUfunction function, unsigned int bytes);
CUresult cuParamSeti(CUfunction function, int offset, unsigned int value);
CUresult cuParamSetf(CUfunction function, int offset, float value);
CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned int bytes);
CUresult cuLaunch(CUfunction function);
CUresult cuLaunchGrid(CUfunction function, int width, int height);
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream);
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config);
CUresult cuFuncGetName(const char** name, CUfunction function);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads, size_t dynamic_bytes);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              size_t dynamic_bytes, unsigned int flags);
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize dynamic_bytes_of,
                                          size_t dynamic_bytes, int limit);
SIMT_C_END

#ifdef __cplusplus  // as CUDA 13 has it
static inline CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned int flags, CUdevice device) {
  return cuCtxCreate(context, flags, device);
}
#endif

#endif
