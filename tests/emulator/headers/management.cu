// NVML beside the runtime: one device at its place on the bus, with the clocks of its properties and no sensors.
#include <nvml.h>

#include <cstring>

#include "check.h"

int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  char place[32], uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
  cudaDeviceGetPCIBusId(place, sizeof place, 0);
  nvmlDevice_t device, same;
  nvmlPciInfo_t info;
  unsigned int clock = 0, count = 8, clocks[8];
  int major = 0, minor = 0;
  expect(nvmlInit() == NVML_SUCCESS, "beginning");
  expect(nvmlDeviceGetHandleByPciBusId(place, &device) == NVML_SUCCESS, "the runtime's place");
  expect(nvmlDeviceGetHandleByPciBusId("0000:77:00.0", &same) == NVML_ERROR_NOT_FOUND, "a place without a device");
  expect(nvmlDeviceGetPciInfo(device, &info) == NVML_SUCCESS && std::strcmp(info.busIdLegacy, place) == 0, "the place");
  expect(nvmlDeviceGetHandleByPciBusId(info.busId, &same) == NVML_SUCCESS && same == device, "NVML's longer place");
  expect(nvmlDeviceGetUUID(device, uuid, sizeof uuid) == NVML_SUCCESS && std::strlen(uuid) == 40, "the identifier");
  expect(nvmlDeviceGetHandleByUUID(uuid, &same) == NVML_SUCCESS && same == device, "the device of an identifier");
  expect(nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &clock) == NVML_SUCCESS && int(clock) == properties.clockRate / 1000, "a clock");
  expect(nvmlDeviceGetMaxClockInfo(device, NVML_CLOCK_MEM, &clock) == NVML_SUCCESS && int(clock) == properties.memoryClockRate / 1000, "memory's clock");
  expect(nvmlDeviceGetSupportedMemoryClocks(device, &count, clocks) == NVML_SUCCESS && count == 1 && clocks[0] == clock, "its clocks");
  expect(nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == NVML_SUCCESS && major == properties.major && minor == properties.minor, "the capability");
  expect(nvmlDeviceGetPowerUsage(device, &clock) == NVML_ERROR_NOT_SUPPORTED, "a sensor");
  expect(std::strcmp(nvmlErrorString(NVML_ERROR_NOT_FOUND), "Not Found") == 0, "an error's name");
  return nvmlShutdown() == NVML_SUCCESS ? verdict() : 1;
}
