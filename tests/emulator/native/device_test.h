// A hand-made device module: kernels in C++ that call the hooks as instrumented code does.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "launch.h"
#include "memory.h"

namespace device_test {

using namespace simt;

inline int failures = 0;

inline void expect(bool holds, const char* text, int line) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "line %d: expected %s\n", line, text);
}
#define EXPECT(condition) device_test::expect((condition), #condition, __LINE__)

// LDS of the module, as the linker's section would be.
alignas(128) inline char shared[65536];

inline uint32_t x() { return __simt_thread()->index[0]; }
inline uint32_t block_x() { return __simt_grid.block_index[0]; }
inline uint32_t global_x() { return block_x() * __simt_grid.block_dim[0] + x(); }

// Sites by number; their order is the weak topological order of each kernel.
struct TestModule {
  std::vector<Site> sites;
  std::vector<uint64_t> executions = std::vector<uint64_t>(64, 0);
  simt::Module image;
  std::vector<std::unique_ptr<Kernel>> kernels;

  uint32_t site(SiteKind kind, uint32_t bytes, uint16_t flags = 0) {
    sites.push_back(Site{uint16_t(kind), flags, bytes});
    return uint32_t(sites.size() - 1);
  }
  Kernel* kernel(const char* name, KernelEntry fast, KernelEntry trace) {
    kernels.emplace_back(new Kernel);
    Kernel* made = kernels.back().get();
    made->name = made->display = name;
    made->module = &image;
    made->fast = fast;
    made->trace = trace;
    return made;
  }
  void load(uint32_t lds_bytes) {
    image.sites = sites.data();
    image.site_count = uint32_t(sites.size());
    image.block_executions = executions.data();
    image.block_count = uint32_t(executions.size());
    image.shared_begin = shared;
    image.shared_end = shared + lds_bytes;
    image.metadata_text = "{\"abi\":1,\"sites\":[],\"blocks\":[]}";
    bool ok = false;
    image.metadata = JsonValue::parse(image.metadata_text, &ok);
    record_module(image);
  }
};

inline LaunchOutcome run(Kernel* kernel, uint32_t grid, uint32_t block, void** arguments, uint32_t lds = 0,
                         bool cooperative = false) {
  LaunchRequest request;
  request.kernel = kernel;
  request.grid.x = grid;
  request.block.x = block;
  request.dynamic_lds = lds;
  request.arguments = arguments;
  request.cooperative = cooperative;
  return launch(request);
}

template <class T>
T* device_array(uint64_t count, int fill = 0) {
  T* base = reinterpret_cast<T*>(allocate(count * sizeof(T), MemoryKind::kDevice)->base);
  std::memset(static_cast<void*>(base), fill, count * sizeof(T));
  return base;
}

}  // namespace device_test
