// Entries of the tools library: ROCr loads it at the end of hsa_init through HSA_TOOLS_LIB, and rocprofiler-sdk, where it
// is in the application, through ROCP_TOOL_LIBRARIES. Both pass the same tables; the first to come is taken.
#include <dlfcn.h>

#include <cstdlib>

#include "intercept.h"
#include "profilersdk.h"
#include "recording.h"
#include "wire.h"

namespace {

const char* value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value ? value : nullptr;
}

void take_over(void* table, const char* way) {
  static bool taken = false;
  const bool records = value_of("INTELLIPERF_RECORD_FILE") != nullptr;
  if (!table || taken || (!records && !value_of("INTELLIPERF_EXPORT_SOCKET"))) return;
  taken = true;
  auto& tables = *static_cast<HsaApiTable*>(table);
  static intelliperf::Functions runtime;
  const std::string refused = intelliperf::take_functions(tables, runtime);
  if (!refused.empty()) simt::wire_leave(("dispatches cannot be intercepted: " + refused).c_str());
  if (records)
    intelliperf::start_recording(tables, runtime);
  else
    intelliperf::start_intercept(tables, runtime, way);
}

void on_tables(int kind, uint64_t, uint64_t instance, void** tables, uint64_t count, void*) {
  if (kind == intelliperf::kHsaTable && instance == 0 && count > 0) take_over(tables[0], "rocprofiler-sdk");
}

int nothing_to_begin(void (*)(intelliperf::SdkClient), void*) { return 0; }
void nothing_to_end(void*) {}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) bool OnLoad(void* table, uint64_t, uint64_t, const char* const*) {
  take_over(table, "HSA_TOOLS_LIB");
  return true;
}

__attribute__((visibility("default"))) void OnUnload() { intelliperf::end_intercept(); }

// Before any runtime has started.
__attribute__((visibility("default"))) intelliperf::SdkTool* rocprofiler_configure(uint32_t, const char*, uint32_t,
                                                                                   intelliperf::SdkClient* client) {
  static intelliperf::SdkTool tool = {sizeof tool, nothing_to_begin, nothing_to_end, nullptr};
  client->name = "intelliperf";
  const auto ask = reinterpret_cast<intelliperf::AtTables>(dlsym(RTLD_DEFAULT, intelliperf::kAtTables));
  // Without it ROCr's own loading is left.
  if (!ask || ask(on_tables, intelliperf::kHsaTable, nullptr) != 0) return nullptr;
  return &tool;
}

}  // extern "C"
