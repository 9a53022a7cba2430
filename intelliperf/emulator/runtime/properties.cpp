// The modelled device as the APIs describe it: one device, from the device file.
#include <strings.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device_file.h"
#include "export.h"
#include "host_api.h"
#include "properties.h"

namespace simt {

namespace {

constexpr int kMemoryBusBitsAmd = 8192, kMemoryBusBitsNvidia = 5120;  // stacked memory of the targets' class
constexpr int kHipVersion = 60241133, kCudaVersion = 12040;
constexpr char kPciBusId[] = "0000:01:00.0";

int clamp_to_int(uint64_t value) { return static_cast<int>(std::min<uint64_t>(value, 0x7fffffff)); }

// gfx942 is 9.4, gfx90a is 9.0, gfx1100 is 11.0: the last digit is the stepping.
void capability_of(const Device& d, DeviceLimits& p) {
  p.major = static_cast<int>(d.compute_capability_major);
  p.minor = static_cast<int>(d.compute_capability_minor);
  if (!d.amd() || std::strncmp(d.architecture, "gfx", 3) != 0) return;
  const char* digits = d.architecture + 3;
  const size_t count = std::strlen(digits);
  if (count < 3) return;
  p.major = std::atoi(std::string(digits, count - 2).c_str());
  p.minor = digits[count - 2] - '0';
}

DeviceLimits limits_of(const Device& d) {
  DeviceLimits p{};
  p.threads_per_block = static_cast<int>(d.max_threads_per_block);
  p.block[0] = p.block[1] = p.threads_per_block;
  p.block[2] = d.amd() ? p.threads_per_block : 64;
  p.grid[0] = 0x7fffffff;
  p.grid[1] = p.grid[2] = 65535;
  p.shared_per_block = static_cast<int>(d.lds_bytes_per_block);
  p.shared_per_block_optin = static_cast<int>(std::max(d.lds_bytes_per_block_optin, d.lds_bytes_per_block));
  p.shared_per_compute_unit = static_cast<int>(d.lds_bytes_per_compute_unit);
  p.constant_bytes = d.amd() ? 0x7fffffff : 65536;
  p.wave_size = static_cast<int>(d.wave_size);
  p.registers_per_compute_unit = static_cast<int>(d.registers_per_compute_unit);
  p.registers_per_block = 65536;
  p.clock_khz = static_cast<int>(d.clock_hz / 1e3);
  p.wall_clock_khz = 100000;
  p.memory_bus_bits = d.amd() ? kMemoryBusBitsAmd : kMemoryBusBitsNvidia;
  p.memory_clock_khz = static_cast<int>(d.dram_bytes_per_s * 8 / 2 / p.memory_bus_bits / 1e3);
  p.compute_units = static_cast<int>(d.compute_units);
  p.threads_per_compute_unit = static_cast<int>(d.max_waves_per_compute_unit * d.wave_size);
  if (d.amd()) p.threads_per_compute_unit = std::min(p.threads_per_compute_unit, 2048);
  p.blocks_per_compute_unit = static_cast<int>(d.max_blocks_per_compute_unit);
  p.l2_bytes = clamp_to_int(d.l2_bytes);
  p.texture_alignment = d.amd() ? 256 : 512;
  p.texture_width = d.amd() ? 16384 : 131072;  // CUDA guide, technical specifications; HIP on CDNA
  p.texture_depth = d.amd() ? 8192 : 16384;
  p.single_to_double = static_cast<int>(d.fp32_flops_per_s / d.fp64_flops_per_s + 0.5);
  capability_of(d, p);
  return p;
}

}  // namespace

const DeviceLimits& device_limits() {
  static const DeviceLimits limits = [] {
    const Device& d = target_device();
    set_total_bytes(d.dram_total_bytes);
    return limits_of(d);
  }();
  return limits;
}

namespace host {

namespace {

struct Settings {
  unsigned int flags = 0;
  int cache_config = 0, shared_config = 0;
  size_t limits[3] = {1024, 1 << 20, 8 << 20};  // stack, printf buffer, device heap
};
Settings settings;

}  // namespace

int Init(unsigned int flags) { return flags == 0 ? kSuccess : kInvalidValue; }
int InitDevice(int device, unsigned int, unsigned int) { return SetDevice(device); }
int GetDeviceCount(int* count) {
  if (!count) return kInvalidValue;
  *count = 1;
  return kSuccess;
}
int GetDevice(int* device) {
  if (!device) return kInvalidValue;
  *device = 0;
  return kSuccess;
}
int SetDevice(int device) { return device == 0 ? kSuccess : kInvalidDevice; }
int DeviceGet(int* device, int ordinal) {
  if (!device) return kInvalidValue;
  *device = 0;
  return SetDevice(ordinal);
}
int SetDeviceFlags(unsigned int flags) {
  settings.flags = flags;
  return kSuccess;
}
int GetDeviceFlags(unsigned int* flags) {
  if (!flags) return kInvalidValue;
  *flags = settings.flags;
  return kSuccess;
}
int SetValidDevices(int* devices, int count) {
  for (int i = 0; i < count; ++i)
    if (!devices || devices[i] != 0) return kInvalidDevice;
  return kSuccess;
}
int DeviceReset() {
  wait_for_device();
  release_all();
  forget_streams();
  clear_errors();
  settings = Settings{};
  return kSuccess;
}
int ThreadExit() { return DeviceReset(); }

int DeviceGetAttribute(int* value, int attribute, int device) {
  if (!value) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  const DeviceLimits& p = device_limits();
  switch (attribute) {
#define SIMT_ATTRIBUTE(number, hip, cuda, expression) \
  case number:                                        \
    *value = expression;                              \
    return kSuccess;
#define SIMT_ATTRIBUTE_HIP(number, hip, expression) \
  case number:                                      \
    *value = expression;                            \
    return kSuccess;
#define SIMT_ATTRIBUTE_CUDA(number, cuda, expression) \
  case number:                                        \
    *value = expression;                              \
    return kSuccess;
#include "simt/host_attributes.h"
#undef SIMT_ATTRIBUTE
#undef SIMT_ATTRIBUTE_HIP
#undef SIMT_ATTRIBUTE_CUDA
    default:
      return kInvalidValue;
  }
}

int DeviceGetName(char* name, int length, int device) {
  if (!name || length <= 0) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(length), "%s", target_device().name);
  return kSuccess;
}
int DeviceComputeCapability(int* major, int* minor, int device) {
  if (!major || !minor) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  *major = device_limits().major;
  *minor = device_limits().minor;
  return kSuccess;
}
int DeviceTotalMem(size_t* bytes, int device) {
  if (!bytes) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  device_limits();
  *bytes = total_bytes();
  return kSuccess;
}
int DeviceGetPCIBusId(char* id, int length, int device) {
  if (!id || length < static_cast<int>(sizeof kPciBusId)) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  std::memcpy(id, kPciBusId, sizeof kPciBusId);
  return kSuccess;
}
int DeviceGetByPCIBusId(int* device, const char* id) {
  if (!device || !id) return kInvalidValue;
  *device = 0;
  return strcasecmp(id, kPciBusId) == 0 ? kSuccess : kInvalidDevice;
}

int DeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return kInvalidValue;
  *can = 0;
  return device == 0 && peer == 0 ? kSuccess : kInvalidDevice;
}
int DeviceEnablePeerAccess(int, unsigned int flags) { return flags ? kInvalidValue : kInvalidDevice; }
int DeviceDisablePeerAccess(int peer) { return peer == 0 ? kPeerAccessNotEnabled : kInvalidDevice; }
int DeviceGetP2PAttribute(int* value, int, int, int) { return value ? kInvalidDevice : kInvalidValue; }

int DeviceSetLimit(int limit, size_t value) {
  if (limit < 0 || limit > 2) return kUnsupportedLimit;
  settings.limits[limit] = value;
  return kSuccess;
}
int DeviceGetLimit(size_t* value, int limit) {
  if (!value) return kInvalidValue;
  if (limit < 0 || limit > 2) return kUnsupportedLimit;
  *value = settings.limits[limit];
  return kSuccess;
}
int DeviceSetCacheConfig(int config) {
  settings.cache_config = config;
  return kSuccess;
}
int DeviceGetCacheConfig(int* config) {
  if (!config) return kInvalidValue;
  *config = settings.cache_config;
  return kSuccess;
}
int DeviceSetSharedMemConfig(int config) {
  settings.shared_config = config;
  return kSuccess;
}
int DeviceGetSharedMemConfig(int* config) {
  if (!config) return kInvalidValue;
  *config = settings.shared_config;
  return kSuccess;
}
int RuntimeGetVersion(int* version) {
  if (!version) return kInvalidValue;
  *version = current_vendor() == Vendor::kHip ? kHipVersion : kCudaVersion;
  return kSuccess;
}
int DriverGetVersion(int* version) { return RuntimeGetVersion(version); }
int ProfilerStart() { return kSuccess; }
int ProfilerStop() { return kSuccess; }

}  // namespace host
}  // namespace simt
