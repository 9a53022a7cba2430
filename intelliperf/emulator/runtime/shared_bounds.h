// Whether accesses to LDS stay within one variable, or within the dynamic part that the launch asked for.
#pragma once
#include <cstdint>
#include <vector>

#include "lds_guards.h"

namespace simt {

class SharedBounds {
 public:
  void begin_launch(const Module& module, uint32_t dynamic_lds);

  // Whether [low, high) lies within the variable that the site met last: true for nearly all requests.
  bool still_inside(uint32_t site, uint64_t low, uint64_t high) const {
    return low >= last_[site].begin && high <= last_[site].end;
  }
  // Whether it lies within any, which the site then has met last.
  bool inside(uint32_t site, uint64_t low, uint64_t high);
  // The variable that an access outside of all was most likely meant for.
  SharedSpan meant(uint32_t site, uint64_t address) const;

 private:
  const SharedSpan* at_or_before(uint64_t address) const;  // null: it is before all variables

  std::vector<SharedSpan> variables_;  // static ones, by address
  SharedSpan dynamic_;
  std::vector<SharedSpan> last_;  // by site
};

}  // namespace simt
