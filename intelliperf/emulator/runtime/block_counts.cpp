#include "block_counts.h"

#include "modules.h"

namespace simt {

BlockCounter block_counter;

std::vector<uint64_t> wave_executions(const Module& module, const std::vector<uint64_t>& lanes,
                                      const std::vector<uint64_t>& counted, const std::vector<SiteRecord>& records) {
  const auto& blocks = module.metadata["blocks"].items();
  std::vector<uint64_t> waves(lanes.size());
  for (size_t i = 0; i < lanes.size() && i < blocks.size(); ++i) {
    waves[i] = counted[i];
    const uint64_t site = blocks[i]["site"].unsigned_or(UINT64_MAX);
    if (site >= records.size()) continue;
    // Accesses to a lane's own stack are no events: such blocks are as full as their other executions, or full.
    const SiteRecord& record = records[site];
    const uint64_t full = (lanes[i] + module.wave_size - 1) / module.wave_size;
    waves[i] = record.lanes ? uint64_t(double(record.requests) * double(lanes[i]) / double(record.lanes) + 0.5) : full;
  }
  return waves;
}

}  // namespace simt
