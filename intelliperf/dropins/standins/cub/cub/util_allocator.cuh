// CachingDeviceAllocator: keeps freed device memory for later allocations of the same size class.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <cub/detail/device.h>

#include <map>
#include <mutex>

namespace cub {
struct CachingDeviceAllocator {
  static constexpr size_t INVALID_SIZE = static_cast<size_t>(-1);
  static constexpr int INVALID_DEVICE_ORDINAL = -1;

  explicit CachingDeviceAllocator(bool skip_cleanup = false, bool debug = false)
      : CachingDeviceAllocator(8, 3, 7, INVALID_SIZE, skip_cleanup, debug) {}
  CachingDeviceAllocator(unsigned int growth, unsigned int smallest = 1, unsigned int largest = INVALID_BIN,
                         size_t limit = INVALID_SIZE, bool skip_cleanup = false, bool = false)
      : growth_(growth), smallest_(smallest), largest_(largest), limit_(limit), skip_cleanup_(skip_cleanup) {}
  CachingDeviceAllocator(const CachingDeviceAllocator&) = delete;
  ~CachingDeviceAllocator() {
    if (!skip_cleanup_) (void)FreeAllCached();
  }

  detail::status_t SetMaxCachedBytes(size_t limit) {
    limit_ = limit;
    return SIMT_GPU(Success);
  }
  detail::status_t DeviceAllocate(int, void** pointer, size_t bytes, detail::stream_t stream = 0) {
    return DeviceAllocate(pointer, bytes, stream);
  }
  detail::status_t DeviceAllocate(void** pointer, size_t bytes, detail::stream_t = 0) {
    const std::lock_guard<std::mutex> guard(lock_);
    const size_t rounded = rounded_up(bytes);
    const auto kept = cached_.find(rounded);
    if (kept != cached_.end()) {
      *pointer = kept->second;
      cached_.erase(kept);
      cached_bytes_ -= rounded;
    } else {
      const detail::status_t status = SIMT_GPU(Malloc)(pointer, rounded);
      if (status != SIMT_GPU(Success)) return status;
    }
    live_[*pointer] = rounded;
    return SIMT_GPU(Success);
  }
  detail::status_t DeviceFree(int, void* pointer) { return DeviceFree(pointer); }
  detail::status_t DeviceFree(void* pointer) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = live_.find(pointer);
    const size_t bytes = found == live_.end() ? 0 : found->second;
    if (found != live_.end()) live_.erase(found);
    if (bytes == 0 || cached_bytes_ + bytes > limit_) return SIMT_GPU(Free)(pointer);
    cached_.emplace(bytes, pointer);
    cached_bytes_ += bytes;
    return SIMT_GPU(Success);
  }
  detail::status_t FreeAllCached() {
    const std::lock_guard<std::mutex> guard(lock_);
    for (const auto& kept : cached_) (void)SIMT_GPU(Free)(kept.second);
    cached_.clear();
    cached_bytes_ = 0;
    return SIMT_GPU(Success);
  }

 private:
  static constexpr unsigned int INVALID_BIN = static_cast<unsigned int>(-1);
  // The size class that holds `bytes`: a power of the growth factor; the exact size above the largest class.
  size_t rounded_up(size_t bytes) const {
    size_t size = 1;
    for (unsigned int power = 0; power < smallest_; ++power) size *= growth_;
    for (unsigned int power = smallest_; size < bytes; ++power, size *= growth_)
      if (power >= largest_ || size > bytes) return bytes;
    return size;
  }
  unsigned int growth_, smallest_, largest_;
  size_t limit_, cached_bytes_ = 0;
  bool skip_cleanup_;
  std::mutex lock_;
  std::multimap<size_t, void*> cached_;
  std::map<void*, size_t> live_;
};
}  // namespace cub
