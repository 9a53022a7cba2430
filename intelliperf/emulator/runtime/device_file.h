// The device that is modelled: the keys of the device file (units in their names), read once.
#pragma once
#include <cstdint>

namespace simt {

struct Device {
  char name[64] = "", vendor[16] = "amd", architecture[32] = "";
  uint32_t wave_size = 64;
  uint32_t compute_units = 1, simds_per_compute_unit = 4;
  double clock_hz = 1e9;
  uint32_t max_waves_per_compute_unit = 32, max_blocks_per_compute_unit = 32;
  uint32_t max_threads_per_block = 1024;
  uint32_t registers_per_compute_unit = 0;  // 32-bit lanes' registers; 0: not limiting
  uint32_t lds_bytes_per_compute_unit = 65536, lds_bytes_per_block = 65536;
  uint32_t lds_bytes_per_block_optin = 65536;
  uint32_t lds_banks = 32, lds_bytes_per_cycle = 128;
  uint64_t l1_bytes = 32768;
  uint32_t l1_line_bytes = 128, l1_bytes_per_cycle = 64;
  uint64_t l2_bytes = 4u << 20;
  uint32_t l2_slices = 16, l2_line_bytes = 128;
  double l2_bytes_per_s = 1e12, dram_bytes_per_s = 1e12;
  uint64_t dram_total_bytes = 1ull << 34;
  double fp32_flops_per_s = 1e13, fp64_flops_per_s = 5e12;
  double issue_per_cycle = 4;
  double l1_latency_cycles = 120, l2_latency_cycles = 300, dram_latency_cycles = 700;
  double lds_latency_cycles = 64;
  double atomic_same_address_ns = 2, atomic_lane_ns = 1, atomic_sector_ns = 1, atomic_queues = 64;
  double block_start_ns = 1, wave_start_cycles = 10, l2_bytes_per_cycle_and_unit = 64;
  double launch_overhead_ns = 3000, warm_launch_ns = 3000, pcie_bytes_per_s = 25e9;
  uint32_t xcds = 1;
  uint32_t compute_capability_major = 0, compute_capability_minor = 0;

  bool amd() const { return vendor[0] == 'a'; }
};

// A value of the container's embedded copy of the device file; ignored when INTELLIPERF_DEVICE
// names a file, and after the first call of device(). Both as text.
void offer_device_default(const char* key, const char* value);

// The device file's values (INTELLIPERF_DEVICE), else the offered ones. A named file that cannot
// be read, or a key it lacks, is a fatal message on standard error: absent is not zero.
const Device& device();

// All values, as the member "device" of a module's metadata.
void describe_device(class JsonWriter& json);

}  // namespace simt
