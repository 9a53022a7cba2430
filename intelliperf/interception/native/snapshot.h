// All memory that a kernel can write to, kept so that it can be put back.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "allocations.h"

namespace intelliperf {

// How one vendor's runtime moves whole buffers to and from host memory.
struct Mover {
  bool (*read)(void* to, const Buffer& from);
  bool (*write)(const Buffer& to, const void* from);
};

class Snapshot {
 public:
  explicit Snapshot(const Mover& mover) : mover_(mover) {}
  // False where it is too much to copy, or cannot be copied. The device must be at rest.
  bool take(const Allocations& allocations);
  bool put_back() const;
  const std::vector<char>& content(uint64_t id) const { return kept_.at(id).content; }

 private:
  struct Kept {
    Buffer buffer;
    std::vector<char> content;
  };
  Mover mover_;
  std::map<uint64_t, Kept> kept_;  // by id
};

}  // namespace intelliperf
