#include "machine_shadow_laws.h"

#include <cmath>
#include <cstdlib>

namespace simt {

extern "C" {  // shadow_functions.cpp
void __simt_shadow_divide(Shadow*, const Shadow*, const Shadow*, double, uint32_t);
void __simt_shadow_sqrt(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_rsqrt(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_exp2(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_log2(Shadow*, uint64_t, uint64_t, double, double, uint32_t);
void __simt_shadow_scale(Shadow*, const Shadow*, int32_t);
void __simt_shadow_fraction(Shadow*, const Shadow*, double);
void __simt_shadow_turns(Shadow*, const Shadow*, uint32_t, uint32_t);
}

namespace {

long double whole(const Shadow& x) { return (long double)x.d + x.e; }

int order_of(long double x, long double y) { return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; }

}  // namespace

Shadow scaled(const Shadow& x, int power) {
  Shadow result = x;
  if (power) __simt_shadow_scale(&result, &x, power);
  return result;
}

void decide(const Shadow& x, const Shadow& y, double vx, double vy) {
  *__simt_shadow.choices = 1;
  if (order_of(vx, vy) != order_of(whole(x), whole(y))) ++*__simt_shadow.undecided;
}

int power_between(double from, double to) {
  if (from == 0 || to == 0 || !std::isfinite(from) || !std::isfinite(to)) return 0;
  int of_from, of_to;
  const double ratio = std::fabs(std::frexp(to, &of_to) / std::frexp(from, &of_from));  // between a half and two
  return of_to - of_from + (ratio >= M_SQRT2 ? 1 : ratio < M_SQRT1_2 ? -1 : 0);
}

namespace {

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

}  // namespace

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

}  // namespace simt
