// Memory shared with the validating process, into which buffers are copied while the application waits.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace intelliperf {

class Arena {
 public:
  // False where the memory cannot be had.
  bool open();
  int descriptor() const { return descriptor_; }
  uint64_t base() const { return base_; }
  uint64_t bytes() const;
  uint64_t reserve(uint64_t bytes);  // an address, 0 if the arena is full
  void release(uint64_t at, uint64_t bytes);

 private:
  int descriptor_ = -1;
  uint64_t base_ = 0;
  uint64_t used_ = 0;
  std::map<uint64_t, std::vector<uint64_t>> free_;  // by size
};

}  // namespace intelliperf
