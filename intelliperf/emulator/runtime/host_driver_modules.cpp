// CUDA's driver API: modules, libraries, links and launches. A library is a module, a kernel a function; a link of one
// input is that input, since the emulator's nvcc and NVRTC have done the work of an assembler already.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "device_image.h"
#include "host_driver.h"
#include "properties.h"

namespace simt {

namespace {

// What the launches of CUDA 3 and older set piece by piece; newer toolkits still have them.
struct OldLaunch {
  Dim3 block{1, 1, 1};
  unsigned int shared_bytes = 0;
  std::vector<char> parameters;
};

struct Link {
  std::vector<char> image;
  int inputs = 0;
};

Module* of(CUmodule module) { return reinterpret_cast<Module*>(module); }
Module* of(CUlibrary library) { return reinterpret_cast<Module*>(library); }
Kernel* of(CUfunction function) { return reinterpret_cast<Kernel*>(function); }
Link* of(CUlinkState link) { return reinterpret_cast<Link*>(link); }
Stream* of(CUstream stream) { return reinterpret_cast<Stream*>(stream); }

// The driver ends its lists with 0 and counts from 1, where HIP ends with 3 and counts from 1.
int launch(CUfunction function, Dim3 grid, Dim3 block, unsigned int shared_bytes, CUstream stream, void** arguments,
           void** extra) {
  std::vector<void*> translated;
  for (void** at = extra; at && *at; at += 2) translated.insert(translated.end(), {at[0], at[1]});
  if (extra) translated.push_back(reinterpret_cast<void*>(uintptr_t{3}));  // NOLINT(performance-no-int-to-ptr)
  return host::ModuleLaunchKernel(of(function), grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                                  of(stream), arguments, extra ? translated.data() : nullptr);
}

OldLaunch& old_launch(CUfunction function) {
  static auto* const known = new std::map<CUfunction, OldLaunch>;
  return (*known)[function];
}

int set_parameter(CUfunction function, int offset, const void* value, size_t bytes) {
  if (!function) return kInvalidHandle;
  if (offset < 0 || !value) return kInvalidValue;
  std::vector<char>& all = old_launch(function).parameters;
  if (all.size() < static_cast<size_t>(offset) + bytes) all.resize(static_cast<size_t>(offset) + bytes);
  std::memcpy(all.data() + offset, value, bytes);
  return kSuccess;
}

int launch_old(CUfunction function, int width, int height, CUstream stream) {
  if (!function) return kInvalidHandle;
  if (width <= 0 || height <= 0) return kInvalidValue;
  OldLaunch& old = old_launch(function);
  size_t bytes = old.parameters.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, old.parameters.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  return launch(function, {static_cast<uint32_t>(width), static_cast<uint32_t>(height), 1}, old.block, old.shared_bytes,
                stream, nullptr, extra);
}

int function_attribute(int* value, CUfunction_attribute attribute, const Kernel* kernel) {
  if (!kernel) return kInvalidHandle;
  if (!value) return kInvalidValue;
  const DeviceLimits& p = device_limits();
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = kernel->max_threads ? static_cast<int>(kernel->max_threads) : p.threads_per_block;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel->static_lds);
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(kernel->facts.scratch_bytes);
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(kernel->facts.vgprs);
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = p.major * 10 + p.minor;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value =
          static_cast<int>(kernel->dynamic_lds_limit ? kernel->dynamic_lds_limit
                                                     : static_cast<uint64_t>(p.shared_per_block) - kernel->static_lds);
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = kernel->carveout;
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}

int add_input(Link* link, const char* image, size_t bytes, const char* name) {
  if (!link || !image) return kInvalidValue;
  if (++link->inputs > 1) return not_supported("cuLinkAddData of several inputs");
  if (!image_from(image, bytes, &link->image)) {
    std::fprintf(stderr, "intelliperf: cuLinkAddData: %s is not device code of the emulator's nvcc or NVRTC\n",
                 name ? name : "the input");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  return kSuccess;
}

int add_file(Link* link, const char* file) {
  if (!link || !file) return kInvalidValue;
  std::ifstream in(file, std::ios::binary);
  if (!in) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::vector<char> content((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return add_input(link, content.data(), content.size(), file);
}

}  // namespace

SIMT_DRIVER(cuModuleLoad, (CUmodule * module, const char* file),
            return host::ModuleLoad(reinterpret_cast<Module**>(module), file);)
SIMT_DRIVER(cuModuleLoadData, (CUmodule * module, const void* image),
            return host::ModuleLoadData(reinterpret_cast<Module**>(module), image);)
SIMT_DRIVER(cuModuleLoadDataEx, (CUmodule * module, const void* image, unsigned int, CUjit_option*, void**),
            return host::ModuleLoadData(reinterpret_cast<Module**>(module), image);)
SIMT_DRIVER(cuModuleLoadFatBinary, (CUmodule * module, const void* image),
            return host::ModuleLoadData(reinterpret_cast<Module**>(module), image);)
SIMT_DRIVER(cuModuleUnload, (CUmodule module), return host::ModuleUnload(of(module));)
SIMT_DRIVER(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name),
            return host::ModuleGetFunction(reinterpret_cast<Kernel**>(function), of(module), name);)
SIMT_DRIVER(cuModuleGetGlobal, (CUdeviceptr * pointer, size_t* bytes, CUmodule module, const char* name),
            return host::ModuleGetGlobal(reinterpret_cast<void**>(pointer), bytes, of(module), name);)
SIMT_DRIVER(cuLibraryLoadData,
            (CUlibrary * library, const void* image, CUjit_option*, void**, unsigned int, void*, void**, unsigned int),
            return host::ModuleLoadData(reinterpret_cast<Module**>(library), image);)
SIMT_DRIVER(cuLibraryLoadFromFile,
            (CUlibrary * library, const char* file, CUjit_option*, void**, unsigned int, void*, void**, unsigned int),
            return host::ModuleLoad(reinterpret_cast<Module**>(library), file);)
SIMT_DRIVER(cuLibraryUnload, (CUlibrary library), return host::ModuleUnload(of(library));)
SIMT_DRIVER(cuLibraryGetModule, (CUmodule * module, CUlibrary library), {
  if (!module) return kInvalidValue;
  return *module = reinterpret_cast<CUmodule>(library), kSuccess;
})
SIMT_DRIVER(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char* name),
            return host::ModuleGetFunction(reinterpret_cast<Kernel**>(kernel), of(library), name);)
SIMT_DRIVER(cuLibraryGetGlobal, (CUdeviceptr * pointer, size_t* bytes, CUlibrary library, const char* name),
            return host::ModuleGetGlobal(reinterpret_cast<void**>(pointer), bytes, of(library), name);)
SIMT_DRIVER(cuKernelGetFunction, (CUfunction * function, CUkernel kernel), {
  if (!function) return kInvalidValue;
  return *function = reinterpret_cast<CUfunction>(kernel), kSuccess;
})

SIMT_DRIVER(cuLinkCreate, (unsigned int, CUjit_option*, void**, CUlinkState* link), {
  if (!link) return kInvalidValue;
  return *link = reinterpret_cast<CUlinkState>(new Link), kSuccess;
})
SIMT_DRIVER(cuLinkAddData,
            (CUlinkState link, CUjitInputType, void* image, size_t bytes, const char* name, unsigned int, CUjit_option*,
             void**),
            return add_input(of(link), static_cast<const char*>(image), bytes, name);)
SIMT_DRIVER(cuLinkAddFile, (CUlinkState link, CUjitInputType, const char* file, unsigned int, CUjit_option*, void**),
            return add_file(of(link), file);)
SIMT_DRIVER(cuLinkComplete, (CUlinkState link, void** image, size_t* bytes), {
  if (!link || !image || of(link)->image.empty()) return kInvalidValue;
  *image = of(link)->image.data();
  if (bytes) *bytes = of(link)->image.size();
  return kSuccess;
})
SIMT_DRIVER(cuLinkDestroy, (CUlinkState link), {
  delete of(link);
  return kSuccess;
})

SIMT_DRIVER(cuLaunchKernel,
            (CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by,
             unsigned int bz, unsigned int shared_bytes, CUstream stream, void** arguments, void** extra),
            return launch(function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, arguments, extra);)
SIMT_DRIVER(cuLaunchCooperativeKernel,
            (CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by,
             unsigned int bz, unsigned int shared_bytes, CUstream stream, void** arguments),
            return host::ModuleLaunchCooperativeKernel(of(function), gx, gy, gz, bx, by, bz, shared_bytes, of(stream),
                                                       arguments);)
SIMT_DRIVER(cuFuncSetBlockShape, (CUfunction function, int x, int y, int z), {
  if (!function) return kInvalidHandle;
  if (x <= 0 || y <= 0 || z <= 0) return kInvalidValue;
  return old_launch(function).block = {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)},
         kSuccess;
})
SIMT_DRIVER(cuFuncSetSharedSize, (CUfunction function, unsigned int bytes), {
  if (!function) return kInvalidHandle;
  return old_launch(function).shared_bytes = bytes, kSuccess;
})
SIMT_DRIVER(cuParamSetSize, (CUfunction function, unsigned int bytes), {
  if (!function) return kInvalidHandle;
  return old_launch(function).parameters.resize(bytes), kSuccess;
})
SIMT_DRIVER(cuParamSeti, (CUfunction function, int offset, unsigned int value),
            return set_parameter(function, offset, &value, sizeof value);)
SIMT_DRIVER(cuParamSetf, (CUfunction function, int offset, float value),
            return set_parameter(function, offset, &value, sizeof value);)
SIMT_DRIVER(cuParamSetv, (CUfunction function, int offset, void* value, unsigned int bytes),
            return set_parameter(function, offset, value, bytes);)
SIMT_DRIVER(cuLaunch, (CUfunction function), return launch_old(function, 1, 1, nullptr);)
SIMT_DRIVER(cuLaunchGrid, (CUfunction function, int width, int height),
            return launch_old(function, width, height, nullptr);)
SIMT_DRIVER(cuLaunchGridAsync, (CUfunction function, int width, int height, CUstream stream),
            return launch_old(function, width, height, stream);)
SIMT_DRIVER(cuFuncGetAttribute, (int* value, CUfunction_attribute attribute, CUfunction function),
            return function_attribute(value, attribute, of(function));)
SIMT_DRIVER(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
            return function ? host::FuncSetAttribute(of(function)->host_function, attribute, value)
                            : static_cast<int>(kInvalidHandle);)
SIMT_DRIVER(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config),
            return function ? host::FuncSetCacheConfig(of(function)->host_function, config)
                            : static_cast<int>(kInvalidHandle);)
SIMT_DRIVER(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig config),
            return function ? host::FuncSetSharedMemConfig(of(function)->host_function, config)
                            : static_cast<int>(kInvalidHandle);)
SIMT_DRIVER(cuFuncGetName, (const char** name, CUfunction function), {
  if (!name || !function) return kInvalidValue;
  return *name = of(function)->name.c_str(), kSuccess;
})
SIMT_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
            (int* blocks, CUfunction function, int threads, size_t dynamic_bytes),
            return host::ModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, of(function), threads, dynamic_bytes);)
SIMT_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
            (int* blocks, CUfunction function, int threads, size_t dynamic_bytes, unsigned int),
            return host::ModuleOccupancyMaxActiveBlocksPerMultiprocessor(blocks, of(function), threads, dynamic_bytes);)
SIMT_DRIVER(cuOccupancyMaxPotentialBlockSize,
            (int* grid, int* block, CUfunction function, CUoccupancyB2DSize dynamic_bytes_of, size_t dynamic_bytes,
             int limit),
            {
              if (dynamic_bytes_of) return not_supported("cuOccupancyMaxPotentialBlockSize with a function");
              return host::ModuleOccupancyMaxPotentialBlockSize(grid, block, of(function), dynamic_bytes, limit);
            })

}  // namespace simt
