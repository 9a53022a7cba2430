// The part of CUPTI's interface that the injected library uses, for a driver without a GPU (driver.cpp).
#pragma once
#include <cuda.h>

#define CUPTIAPI
#define CUPTI_API_VERSION 130001

enum CUptiResult { CUPTI_SUCCESS = 0, CUPTI_ERROR_UNKNOWN = 999 };
enum CUpti_CallbackDomain { CUPTI_CB_DOMAIN_DRIVER_API = 1, CUPTI_CB_DOMAIN_RESOURCE = 3 };
enum CUpti_ApiCallbackSite { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 };
enum { CUPTI_CBID_RESOURCE_MODULE_LOADED = 6 };
using CUpti_CallbackId = uint32_t;
using CUpti_SubscriberHandle = struct CUpti_Subscriber_st*;
using CUpti_CallbackFunc = void (*)(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*);
constexpr uint32_t CUPTI_DRIVER_TRACE_CBID_SIZE = 32;

struct CUpti_CallbackData {
  CUpti_ApiCallbackSite callbackSite;
  const char* functionName;
  const void* functionParams;
  void* functionReturnValue;
  const char* symbolName;
  CUcontext context;
  uint32_t contextUid;
  uint64_t* correlationData;
  uint32_t correlationId;
};
struct CUpti_ResourceData {
  CUcontext context;
  void* resourceDescriptor;
};
struct CUpti_ModuleResourceData {
  uint32_t moduleId;
  size_t cubinSize;
  const char* pCubin;
};

struct cuMemAlloc_v2_params {
  CUdeviceptr* dptr;
  size_t bytesize;
};
struct cuMemAllocPitch_v2_params {
  CUdeviceptr* dptr;
  size_t* pPitch;
  size_t WidthInBytes, Height;
  unsigned ElementSizeBytes;
};
struct cuMemAllocManaged_params {
  CUdeviceptr* dptr;
  size_t bytesize;
  unsigned flags;
};
struct cuMemSetAccess_params {
  CUdeviceptr ptr;
  size_t size;
  const CUmemAccessDesc* desc;
  size_t count;
};
struct cuMemAllocAsync_params {
  CUdeviceptr* dptr;
  size_t bytesize;
  CUstream hStream;
};
struct cuMemAllocHost_v2_params {
  void** pp;
  size_t bytesize;
};
struct cuMemFree_v2_params {
  CUdeviceptr dptr;
};
struct cuMemsetD8_v2_params {
  CUdeviceptr dstDevice;
  unsigned char uc;
  size_t N;
};
struct cuMemcpyHtoD_v2_params {
  CUdeviceptr dstDevice;
  const void* srcHost;
  size_t ByteCount;
};
struct cuMemcpyDtoH_v2_params {
  void* dstHost;
  CUdeviceptr srcDevice;
  size_t ByteCount;
};
struct cuMemcpy2D_v2_params {
  const CUDA_MEMCPY2D* pCopy;
};
struct cuMemcpy3D_v2_params {
  const CUDA_MEMCPY3D* pCopy;
};
struct cuLaunchKernel_params {
  CUfunction f;
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  void** kernelParams;
  void** extra;
};
struct cuLaunchKernelEx_params {
  const CUlaunchConfig* config;
  CUfunction f;
  void** kernelParams;
  void** extra;
};
struct cuLaunchCooperativeKernel_params {
  CUfunction f;
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  void** kernelParams;
};
struct cuGraphInstantiateWithFlags_params {
  CUgraphExec* phGraphExec;
  CUgraph hGraph;
  unsigned long long flags;
};
struct cuGraphLaunch_params {
  CUgraphExec hGraph;
  CUstream hStream;
};
struct cuGraphExecMemsetNodeSetParams_params {
  CUgraphExec hGraphExec;
  CUgraphNode hNode;
};

enum CUpti_ActivityKind {
  CUPTI_ACTIVITY_KIND_MEMCPY = 1,
  CUPTI_ACTIVITY_KIND_MEMSET = 2,
  CUPTI_ACTIVITY_KIND_KERNEL = 3,
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10
};
enum { CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 };
enum {
  CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1,
  CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
  CUPTI_ACTIVITY_MEMCPY_KIND_HTOA,
  CUPTI_ACTIVITY_MEMCPY_KIND_ATOH,
  CUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8,
  CUPTI_ACTIVITY_MEMCPY_KIND_PTOP = 10
};
enum { CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE = 1 };
struct CUpti_Activity {
  CUpti_ActivityKind kind;
};
struct CUpti_ActivityKernel10 : CUpti_Activity {
  const char* name;
  uint64_t start, end;
  int gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory;
  uint16_t registersPerThread;
  uint32_t localMemoryPerThread, streamId, contextId, correlationId, graphId;
};
struct CUpti_ActivityMemcpy6 : CUpti_Activity {
  uint8_t copyKind, srcKind, dstKind;
  uint64_t bytes, start, end;
  uint32_t streamId;
};
struct CUpti_ActivityMemset4 : CUpti_Activity {
  uint64_t bytes, start, end;
  uint32_t streamId;
};
using CUpti_BuffersCallbackRequestFunc = void (*)(uint8_t**, size_t*, size_t*);
using CUpti_BuffersCallbackCompleteFunc = void (*)(CUcontext, uint32_t, uint8_t*, size_t, size_t);

extern "C" {
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc called, void* data);
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId id);
CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t id, const char** name);
CUptiResult cuptiGetResultString(CUptiResult, const char** text);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t stream, size_t* dropped);
}
