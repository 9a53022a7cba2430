// The subset of CUDA's driver API: the same core; its error codes are the runtime's where both have one.
#include "host_driver.h"

namespace simt {

namespace {

// The one context is that of the device; its handle only has to be no null pointer.
CUcontext the_context() {
  static char context;
  return reinterpret_cast<CUcontext>(&context);
}

int give_context(CUcontext* context, CUdevice device) {
  if (!context) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  *context = the_context();
  return kSuccess;
}

// Limits that only the driver tells one by one; CUDA guide, technical specifications.
int attribute_of(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (!value) return kInvalidValue;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT:
      *value = 32768;
      break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS:
      *value = 2048;
      break;
    default:
      return host::DeviceGetAttribute(value, attribute, device);
  }
  return host::SetDevice(device);
}

constexpr int kDeviceToHost = 2, kHostToDevice = 1, kDeviceToDevice = 3;

struct ErrorText {
  CUresult value;
  const char* name;
};
const ErrorText kNames[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {CUDA_ERROR_INVALID_SOURCE, "CUDA_ERROR_INVALID_SOURCE"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
    {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
};

}  // namespace

extern "C" {

SIMT_EXPORT CUresult cuInit(unsigned int flags) {
  return through_driver([&] { return host::Init(flags); });
}
SIMT_EXPORT CUresult cuDriverGetVersion(int* version) {
  return through_driver([&] { return host::DriverGetVersion(version); });
}
SIMT_EXPORT CUresult cuDeviceGetCount(int* count) {
  return through_driver([&] { return host::GetDeviceCount(count); });
}
SIMT_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return through_driver([&] { return host::DeviceGet(device, ordinal); });
}
SIMT_EXPORT CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return through_driver([&] { return host::DeviceGetName(name, length, device); });
}
SIMT_EXPORT CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return through_driver([&] { return host::DeviceTotalMem(bytes, device); });
}
SIMT_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return through_driver([&] { return attribute_of(value, attribute, device); });
}
SIMT_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return through_driver([&] { return give_context(context, device); });
}
SIMT_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return through_driver([&] { return host::SetDevice(device); });
}
SIMT_EXPORT CUresult cuCtxCreate(CUcontext* context, unsigned int, CUdevice device) {
  return through_driver([&] { return give_context(context, device); });
}
SIMT_EXPORT CUresult cuCtxDestroy(CUcontext context) {
  return through_driver([&]() -> int { return context == the_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; });
}
SIMT_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return through_driver(
      [&]() -> int { return !context || context == the_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT; });
}
SIMT_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  return through_driver([&] { return give_context(context, 0); });
}
SIMT_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  return through_driver([&] { return host::GetDevice(device); });
}
SIMT_EXPORT CUresult cuCtxSynchronize(void) {
  return through_driver([&] { return host::DeviceSynchronize(); });
}
SIMT_EXPORT CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  return through_driver([&] { return host::MemGetInfo(free_bytes, total); });
}
SIMT_EXPORT CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  return through_driver([&]() -> int {
    if (!pointer || bytes == 0) return kInvalidValue;
    return host::Malloc(reinterpret_cast<void**>(pointer), bytes);
  });
}
SIMT_EXPORT CUresult cuMemFree(CUdeviceptr pointer) {
  return through_driver([&] { return host::Free(pointer_to(pointer)); });
}
SIMT_EXPORT CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return through_driver([&] { return host::Memcpy(pointer_to(to), from, bytes, kHostToDevice); });
}
SIMT_EXPORT CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return through_driver([&] { return host::Memcpy(to, pointer_to(from), bytes, kDeviceToHost); });
}
SIMT_EXPORT CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return through_driver([&] { return host::Memcpy(pointer_to(to), pointer_to(from), bytes, kDeviceToDevice); });
}
SIMT_EXPORT CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count) {
  return through_driver([&] { return host::MemsetD8(pointer_to(pointer), value, count); });
}
SIMT_EXPORT CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count) {
  return through_driver([&] { return host::MemsetD16(pointer_to(pointer), value, count); });
}
SIMT_EXPORT CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count) {
  return through_driver([&] { return host::MemsetD32(pointer_to(pointer), static_cast<int>(value), count); });
}
SIMT_EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  return through_driver([&] { return host::StreamSynchronize(reinterpret_cast<Stream*>(stream)); });
}
SIMT_EXPORT CUresult cuGetErrorName(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  for (const ErrorText& entry : kNames)
    if (entry.value == error) *text = entry.name;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
SIMT_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = error_text(Vendor::kCuda, error);
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace simt
