#include <cstdio>
#include <set>
#include <string>

#include "host_calls.h"
#include "host_state.h"

namespace simt {

namespace {

struct ErrorEntry {
  int value;
  const char* name[2];  // by Vendor; null if the vendor lacks it
  const char* text[2];
};

const ErrorEntry kErrors[] = {
#define SIMT_ERROR(value, hip, cuda, hip_text, cuda_text) {value, {#hip, #cuda}, {hip_text, cuda_text}},
#define SIMT_ERROR_HIP(value, hip, text) {value, {#hip, nullptr}, {text, nullptr}},
#define SIMT_ERROR_CUDA(value, cuda, text) {value, {nullptr, #cuda}, {nullptr, text}},
#include "simt/host_errors.h"
#undef SIMT_ERROR
#undef SIMT_ERROR_HIP
#undef SIMT_ERROR_CUDA
};

thread_local int last_error = kSuccess;
thread_local Vendor calling = Vendor::kHip;
int sticky_error = kSuccess;
bool sticky_told = false;  // some call has returned it
uint64_t effects = 0;

const ErrorEntry* entry_of(Vendor vendor, int error) {
  for (const ErrorEntry& entry : kErrors)
    if (entry.value == error && entry.name[static_cast<int>(vendor)]) return &entry;
  return nullptr;
}

}  // namespace

const char* error_name(Vendor vendor, int error) {
  const ErrorEntry* entry = entry_of(vendor, error);
  if (entry) return entry->name[static_cast<int>(vendor)];
  return vendor == Vendor::kHip ? "hipErrorUnknown" : "unrecognized error code";
}

const char* error_text(Vendor vendor, int error) {
  const ErrorEntry* entry = entry_of(vendor, error);
  if (entry) return entry->text[static_cast<int>(vendor)];
  return vendor == Vendor::kHip ? "unknown error" : "unrecognized error code";
}

Call::Call(Vendor vendor) : before_(calling) {
  api_lock().lock();
  host_enters();
  calling = vendor;
  ++effects;
}

Call::~Call() {
  calling = before_;
  host_leaves();
  api_lock().unlock();
}

int Call::sticky() const { return sticky_error; }

int Call::done(int error) const {
  if (error != kSuccess) last_error = error;
  sticky_told |= error != kSuccess && error == sticky_error;
  return error;
}

uint64_t calls_with_effect() { return effects; }
void note_effect() { ++effects; }
void note_no_effect() { --effects; }

Vendor current_vendor() { return calling; }
void set_sticky_error(int error) {
  if (sticky_error == kSuccess) sticky_error = error;
}
void clear_errors() {
  sticky_error = last_error = kSuccess;
  sticky_told = false;
}

int peek_last_error() { return last_error == kSuccess && sticky_told ? sticky_error : last_error; }

int take_last_error() {
  const int error = peek_last_error();
  last_error = kSuccess;
  return error;
}

int not_supported(const char* function) {
  static auto* const said = new std::set<std::string>;
  if (said->insert(function).second)
    std::fprintf(stderr, "intelliperf: %s is not supported by the emulator\n", function);
  return kNotSupported;
}

}  // namespace simt
