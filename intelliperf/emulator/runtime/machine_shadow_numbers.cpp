// Arithmetic of machine code in the fields: what its operands are, and what goes with its results.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "machine_shadow.h"
#include "machine_shadow_laws.h"
#include "machine_shadow_plan.h"
#include "operands.h"
#include "shadow_functions.h"

namespace simt {

using machine::Format;
using machine::Instruction;
using machine::kWave;

namespace {

bool is_narrow(ShadowKind kind) { return kind == ShadowKind::kHalf || kind == ShadowKind::kBfloat; }

double value_of_half(uint32_t bits) { return machine::half_to_double(uint16_t(bits)); }

double value_of_bits(uint64_t bits, ShadowKind kind) {
  if (kind == ShadowKind::kDouble) return machine::bits_as<double>(bits);
  if (kind == ShadowKind::kHalf) return value_of_half(uint32_t(bits));
  if (kind == ShadowKind::kBfloat) return double(machine::bits_as<float>(uint32_t(bits) << 16));
  return double(machine::bits_as<float>(uint32_t(bits)));
}

bool is_half_constant(uint16_t code) { return code >= 240 && code <= 248; }

}  // namespace

bool is_calculated(const WordShadow& shadow) {
  return is_calculated(shadow.whole) || is_calculated(shadow.half[0]) || is_calculated(shadow.half[1]);
}

ShadowRecord half_of(const WordShadow& shadow, uint32_t half) {
  if (shadow.half[half].word) return shadow.half[half];
  return half_of_unseen(shadow.whole, half);
}

// A number that came without a shadow: an argument, or what the code's author wrote.
Shadow WaveShadow::of_constant(uint64_t bits, ShadowKind kind, bool scalar) {
  const double value = value_of_bits(bits, kind);
  if (scalar && kind == ShadowKind::kFloat)
    for (const auto& [argument, index] : arguments_->bits)
      if (argument == bits) {
        Shadow shadow;
        __simt_shadow_argument(&shadow, index, value, 1);
        return shadow;
      }
  if (value == 0 || is_narrow(kind)) return embedded(value);
  const auto [entry, fresh] = literals_.try_emplace(bits ^ uint64_t(kind) << 61);
  if (fresh)
    entry->second = of_literal(value, kind == ShadowKind::kDouble ? LiteralKind::kDouble : LiteralKind::kFloat);
  return entry->second;
}

Shadow WaveShadow::exact(const WordShadow& low, const WordShadow& high, uint64_t bits, ShadowKind kind, bool upper,
                         bool scalar) {
  Shadow found;
  if (is_narrow(kind)) {
    if (known_shadow(half_of(low, upper), bits, kind, &found)) return found;
  } else if (kind == ShadowKind::kDouble) {
    if (known_double(low.whole, high.whole, bits, &found)) return found;
  } else {
    if (known_shadow(low.whole, bits, kind, &found)) return found;
    const bool wide = (bits & 0xFFFF) == 0 && low.half[1].word;  // a bfloat that was shifted up
    if (wide && known_shadow(low.half[1], bits >> 16, ShadowKind::kBfloat, &found)) return found;
  }
  return of_constant(bits, kind, scalar);
}

WaveShadow::Half WaveShadow::half_read(const Instruction& i, uint32_t n, const machine::Source& source, ShadowKind kind,
                                       uint32_t part) const {
  const bool vop3p = i.format == Format::kVop3p;
  Half half{false, 0, source.negate, source.absolute};
  if (is_narrow(kind)) {
    half.upper = vop3p ? (part ? i.op_sel_high : i.op_sel) >> n & 1 : i.format == Format::kVop3 && (i.op_sel >> n & 1);
    if (i.sdwa) half.upper = source.select == machine::kWord1;
  } else if (kind == ShadowKind::kFloat && vop3p && plan_->layout == Layout::kPackedFloats) {
    half.next = (part ? i.op_sel_high : i.op_sel) >> n & 1;
  }
  if (plan_->layout == Layout::kMixed)
    half.absolute = i.negate_high >> n & 1;
  else if (vop3p && part)
    half.negate = i.negate_high >> n & 1;
  return half;
}

namespace {

// The signs that the encoding of an instruction changes.
void change_sign(bool absolute, bool negate, Shadow& shadow, double& value) {
  if (absolute && std::signbit(value)) shadow = negative_shadow(shadow), value = -value;
  if (negate) shadow = negative_shadow(shadow), value = -value;
}

}  // namespace

// What is one number for all lanes: a scalar register or a constant.
void WaveShadow::read_constant(machine::Wave& wave, const Instruction& i, uint32_t n, const machine::Source& source,
                               ShadowKind kind, uint32_t part, Operand& into) {
  const Half half = half_read(i, n, source, kind, part);
  const bool constant = source.code >= machine::kFirstConstant;
  uint64_t bits;
  if (kind == ShadowKind::kDouble) {
    bits = machine::scalar_long(wave, i, source.code, machine::Kind::kF64);
  } else {
    bits = constant ? machine::scalar_word(wave, i, source.code) : wave.s[source.code + half.next];
    if (constant && half.next) bits = 0;
    if (constant && kind == ShadowKind::kHalf && is_half_constant(source.code))
      bits = machine::double_to_half(double(machine::bits_as<float>(uint32_t(bits))));
  }
  if (is_narrow(kind)) bits = half.upper ? bits >> 16 & 0xFFFF : bits & 0xFFFF;
  static const WordShadow kNone = {};
  const uint32_t row = RegisterShadows::kScalars + source.code + half.next;
  const WordShadow& low = constant ? kNone : registers_.at(row, 0);
  const bool wide = kind == ShadowKind::kDouble && !constant && row + 1 < RegisterShadows::kRows;
  mixed_ |= is_mixed(low) && is_calculated(low);
  Shadow shadow = exact(low, wide ? registers_.at(row + 1, 0) : kNone, bits, kind, half.upper, !constant);
  double value = value_of_bits(bits, kind);
  change_sign(half.absolute, half.negate, shadow, value);
  std::fill(std::begin(into.exact), std::end(into.exact), shadow);
  std::fill(std::begin(into.value), std::end(into.value), value);
}

// Floats that kernels calculated, as most are. False: some lane has another number there, which is not read yet.
bool WaveShadow::read_floats(machine::Wave& wave, uint32_t row, Operand& into) {
  const WordShadow* const lanes = registers_.lanes(row);
  if (!lanes) return false;
  const uint32_t* const bits = wave.v(row);
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const ShadowRecord& record = lanes[lane].whole;
    if (record.word != (kFloatRecord | bits[lane])) return false;
    into.exact[lane] = {record.a, record.b, record.d, 0};
    into.value[lane] = double(machine::bits_as<float>(bits[lane]));
  }
  return true;
}

// All lanes of an operand: the exact numbers, and those that the program has, with the signs that the encoding changes.
void WaveShadow::read(machine::Wave& wave, const Instruction& i, uint32_t n, const machine::Source& source,
                      ShadowKind kind, uint32_t part, Operand& into) {
  if (!source.is_vector()) return read_constant(wave, i, n, source, kind, part, into);
  const Half half = half_read(i, n, source, kind, part);
  const bool moved = i.dpp && n == 0;
  const uint32_t row = source.row() + half.next;
  if (kind == ShadowKind::kFloat && !moved && read_floats(wave, row, into)) {
    for (uint64_t rest = half.absolute || half.negate ? mask_ : 0; rest; rest &= rest - 1) {
      const auto lane = uint32_t(__builtin_ctzll(rest));
      change_sign(half.absolute, half.negate, into.exact[lane], into.value[lane]);
    }
    return;
  }
  int8_t from[kWave];
  if (moved) machine::dpp_sources(i.lanes.control, from);
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const int there = moved ? (from[lane] >= 0 && (wave.exec() >> from[lane] & 1) ? from[lane] : -1) : int(lane);
    uint64_t bits = there >= 0 ? wave.v(row)[there] : 0;
    if (kind == ShadowKind::kDouble && there >= 0) bits |= uint64_t(wave.v(row + 1)[there]) << 32;
    if (is_narrow(kind)) bits = half.upper ? bits >> 16 & 0xFFFF : bits & 0xFFFF;
    static const WordShadow kNone = {};
    const WordShadow& low = there >= 0 ? registers_.at(row, uint32_t(there)) : kNone;
    const bool wide = there >= 0 && kind == ShadowKind::kDouble && row + 1 < RegisterShadows::kRows;
    mixed_ |= is_mixed(low) && is_calculated(low);
    const WordShadow& high = wide ? registers_.at(row + 1, uint32_t(there)) : kNone;
    into.exact[lane] = exact(low, high, bits, kind, half.upper, false);
    into.value[lane] = value_of_bits(bits, kind);
    change_sign(half.absolute, half.negate, into.exact[lane], into.value[lane]);
  }
}

void WaveShadow::read_literal(const Instruction& i, ShadowKind kind, Operand& into) {
  const uint64_t bits = kind == ShadowKind::kHalf ? i.literal & 0xFFFF : i.literal;
  const Shadow shadow = of_constant(bits, kind, false);
  for (uint32_t lane = 0; lane < kWave; ++lane) into.exact[lane] = shadow, into.value[lane] = value_of_bits(bits, kind);
}

// Of mixed precision: which sources are halves is up to the encoding.
ShadowKind WaveShadow::kind_of(const Instruction& i, uint32_t n) const {
  if (plan_->layout != Layout::kMixed || !(i.op_sel_high >> n & 1)) return plan_->from;
  return i.source[n].code >= 240 && i.source[n].code <= 248 ? ShadowKind::kFloat : ShadowKind::kHalf;
}

void WaveShadow::before_number(machine::Wave& wave, const Instruction& i) {
  const NumberPlan& plan = *plan_;
  const uint32_t parts = plan.layout == Layout::kPackedHalves || plan.layout == Layout::kPackedFloats ? 2 : 1;
  mixed_ = false;
  if (plan.op == NumberOp::kDot2) {
    for (uint32_t part = 0; part < 2; ++part)
      for (uint32_t n = 0; n < 2; ++n)
        read(wave, i, n, i.source[n], ShadowKind::kHalf, part, operands_[part * kMost + n]);
    read(wave, i, 2, i.source[2], ShadowKind::kFloat, 0, operands_[2]);
    return;
  }
  for (uint32_t part = 0; part < parts; ++part)
    for (uint32_t n = 0; n < plan.sources; ++n) {
      Operand& into = operands_[part * kMost + n];
      if (n == 2 && plan.accumulates) {
        machine::Source own;
        own.code = uint16_t(machine::kFirstVector + i.destination);
        read(wave, i, 2, own, plan.from, part, into);
      } else if ((n == 1 && plan.literal_second) || (n == 2 && plan.literal_third)) {
        read_literal(i, plan.from, into);
      } else if (n == 2 && plan.literal_second) {
        read(wave, i, 1, i.source[1], plan.from, part, into);
      } else {
        read(wave, i, n, i.source[n], kind_of(i, n), part, into);
      }
    }
}

namespace {

constexpr double kFactors[] = {1, 2, 4, 0.5};

uint64_t result_bits(machine::Wave& wave, uint32_t row, uint32_t lane, ShadowKind kind, bool upper) {
  const uint32_t low = wave.v(row)[lane];
  if (kind == ShadowKind::kDouble) return low | uint64_t(wave.v(row + 1)[lane]) << 32;
  return is_narrow(kind) ? (upper ? low >> 16 : low & 0xFFFF) : low;
}

// A format that the original lacks does not round its numbers: what comes out stands for itself.
bool is_known(ShadowKind kind) {
  if (kind == ShadowKind::kHalf) return __simt_shadow.half;
  if (kind == ShadowKind::kBfloat) return __simt_shadow.bfloat;
  return kind != ShadowKind::kFloat || __simt_shadow.single;
}

}  // namespace

Shadow WaveShadow::result(const Instruction& i, uint32_t part, uint32_t lane, double value) {
  const NumberPlan& plan = *plan_;
  Shadow x[kMost];
  double v[kMost];
  if (plan.op == NumberOp::kDot2) {
    Shadow total = operands_[2].exact[lane];
    for (uint32_t each = 0; each < 2; ++each)
      total = sum(total, product(operands_[each * kMost].exact[lane], operands_[each * kMost + 1].exact[lane]));
    return std::isfinite(value) ? total : embedded(value);
  }
  const uint32_t first = plan.layout == Layout::kPair ? part : 0;
  for (uint32_t n = 0; n < kMost; ++n) {
    const Operand& operand = operands_[plan.layout == Layout::kPair ? first : part * kMost + n];
    x[n] = operand.exact[lane], v[n] = operand.value[lane];
  }
  const double factor = i.format == Format::kVop3 ? kFactors[i.output_modifier] : 1;
  if (!is_known(plan.to)) return embedded(value);
  Shadow shadow = calculated(plan, x, v, value / factor);
  if (factor != 1) shadow = scaled(shadow, power_between(1, factor));
  if (!i.clamp) return shadow;
  *__simt_shadow.choices = 1;
  return value == 0 || value == 1 ? embedded(value) : shadow;
}

// Floats that are sums, products, both at once or other formats' numbers are most of what there is. False: none of them.
bool WaveShadow::after_floats(machine::Wave& wave, const Instruction& i) {
  const NumberPlan& plan = *plan_;
  if ((plan.layout != Layout::kOne && plan.layout != Layout::kMixed) || plan.to != ShadowKind::kFloat) return false;
  if (i.clamp || (i.format == Format::kVop3 && i.output_modifier) || !is_known(plan.to)) return false;
  const auto each = [&](auto law) {
    WordShadow* const into = registers_.opened(i.destination);
    const uint32_t* const results = wave.v(i.destination);
    for (uint64_t rest = mask_; rest; rest &= rest - 1) {
      const auto lane = uint32_t(__builtin_ctzll(rest));
      const double value = double(machine::bits_as<float>(results[lane]));
      bool finite = std::isfinite(value);
      for (uint32_t n = 0; n < plan.sources; ++n) finite &= std::isfinite(operands_[n].value[lane]);
      const Shadow shadow = finite ? law(lane) : embedded(value);
      into[lane].whole = {shadow.a, shadow.b, shadow.d, kFloatRecord | results[lane]};
      into[lane].half[0].word = into[lane].half[1].word = 0;
    }
    return true;
  };
  const Operand &x = operands_[0], &y = operands_[1], &z = operands_[2];
  switch (plan.op) {
    case NumberOp::kAdd:
      return each([&](uint32_t lane) { return sum(x.exact[lane], y.exact[lane]); });
    case NumberOp::kSubtract:
      return each([&](uint32_t lane) { return sum(x.exact[lane], negative_shadow(y.exact[lane])); });
    case NumberOp::kMultiply:
      return each([&](uint32_t lane) { return product(x.exact[lane], y.exact[lane]); });
    case NumberOp::kFused:
      return each([&](uint32_t lane) { return sum(product(x.exact[lane], y.exact[lane]), z.exact[lane]); });
    case NumberOp::kSame:
      return each([&](uint32_t lane) { return x.exact[lane]; });
    default:
      return false;
  }
}

void WaveShadow::after_number(machine::Wave& wave, const Instruction& i) {
  const NumberPlan& plan = *plan_;
  if (mixed_) lose(i);
  if (plan.op == NumberOp::kToInteger) return decide_integers(i);
  if (after_floats(wave, i)) return;
  const bool halves = is_narrow(plan.to), mixed_high = facts_->mixed_high;
  const bool both = plan.layout == Layout::kPackedHalves || plan.layout == Layout::kPair;
  const uint32_t parts = both || plan.layout == Layout::kPackedFloats ? 2 : 1;
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    WordShadow words[2];
    for (uint32_t part = 0; part < parts; ++part) {
      const uint32_t row = i.destination + (plan.layout == Layout::kPackedFloats ? part : 0);
      bool upper = both ? part : mixed_high || (i.format == Format::kVop3 && (i.op_sel & 8));
      if (halves && i.sdwa) upper = i.destination_select == machine::kWord1;
      const uint64_t bits = result_bits(wave, row, lane, plan.to, upper);
      const double value = value_of_bits(bits, plan.to);
      const Shadow shadow = result(i, part, lane, value);
      if (halves && !both) {  // the other half may have stayed
        const ShadowRecord other = half_of(registers_.at(i.destination, lane), !upper);
        const auto there = uint32_t(result_bits(wave, row, lane, plan.to, !upper));
        if (there && uint32_t(other.word) == there) words[0].half[!upper] = other;
      }
      if (halves)
        words[0].half[upper] = record_of(shadow, bits, plan.to);
      else if (plan.to == ShadowKind::kDouble)
        records_of_double(shadow, bits, &words[0].whole, &words[1].whole);
      else
        words[part].whole = record_of(shadow, bits, plan.to);
    }
    registers_.set(i.destination, lane, words[0]);
    if (plan.to == ShadowKind::kDouble || plan.layout == Layout::kPackedFloats)
      registers_.set(i.destination + 1u, lane, words[1]);
  }
}

void WaveShadow::decide_integers(const Instruction& i) {
  registers_.drop(i.destination, mask_);
  *__simt_shadow.choices = 1;
  if (facts_->exponent) return;
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const double value = operands_[0].value[lane], exact = operands_[0].exact[lane].d;
    if (std::isfinite(value) && std::trunc(value) != std::trunc(exact)) ++*__simt_shadow.undecided;
  }
}

void WaveShadow::compare(machine::Wave& wave, const Instruction& i) {
  const NumberPlan* plan = facts_->plan;
  if (!plan || plan->op != NumberOp::kCompare || plan->sources < 2) return;
  plan_ = plan;
  mixed_ = false;
  for (uint32_t n = 0; n < 2; ++n) read(wave, i, n, i.source[n], plan->from, 0, operands_[n]);
  if (mixed_) lose(i);
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    decide(operands_[0].exact[lane], operands_[1].exact[lane], operands_[0].value[lane], operands_[1].value[lane]);
  }
}

}  // namespace simt
