// What a wave's requests cost in cycles and lines, added to the counts of their instructions.
#pragma once
#include "device_memory.h"

namespace gfx90a {

using namespace machine;

constexpr uint32_t kLineBytes = 64;
class Counting final : public Observer {
 public:
  void request(Wave& wave, Instruction& instruction, Space space, const LaneAddresses& lanes, uint32_t bytes) override;
  void order(Wave&, Order, bool) override {}
};

}  // namespace gfx90a
