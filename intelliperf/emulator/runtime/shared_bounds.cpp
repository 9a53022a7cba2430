#include "shared_bounds.h"

#include <algorithm>

#include "fault_log.h"

namespace simt {

void SharedBounds::begin_launch(const Module& module, uint32_t dynamic_lds) {
  const auto address = [](const char* at) { return reinterpret_cast<uint64_t>(at); };
  variables_.clear();
  for (const SharedVariable& variable : module.shared_variables)
    variables_.push_back({address(variable.begin), address(variable.begin) + variable.bytes});
  if (variables_.empty()) variables_.push_back({address(module.shared_begin), address(module.shared_end)});
  dynamic_ = {address(dynamic_shared_base()), address(dynamic_shared_base()) + dynamic_lds};
  last_.assign(module.site_count, SharedSpan{});
}

const SharedSpan* SharedBounds::at_or_before(uint64_t address) const {
  const auto next = std::upper_bound(variables_.begin(), variables_.end(), address,
                                     [](uint64_t value, const SharedSpan& span) { return value < span.begin; });
  return next == variables_.begin() ? nullptr : &*(next - 1);
}

bool SharedBounds::inside(uint32_t site, uint64_t low, uint64_t high) {
  if (still_inside(site, low, high)) return true;
  const bool dynamic = low - dynamic_.begin < kDynamicSharedCapacity;
  const SharedSpan* span = dynamic ? &dynamic_ : at_or_before(low);
  if (!span || low < span->begin || high > span->end) return false;
  last_[site] = *span;
  return true;
}

SharedSpan SharedBounds::meant(uint32_t site, uint64_t address) const {
  if (address - dynamic_.begin < kDynamicSharedCapacity) return dynamic_;
  const SharedSpan& last = last_[site];
  if (last.begin != last.end && last.begin != dynamic_.begin) return last;
  const SharedSpan* before = at_or_before(address);
  if (!before) return variables_.front();
  const SharedSpan* after = before + 1;
  const bool below = after != variables_.data() + variables_.size() && after->begin - address < address - before->end;
  return below ? *after : *before;
}

}  // namespace simt
