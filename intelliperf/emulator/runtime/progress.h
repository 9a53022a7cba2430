// How far the process is: one page of a file that the parent reads at any time while it waits.
//
// The file is INTELLIPERF_PROGRESS/<process>; without the variable nothing is written. The layout is read by
// interception/progress.py: mark, sequence (odd while `begin` writes), launches begun, blocks of the present one and
// how many of them have ended, when it began (CLOCK_MONOTONIC, ns), whether it runs, and its kernel's name.
#pragma once
#include <atomic>
#include <cstdint>

#include "modules.h"

namespace simt {

class Progress {
 public:
  static Progress& instance();

  // `counts`: it is a launch of the application's, not one that the runtime makes besides.
  void begin(const Kernel& kernel, uint64_t blocks, bool counts);
  void block_ended() {
    page_->ended.store(page_->ended.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void end() { page_->running.store(0, std::memory_order_relaxed); }

 private:
  struct Page {
    char mark[8];
    std::atomic<uint64_t> sequence, launches, blocks, ended;
    double began_ns;
    std::atomic<uint64_t> running;
    char kernel[456];
  };
  static_assert(sizeof(Page) == 512, "read by another process");

  Progress();

  Page nobody_reads_{};
  Page* page_ = &nobody_reads_;
};

}  // namespace simt
