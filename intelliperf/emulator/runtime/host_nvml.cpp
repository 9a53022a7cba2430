// NVML: there is one device with the clocks that its model has, and no sensors.
#include <strings.h>

#include <cstdio>
#include <cstring>

#include "device_file.h"
#include "host_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt::host {
namespace {

enum Result : int { kDone = 0, kBadArgument = 2, kNoSensor = 3, kNotFound = 6, kTooSmall = 7 };

int text(const char* from, char* to, unsigned int length) {
  if (!to) return kBadArgument;
  if (strlen(from) >= length) return kTooSmall;
  strcpy(to, from);
  return kDone;
}
char the_device;
constexpr char kUuid[] = "GPU-494e5445-4c4c-4950-4552-462d53494d54";  // of the properties, as NVML writes it
struct PciInfo {
  char legacy[16];
  unsigned int domain, bus, device, device_id, subsystem;
  char place[32];
};
using nvmlDevice_t = void*;
using nvmlClockType_t = int;
using nvmlClockId_t = int;
using nvmlUtilization_t = void;
using nvmlSamplingType_t = int;
using nvmlValueType_t = int;
using nvmlSample_t = void;
using nvmlTemperatureSensors_t = int;
using nvmlTemperatureThresholds_t = int;
using nvmlEnableState_t = int;
using nvmlPstates_t = int;
using nvmlRestrictedAPI_t = int;
using nvmlPcieUtilCounter_t = int;
using nvmlProcessInfo_t = void;

int clock_of(int type, unsigned int* megahertz) {
  constexpr int kMemoryClock = 2;
  if (!megahertz || type < 0 || type > 3) return kBadArgument;
  const double hertz = type == kMemoryClock ? device_limits().memory_clock_khz * 1e3 : device().clock_hz;
  return *megahertz = static_cast<unsigned int>(hertz / 1e6), kDone;
}
int one_clock(int type, unsigned int* count, unsigned int* megahertz) {
  if (!count) return kBadArgument;
  const bool fits = *count >= 1;
  *count = 1;
  return fits && megahertz ? clock_of(type, megahertz) : static_cast<int>(kTooSmall);
}

}  // namespace

extern "C" {
SIMT_EXPORT int nvmlInit() { return kDone; }
SIMT_EXPORT int nvmlInit_v2() { return kDone; }
SIMT_EXPORT int nvmlShutdown() { return kDone; }
SIMT_EXPORT const char* nvmlErrorString(int result) {
  return result == kDone       ? "Success"
         : result == kNoSensor ? "Not Supported"
         : result == kNotFound ? "Not Found"
         : result == kTooSmall ? "Insufficient Size"
                               : "Invalid Argument";
}
SIMT_EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return text("550.54.14", version, length);
}
SIMT_EXPORT int nvmlDeviceGetCount(unsigned int* count) { return *count = 1, kDone; }
SIMT_EXPORT int nvmlDeviceGetCount_v2(unsigned int* count) { return nvmlDeviceGetCount(count); }
SIMT_EXPORT int nvmlDeviceGetHandleByIndex(unsigned int index, void** handle) {
  if (index != 0 || !handle) return kBadArgument;
  return *handle = &the_device, kDone;
}
SIMT_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** handle) {
  return nvmlDeviceGetHandleByIndex(index, handle);
}
SIMT_EXPORT int nvmlDeviceGetIndex(void*, unsigned int* index) { return *index = 0, kDone; }
SIMT_EXPORT int nvmlDeviceGetName(void*, char* name, unsigned int length) { return text(device().name, name, length); }
SIMT_EXPORT int nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  const Call call(Vendor::kCuda);
  total_free_used[0] = total_bytes();
  total_free_used[2] = allocated_bytes();
  total_free_used[1] = total_free_used[0] - total_free_used[2];
  return kDone;
}
SIMT_EXPORT int nvmlInitWithFlags(unsigned int) { return kDone; }
SIMT_EXPORT int nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return text("12.550.54.14", version, length);
}
SIMT_EXPORT int nvmlSystemGetCudaDriverVersion(int* version) { return DriverGetVersion(version); }
SIMT_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) { return DriverGetVersion(version); }
SIMT_EXPORT int nvmlDeviceGetHandleByPciBusId(const char* place, void** handle) {
  int found = 0;
  // NVML writes eight digits of the domain, the runtime four.
  const size_t longer = place && strlen(place) > 12 ? strlen(place) - 12 : 0;
  if (!place || strspn(place, "0") < longer || DeviceGetByPCIBusId(&found, place + longer) != kSuccess)
    return kNotFound;
  return nvmlDeviceGetHandleByIndex(0, handle);
}
SIMT_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* place, void** handle) {
  return nvmlDeviceGetHandleByPciBusId(place, handle);
}
SIMT_EXPORT int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  return uuid && strcasecmp(uuid, kUuid) == 0 ? nvmlDeviceGetHandleByIndex(0, handle) : static_cast<int>(kNotFound);
}
SIMT_EXPORT int nvmlDeviceGetPciInfo(void*, PciInfo* info) {
  if (!info) return kBadArgument;
  *info = {};
  info->bus = 1;
  DeviceGetPCIBusId(info->legacy, sizeof info->legacy, 0);
  std::snprintf(info->place, sizeof info->place, "0000%s", info->legacy);
  return kDone;
}
SIMT_EXPORT int nvmlDeviceGetPciInfo_v3(void* handle, PciInfo* info) { return nvmlDeviceGetPciInfo(handle, info); }
SIMT_EXPORT int nvmlDeviceGetUUID(void*, char* uuid, unsigned int length) { return text(kUuid, uuid, length); }
SIMT_EXPORT int nvmlDeviceGetMinorNumber(void*, unsigned int* number) { return *number = 0, kDone; }
SIMT_EXPORT int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = static_cast<int>(device().compute_capability_major);
  return *minor = static_cast<int>(device().compute_capability_minor), kDone;
}
SIMT_EXPORT int nvmlDeviceGetSupportedMemoryClocks(void*, unsigned int* count, unsigned int* megahertz) {
  return one_clock(2, count, megahertz);
}
SIMT_EXPORT int nvmlDeviceGetSupportedGraphicsClocks(void*, unsigned int, unsigned int* count,
                                                     unsigned int* megahertz) {
  return one_clock(0, count, megahertz);
}
#define SIMT_CLOCK(name, parameters) \
  SIMT_EXPORT int name parameters { return (void)device, clock_of(type, megahertz); }
#define SIMT_SENSOR(name, parameters) \
  SIMT_EXPORT int name parameters { return kNoSensor; }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <simt/nvml_functions.h>
#pragma GCC diagnostic pop
}  // extern "C"

}  // namespace simt::host
