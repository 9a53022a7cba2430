// CUDA's driver API: contexts, memory, streams and events.
#include <cstring>

#include "host_driver.h"
#include "properties.h"

namespace simt {

namespace {

constexpr int kToDevice = 1, kToHost = 2, kBetween = 3, kUnknown = 4;  // cudaMemcpyKind

Stream* of(CUstream stream) { return reinterpret_cast<Stream*>(stream); }
Event* of(CUevent event) { return reinterpret_cast<Event*>(event); }
void** out(CUdeviceptr* pointer) { return reinterpret_cast<void**>(pointer); }

int pointer_attribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  const Allocation* a = find(pointer_to(address));
  if (!value || !a) return kInvalidValue;
  const bool on_host = a->kind == MemoryKind::kPinned || a->kind == MemoryKind::kRegistered;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned int*>(value) = on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned int*>(value) = a->kind == MemoryKind::kManaged;
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = 0;
      break;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return cuCtxGetCurrent(static_cast<CUcontext*>(value));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = address;
      break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!on_host && a->kind != MemoryKind::kManaged) return kInvalidValue;
      *static_cast<void**>(value) = pointer_to(address);
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}

}  // namespace

SIMT_DRIVER(cuDeviceComputeCapability, (int* major, int* minor, CUdevice device),
            return host::DeviceComputeCapability(major, minor, device);)
SIMT_DRIVER(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), {
  if (!uuid) return kInvalidValue;
  std::memcpy(uuid->bytes, "INTELLIPERF-SIMT", sizeof uuid->bytes);
  return host::SetDevice(device);
})
SIMT_DRIVER(cuDeviceGetPCIBusId, (char* id, int length, CUdevice device),
            return host::DeviceGetPCIBusId(id, length, device);)
SIMT_DRIVER(cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer),
            return host::DeviceCanAccessPeer(can, device, peer);)
SIMT_DRIVER(cuDevicePrimaryCtxReset, (CUdevice device), return host::DevicePrimaryCtxReset(device);)
SIMT_DRIVER(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags),
            return host::DevicePrimaryCtxSetFlags(device, flags);)
SIMT_DRIVER(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int* flags, int* active),
            return host::DevicePrimaryCtxGetState(device, flags, active);)
SIMT_DRIVER(cuCtxPushCurrent, (CUcontext context), return cuCtxSetCurrent(context);)
SIMT_DRIVER(cuCtxPopCurrent, (CUcontext * context), return context ? cuCtxGetCurrent(context) : CUDA_SUCCESS;)
SIMT_DRIVER(cuCtxAttach, (CUcontext * context, unsigned int), return cuCtxGetCurrent(context);)
SIMT_DRIVER(cuCtxDetach, (CUcontext context), return cuCtxDestroy(context);)
SIMT_DRIVER(cuCtxGetApiVersion, (CUcontext, unsigned int* version), {
  if (!version) return kInvalidValue;
  return *version = 3020, kSuccess;
})
SIMT_DRIVER(cuCtxGetFlags, (unsigned int* flags), return host::GetDeviceFlags(flags);)
SIMT_DRIVER(cuCtxGetLimit, (size_t* value, CUlimit limit), return host::DeviceGetLimit(value, limit);)
SIMT_DRIVER(cuCtxSetLimit, (CUlimit limit, size_t value), return host::DeviceSetLimit(limit, value);)
SIMT_DRIVER(cuCtxGetCacheConfig, (CUfunc_cache * config),
            return host::DeviceGetCacheConfig(reinterpret_cast<int*>(config));)
SIMT_DRIVER(cuCtxSetCacheConfig, (CUfunc_cache config), return host::DeviceSetCacheConfig(config);)
SIMT_DRIVER(cuCtxGetSharedMemConfig, (CUsharedconfig * config),
            return host::DeviceGetSharedMemConfig(reinterpret_cast<int*>(config));)
SIMT_DRIVER(cuCtxSetSharedMemConfig, (CUsharedconfig config), return host::DeviceSetSharedMemConfig(config);)
SIMT_DRIVER(cuCtxGetStreamPriorityRange, (int* least, int* greatest),
            return host::DeviceGetStreamPriorityRange(least, greatest);)

SIMT_DRIVER(cuMemAllocHost, (void** pointer, size_t bytes), return host::MallocHost(pointer, bytes);)
SIMT_DRIVER(cuMemHostAlloc, (void** pointer, size_t bytes, unsigned int flags),
            return host::HostAlloc(pointer, bytes, flags);)
SIMT_DRIVER(cuMemFreeHost, (void* pointer), return host::FreeHost(pointer);)
SIMT_DRIVER(cuMemHostGetDevicePointer, (CUdeviceptr * device, void* host, unsigned int flags),
            return host::HostGetDevicePointer(out(device), host, flags);)
SIMT_DRIVER(cuMemHostGetFlags, (unsigned int* flags, void* host), return host::HostGetFlags(flags, host);)
SIMT_DRIVER(cuMemHostRegister, (void* host, size_t bytes, unsigned int flags),
            return host::HostRegister(host, bytes, flags);)
SIMT_DRIVER(cuMemHostUnregister, (void* host), return host::HostUnregister(host);)
SIMT_DRIVER(cuMemAllocManaged, (CUdeviceptr * pointer, size_t bytes, unsigned int flags),
            return host::MallocManaged(out(pointer), bytes, flags);)
SIMT_DRIVER(cuMemAllocPitch, (CUdeviceptr * pointer, size_t* pitch, size_t width, size_t height, unsigned int),
            return host::MallocPitch(out(pointer), pitch, width, height);)
SIMT_DRIVER(cuMemAllocAsync, (CUdeviceptr * pointer, size_t bytes, CUstream stream),
            return host::MallocAsync(out(pointer), bytes, of(stream));)
SIMT_DRIVER(cuMemFreeAsync, (CUdeviceptr pointer, CUstream stream),
            return host::FreeAsync(pointer_to(pointer), of(stream));)
SIMT_DRIVER(cuMemGetAddressRange, (CUdeviceptr * base, size_t* bytes, CUdeviceptr pointer),
            return host::MemGetAddressRange(out(base), bytes, pointer_to(pointer));)
SIMT_DRIVER(cuMemAdvise, (CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device),
            return host::MemAdvise(pointer_to(pointer), bytes, advice, device);)
SIMT_DRIVER(cuMemPrefetchAsync, (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream),
            return host::MemPrefetchAsync(pointer_to(pointer), bytes, device, of(stream));)
SIMT_DRIVER(cuPointerGetAttribute, (void* value, CUpointer_attribute attribute, CUdeviceptr pointer),
            return pointer_attribute(value, attribute, pointer);)
SIMT_DRIVER(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
            return host::Memcpy(pointer_to(to), pointer_to(from), bytes, kUnknown);)
SIMT_DRIVER(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
            return host::MemcpyAsync(pointer_to(to), pointer_to(from), bytes, kUnknown, of(stream));)
SIMT_DRIVER(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream),
            return host::MemcpyAsync(pointer_to(to), from, bytes, kToDevice, of(stream));)
SIMT_DRIVER(cuMemcpyDtoHAsync, (void* to, CUdeviceptr from, size_t bytes, CUstream stream),
            return host::MemcpyAsync(to, pointer_to(from), bytes, kToHost, of(stream));)
SIMT_DRIVER(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
            return host::MemcpyAsync(pointer_to(to), pointer_to(from), bytes, kBetween, of(stream));)
SIMT_DRIVER(cuMemsetD8Async, (CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream),
            return host::MemsetD8Async(pointer_to(pointer), value, count, of(stream));)
SIMT_DRIVER(cuMemsetD16Async, (CUdeviceptr pointer, unsigned short value, size_t count, CUstream stream),
            return host::MemsetD16Async(pointer_to(pointer), value, count, of(stream));)
SIMT_DRIVER(cuMemsetD32Async, (CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream),
            return host::MemsetD32Async(pointer_to(pointer), static_cast<int>(value), count, of(stream));)

SIMT_DRIVER(cuStreamCreate, (CUstream * stream, unsigned int flags),
            return host::StreamCreateWithFlags(reinterpret_cast<Stream**>(stream), flags);)
SIMT_DRIVER(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
            return host::StreamCreateWithPriority(reinterpret_cast<Stream**>(stream), flags, priority);)
SIMT_DRIVER(cuStreamDestroy, (CUstream stream), return host::StreamDestroy(of(stream));)
SIMT_DRIVER(cuStreamQuery, (CUstream stream), return host::StreamQuery(of(stream));)
SIMT_DRIVER(cuStreamGetFlags, (CUstream stream, unsigned int* flags), return host::StreamGetFlags(of(stream), flags);)
SIMT_DRIVER(cuStreamGetPriority, (CUstream stream, int* priority),
            return host::StreamGetPriority(of(stream), priority);)
SIMT_DRIVER(cuStreamGetCtx, (CUstream, CUcontext* context), return cuCtxGetCurrent(context);)
SIMT_DRIVER(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags),
            return host::StreamWaitEvent(of(stream), of(event), flags);)
SIMT_DRIVER(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void* data, unsigned int flags),
            return host::StreamAddCallback(of(stream), reinterpret_cast<host::T_StreamCallback_t>(callback), data,
                                           flags);)
SIMT_DRIVER(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void* data),
            return host::LaunchHostFunc(of(stream), function, data);)
SIMT_DRIVER(cuEventCreate, (CUevent * event, unsigned int flags),
            return host::EventCreateWithFlags(reinterpret_cast<Event**>(event), flags);)
SIMT_DRIVER(cuEventDestroy, (CUevent event), return host::EventDestroy(of(event));)
SIMT_DRIVER(cuEventRecord, (CUevent event, CUstream stream), return host::EventRecord(of(event), of(stream));)
SIMT_DRIVER(cuEventSynchronize, (CUevent event), return host::EventSynchronize(of(event));)
SIMT_DRIVER(cuEventQuery, (CUevent event), return host::EventQuery(of(event));)
SIMT_DRIVER(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end),
            return host::EventElapsedTime(milliseconds, of(start), of(end));)

}  // namespace simt
