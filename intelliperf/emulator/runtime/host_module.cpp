// Modules: device code that a program loads by itself, from what `hipcc --genco`, `nvcc -ptx` or hipRTC and NVRTC made.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "code_object.h"
#include "device_image.h"
#include "host_api.h"
#include "module_registry.h"
#include "properties.h"

namespace simt::host {

namespace {

constexpr int kInvalidImage = 200, kFileNotFound = 301, kNotFound = 500;
constexpr uintptr_t kBufferPointer = 1, kBufferSize = 2, kEnd = 3;  // HIP_LAUNCH_PARAM_*

// What tells a kernel or variable without a host counterpart from all others; it lives as long as its module.
void* new_handle() { return new char; }

// Kernels and variables by their names: nothing of the host's stands for them.
void name_parts(Module& made) {
  for (const auto& kernel : made.metadata["kernels"].members())
    register_kernel(made, new_handle(), kernel.first.c_str(), 0);
  for (const auto& symbol : made.metadata["symbols"].members())
    register_variable(made, new_handle(), symbol.first.c_str(), symbol.second["size"].unsigned_or(0),
                      symbol.second["constant"].boolean());
}

int add_module(Module** module, std::vector<char> image) {
  auto* const kept = new std::vector<char>(std::move(image));  // read as long as the process runs
  *module = register_module(kept->data());
  target_device();  // reads the metadata
  name_parts(**module);
  return kSuccess;
}

// A GPU's own code, executed as it is.
int add_code(Module** module, const char* function, const char* name, const char* image) {
  std::string why;
  std::shared_ptr<CodeObject> code = load_code(image, &why);
  if (!code) {
    std::fprintf(stderr, "intelliperf: hip%s: %s: %s\n", function, name, why.c_str());
    return kInvalidImage;
  }
  *module = register_code(std::move(code));
  name_parts(**module);
  return kSuccess;
}

// `function` is HIP's name of what was called.
int load(Module** module, const char* function, const char* name, const char* data, size_t most) {
  std::vector<char> image;
  if (most >= sizeof(ContainerHeader) && CodeObject::looks_like(data)) return add_code(module, function, name, data);
  if (image_from(data, most, &image)) return add_module(module, std::move(image));
  const bool cuda = current_vendor() == Vendor::kCuda;
  std::fprintf(stderr, "intelliperf: %s%s: %s is neither device code that the emulator's %s made nor %s\n",
               cuda ? "cu" : "hip", function, name,
               cuda ? "nvcc -ptx, -cubin, -fatbin or NVRTC" : "hipcc --genco or hipRTC",
               cuda ? "text of it; PTX of other compilers is not supported" : "an AMD code object");
  return kInvalidImage;
}

// Where each parameter lies in a buffer laid out like a struct. A record says how large a parameter is, not how
// it is aligned: `most` bounds the alignment that is read from the size.
std::vector<size_t> offsets_in_buffer(const Kernel& kernel, size_t most, size_t* total) {
  std::vector<size_t> offsets;
  size_t end = 0;
  for (const Parameter& parameter : kernel.parameters) {
    size_t alignment = parameter.size & (~parameter.size + 1);  // the largest power of two that divides the size
    if (alignment > most) alignment = most;
    if (alignment > 1) end = (end + alignment - 1) & ~(alignment - 1);
    offsets.push_back(end);
    end += parameter.size;
  }
  *total = end;
  return offsets;
}

// Where the compiler put them.
std::vector<size_t> offsets_of(const CodeKernel& kernel, size_t* total) {
  std::vector<size_t> offsets;
  for (const CodeArgument& argument : kernel.arguments) {
    if (argument.hidden()) continue;
    offsets.push_back(argument.offset);
    *total = argument.offset + argument.size;
  }
  return offsets;
}

int launch_from_buffer(Kernel* kernel, Dim3 grid, Dim3 block, size_t shared_bytes, Stream* stream, void** extra) {
  char* buffer = nullptr;
  size_t bytes = 0;
  for (; reinterpret_cast<uintptr_t>(*extra) != kEnd; extra += 2) {
    if (reinterpret_cast<uintptr_t>(extra[0]) == kBufferPointer)
      buffer = static_cast<char*>(extra[1]);
    else if (reinterpret_cast<uintptr_t>(extra[0]) == kBufferSize)
      bytes = *static_cast<size_t*>(extra[1]);
    else
      return kInvalidValue;
  }
  if (!buffer && !kernel->parameters.empty()) return kInvalidValue;
  size_t total = 0;
  std::vector<size_t> offsets =
      kernel->code ? offsets_of(*kernel->code, &total) : offsets_in_buffer(*kernel, 16, &total);
  if (kernel->code && total > bytes) return kInvalidValue;
  if (total > bytes) offsets = offsets_in_buffer(*kernel, 8, &total);
  if (total > bytes) return kInvalidValue;
  std::vector<void*> arguments;
  for (const size_t offset : offsets) arguments.push_back(buffer + offset);
  return launch_kernel(kernel, grid, block, arguments.data(), shared_bytes, stream, false);
}

}  // namespace

int ModuleLoad(Module** module, const char* file) {
  if (!module || !file) return kInvalidValue;
  std::ifstream in(file, std::ios::binary);
  if (!in) return kFileNotFound;
  const std::vector<char> image((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return load(module, "ModuleLoad", file, image.data(), image.size());
}
int ModuleLoadData(Module** module, const void* image) {
  if (!module || !image) return kInvalidValue;
  return load(module, "ModuleLoadData", "the image", static_cast<const char*>(image), ~size_t{0});
}
int ModuleLoadDataEx(Module** module, const void* image, unsigned int, int*, void**) {
  return ModuleLoadData(module, image);
}
int ModuleUnload(Module* module) {
  if (!module) return kInvalidHandle;
  unregister_module(*module);
  return kSuccess;
}
int ModuleGetFunction(Kernel** function, Module* module, const char* name) {
  if (!function || !name) return kInvalidValue;
  if (!module) return kInvalidHandle;
  for (const auto& kernel : module->kernels)
    if (kernel->name == name) return (*function = find_kernel(kernel->host_function)) ? kSuccess : kNotFound;
  return kNotFound;
}
int ModuleGetGlobal(void** pointer, size_t* bytes, Module* module, const char* name) {
  if (!name || !module) return kInvalidValue;
  for (const auto& variable : module->variables) {
    if (variable->name != name || !find_variable(variable->host_variable)) continue;
    variable->fixed = false;
    if (pointer) *pointer = variable->address;
    if (bytes) *bytes = variable->bytes;
    return kSuccess;
  }
  return kNotFound;
}
int ModuleLaunchKernel(Kernel* function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                       unsigned int by, unsigned int bz, unsigned int shared_bytes, Stream* stream, void** arguments,
                       void** extra) {
  if (!function) return kInvalidHandle;
  if (arguments && extra) return kInvalidValue;
  if (extra) return launch_from_buffer(function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, extra);
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, arguments, shared_bytes, stream, false);
}
int ModuleLaunchCooperativeKernel(Kernel* function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                  unsigned int by, unsigned int bz, unsigned int shared_bytes, Stream* stream,
                                  void** arguments) {
  if (!function) return kInvalidHandle;
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, arguments, shared_bytes, stream, true);
}
// The grid is given in threads.
int ExtModuleLaunchKernel(Kernel* function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                          unsigned int by, unsigned int bz, size_t shared_bytes, Stream* stream, void** arguments,
                          void** extra, Event* start, Event* stop, unsigned int) {
  if (bx == 0 || by == 0 || bz == 0 || gx % bx || gy % by || gz % bz) return kInvalidValue;
  int error = start ? EventRecord(start, stream) : static_cast<int>(kSuccess);
  if (error == kSuccess)
    error = ModuleLaunchKernel(function, gx / bx, gy / by, gz / bz, bx, by, bz, static_cast<unsigned int>(shared_bytes),
                               stream, arguments, extra);
  if (error == kSuccess && stop) error = EventRecord(stop, stream);
  return error;
}
int ModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel* function, int threads, size_t dynamic_bytes) {
  return function ? OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function->host_function, threads, dynamic_bytes)
                  : static_cast<int>(kInvalidHandle);
}
int ModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* function, size_t dynamic_bytes, int limit) {
  return function ? OccupancyMaxPotentialBlockSize(grid, block, function->host_function, dynamic_bytes, limit)
                  : static_cast<int>(kInvalidHandle);
}

}  // namespace simt::host
