// Words that change places by exclusive or: x ^ y, and later (x ^ y) ^ y. Sorts and reversals of arrays do so.
//
// What goes with such a word is the exclusive or of both records, each scrambled by a bijection that the code under test
// does not know, so that nothing but the other of the two leads back to one, and no third record makes a number of it.
#include <cstring>

#include "machine_shadow.h"
#include "machine_shadow_plan.h"
#include "operands.h"
#include "shadow_field.h"
#include "shadow_functions.h"

namespace simt {

using machine::Instruction;
using machine::kWave;

namespace {

constexpr uint64_t kTag = 15ull << 32, kBits = 0xFFFFFFFFull;

uint64_t inverse(uint64_t odd) {
  uint64_t found = odd;  // right in its three lowest bits; each step doubles them
  for (int n = 0; n < 5; ++n) found *= 2 - odd * found;
  return found;
}

struct Bijection {
  uint64_t first = scrambled(prime_p().reduced(~0ull), 31) | 1, second = scrambled(first, 32) | 1;
  uint64_t back_first = inverse(first), back_second = inverse(second);

  uint64_t of(uint64_t x) const {
    x = (x ^ second) * first;
    x = (x ^ x >> 32) * second;
    return x ^ x >> 32;
  }
  uint64_t back(uint64_t x) const {
    x = (x ^ x >> 32) * back_second;
    return (x ^ x >> 32) * back_first ^ second;
  }
};

const Bijection& bijection() {
  static const Bijection instance;
  return instance;
}

struct Words {
  uint64_t word[3];
};

Words words_of(const ShadowRecord& record) {
  Words words = {{record.a, record.b, 0}};
  std::memcpy(&words.word[2], &record.d, sizeof record.d);
  if (!is_mixed(record))
    for (uint64_t& word : words.word) word = bijection().of(word);
  return words;
}

bool is_number(const ShadowRecord& record) {
  if (!(record.word & 7ull << 32)) return false;
  return !is_calculated(record) || prime_p().reduced(record.a) == record.a;
}

ShadowRecord exclusive_or(const ShadowRecord& x, const ShadowRecord& y) {
  const Words left = words_of(x), right = words_of(y);
  Words words;
  for (uint32_t n = 0; n < 3; ++n) words.word[n] = left.word[n] ^ right.word[n];
  ShadowRecord result = {0, 0, 0, (x.word ^ y.word) & (kTag | kBits)};
  const bool mixed = is_mixed(x) == is_mixed(y);
  if (!mixed)
    for (uint64_t& word : words.word) word = bijection().back(word);
  result.a = words.word[0], result.b = words.word[1];
  std::memcpy(&result.d, &words.word[2], sizeof result.d);
  if (!mixed) return is_number(result) ? result : ShadowRecord{0, 0, 0, 0};
  const bool nothing = !(words.word[0] | words.word[1] | words.word[2] | result.word);
  if (nothing) return {0, 0, 0, 0};
  result.word |= kMixed | (is_calculated(x) || is_calculated(y) ? kMixedCalculated : 0);
  return result;
}

ShadowRecord part(const ShadowRecord& x, uint32_t x_bits, const ShadowRecord& y, uint32_t y_bits) {
  const bool valid = uint32_t(x.word) == x_bits && uint32_t(y.word) == y_bits;
  if (x.word && y.word) return valid ? exclusive_or(x, y) : ShadowRecord{0, 0, 0, 0};
  if (x.word && !y_bits) return x;
  return y.word && !x_bits ? y : ShadowRecord{0, 0, 0, 0};
}

uint32_t half_bits(uint32_t bits, uint32_t half) { return bits >> 16 * half & 0xFFFF; }

}  // namespace

bool is_mixed(const WordShadow& shadow) {
  return is_mixed(shadow.whole) || is_mixed(shadow.half[0]) || is_mixed(shadow.half[1]);
}

WordShadow exclusive_or(const WordShadow& x, uint32_t x_bits, const WordShadow& y, uint32_t y_bits) {
  WordShadow result;
  result.whole = part(x.whole, x_bits, y.whole, y_bits);
  for (const uint32_t n : {0u, 1u})
    result.half[n] = part(half_of(x, n), half_bits(x_bits, n), half_of(y, n), half_bits(y_bits, n));
  return result;
}

void WaveShadow::before_exchange(machine::Wave& wave, const Instruction& i) {
  if (i.sdwa || !i.source[0].is_vector() || !i.source[1].is_vector()) return;
  const uint32_t left = i.source[0].row(), right = i.source[1].row();
  if (!registers_.has(left) || !registers_.has(right)) return;
  int8_t from[kWave];
  if (i.dpp) machine::dpp_sources(i.lanes.control, from);
  for (uint64_t rest = machine::written_lanes(wave, i); rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const int there = i.dpp ? from[lane] : int(lane);
    if (there < 0 || !(wave.exec() >> there & 1)) continue;
    const WordShadow &x = registers_.at(left, uint32_t(there)), &y = registers_.at(right, lane);
    if (x.empty() || y.empty()) continue;
    const uint32_t x_bits = wave.v(left)[there], y_bits = wave.v(right)[lane];
    const WordShadow result = exclusive_or(x, x_bits, y, y_bits);
    const bool same = x_bits == y_bits;  // and then nothing is left of either
    if (result.empty() && !same && (is_calculated(x) || is_calculated(y))) lose(i);
    exchanged_ |= 1ull << lane;
    exchange_[lane] = result;
  }
}

void WaveShadow::after_exchange(const Instruction& i) {
  for (uint64_t rest = exchanged_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    registers_.set(i.destination, lane, exchange_[lane]);
  }
}

}  // namespace simt
