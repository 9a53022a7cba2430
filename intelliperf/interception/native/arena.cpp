#include "arena.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace intelliperf {

namespace {

constexpr uint64_t kArenaBytes = 1ull << 40;  // addresses only: pages come with the first copy
constexpr uint64_t kPage = 1u << 16;
// Far from where Linux places what names no address: a replay needs those addresses for the device's memory.
constexpr uintptr_t kPlace = 0x300000000000;

uint64_t rounded(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

uint64_t Arena::bytes() const { return kArenaBytes; }

bool Arena::open() {
  descriptor_ = memfd_create("intelliperf-buffers", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(kArenaBytes)) != 0) return false;
  void* at = mmap(reinterpret_cast<void*>(kPlace), kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                  descriptor_, 0);  // NOLINT(performance-no-int-to-ptr)
  if (at == MAP_FAILED) return false;
  base_ = reinterpret_cast<uint64_t>(at);
  return true;
}

uint64_t Arena::reserve(uint64_t bytes) {
  const uint64_t size = rounded(bytes);
  auto& kept = free_[size];
  if (!kept.empty()) {
    const uint64_t at = kept.back();
    kept.pop_back();
    return at;
  }
  if (used_ + size > kArenaBytes) return 0;
  used_ += size;
  return base_ + used_ - size;
}

void Arena::release(uint64_t at, uint64_t bytes) {
  const uint64_t size = rounded(bytes);
  free_[size].push_back(at);
  fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at - base_),
            static_cast<off_t>(size));
}

}  // namespace intelliperf
