// Passes tables of several versions and sizes to the tools library's check and prints what it says.
#include "tables.h"

#include <cstdio>

namespace {

CoreApiTable core{};
AmdExtTable amd{};
HsaApiTable table{};

void reset() {
  core.version = {HSA_CORE_API_TABLE_MAJOR_VERSION, sizeof core, 0, 0};
  amd.version = {HSA_AMD_EXT_API_TABLE_MAJOR_VERSION, sizeof amd, 0, 0};
  table.version = {HSA_API_TABLE_MAJOR_VERSION, sizeof table, 0, 0};
  table.core_ = &core;
  table.amd_ext_ = &amd;
}

void tell(const char* what) {
  intelliperf::Functions taken;
  const std::string refused = intelliperf::take_functions(table, taken);
  std::printf("%s: %s\n", what, refused.empty() ? "taken" : refused.c_str());
  reset();
}

}  // namespace

int main() {
  reset();
  tell("as built");
  core.version.minor_id += 4096;  // fields of a later release, which are not touched
  amd.version.minor_id += 4096;
  tell("larger");
  table.version.major_id += 1;
  tell("other whole");
  core.version.major_id += 1;
  tell("other core");
  amd.version.minor_id = 64;
  tell("small amd");
  core.version.minor_id = 16;
  tell("small core");
  table.amd_ext_ = nullptr;
  tell("no amd");
}
