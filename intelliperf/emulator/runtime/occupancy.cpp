// Attributes of kernels and their occupancy.
#include <algorithm>

#include "host_api.h"
#include "properties.h"

namespace simt::host {

namespace {

enum KernelAttribute : int { kMaxDynamicShared = 8, kSharedCarveout = 9 };

int blocks_of(const Kernel& kernel, int threads, size_t dynamic_bytes) {
  const DeviceLimits& limits = device_limits();
  if (threads > limits.threads_per_block) return 0;
  const uint64_t shared = uint64_t{kernel.static_lds} + dynamic_bytes;
  if (shared > static_cast<uint64_t>(limits.shared_per_compute_unit)) return 0;
  return static_cast<int>(
      resident_blocks(kernel, static_cast<uint32_t>(threads), static_cast<uint32_t>(dynamic_bytes)));
}

}  // namespace

int FuncSetAttribute(const void* function, int attribute, int value) {
  Kernel* kernel = find_kernel(function);
  if (!kernel) return kInvalidDeviceFunction;
  switch (attribute) {
    case kMaxDynamicShared: {
      const int most = device_limits().shared_per_block_optin - static_cast<int>(kernel->static_lds);
      if (value < 0 || value > most) return kInvalidValue;
      kernel->dynamic_lds_limit = static_cast<uint64_t>(value);
      return kSuccess;
    }
    case kSharedCarveout:
      if (value < -1 || value > 100) return kInvalidValue;
      kernel->carveout = value;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
int FuncSetCacheConfig(const void* function, int) { return find_kernel(function) ? kSuccess : kInvalidDeviceFunction; }
int FuncSetSharedMemConfig(const void* function, int) {
  return find_kernel(function) ? kSuccess : kInvalidDeviceFunction;
}

int OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, size_t dynamic_bytes) {
  if (!blocks || threads <= 0) return kInvalidValue;
  const Kernel* kernel = find_kernel(function);
  if (!kernel) return kInvalidDeviceFunction;
  *blocks = blocks_of(*kernel, threads, dynamic_bytes);
  return kSuccess;
}
int OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                       size_t dynamic_bytes, unsigned int flags) {
  if (flags > 1) return kInvalidValue;
  return OccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_bytes);
}
int OccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_bytes, const void* function, int blocks, int threads) {
  if (!dynamic_bytes || blocks <= 0 || threads <= 0) return kInvalidValue;
  const Kernel* kernel = find_kernel(function);
  if (!kernel) return kInvalidDeviceFunction;
  const DeviceLimits& limits = device_limits();
  const int share = std::min(limits.shared_per_compute_unit / blocks, limits.shared_per_block_optin);
  const int left = share - static_cast<int>(kernel->static_lds);
  if (left < 0 || blocks_of(*kernel, threads, 0) < blocks) return kInvalidValue;
  *dynamic_bytes = static_cast<size_t>(left);
  return kSuccess;
}

int OccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function, size_t dynamic_bytes, int limit) {
  if (!grid || !block) return kInvalidValue;
  const Kernel* kernel = find_kernel(function);
  if (!kernel) return kInvalidDeviceFunction;
  const DeviceLimits& limits = device_limits();
  int most = kernel->max_threads ? static_cast<int>(kernel->max_threads) : limits.threads_per_block;
  if (limit > 0) most = std::min(most, limit);
  int best = 0, per_unit = 0;
  *block = 0;
  for (int tried = (most + limits.wave_size - 1) / limits.wave_size * limits.wave_size; tried > 0;
       tried -= limits.wave_size) {
    const int threads = std::min(tried, most);
    const int blocks = blocks_of(*kernel, threads, dynamic_bytes);
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    per_unit = blocks;
    *block = threads;
  }
  *grid = per_unit * limits.compute_units;
  return kSuccess;
}

}  // namespace simt::host
