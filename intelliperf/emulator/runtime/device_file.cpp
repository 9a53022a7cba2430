#include "device_file.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "host_state.h"
#include "installation.h"
#include "json.h"

namespace simt {
namespace {

enum class Kind : uint8_t { kText, kUnsigned, kLong, kReal };

struct Key {
  const char* name;
  Kind kind;
  size_t offset, capacity;
};

#define TEXT(field) {#field, Kind::kText, offsetof(Device, field), sizeof(Device::field)}
#define UNSIGNED(field) {#field, Kind::kUnsigned, offsetof(Device, field), 0}
#define LONG(field) {#field, Kind::kLong, offsetof(Device, field), 0}
#define REAL(field) {#field, Kind::kReal, offsetof(Device, field), 0}

constexpr Key kKeys[] = {
    TEXT(name),
    TEXT(vendor),
    TEXT(architecture),
    UNSIGNED(wave_size),
    UNSIGNED(compute_units),
    UNSIGNED(simds_per_compute_unit),
    REAL(clock_hz),
    UNSIGNED(max_waves_per_compute_unit),
    UNSIGNED(max_blocks_per_compute_unit),
    UNSIGNED(max_threads_per_block),
    UNSIGNED(registers_per_compute_unit),
    UNSIGNED(lds_bytes_per_compute_unit),
    UNSIGNED(lds_bytes_per_block),
    UNSIGNED(lds_bytes_per_block_optin),
    UNSIGNED(lds_banks),
    UNSIGNED(lds_bytes_per_cycle),
    LONG(l1_bytes),
    UNSIGNED(l1_line_bytes),
    UNSIGNED(l1_bytes_per_cycle),
    LONG(l2_bytes),
    UNSIGNED(l2_slices),
    UNSIGNED(l2_line_bytes),
    REAL(l2_bytes_per_s),
    REAL(dram_bytes_per_s),
    LONG(dram_total_bytes),
    REAL(fp32_flops_per_s),
    REAL(fp64_flops_per_s),
    REAL(issue_per_cycle),
    REAL(l1_latency_cycles),
    REAL(l2_latency_cycles),
    REAL(dram_latency_cycles),
    REAL(lds_latency_cycles),
    REAL(atomic_same_address_ns),
    REAL(atomic_lane_ns),
    REAL(atomic_sector_ns),
    REAL(atomic_queues),
    REAL(block_start_ns),
    REAL(wave_start_cycles),
    REAL(l2_bytes_per_cycle_and_unit),
    REAL(launch_overhead_ns),
    REAL(warm_launch_ns),
    REAL(pcie_bytes_per_s),
    UNSIGNED(xcds),
    UNSIGNED(compute_capability_major),
    UNSIGNED(compute_capability_minor),
};

using Values = std::map<std::string, std::string>;

Values& offered() {
  static Values* values = new Values;
  return *values;
}

[[noreturn]] void refuse(const char* what, const char* which) {
  fprintf(stderr, "intelliperf: %s: %s\n", what, which);
  exit(125);
}

Values read_file(const char* path) {
  FILE* file = fopen(path, "re");
  if (!file) refuse("cannot read the device file", path);
  Values values;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    char* equals = strchr(line, '=');
    if (!equals || line[0] == '#') continue;
    *equals = 0;
    char* value = equals + 1;
    value[strcspn(value, "\r\n")] = 0;
    values[line] = value;
  }
  fclose(file);
  return values;
}

void store(Device& device, const Key& key, const std::string& text) {
  char* field = reinterpret_cast<char*>(&device) + key.offset;
  if (key.kind == Kind::kText) {
    snprintf(field, key.capacity, "%s", text.c_str());
    return;
  }
  char* end = nullptr;
  errno = 0;
  const double value = strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || errno || !(value >= 0)) refuse("not a number in the device file", key.name);
  if (key.kind == Kind::kUnsigned) {
    const auto whole = uint32_t(value);
    memcpy(field, &whole, sizeof whole);
  } else if (key.kind == Kind::kLong) {
    const auto whole = uint64_t(value);
    memcpy(field, &whole, sizeof whole);
  } else {
    memcpy(field, &value, sizeof value);
  }
}

// Of a program without device code of its own, as one that compiles at run time: the target of the run, or the default
// of the language whose functions it calls.
Values installed_values() {
  const char* const target = getenv("INTELLIPERF_TARGET");
  const std::string fallback = current_vendor() == Vendor::kCuda ? "cuda" : "hip";
  const std::string path = installed("devices/" + (target && *target ? std::string(target) : fallback));
  return path.empty() ? Values{} : read_file(path.c_str());
}

Device load() {
  Device device;
  const char* path = getenv("INTELLIPERF_DEVICE");
  Values values = path && *path ? read_file(path) : offered();
  if (values.empty()) values = installed_values();
  if (values.empty()) return device;
  for (const Key& key : kKeys) {
    const auto found = values.find(key.name);
    if (found == values.end()) refuse("the device file lacks a key", key.name);
    store(device, key, found->second);
  }
  if (device.wave_size != 32 && device.wave_size != 64) refuse("wave_size must be 32 or 64", device.name);
  return device;
}

}  // namespace

void describe_device(JsonWriter& json) {
  const char* const values = reinterpret_cast<const char*>(&device());
  json.key("device").begin_object();
  for (const Key& key : kKeys) {
    char text[64];
    const char* const field = values + key.offset;
    if (key.kind == Kind::kText)
      snprintf(text, sizeof text, "%s", field);
    else if (key.kind == Kind::kUnsigned)
      snprintf(text, sizeof text, "%u", *reinterpret_cast<const uint32_t*>(field));
    else if (key.kind == Kind::kLong)
      snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(*reinterpret_cast<const uint64_t*>(field)));
    else
      snprintf(text, sizeof text, "%.17g", *reinterpret_cast<const double*>(field));
    json.key(key.name).string(text);
  }
  json.end_object();
}

void offer_device_default(const char* key, const char* value) { offered().emplace(key, value); }

const Device& device() {
  static const Device* instance = new Device(load());
  return *instance;
}

}  // namespace simt
