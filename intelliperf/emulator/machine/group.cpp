#include "group.h"

#include <algorithm>
#include <cfenv>

namespace machine {
namespace {

enum Property : uint16_t {
  kPrivateBuffer = 1,
  kDispatchPointer = 2,
  kQueuePointer = 4,
  kKernelArguments = 8,
  kDispatchNumber = 16,
  kFlatScratchInit = 32,
  kPrivateBytes = 64
};
enum Resource2 : uint32_t {
  kWaveScratchOffset = 1,
  kGroupX = 1 << 7,
  kGroupY = 1 << 8,
  kGroupZ = 1 << 9,
  kGroupInfo = 1 << 10
};
constexpr uint32_t kSwizzled = 1u << 31;

struct Place {
  uint32_t index[3], size[3];
};

uint32_t groups_along(const Dispatch& dispatch, uint32_t n) {
  return (dispatch.grid[n] + dispatch.group[n] - 1) / dispatch.group[n];
}

Place place_of(const Dispatch& dispatch, uint64_t number) {
  const uint32_t x = groups_along(dispatch, 0), y = groups_along(dispatch, 1);
  const uint64_t row = number / x;
  Place place{{uint32_t(number % x), uint32_t(row % y), uint32_t(row / y)}, {}};
  for (uint32_t n = 0; n < 3; ++n)
    place.size[n] = std::min(dispatch.group[n], dispatch.grid[n] - place.index[n] * dispatch.group[n]);
  return place;
}

// The first arguments, where the kernel asks for them in registers: words and their offset (LLVM, "Preloaded Kernel
// Arguments"). Such a kernel begins with code that loads them for older firmware, and after it, 256 bytes on.
void preload(Wave& wave, const Dispatch& dispatch, uint32_t next) {
  const KernelDescriptor& descriptor = descriptor_of(dispatch);
  const uint32_t words = descriptor.preloaded & 127u, first = descriptor.preloaded >> 7;
  const auto* arguments = reinterpret_cast<const uint32_t*>(dispatch.kernel_arguments) + first;
  for (uint32_t n = 0; n < words; ++n) wave.s[next + n] = arguments[n];
  if (words) wave.pc += 256;
}

void set_scalars(Wave& wave, const Dispatch& dispatch, const Place& place) {
  std::fill(std::begin(wave.s), std::end(wave.s), 0);
  const KernelDescriptor& descriptor = descriptor_of(dispatch);
  uint32_t next = 0;
  const auto add_pair = [&](uint64_t value) {
    wave.set_pair(next, value);
    next += 2;
  };
  const uint16_t properties = descriptor.properties;
  if (properties & kPrivateBuffer) {
    wave.s[1] = kSwizzled;
    next = 4;
  }
  if (properties & kDispatchPointer) add_pair(dispatch.packet);
  if (properties & kQueuePointer) add_pair(dispatch.queue);
  if (properties & kKernelArguments) add_pair(dispatch.kernel_arguments);
  if (properties & kDispatchNumber) add_pair(dispatch.number);
  if ((properties & kFlatScratchInit) && !dispatch.architected_scratch) add_pair(0);
  if (properties & kPrivateBytes) wave.s[next++] = dispatch.private_bytes;
  preload(wave, dispatch, next);
  next = descriptor.resources2 >> 1 & 31;
  const uint32_t enabled = descriptor.resources2;
  if (enabled & kGroupX) wave.s[next++] = place.index[0];
  if (enabled & kGroupY) wave.s[next++] = place.index[1];
  if (enabled & kGroupZ) wave.s[next++] = place.index[2];
  if (enabled & kGroupInfo) wave.s[next++] = 0;
  if ((enabled & kWaveScratchOffset) && !dispatch.architected_scratch) wave.s[next++] = 0;
}

void begin_wave(Wave& wave, const Dispatch& dispatch, const Place& place, uint32_t first_item, uint32_t items) {
  const KernelDescriptor& descriptor = descriptor_of(dispatch);
  wave.pc = descriptor.entry();
  wave.scc = false;
  wave.state = State::kRunning;
  wave.mode = (descriptor.resources1 >> 12 & 0xFF) | (descriptor.resources1 >> 21 & 1) << 8 |
              (descriptor.resources1 >> 23 & 1) << 9;
  wave.scratch_bytes = (dispatch.private_bytes + 15) & ~15u;
  wave.scratch.resize(size_t(wave.scratch_bytes) * kWave);
  set_scalars(wave, dispatch, place);
  wave.set_pair(kExec, items == kWave ? ~0ull : (1ull << items) - 1);
  uint32_t* const numbers = wave.v(0);
  if (place.size[1] == 1 && place.size[2] == 1) {  // as Triton's groups are
    for (uint32_t lane = 0; lane < kWave; ++lane) numbers[lane] = first_item + lane;
    return;
  }
  for (uint32_t lane = 0; lane < items; ++lane) {
    const uint32_t item = first_item + lane;
    const uint32_t row = item / place.size[0];
    numbers[lane] = item % place.size[0] | row % place.size[1] << 10 | row / place.size[1] << 20;
  }
}

}  // namespace

uint64_t Dispatch::groups() const {
  return uint64_t(groups_along(*this, 0)) * groups_along(*this, 1) * groups_along(*this, 2);
}

uint32_t KernelDescriptor::vector_registers() const {
  return std::min(((resources3 & 63) + 1) * 4, all_vector_registers());
}

void begin_group(Group& group, const Dispatch& dispatch, uint64_t number, uint8_t* lds) {
  const Place place = place_of(dispatch, number);
  const uint32_t items = place.size[0] * place.size[1] * place.size[2];
  group.used = (items + kWave - 1) / kWave;
  if (group.waves.size() < group.used) group.waves.resize(group.used);
  for (uint32_t n = 0; n < group.used; ++n) {
    Wave& wave = group.waves[n];
    wave.lds = lds;
    wave.lds_bytes = dispatch.group_bytes;
    wave.number_in_group = n;
    begin_wave(wave, dispatch, place, n * kWave, std::min(items - n * kWave, kWave));
  }
}

Rounded::Rounded(const KernelDescriptor& descriptor) : before_(std::fegetround()) {
  constexpr int kModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const uint32_t single = descriptor.resources1 >> 12 & 3, other = descriptor.resources1 >> 14 & 3;
  if (single != other) throw Stop("a rounding mode for single precision alone");
  std::fesetround(kModes[single]);
}

Rounded::~Rounded() { std::fesetround(before_); }

}  // namespace machine
