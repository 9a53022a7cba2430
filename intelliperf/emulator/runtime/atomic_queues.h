// How global atomics queue before the slices of the L2.
//
// A slice takes one sector of a request at a time, and within it the lanes on one address one after another. Sectors of
// one chunk of addresses belong to one slice. Measured on an H200 (benchmarks/hardware/rates.cu): one warp's 32 lanes on
// 32 neighbouring words take 4 sectors' time; eight addresses, each in a line of its own within 1 KiB, are served at the
// rate of two queues, 1,024 words of 4 KiB at that of eight; spread out, at that of about 64.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace simt {

class AtomicQueues {
 public:
  void clear() { chunks_.clear(), sectors_ = extra_ = 0; }

  // One sector of a request: `most` of its lanes are on one address. Words of 8 bytes take twice the time.
  void add(uint64_t address, uint32_t most, uint32_t words) {
    sectors_ += words;
    extra_ += uint64_t(most - 1) * words;
    if (chunks_.size() >= kMostChunks) return;
    Queue& queue = chunks_[address >> kChunkShift];
    queue.sectors += words, queue.extra += uint64_t(most - 1) * words;
  }

  struct Queue {
    uint64_t sectors = 0, extra = 0;  // extra: lanes behind the first on their address
    double time(double sector, double lane) const { return double(sectors) * sector + double(extra) * lane; }
  };
  Queue all() const { return {sectors_, extra_}; }
  Queue longest(double sector, double lane) const {
    Queue most;
    for (const auto& chunk : chunks_)
      if (chunk.second.time(sector, lane) > most.time(sector, lane)) most = chunk.second;
    return most;
  }

  static constexpr int kChunkShift = 9;

 private:
  static constexpr size_t kMostChunks = 1 << 16;  // with as many none is much longer than the others
  std::unordered_map<uint64_t, Queue> chunks_;
  uint64_t sectors_ = 0, extra_ = 0;
};

}  // namespace simt
