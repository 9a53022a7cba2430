#include "device_memory.h"

#include <algorithm>
#include <cstdio>

#include "arithmetic.h"

namespace machine {
namespace {

FindRange find_range = nullptr;
void (*interrupt)() = nullptr;
uint64_t cycles = 0;

template <class Integer>
Integer changed(AtomicKind kind, Integer old, Integer value, Integer comparand) {
  using Signed = std::make_signed_t<Integer>;
  switch (kind) {
    case AtomicKind::kSwap:
      return value;
    case AtomicKind::kCompareSwap:
      return old == comparand ? value : old;
    case AtomicKind::kAdd:
      return old + value;
    case AtomicKind::kSub:
      return old - value;
    case AtomicKind::kReverseSub:
      return value - old;
    case AtomicKind::kMinSigned:
      return Integer(std::min(Signed(old), Signed(value)));
    case AtomicKind::kMaxSigned:
      return Integer(std::max(Signed(old), Signed(value)));
    case AtomicKind::kMinUnsigned:
      return std::min(old, value);
    case AtomicKind::kMaxUnsigned:
      return std::max(old, value);
    case AtomicKind::kAnd:
      return old & value;
    case AtomicKind::kOr:
      return old | value;
    case AtomicKind::kXor:
      return old ^ value;
    case AtomicKind::kIncrement:
      return old >= value ? 0 : old + 1;
    case AtomicKind::kDecrement:
      return old == 0 || old > value ? value : old - 1;
    default:
      break;
  }
  using Float = std::conditional_t<sizeof(Integer) == 4, float, double>;
  const Float a = bits_as<Float>(old), b = bits_as<Float>(value);
  switch (kind) {
    case AtomicKind::kAddFloat:
      return bits_as<Integer>(a + b);
    case AtomicKind::kMinFloat:
      return bits_as<Integer>(least(a, b));
    case AtomicKind::kMaxFloat:
      return bits_as<Integer>(greatest(a, b));
    default:
      break;
  }
  const auto half_sum = [&](uint32_t shift) {
    return Integer(double_to_half(half_to_double(uint16_t(old >> shift)) + half_to_double(uint16_t(value >> shift))));
  };
  return half_sum(0) | half_sum(16) << 16;
}

template <class Integer>
uint64_t exchange(AtomicKind kind, void* where, Integer value, Integer comparand) {
  auto* const place = static_cast<Integer*>(where);
  Integer old = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (kind == AtomicKind::kCompareSwap && old != comparand) return old;  // nothing is written
  while (!__atomic_compare_exchange_n(place, &old, changed(kind, old, value, comparand), false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
  }
  return old;
}

}  // namespace

void set_memory(FindRange find) { find_range = find; }
void set_interrupt(void (*raise)()) { interrupt = raise; }
void raise_interrupt() {
  if (interrupt) interrupt();
}

bool is_memory(uint64_t address, uint32_t bytes) {
  uint64_t begin = 0, end = 0;
  return find_range && find_range(address, begin, end) && address + bytes <= end;
}

void require_mapped(Instruction& i, uint64_t address, uint32_t bytes, uint32_t lane) {
  if (address >= i.range_begin && address + bytes <= i.range_end) return;
  uint64_t begin = 0, end = 0;
  if (find_range && find_range(address, begin, end) && address + bytes <= end) {
    i.range_begin = begin;
    i.range_end = end;
    return;
  }
  char text[160];
  std::snprintf(text, sizeof text, "memory access fault: %u bytes at 0x%llx, which is not memory of the device, by '",
                bytes, static_cast<unsigned long long>(address));
  throw Fault(text + i.text + "'", address, lane);
}

void observe_uniform(Wave& wave, Instruction& i, uint64_t address, uint32_t bytes) {
  if (!wave.observer || i.site == ~0u) return;
  LaneAddresses lanes;
  lanes.mask = wave.exec();
  std::fill(std::begin(lanes.at), std::end(lanes.at), address);
  observe(wave, i, Space::kGlobal, lanes, bytes);
}

uint64_t device_cycles() { return cycles; }
void advance_device_cycles(uint64_t more) { cycles += more; }

uint64_t run_atomic(AtomicKind kind, uint32_t bytes, void* where, uint64_t value, uint64_t comparand) {
  if (reinterpret_cast<uintptr_t>(where) % bytes) throw Stop("an atomic on an address that is not aligned");
  if (bytes == 8) return exchange<uint64_t>(kind, where, value, comparand);
  return exchange<uint32_t>(kind, where, uint32_t(value), uint32_t(comparand));
}

}  // namespace machine
