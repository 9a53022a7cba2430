// CUDA's host API on the emulator, for C and C++, with or without device code in the file.
// What is not declared here is not supported.
#ifndef __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"

// As CUDA 12 lays the properties out; the name itself is for objects that saw the headers of CUDA 13.
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2

SIMT_C_BEGIN
#define SIMT_PREFIX cuda
#define SIMT_COOPERATIVE_SIZE size_t
#define SIMT_CALL(name, parameters, arguments) cudaError_t cuda##name parameters;
#define SIMT_QUERY(name, parameters, arguments) cudaError_t cuda##name parameters;
#include <simt/host_functions.h>
#include <simt/host_functions_cuda.h>
#undef SIMT_CALL
#undef SIMT_QUERY
#define SIMT_UNSUPPORTED(name, parameters) cudaError_t cuda##name parameters;
#include <simt/host_unsupported.h>
#include <simt/host_unsupported_cuda.h>
#undef SIMT_UNSUPPORTED

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device);
cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp* wanted);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* function);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments);
#if !defined(__cplusplus)
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
#endif
SIMT_C_END

// The names of CUDA 3 for what concerns the device.
static inline cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
static inline cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
static inline cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
static inline cudaError_t cudaThreadGetLimit(size_t* value, enum cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }

// Hints about caches, which change no result.
static inline cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }
static inline cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
  (void)stream, (void)attribute;
  return value ? cudaSuccess : cudaErrorInvalidValue;
}

static inline struct cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t xsize, size_t ysize) {
  struct cudaPitchedPtr made;
  made.ptr = pointer, made.pitch = pitch, made.xsize = xsize, made.ysize = ysize;
  return made;
}
static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos made;
  made.x = x, made.y = y, made.z = z;
  return made;
}
static inline struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  struct cudaExtent made;
  made.width = width, made.height = height, made.depth = depth;
  return made;
}

static inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status, unsigned long long* id) {
  const cudaError_t error = cudaStreamIsCapturing(stream, status);
  if (id) *id = error == cudaSuccess && *status == cudaStreamCaptureStatusActive;
  return error;
}

#if defined(__cplusplus)
#define SIMT_MULTIPROCESSOR_COUNT cudaDevAttrMultiProcessorCount
#define SIMT_MAX_THREADS_PER_BLOCK cudaDevAttrMaxThreadsPerBlock
#define SIMT_WARP_SIZE cudaDevAttrWarpSize
#include <simt/host_templates.h>
#undef SIMT_MULTIPROCESSOR_COUNT
#undef SIMT_MAX_THREADS_PER_BLOCK
#undef SIMT_WARP_SIZE
#if defined(__SIMT_CUDA__)
#include <simt/texture_references.h>
#endif

static inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return cudaEventCreateWithFlags(event, flags);
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                               unsigned long long flags = 0) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                               cudaGraphNode_t* error_node, char* log, size_t log_bytes) {
  if (error_node) *error_node = 0;
  if (log && log_bytes) *log = 0;
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
}
// The forms of CUDA 13.
static inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                        cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, location.type == cudaMemLocationTypeDevice ? location.id : -1);
}
static inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location, unsigned int,
                                               cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, bytes, location.type == cudaMemLocationTypeDevice ? location.id : -1, stream);
}
// The form of CUDA 11.
static inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                              cudaGraphExecUpdateResult* outcome) {
  cudaGraphExecUpdateResultInfo made;
  const cudaError_t error = cudaGraphExecUpdate(executable, graph, &made);
  if (error_node) *error_node = error == cudaSuccess ? made.errorNode : 0;
  if (outcome) *outcome = error == cudaSuccess ? made.result : cudaGraphExecUpdateError;
  return error;
}
#if defined(__SIMT_CUDA__)
template <class... Parameters, class... Arguments>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                                             Arguments&&... arguments) {
  return [&](Parameters... converted) {
    void* pointers[] = {(void*)&converted..., nullptr};
    return cudaLaunchKernelExC(config, (const void*)kernel, pointers);
  }(static_cast<Arguments&&>(arguments)...);
}
#endif
#endif
#undef SIMT_COOPERATIVE_SIZE
#undef SIMT_PREFIX

#endif
