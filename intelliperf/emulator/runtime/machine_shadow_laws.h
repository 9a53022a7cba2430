// What an instruction's operation is in the fields.
#pragma once
#include <cmath>

#include "machine_shadow_plan.h"
#include "shadow.h"
#include "shadow_field.h"
#include "shadow_functions.h"

namespace simt {

extern "C" void __simt_shadow_argument(Shadow*, uint64_t, double, uint32_t);  // shadow_functions.cpp

// Two doubles for what `high` and a small `low` are together.
inline Shadow split(uint64_t a, uint64_t b, double high, double low) {
  if (!std::isfinite(high) || !std::isfinite(low)) return {a, b, high, 0};
  const double d = high + low;
  return {a, b, d, (high - d) + low};
}

// T. J. Dekker, "A floating-point technique for extending the available precision", 1971; the error of a sum by
// D. E. Knuth.
inline Shadow sum(const Shadow& x, const Shadow& y) {
  const double high = x.d + y.d, of_y = high - x.d;
  const double error = (x.d - (high - of_y)) + (y.d - of_y);
  return split(prime_p().add(x.a, y.a), prime_q().add(x.b, y.b), high, error + (x.e + y.e));
}
inline Shadow product(const Shadow& x, const Shadow& y) {
  const double high = x.d * y.d, error = std::fma(x.d, y.d, -high);
  return split(prime_p().multiply(x.a, y.a), prime_q().multiply(x.b, y.b), high, error + (x.d * y.e + x.e * y.d));
}

Shadow scaled(const Shadow& x, int power);  // times a power of two
int power_between(double from, double to);  // that leads from one number to the other
// A number decides; would the exact ones have decided otherwise?
void decide(const Shadow& x, const Shadow& y, double vx, double vy);
// Of as many operands as the plan has: `v` and `result` are the numbers that the program has.
Shadow calculated(const NumberPlan& plan, const Shadow* x, const double* v, double result);

}  // namespace simt
