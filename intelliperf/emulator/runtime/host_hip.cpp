// HIP's functions with structures of its own.
#include "host_api.h"
#include "other_properties.h"
#include "properties.h"

#include <cstdio>
#include <cstring>

#include "hip/hip_runtime_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

namespace {

constexpr char kUuid[] = "INTELLIPERF-SIMT";

hipError_t as_hip(int error) { return static_cast<hipError_t>(error); }

template <class Core>
hipError_t through(Core core) {
  const Call call(Vendor::kHip);
  return as_hip(call.done(core()));
}

// One end of a copy of rows, the offset into it included.
struct Rows {
  char* begin;
  size_t pitch;
};

Rows rows_of(hipMemoryType type, const void* host, const void* device, size_t x, size_t y, size_t pitch, size_t width) {
  const void* base = type == hipMemoryTypeHost ? host : device;
  if (pitch == 0) pitch = width;
  return {const_cast<char*>(static_cast<const char*>(base)) + y * pitch + x, pitch};
}

int copy_rows(const hip_Memcpy2D* c, Stream* stream, bool blocking) {
  if (!c) return kInvalidValue;
  Array* from_array = c->srcMemoryType == hipMemoryTypeArray ? reinterpret_cast<Array*>(c->srcArray) : nullptr;
  Array* to_array = c->dstMemoryType == hipMemoryTypeArray ? reinterpret_cast<Array*>(c->dstArray) : nullptr;
  if (from_array && to_array) return not_supported("hipMemcpyParam2D from array to array");
  const Rows from =
      rows_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY, c->srcPitch, c->WidthInBytes);
  const Rows to =
      rows_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY, c->dstPitch, c->WidthInBytes);
  int error;
  if (to_array)
    error = host::Memcpy2DToArrayAsync(to_array, c->dstXInBytes, c->dstY, from.begin, from.pitch, c->WidthInBytes,
                                       c->Height, hipMemcpyDefault, stream);
  else if (from_array)
    error = host::Memcpy2DFromArrayAsync(to.begin, to.pitch, from_array, c->srcXInBytes, c->srcY, c->WidthInBytes,
                                         c->Height, hipMemcpyDefault, stream);
  else
    error = host::Memcpy2DAsync(to.begin, to.pitch, from.begin, from.pitch, c->WidthInBytes, c->Height,
                                hipMemcpyDefault, stream);
  return error == kSuccess && blocking ? host::StreamSynchronize(stream) : error;
}

template <class T>
int write_value(Stream* stream, void* pointer, T value) {
  if (!pointer) return kInvalidValue;
  return host::MemcpyAsync(pointer, &value, sizeof value, hipMemcpyDefault, stream);
}

// All work that was issued before is done: a value that is not there yet would have to come from another thread.
template <class T>
int wait_for_value(Stream* handle, const void* pointer, T wanted, unsigned int how, T mask) {
  if (!pointer || !resolve_stream(handle)) return kInvalidValue;
  if (any_capture()) return not_supported("hipStreamWaitValue in a capture");
  const T found = *static_cast<const volatile T*>(pointer) & mask;
  bool met = false;
  switch (how) {
    case hipStreamWaitValueGte:
      met = found >= wanted;
      break;
    case hipStreamWaitValueEq:
      met = found == wanted;
      break;
    case hipStreamWaitValueAnd:
      met = (found & wanted) != 0;
      break;
    case hipStreamWaitValueNor:
      met = static_cast<T>(~(found | wanted)) != 0;
      break;
    default:
      return kInvalidValue;
  }
  return met ? static_cast<int>(kSuccess)
             : not_supported("hipStreamWaitValue for a value that no earlier work has written");
}

const char* target_features(const Device& d) {
  const bool compute = std::strncmp(d.architecture, "gfx9", 4) == 0;
  return compute ? ":sramecc+:xnack-" : "";
}

// What all releases tell.
template <class Properties>
void fill_common(Properties& out) {
  const Device& d = target_device();
  const DeviceLimits& p = device_limits();
  std::memset(&out, 0, sizeof out);
  std::snprintf(out.name, sizeof out.name, "%s", d.name);
  std::snprintf(out.gcnArchName, sizeof out.gcnArchName, "%s%s", d.architecture, d.amd() ? target_features(d) : "");
  out.totalGlobalMem = d.dram_total_bytes;
  out.sharedMemPerBlock = static_cast<size_t>(p.shared_per_block);
  out.maxSharedMemoryPerMultiProcessor = static_cast<size_t>(p.shared_per_compute_unit);
  out.regsPerBlock = p.registers_per_block;
  out.warpSize = p.wave_size;
  out.memPitch = 0x7fffffff;
  out.maxThreadsPerBlock = p.threads_per_block;
  std::memcpy(out.maxThreadsDim, p.block, sizeof p.block);
  std::memcpy(out.maxGridSize, p.grid, sizeof p.grid);
  out.clockRate = p.clock_khz;
  out.clockInstructionRate = p.wall_clock_khz;
  out.totalConstMem = static_cast<size_t>(p.constant_bytes);
  out.major = p.major;
  out.minor = p.minor;
  out.gcnArch = p.major * 100 + p.minor * 10;
  out.maxTexture1D = out.maxTexture2D[0] = p.texture_width;
  out.maxTexture2D[1] = p.texture_width < 65536 ? p.texture_width : 65536;
  out.maxTexture3D[0] = out.maxTexture3D[1] = out.maxTexture3D[2] = p.texture_depth;
  out.maxTexture1DLinear = 1 << 27;
  out.textureAlignment = static_cast<size_t>(p.texture_alignment);
  out.texturePitchAlignment = static_cast<size_t>(p.texture_alignment);
  out.multiProcessorCount = p.compute_units;
  out.maxThreadsPerMultiProcessor = p.threads_per_compute_unit;
  out.memoryClockRate = p.memory_clock_khz;
  out.memoryBusWidth = p.memory_bus_bits;
  out.l2CacheSize = p.l2_bytes;
  out.pciBusID = 1;
  out.canMapHostMemory = out.concurrentKernels = out.ECCEnabled = 1;
  out.managedMemory = out.concurrentManagedAccess = out.cooperativeLaunch = 1;
  hipDeviceArch_t& arch = out.arch;
  arch.hasGlobalInt32Atomics = arch.hasGlobalFloatAtomicExch = arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = arch.hasFloatAtomicAdd = arch.hasGlobalInt64Atomics = arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = arch.hasWarpVote = arch.hasWarpBallot = arch.hasWarpShuffle = arch.hasThreadFenceSystem =
      arch.has3dGrid = 1;
}

using Older = HipProperties5<hipDeviceArch_t>;
static_assert(sizeof(Older) == 792 && offsetof(Older, multiProcessorCount) == 336);

void fill(Older& out) { fill_common(out); }

void fill(hipDeviceProp_t& out) {
  const DeviceLimits& p = device_limits();
  fill_common(out);
  std::memcpy(out.uuid.bytes, kUuid, sizeof out.uuid.bytes);
  out.sharedMemPerBlockOptin = static_cast<size_t>(p.shared_per_block_optin);
  out.sharedMemPerMultiprocessor = static_cast<size_t>(p.shared_per_compute_unit);
  out.regsPerMultiprocessor = p.registers_per_compute_unit;
  out.maxBlocksPerMultiProcessor = p.blocks_per_compute_unit;
  out.singleToDoublePrecisionPerfRatio = p.single_to_double;
  out.deviceOverlap = out.unifiedAddressing = out.canUseHostPointerForRegisteredMem = 1;
  out.asyncEngineCount = out.streamPrioritiesSupported = out.globalL1CacheSupported = out.localL1CacheSupported = 1;
  out.hostRegisterSupported = out.memoryPoolsSupported = 1;
}

template <class Properties>
hipError_t properties_of(Properties* properties, int device) {
  return through([&]() -> int {
    if (!properties) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    fill(*properties);
    return kSuccess;
  });
}

hipMemoryType type_of(const Allocation* a) {
  if (!a) return hipMemoryTypeUnregistered;
  if (a->kind == MemoryKind::kManaged) return hipMemoryTypeManaged;
  return a->kind == MemoryKind::kPinned || a->kind == MemoryKind::kRegistered ? hipMemoryTypeHost : hipMemoryTypeDevice;
}

}  // namespace

extern "C" {

SIMT_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {  // …R0600, by the header
  return properties_of(properties, device);
}
#undef hipGetDeviceProperties
SIMT_EXPORT hipError_t hipGetDeviceProperties(Older* properties, int device) {
  return properties_of(properties, device);
}
SIMT_EXPORT hipError_t hipChooseDevice(int* device, const hipDeviceProp_t* wanted) {
  return through([&]() -> int { return wanted ? host::GetDevice(device) : static_cast<int>(kInvalidValue); });
}
SIMT_EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return through([&]() -> int {
    if (!attributes || !pointer) return kInvalidValue;
    const Allocation* a = find(pointer);
    std::memset(attributes, 0, sizeof *attributes);
    attributes->type = type_of(a);
    void* same = const_cast<void*>(pointer);
    if (attributes->type == hipMemoryTypeHost || attributes->type == hipMemoryTypeManaged)
      attributes->hostPointer = same;
    if (a) attributes->devicePointer = same;
    attributes->device = a ? 0 : -2;
    attributes->isManaged = attributes->type == hipMemoryTypeManaged;
    attributes->allocationFlags = a ? a->flags : 0;
    return kSuccess;
  });
}
SIMT_EXPORT hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return through([&]() -> int {
    const Kernel* kernel = find_kernel(function);
    if (!attributes) return kInvalidValue;
    if (!kernel) return kInvalidDeviceFunction;
    const DeviceLimits& p = device_limits();
    std::memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel->static_lds;
    attributes->localSizeBytes = kernel->facts.scratch_bytes;
    attributes->numRegs = static_cast<int>(kernel->facts.vgprs);
    attributes->maxThreadsPerBlock = kernel->max_threads ? static_cast<int>(kernel->max_threads) : p.threads_per_block;
    attributes->maxDynamicSharedSizeBytes = p.shared_per_block - static_cast<int>(kernel->static_lds);
    attributes->binaryVersion = attributes->ptxVersion = p.major * 10 + p.minor;
    attributes->preferredShmemCarveout = kernel->carveout;
    return kSuccess;
  });
}
SIMT_EXPORT hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  const auto* kernel = reinterpret_cast<const Kernel*>(function);
  hipFuncAttributes all;
  if (!value || !kernel) return hipErrorInvalidValue;
  const hipError_t error = hipFuncGetAttributes(&all, kernel->host_function);
  if (error != hipSuccess) return error;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = all.maxThreadsPerBlock;
      break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(all.sharedSizeBytes);
      break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(all.constSizeBytes);
      break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(all.localSizeBytes);
      break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = all.numRegs;
      break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = all.ptxVersion;
      break;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = all.binaryVersion;
      break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = all.cacheModeCA;
      break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = all.maxDynamicSharedSizeBytes;
      break;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = all.preferredShmemCarveout;
      break;
    default:
      return hipErrorInvalidValue;
  }
  return hipSuccess;
}
SIMT_EXPORT hipError_t hipMemcpyParam2D(const hip_Memcpy2D* copy) {
  return through([&]() -> int { return copy_rows(copy, nullptr, true); });
}
SIMT_EXPORT hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* copy) { return hipMemcpyParam2D(copy); }
SIMT_EXPORT hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* copy, hipStream_t stream) {
  return through([&]() -> int { return copy_rows(copy, reinterpret_cast<Stream*>(stream), false); });
}
SIMT_EXPORT hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return through([&]() -> int {
    if (!uuid) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    std::memcpy(uuid->bytes, kUuid, sizeof uuid->bytes);
    return kSuccess;
  });
}
SIMT_EXPORT hipError_t hipStreamWriteValue32(hipStream_t stream, void* pointer, unsigned int value, unsigned int) {
  return through([&]() -> int { return write_value(reinterpret_cast<Stream*>(stream), pointer, value); });
}
SIMT_EXPORT hipError_t hipStreamWriteValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned int) {
  return through([&]() -> int { return write_value(reinterpret_cast<Stream*>(stream), pointer, value); });
}
SIMT_EXPORT hipError_t hipStreamWaitValue32(hipStream_t stream, void* pointer, uint32_t value, unsigned int flags,
                                            uint32_t mask) {
  return through(
      [&]() -> int { return wait_for_value(reinterpret_cast<Stream*>(stream), pointer, value, flags, mask); });
}
SIMT_EXPORT hipError_t hipStreamWaitValue64(hipStream_t stream, void* pointer, uint64_t value, unsigned int flags,
                                            uint64_t mask) {
  return through(
      [&]() -> int { return wait_for_value(reinterpret_cast<Stream*>(stream), pointer, value, flags, mask); });
}

}  // extern "C"

}  // namespace simt
