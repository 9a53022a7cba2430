// NVML: there is one device, and it has no sensors.
#include <cstring>

#include "device_file.h"
#include "host_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt::host {
namespace {

enum Result : int { kDone = 0, kBadArgument = 2, kNoSensor = 3, kTooSmall = 7 };

int text(const char* from, char* to, unsigned int length) {
  if (!to) return kBadArgument;
  if (strlen(from) >= length) return kTooSmall;
  strcpy(to, from);
  return kDone;
}
char the_device;

}  // namespace

extern "C" {
SIMT_EXPORT int nvmlInit() { return kDone; }
SIMT_EXPORT int nvmlInit_v2() { return kDone; }
SIMT_EXPORT int nvmlShutdown() { return kDone; }
SIMT_EXPORT const char* nvmlErrorString(int result) {
  return result == kDone ? "Success" : result == kNoSensor ? "Not Supported" : "Invalid Argument";
}
SIMT_EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned int length) { return text("550.54.14", version, length); }
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
SIMT_EXPORT int nvmlDeviceGetUtilizationRates(void*, void*) { return kNoSensor; }
SIMT_EXPORT int nvmlDeviceGetTemperature(void*, int, unsigned int*) { return kNoSensor; }
SIMT_EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned int*) { return kNoSensor; }
SIMT_EXPORT int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long*) { return kNoSensor; }
SIMT_EXPORT int nvmlDeviceGetClockInfo(void*, int, unsigned int*) { return kNoSensor; }
}  // extern "C"

}  // namespace simt::host
