#include "dead_reads.h"

#include <algorithm>

#include "consequences.h"

namespace simt {
namespace {

constexpr size_t kMaxHeld = 4096;  // of one block

bool is_alike(const Fault& one, const Fault& other) {
  return one.site == other.site && one.other_site == other.other_site;
}

bool comes_of(const DeadReads::Read& read, uint32_t store, machine::Consequences& consequences) {
  return read.site == kNoSite || consequences.may_come_of(read.site, store);
}

}  // namespace

bool DeadReads::hold(const Fault& fault, const Read& read, machine::Consequences& consequences) {
  if (read.waves == 0) return false;
  for (uint32_t wave = 0; wave < made_.size(); ++wave)
    for (const uint32_t store : made_[wave])
      if ((read.waves >> wave & 1) && comes_of(read, store, consequences)) return false;
  if (held_.size() < kMaxHeld) {
    held_.push_back({fault, read});
    return true;
  }
  // Where one of a pair of lines has consequences its others need not be told one by one.
  const auto known = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
    return is_alike(held.fault, fault) && held.read.site == read.site && (read.waves & ~held.read.waves) == 0;
  });
  return known != held_.end();
}

void DeadReads::effect(uint32_t wave, uint32_t site, machine::Consequences& consequences) {
  if (made_.size() <= wave) made_.resize(wave + 1);
  std::vector<uint32_t>& made = made_[wave];
  if (std::find(made.rbegin(), made.rend(), site) == made.rend()) made.push_back(site);
  if (held_.empty()) return;
  const auto live = std::stable_partition(held_.begin(), held_.end(), [&](const Held& held) {
    return (held.read.waves >> wave & 1) == 0 || !comes_of(held.read, site, consequences);
  });
  for (auto at = live; at != held_.end(); ++at) note_fault(at->fault);
  held_.erase(live, held_.end());
}

}  // namespace simt
