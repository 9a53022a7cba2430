// What has ended before something begins, as far as streams, events and the host order it: of each stream, by its number,
// how many of its operations.
#pragma once
#include <cstdint>
#include <map>

namespace simt {

using StreamClock = std::map<uint64_t, uint64_t>;

inline void join(StreamClock& into, const StreamClock& other) {
  for (const auto& [stream, count] : other) {
    uint64_t& known = into[stream];
    if (known < count) known = count;
  }
}

// One operation of a stream. `before` is null where everything earlier has ended.
struct StreamPlace {
  uint64_t stream = 0, number = 0;
  const StreamClock* before = nullptr;
};

}  // namespace simt
