// Entry of the tools library: ROCr loads it at the end of hsa_init through HSA_TOOLS_LIB.
#include <cstdlib>

#include "intercept.h"
#include "recording.h"
#include "wire.h"

extern "C" __attribute__((visibility("default"))) bool OnLoad(void* table, uint64_t, uint64_t, const char* const*) {
  const char* socket = std::getenv("INTELLIPERF_EXPORT_SOCKET");
  const char* records = std::getenv("INTELLIPERF_RECORD_FILE");
  const bool records_accesses = records && *records;
  if (!table || (!records_accesses && (!socket || !*socket))) return true;
  auto& tables = *static_cast<HsaApiTable*>(table);
  static intelliperf::Functions runtime;
  const std::string refused = intelliperf::take_functions(tables, runtime);
  if (!refused.empty()) simt::wire_leave(("dispatches cannot be intercepted: " + refused).c_str());
  if (records_accesses) intelliperf::start_recording(tables, runtime);
  else intelliperf::start_intercept(tables, runtime);
  return true;
}

extern "C" __attribute__((visibility("default"))) void OnUnload() { intelliperf::end_intercept(); }
