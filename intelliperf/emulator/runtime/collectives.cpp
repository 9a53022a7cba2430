// Warp-level collectives. Semantics after the CUDA C++ Programming Guide (shuffle, vote, match) and HIP's
// headers: a source outside the sub-group of `width` lanes leaves the reader its own value. A source that takes no
// part gives 0: AMD's instruction set documents it for ds_bpermute, NVIDIA's own reduction sample relies on it.
#include "matrix_product.h"
#include "scheduler.h"
#include "shadow.h"

namespace simt {
namespace {

struct Participants {
  Lane* by_position[kMaxWave] = {};
  uint64_t mask = 0;
};

uint64_t shuffle(const Participants& all, const Lane& lane, uint32_t wave_size) {
  const int source = shuffle_source(lane, wave_size);
  const Lane* giver = source < 0 ? &lane : all.by_position[source];
  if (lane.shadow_got) shadow_passed(giver ? giver->shadow_given : nullptr, lane.shadow_got);
  return giver ? giver->value : 0;
}

uint64_t positions_where(const Participants& all, uint64_t value, bool as_predicate) {
  uint64_t found = 0;
  for (uint64_t rest = all.mask; rest; rest &= rest - 1) {
    const int position = __builtin_ctzll(rest);
    const uint64_t theirs = all.by_position[position]->value;
    if (as_predicate ? theirs != 0 : theirs == value) found |= uint64_t(1) << position;
  }
  return found;
}

void multiply(const Participants& all, uint32_t wave_size) {
  const MatrixOperands* operands[kMaxWave] = {};
  for (uint64_t rest = all.mask; rest; rest &= rest - 1) {
    const int position = __builtin_ctzll(rest);
    operands[position] = reinterpret_cast<const MatrixOperands*>(all.by_position[position]->value);
  }
  multiply_matrices(operands, wave_size);
}

void give_results(const Participants& all, uint32_t wave_size) {
  const Lane& first = *all.by_position[__builtin_ctzll(all.mask)];
  uint64_t common = 0;
  const auto operation = Collective(first.operation);
  if (operation == Collective::kBallot) common = positions_where(all, 0, true);
  if (operation == Collective::kMatchAll && positions_where(all, first.value, false) == all.mask) common = all.mask;
  if (operation == Collective::kActiveMask) common = all.mask;
  if (operation == Collective::kMatrix) multiply(all, wave_size);
  for (uint64_t rest = all.mask; rest; rest &= rest - 1) {
    Lane& lane = *all.by_position[__builtin_ctzll(rest)];
    switch (operation) {
      case Collective::kShuffle:
      case Collective::kShuffleUp:
      case Collective::kShuffleDown:
      case Collective::kShuffleXor:
        lane.result = shuffle(all, lane, wave_size);
        break;
      case Collective::kMatchAny:
        lane.result = positions_where(all, lane.value, false);
        break;
      default:
        lane.result = common;
        break;
    }
  }
}

}  // namespace

int shuffle_source(const Lane& lane, uint32_t wave_size) {
  const uint32_t width = lane.width == 0 || lane.width > wave_size ? wave_size : lane.width;
  const uint32_t self = lane.wave_lane, segment = self / width * width;
  int64_t source = self;
  switch (Collective(lane.operation)) {
    case Collective::kShuffle:
      source = segment + lane.argument % width;
      break;
    case Collective::kShuffleUp:
      source = int64_t(self) - int64_t(lane.argument);
      break;
    case Collective::kShuffleDown:
      source = int64_t(self) + int64_t(lane.argument);
      break;
    default:
      source = self ^ lane.argument;
      break;
  }
  // An exclusive-or that leaves the sub-group reads from an earlier sub-group but never from a later one.
  const int64_t low = Collective(lane.operation) == Collective::kShuffleXor ? 0 : segment;
  if (source < low || source >= int64_t(segment) + width) return -1;
  return int(source);
}

uint64_t execute_collective(Lane* const* group, uint32_t size, uint32_t wave_size) {
  uint64_t done = 0;
  for (uint32_t i = 0; i < size; ++i) {
    if (done >> group[i]->wave_lane & 1) continue;
    Participants all;
    for (uint32_t j = i; j < size; ++j) {
      if (group[j]->mask != group[i]->mask || group[j]->operation != group[i]->operation) continue;
      all.by_position[group[j]->wave_lane] = group[j];
      all.mask |= uint64_t(1) << group[j]->wave_lane;
    }
    give_results(all, wave_size);
    done |= all.mask;
  }
  return done;
}

}  // namespace simt
