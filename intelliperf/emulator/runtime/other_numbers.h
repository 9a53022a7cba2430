// The same launch on other numbers: for a validation that an answer remembered, or known beforehand, cannot pass.
// Asked for by INTELLIPERF_OTHER_NUMBERS; see alterations.h for its values.
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "launch.h"
#include "memory.h"
#include "named_launches.h"
#include "other_data.h"
#include "other_sizes.h"

namespace simt {

// Alters memory when made and puts back all device memory, the launch's results included, when it goes.
class OtherNumbers {
 public:
  OtherNumbers(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode, uint32_t variant);
  ~OtherNumbers();
  OtherNumbers(const OtherNumbers&) = delete;
  OtherNumbers& operator=(const OtherNumbers&) = delete;

  // The launch to run instead.
  const LaunchRequest& request() const { return altered_; }

  // How its data differ, for people; empty where the mode says it.
  const char* told() const { return told_; }

  // Of how many buffers the numbers are others now, and one more where arguments are.
  int changed() const;

  // For modes 4, 9 and 10: of the next copy from the host.
  static void alter_copy(void* at, uint64_t bytes);

  // How often the `nth` launch of a kernel (from 0) is to be repeated: 0 unless that is asked for, it is an early one
  // or one of a thinning row, and there is little enough memory to put back. Equal for all versions of a program with
  // the same allocations and parameters.
  static uint32_t variants(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode);

 private:
  struct Saved {
    uintptr_t base;
    std::vector<char> content;
  };
  void alter_data(const LaunchRequest& request, uint64_t nth, OtherNumbersMode mode, uint32_t which);
  void alter_doubles(const LaunchRequest& request, int power);
  void alter_kinds(const LaunchRequest& request, uint64_t nth, DataKind kind, const Allocation* only,
                   const Bounds& bounds);
  void alter_together(const LaunchRequest& request, uint64_t nth, uint32_t which);
  void move_pointer(const LaunchRequest& request, size_t index);
  void alter_sums(const LaunchRequest& request);
  void alter_size(const LaunchRequest& request, const OtherSize& other);
  void double_list(const LaunchRequest& request, size_t number);
  void enlarge_lds(const LaunchRequest& request, const OtherSize& other);
  void choose_grid(const LaunchRequest& request, bool only_arguments);
  bool as_taken(const LaunchRequest& request) const;
  void alter_floats(const LaunchRequest& request, const OtherSize& other);
  void alter_keys(const LaunchRequest& request, const OtherSize& other);
  void alter_as_named(const LaunchRequest& request, const NamedLaunch& launch);
  void gather_rows(const LaunchRequest& request, uint64_t nth);
  void vary_rooms(const LaunchRequest& request, uint32_t bits);
  void alter_wide(const LaunchRequest& request, uint32_t variant);

  LaunchRequest altered_;
  std::vector<void*> arguments_;
  std::deque<std::vector<char>> copies_;  // of the altered ones
  const char* told_ = "";
  std::vector<Saved> saved_;
};

}  // namespace simt
