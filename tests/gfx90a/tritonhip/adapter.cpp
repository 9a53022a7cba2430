// What Triton's driver asks of HIP 6, answered by HIP 5.2: Triton refuses an older one by its number.
//
// Functions go to the real library as they are. Three are given another form: the query for functions, the properties of a
// device, whose record has grown, and code objects of version 5, which this HIP finds no kernels in. Version 4 differs in
// the hidden arguments alone, which Triton's kernels do not have.
#include <dlfcn.h>
#include <elf.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "properties.h"

namespace {

constexpr int kVersion = 60000000;
constexpr unsigned char kOwnAbi = 3, kOlderAbi = 2;

void* real(const char* name) {
  static void* library = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_GLOBAL);
  return library ? dlsym(library, name) : nullptr;
}

template <typename Function>
Function* real_as(const char* name) {
  return reinterpret_cast<Function*>(real(name));
}

hipError_t properties(hipDeviceProp_t* into, int device) {
  Properties told{};
  const hipError_t status = hipError_t(properties_of(real("hipGetDeviceProperties"), device, &told));
  *into = {};
  std::memcpy(into->gcnArchName, told.architecture, sizeof told.architecture);
  into->sharedMemPerBlock = told.lds_bytes;
  into->regsPerBlock = told.registers;
  into->multiProcessorCount = told.compute_units;
  into->clockRate = told.clock_khz;
  into->memoryClockRate = told.memory_clock_khz;
  into->memoryBusWidth = told.memory_bits;
  into->warpSize = told.wave_size;
  into->maxThreadsPerMultiProcessor = told.most_threads;
  return status;
}

hipError_t load(hipModule_t* module, const void* image, unsigned count, hipJitOption* options, void** values) {
  const auto* head = static_cast<const Elf64_Ehdr*>(image);
  const auto* begin = static_cast<const unsigned char*>(image);
  std::vector<unsigned char> copy(begin, begin + head->e_shoff + size_t(head->e_shnum) * head->e_shentsize);
  if (copy[EI_ABIVERSION] == kOwnAbi) {
    copy[EI_ABIVERSION] = kOlderAbi;
    const std::string own = "amdhsa.version\x92\x01\x02";
    const auto at = std::search(copy.begin(), copy.end(), own.begin(), own.end());
    if (at != copy.end()) at[long(own.size()) - 1] = 1;
  }
  using Load = hipError_t(hipModule_t*, const void*, unsigned, hipJitOption*, void**);
  return real_as<Load>("hipModuleLoadDataEx")(module, copy.data(), count, options, values);
}

// What HIP 5.2 does not have; called by none of our programs.
hipError_t unsupported() { return hipErrorNotSupported; }

}  // namespace

extern "C" {

__attribute__((visibility("default"))) hipError_t hipDriverGetVersion(int* version) {
  *version = kVersion;
  return hipSuccess;
}

__attribute__((visibility("default"))) hipError_t hipGetProcAddress(const char* name, void** function, int, uint64_t,
                                                                    hipDriverProcAddressQueryResult* status) {
  const std::string wanted = name;
  *function = wanted == "hipGetDeviceProperties"             ? reinterpret_cast<void*>(properties)
              : wanted == "hipModuleLoadDataEx"              ? reinterpret_cast<void*>(load)
              : wanted == "hipModuleLaunchCooperativeKernel" ? reinterpret_cast<void*>(unsupported)
                                                             : real(name);
  if (status) *status = *function ? HIP_GET_PROC_ADDRESS_SUCCESS : HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? hipSuccess : hipErrorNotFound;
}

}  // extern "C"
