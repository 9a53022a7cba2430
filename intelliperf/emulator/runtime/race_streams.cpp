// Races between launches of different streams.
#include "race.h"

namespace simt {
namespace {

constexpr size_t kMaxLaunched = 4096;

}  // namespace

void RaceDetector::begin_in_stream(const StreamPlace& place, uint32_t module) {
  if (!place.before || launched_.size() >= kMaxLaunched) launched_.clear();
  for (Launched& earlier : launched_) {
    const auto known = place.before->find(earlier.stream);
    earlier.unordered = known == place.before->end() || known->second < earlier.number;
    if (earlier.unordered && earlier.first < oldest_unordered_) oldest_unordered_ = earlier.first;
  }
  if (place.before) launched_.push_back({launch_first_, module, place.stream, place.number, false});
}

// The earlier launch of an access, where nothing orders it before the one that runs.
const RaceDetector::Launched* RaceDetector::unordered_launch(uint64_t packed) const {
  const Launched* of = nullptr;
  for (const Launched& one : launched_)
    if (one.first <= serial_of(packed)) of = &one;
  return of && of->unordered ? of : nullptr;
}

// Of a launch in another stream, which may run at the same time.
void RaceDetector::check_against_launch(const Common& access, bool strong, uint64_t earlier, uint16_t site,
                                        uint32_t thread, uint64_t address, Conflicts& found) {
  const Launched* of = unordered_launch(earlier);
  if (!of || (strong && access.strong)) return;
  const bool same_module = of->module == launched_.back().module;
  Fault fault = fault_of(access, FaultScope::kGrid, earlier, same_module ? site : 0xFFFF, thread, address);
  fault.cause = FaultCause::kUnorderedStreams;
  conflict(fault, found);
}

}  // namespace simt
