#include "tables.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace intelliperf {

namespace {

// A table's minor number is its size in bytes; its fields are only ever added to at the end.
template <typename Table>
std::string take(const Table* from, uint32_t major, size_t needed, const char* name, Table& into) {
  if (!from) return std::string("the runtime passes no table of ") + name;
  if (from->version.major_id != major)
    return std::string("the runtime's table of ") + name + " has version " + std::to_string(from->version.major_id) +
           ", this library was built for " + std::to_string(major);
  if (from->version.minor_id < needed)
    return std::string("the runtime's table of ") + name + " has " + std::to_string(from->version.minor_id) +
           " bytes, at least " + std::to_string(needed) + " are needed";
  const size_t bytes = std::min<size_t>(from->version.minor_id, sizeof into);
  std::memcpy(static_cast<void*>(&into), static_cast<const void*>(from), bytes);
  return "";
}

// End of the last field that is used.
#define END_OF(table, field) (offsetof(table, field) + sizeof(table::field))
constexpr size_t kCoreBytes = END_OF(CoreApiTable, hsa_executable_iterate_agent_symbols_fn);
constexpr size_t kAmdBytes = END_OF(AmdExtTable, hsa_amd_queue_intercept_register_fn);
#undef END_OF

}  // namespace

std::string take_functions(const HsaApiTable& table, Functions& functions) {
  if (table.version.major_id != HSA_API_TABLE_MAJOR_VERSION)
    return "the runtime's tables have version " + std::to_string(table.version.major_id) +
           ", this library was built for " + std::to_string(HSA_API_TABLE_MAJOR_VERSION);
  const std::string core =
      take(table.core_, HSA_CORE_API_TABLE_MAJOR_VERSION, kCoreBytes, "core functions", functions.core);
  if (!core.empty()) return core;
  return take(table.amd_ext_, HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, kAmdBytes, "AMD's functions", functions.amd);
}

}  // namespace intelliperf
