// Arithmetic of machine code in the fields.
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "machine_shadow.h"
#include "machine_shadow_plan.h"
#include "operands.h"
#include "shadow_functions.h"

namespace simt {

using machine::Format;
using machine::Instruction;
using machine::kWave;

extern "C" {  // shadow_functions.cpp
void __simt_shadow_divide(Shadow*, const Shadow*, const Shadow*, double, uint32_t);
void __simt_shadow_sqrt(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_rsqrt(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_exp2(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_log2(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_scale(Shadow*, const Shadow*, int32_t);
void __simt_shadow_fraction(Shadow*, const Shadow*, double);
void __simt_shadow_turns(Shadow*, const Shadow*, uint32_t, uint32_t);
void __simt_shadow_argument(Shadow*, uint64_t, double, uint32_t);
}

namespace {

long double whole(const Shadow& x) { return (long double)x.d + x.e; }

Shadow split(uint64_t a, uint64_t b, long double value) {
  const auto high = double(value);
  return {a, b, high, std::isfinite(high) ? double(value - (long double)high) : 0};
}

Shadow sum(const Shadow& x, const Shadow& y) {
  return split(prime_p().add(x.a, y.a), prime_q().add(x.b, y.b), whole(x) + whole(y));
}
Shadow product(const Shadow& x, const Shadow& y) {
  return split(prime_p().multiply(x.a, y.a), prime_q().multiply(x.b, y.b), whole(x) * whole(y));
}
Shadow scaled(const Shadow& x, int power) {
  Shadow result = x;
  if (power) __simt_shadow_scale(&result, &x, power);
  return result;
}

int order_of(long double x, long double y) { return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; }

// A number decides; would the exact ones have decided otherwise?
void decide(const Shadow& x, const Shadow& y, double vx, double vy) {
  *__simt_shadow.choices = 1;
  if (order_of(vx, vy) != order_of(whole(x), whole(y))) ++*__simt_shadow.undecided;
}

// The power of two that leads from one number to the other.
int power_between(double from, double to) {
  if (from == 0 || to == 0 || !std::isfinite(from) || !std::isfinite(to)) return 0;
  return int(std::lround(std::log2(std::fabs(to)) - std::log2(std::fabs(from))));
}

Shadow chosen(const Shadow* x, const double* v, uint32_t count, double result) {
  for (uint32_t n = 0; n < count; ++n)
    for (uint32_t m = n + 1; m < count; ++m) decide(x[n], x[m], v[n], v[m]);
  for (uint32_t n = 0; n < count; ++n)
    if (v[n] == result) return x[n];
  return embedded(result);
}

Shadow unary(NumberOp op, const Shadow& x, double v, double result) {
  constexpr Shadow kOne = {1, 1, 1, 0};
  Shadow out = x;
  switch (op) {
    case NumberOp::kReciprocal:
      __simt_shadow_divide(&out, &kOne, &x, v, 0);
      break;
    case NumberOp::kRoot:
      __simt_shadow_sqrt(&out, x.a, x.b, x.d, x.e, 0);
      break;
    case NumberOp::kReciprocalRoot:
      __simt_shadow_rsqrt(&out, x.a, x.b, x.d, x.e, 0);
      break;
    case NumberOp::kExponential:
      __simt_shadow_exp2(&out, x.a, x.b, x.d, x.e, 0);
      break;
    case NumberOp::kLogarithm:
      __simt_shadow_log2(&out, x.a, x.b, x.d, x.e, 0);
      break;
    case NumberOp::kSine:
    case NumberOp::kCosine: {
      const Shadow twice = scaled(x, 1);  // of turns, where the function's unit is half of one
      __simt_shadow_turns(&out, &twice, op == NumberOp::kCosine, 0);
      break;
    }
    case NumberOp::kFraction:
      *__simt_shadow.choices = 1;
      __simt_shadow_fraction(&out, &x, std::floor(v));
      break;
    case NumberOp::kWhole:
      *__simt_shadow.choices = 1;
      out = embedded(result);
      break;
    case NumberOp::kScale:
    case NumberOp::kMantissa:
    case NumberOp::kDivisionScale:
      out = scaled(x, power_between(v, result));
      break;
    default:
      break;
  }
  return out;
}

// Of a quotient that is already there: the numerator and denominator only tell of special cases.
Shadow fixed(const Shadow& quotient, double v, double result) {
  if (std::fabs(v) == std::fabs(result))
    return std::signbit(v) == std::signbit(result) ? quotient : negative_shadow(quotient);
  return embedded(result);
}

Shadow calculated(const NumberPlan& plan, const Shadow* x, const double* v, double result) {
  const auto special = [&](uint32_t count) {
    for (uint32_t n = 0; n < count; ++n)
      if (!std::isfinite(v[n])) return true;
    return !std::isfinite(result);
  };
  switch (plan.op) {
    case NumberOp::kLeast:
    case NumberOp::kGreatest:
      return chosen(x, v, 2, result);
    case NumberOp::kLeastOf3:
    case NumberOp::kGreatestOf3:
    case NumberOp::kMiddle:
      return chosen(x, v, 3, result);
    case NumberOp::kInteger:
      return embedded(result);
    default:
      break;
  }
  if (special(plan.sources)) return embedded(result);
  switch (plan.op) {
    case NumberOp::kAdd:
      return sum(x[0], x[1]);
    case NumberOp::kSubtract:
      return sum(x[0], negative_shadow(x[1]));
    case NumberOp::kSubtractReversed:
      return sum(x[1], negative_shadow(x[0]));
    case NumberOp::kMultiply:
      return product(x[0], x[1]);
    case NumberOp::kFused:
      return sum(product(x[0], x[1]), x[2]);
    case NumberOp::kDivisionFused: {
      const Shadow exact = sum(product(x[0], x[1]), x[2]);
      const int power = power_between(exact.d, result);
      return std::abs(power) > 32 ? scaled(exact, power) : exact;
    }
    case NumberOp::kDivisionFixed:
      return fixed(x[0], v[0], result);
    default:
      return unary(plan.op, x[0], v[0], result);
  }
}

double value_of_half(uint32_t bits) { return machine::half_to_double(uint16_t(bits)); }

double value_of_bits(uint64_t bits, ShadowKind kind) {
  if (kind == ShadowKind::kDouble) return machine::bits_as<double>(bits);
  if (kind == ShadowKind::kHalf) return value_of_half(uint32_t(bits));
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
  if (value == 0 || kind == ShadowKind::kHalf) return embedded(value);
  const auto [entry, fresh] = literals_.try_emplace(bits ^ uint64_t(kind) << 61);
  if (fresh)
    entry->second = of_literal(value, kind == ShadowKind::kDouble ? LiteralKind::kDouble : LiteralKind::kFloat);
  return entry->second;
}

Shadow WaveShadow::exact(const WordShadow& low, const WordShadow& high, uint64_t bits, ShadowKind kind, bool upper,
                         bool scalar) {
  Shadow found;
  if (kind == ShadowKind::kHalf) {
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

// All lanes of an operand: the exact numbers, and those that the program has, with the signs that the encoding changes.
void WaveShadow::read(machine::Wave& wave, const Instruction& i, uint32_t n, ShadowKind kind, uint32_t part,
                      Operand& into) {
  const machine::Source& source = i.source[n];
  const bool vop3p = i.format == Format::kVop3p, vector = source.is_vector();
  bool upper = false;
  uint32_t next = 0;
  if (kind == ShadowKind::kHalf) {
    upper = vop3p ? (part ? i.op_sel_high : i.op_sel) >> n & 1 : i.format == Format::kVop3 && (i.op_sel >> n & 1);
    if (i.sdwa) upper = source.select == machine::kWord1;
  } else if (kind == ShadowKind::kFloat && vop3p && plan_->layout == Layout::kPackedFloats) {
    next = (part ? i.op_sel_high : i.op_sel) >> n & 1;
  }
  bool negate = source.negate, absolute = source.absolute;
  if (plan_->layout == Layout::kMixed)
    absolute = i.negate_high >> n & 1;
  else if (vop3p && part)
    negate = i.negate_high >> n & 1;
  int8_t from[kWave];
  const bool moved = i.dpp && n == 0;
  if (moved) machine::dpp_sources(i.lanes.control, from);
  const uint32_t row = vector ? source.row() + next : RegisterShadows::kScalars + source.code + next;
  const bool constant = !vector && source.code >= machine::kFirstConstant;
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const int there = moved ? (from[lane] >= 0 && (wave.exec() >> from[lane] & 1) ? from[lane] : -1) : int(lane);
    uint64_t bits = 0;
    if (vector && there >= 0) {
      bits = wave.v(row)[there];
      if (kind == ShadowKind::kDouble) bits |= uint64_t(wave.v(row + 1)[there]) << 32;
    } else if (!vector && kind == ShadowKind::kDouble) {
      bits = machine::scalar_long(wave, i, source.code, machine::Kind::kF64);
    } else if (!vector) {
      bits = constant ? machine::scalar_word(wave, i, source.code) : wave.s[source.code + next];
      if (constant && next) bits = 0;
      if (constant && kind == ShadowKind::kHalf && is_half_constant(source.code))
        bits = machine::double_to_half(double(machine::bits_as<float>(uint32_t(bits))));
    }
    if (kind == ShadowKind::kHalf) bits = upper ? bits >> 16 & 0xFFFF : bits & 0xFFFF;
    const uint32_t at = vector ? uint32_t(there) : 0;
    static const WordShadow kNone = {};
    const bool lies = there >= 0 && !constant;
    const WordShadow& low = lies ? registers_.at(row, at) : kNone;
    const WordShadow& high =
        lies && kind == ShadowKind::kDouble && row + 1 < RegisterShadows::kRows ? registers_.at(row + 1, at) : kNone;
    mixed_ |= is_mixed(low) && is_calculated(low);
    Shadow shadow = exact(low, high, bits, kind, upper, !vector && !constant);
    double value = value_of_bits(bits, kind);
    if (absolute && std::signbit(value)) shadow = negative_shadow(shadow), value = -value;
    if (negate) shadow = negative_shadow(shadow), value = -value;
    into.exact[lane] = shadow;
    into.value[lane] = value;
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
      for (uint32_t n = 0; n < 2; ++n) read(wave, i, n, ShadowKind::kHalf, part, operands_[part * kMost + n]);
    read(wave, i, 2, ShadowKind::kFloat, 0, operands_[2]);
    return;
  }
  for (uint32_t part = 0; part < parts; ++part)
    for (uint32_t n = 0; n < plan.sources; ++n) {
      Operand& into = operands_[part * kMost + n];
      if (n == 2 && plan.accumulates) {
        Instruction own = i;
        own.source[2] = machine::Source();
        own.source[2].code = uint16_t(machine::kFirstVector + i.destination);
        read(wave, own, 2, plan.from, part, into);
      } else if ((n == 1 && plan.literal_second) || (n == 2 && plan.literal_third)) {
        read_literal(i, plan.from, into);
      } else if (n == 2 && plan.literal_second) {
        read(wave, i, 1, plan.from, part, into);
      } else {
        read(wave, i, n, kind_of(i, n), part, into);
      }
    }
}

namespace {

constexpr double kFactors[] = {1, 2, 4, 0.5};

uint64_t result_bits(machine::Wave& wave, uint32_t row, uint32_t lane, ShadowKind kind, bool upper) {
  const uint32_t low = wave.v(row)[lane];
  if (kind == ShadowKind::kDouble) return low | uint64_t(wave.v(row + 1)[lane]) << 32;
  return kind == ShadowKind::kHalf ? (upper ? low >> 16 : low & 0xFFFF) : low;
}

// A format that the original lacks does not round its numbers: what comes out stands for itself.
bool is_known(ShadowKind kind) {
  if (kind == ShadowKind::kHalf) return __simt_shadow.half;
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

void WaveShadow::after_number(machine::Wave& wave, const Instruction& i) {
  const NumberPlan& plan = *plan_;
  if (mixed_) lose(i);
  if (plan.op == NumberOp::kToInteger) return decide_integers(i);
  const bool halves = plan.to == ShadowKind::kHalf, mixed_high = begins(i, "v_fma_mixhi");
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
  if (begins(i, "v_frexp")) return;
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    const double value = operands_[0].value[lane], exact = operands_[0].exact[lane].d;
    if (std::isfinite(value) && std::trunc(value) != std::trunc(exact)) ++*__simt_shadow.undecided;
  }
}

void WaveShadow::compare(machine::Wave& wave, const Instruction& i) {
  const NumberPlan* plan = plan_of(i);
  if (!plan || plan->op != NumberOp::kCompare || plan->sources < 2) return;
  plan_ = plan;
  mixed_ = false;
  for (uint32_t n = 0; n < 2; ++n) read(wave, i, n, plan->from, 0, operands_[n]);
  if (mixed_) lose(i);
  for (uint64_t rest = mask_; rest; rest &= rest - 1) {
    const auto lane = uint32_t(__builtin_ctzll(rest));
    decide(operands_[0].exact[lane], operands_[1].exact[lane], operands_[0].value[lane], operands_[1].value[lane]);
  }
}

}  // namespace simt
