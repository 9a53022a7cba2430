// What goes along with loads, stores and atomics, and products of matrices.
#include <cmath>
#include <cstring>

#include "machine_shadow.h"
#include "machine_shadow_plan.h"
#include "matrix.h"
#include "operands.h"
#include "shadow_functions.h"
#include "vector_memory.h"

namespace simt {

using machine::Access;
using machine::Instruction;
using machine::kWave;
using machine::MemoryOperation;
using machine::Width;

namespace {

uint32_t words_of(const MemoryOperation& operation) { return std::max(1, operation.bytes / 4); }

WordShadow loaded_word(uint64_t from) {
  WordShadow shadow;
  shadow.whole = word_shadow(from);
  for (const uint32_t half : {0u, 1u}) shadow.half[half] = half_shadow(from + 2 * half);
  return shadow;
}

bool is_high(Width width) { return width == Width::kHigh; }
bool is_short(Width width) { return width == Width::kU16 || width == Width::kLow || width == Width::kHigh; }

}  // namespace

uint64_t WaveShadow::place(const machine::Wave& wave, const Request& request, uint32_t lane) const {
  const uint64_t at = request.lanes.at[lane];
  if (request.space == machine::Space::kLds) return reinterpret_cast<uint64_t>(wave.lds) + at;
  if (request.space == machine::Space::kScratch)
    return reinterpret_cast<uint64_t>(wave.scratch.data()) + uint64_t(lane) * wave.scratch_bytes + at;
  return at;
}

void WaveShadow::load(machine::Wave& wave, const MemoryOperation& operation, const Request& request, uint32_t row) {
  for (uint64_t rest = request.lanes.mask; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t from = place(wave, request, lane);
    if (operation.width == Width::kWords) {
      for (uint32_t n = 0; n < words_of(operation); ++n) registers_.set(row + n, lane, loaded_word(from + 4 * n));
    } else if (is_short(operation.width)) {
      const bool high = is_high(operation.width), keeps = operation.width != Width::kU16;
      WordShadow shadow;
      if (keeps) shadow.half[!high] = half_of(registers_.at(row, lane), !high);
      shadow.half[high] = half_shadow(from);
      if (!shadow.half[high].word) shadow.half[high] = half_of_unseen(word_shadow(from & ~3ull), from / 2 % 2);
      registers_.set(row, lane, shadow);
    } else {
      registers_.set(row, lane, WordShadow());
    }
  }
}

void WaveShadow::store(machine::Wave& wave, const Instruction& i, const MemoryOperation& operation,
                       const Request& request, uint32_t row) {
  const bool shared = request.space != machine::Space::kLds && request.space != machine::Space::kScratch;
  for (uint64_t rest = request.lanes.mask; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t to = place(wave, request, lane);
    if (operation.width == Width::kWords) {
      for (uint32_t n = 0; n < words_of(operation); ++n) {
        const WordShadow& shadow = registers_.at(row + n, lane);
        if (shared && is_mixed(shadow) && is_calculated(shadow)) lose(i);
        place_word_shadow(to + 4 * n, shadow.whole);
        for (const uint32_t half : {0u, 1u}) place_half_shadow(to + 4 * n + 2 * half, shadow.half[half]);
      }
    } else if (is_short(operation.width)) {
      const ShadowRecord shadow = half_of(registers_.at(row, lane), is_high(operation.width));
      if (shared && is_mixed(shadow) && is_calculated(shadow)) lose(i);
      place_half_shadow(to, shadow);
    } else if (is_calculated(registers_.at(row, lane))) {
      lose(i);
    }
  }
}

// Lanes of one address come one after the other.
void WaveShadow::before_atomic(machine::Wave& wave, const Instruction& i, const Request& request) {
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  using machine::AtomicKind;
  const bool lds = request.space == machine::Space::kLds, compares = operation.atomic == AtomicKind::kCompareSwap;
  const uint32_t data = i.source[lds && compares ? 2 : 1].row();
  const bool sums = operation.atomic == AtomicKind::kAddFloat;
  for (uint64_t rest = request.lanes.mask; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const uint64_t at = place(wave, request, lane);
    if (operation.bytes != 4 || operation.atomic == AtomicKind::kAddPackedHalf) {
      if (is_calculated(registers_.at(data, lane))) lose(i);
      continue;
    }
    Held held{at, 0, {}};
    std::memcpy(&held.bits, reinterpret_cast<const void*>(at), 4);  // NOLINT(performance-no-int-to-ptr)
    held.shadow.whole = word_shadow(at);
    size_t known = 0;
    while (known < held_.size() && held_[known].address != at) ++known;
    if (known == held_.size()) {
      held_.push_back(held);
      sums_.push_back(sums ? exact(held.shadow, {}, held.bits, ShadowKind::kFloat, false, false) : Shadow());
    }
    const uint32_t bits = wave.v(data)[lane];
    if (sums)
      sums_[known] =
          sum_of_shadows(sums_[known], exact(registers_.at(data, lane), {}, bits, ShadowKind::kFloat, false, false));
    else
      held_.push_back({at, bits, registers_.at(data, lane)}), sums_.push_back(Shadow());
  }
}

void WaveShadow::after_atomic(machine::Wave& wave, const Instruction& i) {
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  if (operation.bytes != 4) return;
  const bool sums = operation.atomic == machine::AtomicKind::kAddFloat, returns = i.glc || operation.returns;
  std::vector<Held> before = held_;
  for (size_t n = 0; n < before.size(); ++n) {
    uint32_t now;
    std::memcpy(&now, reinterpret_cast<const void*>(before[n].address), 4);  // NOLINT(performance-no-int-to-ptr)
    if (sums)
      place_word_shadow(before[n].address, record_of(sums_[n], now, ShadowKind::kFloat));
    else if (before[n].bits == now)
      place_word_shadow(before[n].address, before[n].shadow.whole);
  }
  if (!returns) return;
  for (const Request& request : requests_)
    for (uint64_t rest = request.lanes.mask; rest; rest &= rest - 1) {
      const auto lane = uint32_t(__builtin_ctzll(rest));
      WordShadow got;
      for (const Held& held : before)
        if (held.address == place(wave, request, lane) && held.bits == wave.v(i.destination)[lane]) got = held.shadow;
      registers_.set(i.destination, lane, got);
    }
}

// Its requests: of the memory that is read, if any lane is within it, and of LDS.
void WaveShadow::after_load_to_lds(machine::Wave& wave, const MemoryOperation& operation) {
  if (requests_.empty() || requests_.back().space != machine::Space::kLds) return;
  const Request& to = requests_.back();
  const Request* const from = requests_.size() > 1 ? &requests_.front() : nullptr;
  for (uint64_t rest = to.lanes.mask; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const bool within = from && (from->lanes.mask >> lane & 1);
    for (uint32_t n = 0; n < words_of(operation); ++n) {
      const WordShadow shadow = within ? loaded_word(place(wave, *from, lane) + 4 * n) : WordShadow();
      const uint64_t at = place(wave, to, lane) + 4 * n;
      place_word_shadow(at, shadow.whole);
      for (const uint32_t half : {0u, 1u}) place_half_shadow(at + 2 * half, shadow.half[half]);
    }
  }
}

// What goes with halves goes with them from lane to lane; of narrower elements nothing is known.
void WaveShadow::after_transposed(machine::Wave& wave, const Instruction& i, const MemoryOperation& operation) {
  for (uint32_t n = 0; n < words_of(operation); ++n) registers_.drop(i.destination + n, mask_);
  const uint32_t elements = 64u / operation.transposed;
  for (const Request& request : requests_)
    for (uint64_t rest = request.lanes.mask; rest; rest &= rest - 1) {
      const auto lane = uint32_t(__builtin_ctzll(rest));
      for (uint32_t n = 0; n < words_of(operation); ++n) {
        if (operation.transposed != 16) {
          if (is_calculated(loaded_word(place(wave, request, lane) + 4 * n))) return lose(i);
          continue;
        }
        WordShadow shadow;
        for (const uint32_t half : {0u, 1u}) {
          const machine::TileElement origin = machine::tile_element(lane, 2 * n + half, elements);
          const uint64_t at = place(wave, request, origin.lane) + 2 * origin.element;
          shadow.half[half] = half_shadow(at);
          if (!shadow.half[half].word) shadow.half[half] = half_of_unseen(word_shadow(at & ~3ull), at / 2 % 2);
        }
        registers_.set(i.destination + n, lane, shadow);
      }
    }
}

void WaveShadow::after_memory(machine::Wave& wave, const Instruction& i) {
  if (i.format == machine::Format::kSmem) {
    for (uint32_t n = 0; n < std::max<uint32_t>(1, i.scalar_bytes / 4) && i.scalar_destination + n < 128u; ++n) {
      const uint32_t row = RegisterShadows::kScalars + i.scalar_destination + n;
      registers_.drop(row, 1);
      if (!requests_.empty()) registers_.set(row, 0, loaded_word(requests_[0].lanes.at[0] + 4 * n));
    }
    return;
  }
  const auto& operation = *static_cast<const MemoryOperation*>(i.semantics);
  if (i.access == Access::kAtomic) {
    if (i.glc || operation.returns) registers_.drop(i.destination, mask_);
    return after_atomic(wave, i);
  }
  if (i.to_lds) return after_load_to_lds(wave, operation);
  if (operation.transposed) return after_transposed(wave, i, operation);
  const bool lds = i.format == machine::Format::kDs;
  if (i.access == Access::kLoad)  // lanes beyond a buffer's end get zeros
    for (uint32_t n = 0; n < words_of(operation) * operation.addresses; ++n)
      if (operation.width == Width::kWords) registers_.drop(i.destination + n, mask_);
  for (uint32_t n = 0; n < requests_.size(); ++n) {
    const uint32_t part = lds && operation.addresses == 2 ? n : 0;
    if (i.access == Access::kLoad)
      load(wave, operation, requests_[n], i.destination + part * words_of(operation));
    else
      store(wave, i, operation, requests_[n], i.source[1 + part].row());
  }
}

namespace {

bool follows(machine::Element element) {
  using machine::Element;
  return element == Element::kFloat || element == Element::kHalf || element == Element::kBrain;
}

}  // namespace

void WaveShadow::before_matrix(machine::Wave& wave, const Instruction& i) {
  const auto& shape = *static_cast<const machine::Shape*>(i.semantics);
  products_.clear();
  if (!follows(shape.element)) return;
  static thread_local Shadow factor[2][8][kWave];
  for (uint32_t n = 0; n < 2; ++n)
    for (uint32_t item = 0; item < shape.together; ++item)
      for (uint32_t lane = 0; lane < kWave; ++lane) {
        const bool single = shape.element == machine::Element::kFloat;
        const uint32_t row = i.source[n].row() + (single ? item : item / 2), upper = single ? 0 : item % 2;
        const uint32_t word = wave.v(row)[lane];
        const WordShadow& have = registers_.at(row, lane);
        const uint32_t bits = single ? word : upper ? word >> 16 : word & 0xFFFF;
        Shadow& to = factor[n][item][lane];
        if (single)
          to = exact(have, {}, bits, ShadowKind::kFloat, false, false);
        else if (shape.element == machine::Element::kHalf)
          to = exact(have, {}, bits, ShadowKind::kHalf, upper, false);
        else if (!known_shadow(half_of(have, upper), bits, ShadowKind::kBfloat, &to))
          to = embedded(double(machine::bits_as<float>(bits << 16)));
      }
  const machine::Source& third = i.source[2];
  for (uint32_t block = 0; block < shape.blocks; ++block)
    for (uint32_t row = 0; row < shape.side; ++row)
      for (uint32_t column = 0; column < shape.side; ++column) {
        const machine::Place to = machine::result_place(shape, block, row, column);
        Shadow total = {};
        if (third.is_vector()) {
          const uint32_t from = third.row() + to.item;
          total = exact(registers_.at(from, to.lane), {}, wave.v(from)[to.lane], ShadowKind::kFloat, false, false);
        } else {
          total = of_constant(machine::scalar_word(wave, i, third.code), ShadowKind::kFloat, false);
        }
        for (uint32_t k = 0; k < shape.depth; ++k) {
          const machine::Place x = machine::factor_place(shape, block, row, k),
                               y = machine::factor_place(shape, block, column, k);
          const Shadow& left = factor[0][x.item][x.lane];
          const Shadow& right = factor[1][y.item][y.lane];
          total.a = prime_p().add(total.a, prime_p().multiply(left.a, right.a));
          total.b = prime_q().add(total.b, prime_q().multiply(left.b, right.b));
          total.d += left.d * right.d;
        }
        products_.push_back({uint32_t(i.destination + to.item), to.lane, total});
      }
}

void WaveShadow::after_matrix(machine::Wave& wave, const Instruction& i) {
  const auto& shape = *static_cast<const machine::Shape*>(i.semantics);
  if (!follows(shape.element)) {
    const uint32_t items =
        uint32_t(shape.side) * shape.side * shape.blocks / kWave * (shape.element == machine::Element::kDouble ? 2 : 1);
    for (uint32_t n = 0; n < items; ++n) registers_.drop(i.destination + n, ~0ull);
    if (shape.element != machine::Element::kByte) lose(i);
    return;
  }
  for (const Product& one : products_) {
    const uint32_t bits = wave.v(one.row)[one.lane];
    const double value = double(machine::bits_as<float>(bits));
    WordShadow shadow;
    shadow.whole = record_of(std::isfinite(value) ? one.shadow : embedded(value), bits, ShadowKind::kFloat);
    registers_.set(one.row, one.lane, shadow);
  }
}

}  // namespace simt
