#include "properties.h"

#include <hip/hip_runtime_api.h>

#include <cstring>

int properties_of(void* function, int device, Properties* told) {
  hipDeviceProp_t known{};
  const int status = reinterpret_cast<hipError_t (*)(hipDeviceProp_t*, int)>(function)(&known, device);
  std::memcpy(told->architecture, known.gcnArchName, sizeof told->architecture);
  told->lds_bytes = known.sharedMemPerBlock;
  told->registers = known.regsPerBlock;
  told->compute_units = known.multiProcessorCount;
  told->clock_khz = known.clockRate;
  told->memory_clock_khz = known.memoryClockRate;
  told->memory_bits = known.memoryBusWidth;
  told->wave_size = known.warpSize;
  told->most_threads = known.maxThreadsPerMultiProcessor;
  return status;
}
