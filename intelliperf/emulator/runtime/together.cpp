#include "together.h"

#include <iterator>

#include "settings.h"

namespace simt {

std::vector<Together> together(const LaunchRequest& request) {
  constexpr DataKind kKinds[] = {DataKind::kSigns, DataKind::kNegative, DataKind::kOutOfRange, DataKind::kTies,
                                 DataKind::kTiny};
  std::vector<OtherSize> modes, others, extremes;
  for (const OtherSize& size : other_sizes(settings().slots, request, settings().constants, settings().shapes, true)) {
    if ((size.larger && !size.extreme) || size.halves || size.edges || size.bare || size.keyed || size.alike) continue;
    (size.extreme ? extremes : size.mode ? modes : others).push_back(size);
  }
  std::vector<Together> found;
  for (const OtherSize& size : modes) found.push_back({size, true, DataKind::kCount});
  for (const DataKind kind : kKinds)
    for (const OtherSize& size : modes) found.push_back({size, false, kind});
  for (const OtherSize& size : extremes) found.push_back({size, false, DataKind::kOutOfRange});
  constexpr size_t kWays = std::size(kKinds) + 1;
  for (size_t i = 0; i < others.size(); ++i)
    found.push_back({others[i], i % kWays == 0, i % kWays ? kKinds[i % kWays - 1] : DataKind::kCount});
  return found;
}

}  // namespace simt
