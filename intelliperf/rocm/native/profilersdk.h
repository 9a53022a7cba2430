// The part of rocprofiler-sdk's interface by which a tool asks for HSA's tables. Its headers are not needed: layouts as in
// registration.h and fwd.h of 1.2.1, against which a test compiles this file; the function that takes the callback as
// AMD documents it ("Intercept table", ROCprofiler-SDK 1.1). Never run with AMD's library.
#pragma once
#include <cstddef>
#include <cstdint>

namespace intelliperf {

struct SdkClient {
  size_t size;
  const char* name;
  uint32_t handle;
};

struct SdkTool {
  size_t size;
  int (*begin)(void (*finalize)(SdkClient), void* data);
  void (*end)(void* data);
  void* data;
};

constexpr int kHsaTable = 1;
using OnTables = void (*)(int kind, uint64_t version, uint64_t instance, void** tables, uint64_t count, void* data);
using AtTables = int (*)(OnTables callback, int kinds, void* data);
constexpr char kAtTables[] = "rocprofiler_at_intercept_table_registration";

}  // namespace intelliperf
