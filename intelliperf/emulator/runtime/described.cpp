#include "described.h"

#include "memory.h"
#include "modules.h"

namespace simt {
namespace {

JsonValue& description() {
  static auto* const instance = new JsonValue;
  return *instance;
}

bool trial;

}  // namespace

const JsonValue& described_kernel(const std::string& kernel) { return description()["kernels"][kernel]; }

const JsonValue& described_parameter(const std::string& kernel, uint64_t index) {
  static const JsonValue nothing;
  const std::vector<JsonValue>& known = described_kernel(kernel)["parameters"].items();
  return index < known.size() ? known[index] : nothing;
}

void forget_description() { description() = JsonValue(); }

bool trying() { return trial; }

extern "C" {

// JSON: {"kernels": {name: {"parameters": [...]}}}. Returns 0 where it is none.
__attribute__((visibility("default"))) int __simt_describe_module(const char* text) {
  const std::lock_guard<std::recursive_mutex> guard(api_lock());
  bool ok = false;
  description() = JsonValue::parse(text ? text : "", &ok);
  return ok;
}

// `general`: the same kernel, compiled without what is known of the other's numbers; with so much dynamic LDS.
__attribute__((visibility("default"))) void __simt_general(Kernel* special, Kernel* general, uint32_t lds_bytes) {
  const std::lock_guard<std::recursive_mutex> guard(api_lock());
  special->general = general;
  special->general_lds = lds_bytes;
}

// `other`: the same kernel, compiled for other constants, as `how` says; with so much dynamic LDS.
__attribute__((visibility("default"))) void __simt_other_constants(Kernel* kernel, const char* how, Kernel* other,
                                                                   uint32_t lds_bytes) {
  const std::lock_guard<std::recursive_mutex> guard(api_lock());
  kernel->other_constants.push_back({how, other, lds_bytes});
}

__attribute__((visibility("default"))) void __simt_trial(int begins) {
  const std::lock_guard<std::recursive_mutex> guard(api_lock());
  trial = begins != 0;
}

}  // extern "C"

}  // namespace simt
