#include "dead_reads.h"

#include <algorithm>

namespace simt {
namespace {

constexpr size_t kMaxHeld = 4096;  // of one block

bool is_alike(const Fault& one, const Fault& other) {
  return one.site == other.site && one.other_site == other.other_site;
}

}  // namespace

bool DeadReads::hold(const Fault& fault, uint32_t waves) {
  if (waves == 0 || effects_ & waves) return false;
  if (held_.size() < kMaxHeld) {
    held_.push_back({fault, waves});
    return true;
  }
  // Where one of a pair of lines has consequences its others need not be told one by one.
  const auto known = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return is_alike(held.fault, fault) && (waves & ~held.waves) == 0;
  });
  return known != held_.end();
}

void DeadReads::effect(uint32_t wave) {
  effects_ |= wave;
  if (held_.empty()) return;
  const auto live =
      std::stable_partition(held_.begin(), held_.end(), [&](const Held& held) { return (held.waves & wave) == 0; });
  for (auto at = live; at != held_.end(); ++at) note_fault(at->fault);
  held_.erase(live, held_.end());
}

}  // namespace simt
