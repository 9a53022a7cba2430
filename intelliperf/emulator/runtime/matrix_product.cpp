#include "matrix_product.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "shadow.h"
#include "shadow_functions.h"

namespace simt {
namespace {

struct Place {
  uint32_t row, column, block;
};

float from_half(uint16_t bits) {
  _Float16 value;
  std::memcpy(&value, &bits, sizeof value);
  return static_cast<float>(value);
}

float from_bfloat16(uint16_t bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <class T>
T element(const uint64_t* words, uint32_t index) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(words) + index * sizeof(T), sizeof value);
  return value;
}

constexpr uint32_t kBytes[] = {4, 8, 2, 2, 1};  // by MatrixFormat

double number(MatrixFormat format, const uint64_t* words, uint32_t index) {
  switch (format) {
    case MatrixFormat::kF32:
      return element<float>(words, index);
    case MatrixFormat::kF64:
      return element<double>(words, index);
    case MatrixFormat::kF16:
      return from_half(element<uint16_t>(words, index));
    case MatrixFormat::kBf16:
      return from_bfloat16(element<uint16_t>(words, index));
    default:
      return element<int8_t>(words, index);
  }
}

// Where the element `index` of a lane's sum lies.
Place place_of_sum(const MatrixOperands& shape, uint32_t lane, uint32_t index) {
  if (shape.replicated) return {2 * index + lane / 16, lane % 16, 0};
  if (shape.result == MatrixResult::kF64) {
    if (shape.size == 4) return {lane / 16, lane % 4, lane / 4 % 4};
    return {4 * index + lane / 16, lane % 16, 0};
  }
  if (shape.size == 4) return {index, lane % 4, lane / 4};
  if (shape.size == 16) return {4 * (lane / 16) + index % 4, lane % 16, index / 4};
  const uint32_t within = index % 16;
  return {8 * (within / 4) + 4 * (lane / 32) + within % 4, lane % 32, index / 16};
}

struct Held {  // an element of an operand: among the words of a lane, null where it takes no part
  const uint64_t* words;
  uint32_t index;
};

// The element (`line`, `deep`) of the operand of `block`: `line` is a row of the first matrix, a column of the second.
Held operand(const MatrixOperands* const* lanes, const MatrixOperands& shape, bool first, uint32_t line, uint32_t deep,
             uint32_t block) {
  uint32_t lane = line, index = deep;
  if (!shape.replicated) {
    const uint32_t per_lane = shape.size * shape.depth * shape.blocks / 64, across = shape.depth / per_lane;
    const bool by_depth = shape.format == MatrixFormat::kF64;  // several blocks of them lie side by side
    lane += shape.size * (by_depth ? block + shape.blocks * (deep / per_lane) : deep / per_lane + across * block);
    index = deep % per_lane;
  }
  const MatrixOperands* holder = lanes[lane];
  return {holder == nullptr ? nullptr : first ? holder->a : holder->b, index};
}

double number(MatrixFormat format, const Held& held) { return held.words ? number(format, held.words, held.index) : 0; }

Shadow shadow_of(MatrixFormat format, const Held& held) {
  constexpr ShadowKind kKinds[] = {ShadowKind::kFloat, ShadowKind::kDouble, ShadowKind::kHalf, ShadowKind::kBfloat};
  if (!held.words) return {0, 0, 0, 0};
  return shadow_at(reinterpret_cast<const char*>(held.words) + held.index * kBytes[size_t(format)],
                   kKinds[size_t(format)]);
}

// The block of the first operand that a sum's block multiplies with.
uint32_t first_block_of(const MatrixOperands& shape, const Place& at) {
  const uint32_t together = 1u << shape.shared_blocks;
  return shape.shared_blocks ? at.block / together * together + shape.shared_block : at.block;
}

// What was added up exactly, once the sum stands in memory.
void shade(const MatrixOperands* const* lanes, const MatrixOperands& shape, const Place& at, const void* addend,
           const void* sum, ShadowKind kind) {
  if (!shadow_active()) return;
  Shadow total = shadow_at(addend, kind);
  long double value = (long double)total.d + total.e;
  for (uint32_t deep = 0; deep < shape.depth; ++deep) {
    const Shadow a = shadow_of(shape.format, operand(lanes, shape, true, at.row, deep, first_block_of(shape, at)));
    const Shadow b = shadow_of(shape.format, operand(lanes, shape, false, at.column, deep, at.block));
    total.a = prime_p().add(total.a, prime_p().multiply(a.a, b.a));
    total.b = prime_q().add(total.b, prime_q().multiply(a.b, b.b));
    value += ((long double)a.d + a.e) * ((long double)b.d + b.e);
  }
  total.d = double(value);
  total.e = std::isfinite(total.d) ? double(value - (long double)total.d) : 0;
  set_shadow(sum, kind, total);
}

uint32_t sums_per_lane(const MatrixOperands& shape) {
  return shape.replicated ? 8 : shape.size * shape.size * shape.blocks / 64;
}

template <class T>
T total(const MatrixOperands* const* lanes, const MatrixOperands& shape, const Place& at, T sum) {
  for (uint32_t deep = 0; deep < shape.depth; ++deep) {
    const double a = number(shape.format, operand(lanes, shape, true, at.row, deep, first_block_of(shape, at)));
    const double b = number(shape.format, operand(lanes, shape, false, at.column, deep, at.block));
    if constexpr (std::is_same_v<T, int32_t>) {
      sum = T(uint32_t(sum) + uint32_t(int32_t(a) * int32_t(b)));
    } else {
      sum = std::fma(T(a), T(b), sum);
    }
  }
  return sum;
}

template <class T>
void add_up(const MatrixOperands* const* lanes, const MatrixOperands& own, uint32_t lane) {
  for (uint32_t index = 0; index < sums_per_lane(own); ++index) {
    T sum;
    const char* from = static_cast<const char*>(own.addend) + index * sizeof(T);
    char* to = static_cast<char*>(own.sum) + index * sizeof(T);
    const Place at = place_of_sum(own, lane, index);
    std::memcpy(&sum, from, sizeof sum);
    sum = total(lanes, own, at, sum);
    std::memcpy(to, &sum, sizeof sum);
    if constexpr (!std::is_same_v<T, int32_t>)
      shade(lanes, own, at, from, to, std::is_same_v<T, double> ? ShadowKind::kDouble : ShadowKind::kFloat);
  }
}

// Sixteen halves per lane, of which only the lower or the upper ones of each pair are sums; the others stay.
void add_up_halves(const MatrixOperands* const* lanes, const MatrixOperands& own, uint32_t lane) {
  std::memcpy(own.sum, own.addend, 16 * sizeof(uint16_t));
  for (uint32_t index = 0; index < 8; ++index) {
    const size_t offset = (2 * index + (own.replicated == 2)) * sizeof(uint16_t);
    uint16_t bits;
    std::memcpy(&bits, static_cast<const char*>(own.addend) + offset, sizeof bits);
    const Place at = place_of_sum(own, lane, index);
    const auto sum = static_cast<_Float16>(total(lanes, own, at, from_half(bits)));
    std::memcpy(static_cast<char*>(own.sum) + offset, &sum, sizeof sum);
    if (__simt_shadow.half)
      shade(lanes, own, at, static_cast<const char*>(own.addend) + offset, static_cast<char*>(own.sum) + offset,
            ShadowKind::kHalf);
  }
}

}  // namespace

void multiply_matrices(const MatrixOperands* const* lanes, uint32_t wave_size) {
  for (uint32_t lane = 0; lane < wave_size; ++lane) {
    if (lanes[lane] == nullptr) continue;
    switch (lanes[lane]->result) {
      case MatrixResult::kF32:
        add_up<float>(lanes, *lanes[lane], lane);
        break;
      case MatrixResult::kF64:
        add_up<double>(lanes, *lanes[lane], lane);
        break;
      case MatrixResult::kI32:
        add_up<int32_t>(lanes, *lanes[lane], lane);
        break;
      case MatrixResult::kF16:
        add_up_halves(lanes, *lanes[lane], lane);
        break;
    }
  }
}

}  // namespace simt
