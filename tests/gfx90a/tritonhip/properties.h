// Of a device: what Triton asks for. The records of the two releases of HIP cannot be in one file.
#pragma once

struct Properties {
  char architecture[256];
  unsigned long lds_bytes;
  int registers, compute_units, clock_khz, memory_clock_khz, memory_bits, wave_size, most_threads;
};

// `function`: hipGetDeviceProperties of HIP 5.2. A hipError_t.
int properties_of(void* function, int device, Properties* told);
