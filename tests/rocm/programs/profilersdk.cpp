// Stands in for rocprofiler-sdk and its registration in newer ROCr: preloaded, it has ROCr 5.2 load it before other tools,
// lets each tool of ROCP_TOOL_LIBRARIES configure itself, and passes the tables to whoever asked for HSA's.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using OnTables = void (*)(int, uint64_t, uint64_t, void**, uint64_t, void*);
OnTables asked = nullptr;
void* data_of_it = nullptr;

__attribute__((constructor)) void before_rocr() {
  Dl_info self;
  dladdr(reinterpret_cast<void*>(&before_rocr), &self);
  const char* others = std::getenv("HSA_TOOLS_LIB");
  const char* without = std::getenv("SDK_STANDIN_ALONE");  // as ROCr without HSA_TOOLS_ROCPROFILER_V1_TOOLS
  setenv("HSA_TOOLS_LIB", (std::string(self.dli_fname) + (others && !without ? std::string(" ") + others : "")).c_str(), 1);
}

struct Client {
  size_t size;
  const char* name;
  uint32_t handle;
};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int rocprofiler_at_intercept_table_registration(OnTables callback, int kinds,
                                                                                       void* data) {
  if (!(kinds & 1)) return 1;
  asked = callback;
  data_of_it = data;
  return 0;
}

__attribute__((visibility("default"))) bool OnLoad(void* table, uint64_t, uint64_t, const char* const*) {
  const char* tool = std::getenv("ROCP_TOOL_LIBRARIES");
  void* const library = tool ? dlopen(tool, RTLD_NOW | RTLD_LOCAL) : nullptr;
  using Configure = void* (*)(uint32_t, const char*, uint32_t, Client*);
  const auto configure = library ? reinterpret_cast<Configure>(dlsym(library, "rocprofiler_configure")) : nullptr;
  Client client{sizeof client, nullptr, 1};
  if (configure) configure(10100, "1.1.0", 0, &client);
  if (asked) asked(1, 11500, 0, &table, 1, data_of_it);
  return true;
}

__attribute__((visibility("default"))) void OnUnload() {}
}
