// What clang's host code calls: registration before main, and the configuration of <<<>>>.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "host_api.h"
#include "module_registry.h"
#include "textures.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

namespace {

struct FatBinary {  // both vendors' wrapper
  uint32_t magic, version;
  const void* container;
  void* unused;
};
constexpr uint32_t kHipMagic = 0x48495046, kCudaMagic = 0x466243b1;

struct Configuration {
  Dim3 grid, block;
  size_t shared_bytes;
  Stream* stream;
};
thread_local std::vector<Configuration> configurations;

void** add_binary(const void* data) {
  const auto* binary = static_cast<const FatBinary*>(data);
  const bool ours = binary && (binary->magic == kHipMagic || binary->magic == kCudaMagic);
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  return reinterpret_cast<void**>(register_module(ours ? binary->container : nullptr));
}

Module& module_of(void** handle) { return *reinterpret_cast<Module*>(handle); }

void remove_binary(void** handle) {
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  unregister_module(module_of(handle));
}

void add_kernel(void** handle, const void* function, const char* name, int max_threads) {
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  register_kernel(module_of(handle), function, name, max_threads);
}

void add_variable(void** handle, void* variable, const char* name, size_t bytes, int constant) {
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  register_variable(module_of(handle), variable, name, bytes, constant != 0);
}

[[noreturn]] void refuse(const char* what, const char* name) {
  std::fprintf(stderr, "intelliperf: %s %s is not supported by the emulator\n", what, name ? name : "");
  std::_Exit(1);
}

int push(Dim3 grid, Dim3 block, size_t shared_bytes, Stream* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return kSuccess;
}

int pop(Dim3* grid, Dim3* block, size_t* shared_bytes, Stream** stream) {
  if (configurations.empty()) return kMissingConfiguration;
  const Configuration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *stream = last.stream;
  configurations.pop_back();
  return kSuccess;
}

}  // namespace

extern "C" {

SIMT_EXPORT void** __hipRegisterFatBinary(const void* data) { return add_binary(data); }
SIMT_EXPORT void __hipUnregisterFatBinary(void** handle) { remove_binary(handle); }
SIMT_EXPORT void __hipRegisterFunction(void** handle, const void* function, char*, const char* name,
                                       unsigned int max_threads, void*, void*, void*, void*, int*) {
  add_kernel(handle, function, name, static_cast<int>(max_threads));
}
SIMT_EXPORT void __hipRegisterVar(void** handle, void* variable, char*, const char* name, int, size_t bytes,
                                  int constant, int) {
  add_variable(handle, variable, name, bytes, constant);
}
SIMT_EXPORT void __hipRegisterManagedVar(void* handle, void** pointer, void* initial, const char* name, size_t bytes,
                                         unsigned) {
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  register_managed(module_of(static_cast<void**>(handle)), pointer, initial, name, bytes);
}
SIMT_EXPORT void __hipRegisterSurface(void**, void*, char*, char* name, int, int) { refuse("surface", name); }
SIMT_EXPORT void __hipRegisterTexture(void** handle, void* variable, char*, char* name, int, int, int) {
  add_variable(handle, variable, name, sizeof(textureReference), 1);
}
SIMT_EXPORT int __hipPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, Stream* stream) {
  return push(grid, block, shared_bytes, stream);
}
SIMT_EXPORT int __hipPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes, Stream** stream) {
  return pop(grid, block, shared_bytes, stream);
}

SIMT_EXPORT void** __cudaRegisterFatBinary(const void* data) { return add_binary(data); }
SIMT_EXPORT void __cudaRegisterFatBinaryEnd(void** handle) {
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  provide_mirrored(module_of(handle));
}
SIMT_EXPORT void __cudaUnregisterFatBinary(void** handle) { remove_binary(handle); }
SIMT_EXPORT char __cudaInitModule(void**) { return 1; }
SIMT_EXPORT void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int max_threads,
                                        void*, void*, void*, void*, int*) {
  add_kernel(handle, function, name, max_threads);
}
SIMT_EXPORT void __cudaRegisterVar(void** handle, char* variable, char*, const char* name, int, size_t bytes,
                                   int constant, int) {
  add_variable(handle, variable, name, bytes, constant);
}
SIMT_EXPORT void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name, int, size_t bytes,
                                          int, int) {
  const std::lock_guard<std::recursive_mutex> lock(api_lock());
  register_managed(module_of(handle), pointer, nullptr, name, bytes);
}
SIMT_EXPORT void __cudaRegisterSurface(void**, const void*, const void**, const char* name, int, int) {
  refuse("surface", name);
}
SIMT_EXPORT void __cudaRegisterTexture(void** handle, void* variable, const void**, const char* name, int, int, int) {
  add_variable(handle, variable, name, sizeof(textureReference), 1);
}
SIMT_EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, Stream* stream) {
  return static_cast<unsigned>(push(grid, block, shared_bytes, stream));
}
SIMT_EXPORT int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes, Stream** stream) {
  return pop(grid, block, shared_bytes, stream);
}

}  // extern "C"

}  // namespace simt
