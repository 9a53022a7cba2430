#include "horizon.h"

#include <algorithm>

#include "device_file.h"

namespace simt {
namespace {

constexpr double kIssueCycles = 2.3;  // as in demand.cpp
constexpr double kLoadsTogether = 4;  // under way, of a wave

}  // namespace

double Horizon::cycles_of(const Wave& wave) {
  const Device& d = device();
  const double loads =
      double(wave.work.global_loads) * d.l2_latency_cycles + double(wave.work.lds_loads) * d.lds_latency_cycles;
  return wave.begun_cycles + wave.work.issue * kIssueCycles + loads / kLoadsTogether;
}

void Horizon::meet(Block& block) {
  double last = 0;
  for (const Wave& wave : block.waves)
    if (wave.live) last = std::max(last, cycles_of(wave));
  for (Wave& wave : block.waves)
    if (wave.live) wave.begun_cycles += last - cycles_of(wave);
}

}  // namespace simt
