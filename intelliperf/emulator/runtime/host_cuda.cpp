// CUDA's functions with structures of its own.
#include "host_api.h"
#include "other_properties.h"
#include "properties.h"

#include <cstdio>
#include <cstring>

#include "cuda_runtime_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

namespace {

cudaError_t as_cuda(int error) { return static_cast<cudaError_t>(error); }

template <class Core>
cudaError_t through(Core core) {
  const Call call(Vendor::kCuda);
  return as_cuda(call.done(core()));
}

// What all releases tell.
template <class Properties>
void fill_common(Properties& out) {
  const Device& d = target_device();
  const DeviceLimits& p = device_limits();
  std::memset(&out, 0, sizeof out);
  std::snprintf(out.name, sizeof out.name, "%s", d.name);
  std::memcpy(&out.uuid, "INTELLIPERF-SIMT", sizeof out.uuid);
  out.totalGlobalMem = d.dram_total_bytes;
  out.sharedMemPerBlock = static_cast<size_t>(p.shared_per_block);
  out.sharedMemPerBlockOptin = static_cast<size_t>(p.shared_per_block_optin);
  out.sharedMemPerMultiprocessor = static_cast<size_t>(p.shared_per_compute_unit);
  out.regsPerBlock = p.registers_per_block;
  out.regsPerMultiprocessor = p.registers_per_compute_unit;
  out.warpSize = p.wave_size;
  out.memPitch = 0x7fffffff;
  out.maxThreadsPerBlock = p.threads_per_block;
  std::memcpy(out.maxThreadsDim, p.block, sizeof p.block);
  std::memcpy(out.maxGridSize, p.grid, sizeof p.grid);
  out.totalConstMem = static_cast<size_t>(p.constant_bytes);
  out.major = p.major;
  out.minor = p.minor;
  out.maxTexture1D = out.maxTexture2D[0] = p.texture_width;
  out.maxTexture2D[1] = p.texture_width < 65536 ? p.texture_width : 65536;
  out.maxTexture3D[0] = out.maxTexture3D[1] = out.maxTexture3D[2] = p.texture_depth;
  out.textureAlignment = static_cast<size_t>(p.texture_alignment);
  out.texturePitchAlignment = 32;
  out.surfaceAlignment = 512;
  out.multiProcessorCount = p.compute_units;
  out.maxThreadsPerMultiProcessor = p.threads_per_compute_unit;
  out.maxBlocksPerMultiProcessor = p.blocks_per_compute_unit;
  out.memoryBusWidth = p.memory_bus_bits;
  out.l2CacheSize = p.l2_bytes;
  out.pciBusID = 1;
  out.canMapHostMemory = out.concurrentKernels = out.ECCEnabled = out.unifiedAddressing = 1;
  out.asyncEngineCount = out.streamPrioritiesSupported = out.globalL1CacheSupported = out.localL1CacheSupported = 1;
  out.managedMemory = out.concurrentManagedAccess = out.canUseHostPointerForRegisteredMem = 1;
  out.cooperativeLaunch = out.hostRegisterSupported = out.memoryPoolsSupported = 1;
}

void fill(CudaProperties13& out) { fill_common(out); }

void fill(cudaDeviceProp& out) {
  const DeviceLimits& p = device_limits();
  fill_common(out);
  out.clockRate = p.clock_khz;
  out.maxTexture1DLinear = 1 << 27;
  out.memoryClockRate = p.memory_clock_khz;
  out.singleToDoublePrecisionPerfRatio = p.single_to_double;
  out.deviceOverlap = 1;
}

template <class Properties>
cudaError_t properties_of(Properties* properties, int device) {
  return through([&]() -> int {
    if (!properties) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    fill(*properties);
    return kSuccess;
  });
}

cudaMemoryType type_of(const Allocation* a) {
  if (!a) return cudaMemoryTypeUnregistered;
  if (a->kind == MemoryKind::kManaged) return cudaMemoryTypeManaged;
  return a->kind == MemoryKind::kPinned || a->kind == MemoryKind::kRegistered ? cudaMemoryTypeHost
                                                                              : cudaMemoryTypeDevice;
}

int launch_with(const cudaLaunchConfig_t& config, const void* function, void** arguments) {
  bool cooperative = false;
  for (unsigned int i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) cooperative = attribute.val.cooperative != 0;
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension && uint64_t{cluster.x} * cluster.y * cluster.z > 1)
      return not_supported("cudaLaunchAttributeClusterDimension");
  }
  const Dim3 grid{config.gridDim.x, config.gridDim.y, config.gridDim.z};
  const Dim3 block{config.blockDim.x, config.blockDim.y, config.blockDim.z};
  return host::launch_kernel(find_kernel(function), grid, block, arguments, config.dynamicSmemBytes,
                             reinterpret_cast<Stream*>(config.stream), cooperative);
}

}  // namespace

extern "C" {

SIMT_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {  // …_v2, by the header
  return properties_of(properties, device);
}
#undef cudaGetDeviceProperties
SIMT_EXPORT cudaError_t cudaGetDeviceProperties(CudaProperties13* properties, int device) {
  return properties_of(properties, device);
}
SIMT_EXPORT cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return through([&]() -> int { return wanted ? host::GetDevice(device) : static_cast<int>(kInvalidValue); });
}
SIMT_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return through([&]() -> int {
    if (!attributes) return kInvalidValue;
    const Allocation* a = pointer ? find(pointer) : nullptr;
    std::memset(attributes, 0, sizeof *attributes);
    attributes->type = type_of(a);
    void* same = const_cast<void*>(pointer);
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = same;
    if (a) attributes->devicePointer = same;
    attributes->device = a ? 0 : -2;
    return kSuccess;
  });
}
SIMT_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
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
    attributes->maxDynamicSharedSizeBytes = kernel->dynamic_lds_limit
                                                ? static_cast<int>(kernel->dynamic_lds_limit)
                                                : p.shared_per_block - static_cast<int>(kernel->static_lds);
    attributes->binaryVersion = attributes->ptxVersion = p.major * 10 + p.minor;
    attributes->preferredShmemCarveout = kernel->carveout;
    return kSuccess;
  });
}
SIMT_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  const Call call(Vendor::kCuda);
  if (call.sticky()) return as_cuda(call.done(call.sticky()));
  return as_cuda(call.done(config ? launch_with(*config, function, arguments) : static_cast<int>(kInvalidValue)));
}

}  // extern "C"

// The C name of what C++ has as an overload of the header.
extern "C" SIMT_EXPORT int simt_cuda_graph_instantiate(Graph** executable, Graph* graph,
                                                       unsigned long long flags) __asm__("cudaGraphInstantiate");
extern "C" int simt_cuda_graph_instantiate(Graph** executable, Graph* graph, unsigned long long flags) {
  const Call call(Vendor::kCuda);
  return call.done(host::GraphInstantiateWithFlags(executable, graph, flags));
}

}  // namespace simt
