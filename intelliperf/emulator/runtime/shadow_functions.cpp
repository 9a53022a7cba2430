// Functions of shadows. Those with a law have it in the fields: products, quotients, powers, roots (multiplicative),
// exponentials (sums become products) and what consists of them. The others are opaque: equal for equal arguments.
#include "shadow_functions.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {
namespace {

constexpr uint64_t kLn2P = 0x1F3D5B79A2C4E680, kLn2Q = 0x0B7E151628AED2A6;  // "ln 2" in either field: any element does
constexpr int kPowersOfTwo = 1200;
constexpr int kSmallBits = 32;                 // images of natural numbers below are these numbers
constexpr uint64_t kMostFactored = 4096;       // natural numbers below are taken apart
constexpr double kCut = 0.7390851332151607;    // between half and one
constexpr uint32_t kWindow = 8, kWindows = 8;  // bits of an exponent, taken together

struct Field {
  Modulus p, q;
  uint64_t ln2_p, ln2_q, half_p, half_q;
  uint64_t shifted_p;                                           // 2^64
  uint64_t twos_p[2 * kPowersOfTwo], twos_q[2 * kPowersOfTwo];  // 2^(i - 1200)
  uint64_t powers[kWindows][1u << kWindow];                     // w^(i << 8 window)
};
Field field;

// The last inverses and roots: divisors are often the same for many numbers.
constexpr uint32_t kRemembered = 512;
struct Remembered {
  uint64_t of, is;
};
Remembered inverses_p[kRemembered], inverses_q[kRemembered], roots[kRemembered];

uint64_t slot_of(uint64_t x) { return (x * 0x9E3779B97F4A7C15ull) >> 55; }

template <class Compute>
uint64_t remembered(Remembered* table, uint64_t x, Compute compute) {
  Remembered& slot = table[slot_of(x)];
  if (slot.of != x) slot = {x, compute(x)};
  return slot.is;
}

uint64_t inverse_p(uint64_t x) {
  return remembered(inverses_p, x, [](uint64_t y) { return field.p.inverse(y); });
}
uint64_t inverse_q(uint64_t x) {
  return remembered(inverses_q, x, [](uint64_t y) { return field.q.inverse(y); });
}
// P. L. Montgomery, "Modular multiplication without trial division", 1985: half the latency of `Modulus`, and a power is
// a chain of products that wait for each other. Numbers are below 2p and stand for themselves divided by 2^64.
struct Montgomery {
  uint64_t p, inverse;  // of -p modulo 2^64
  explicit Montgomery(uint64_t value) : p(value), inverse(1) {
    for (int bits = 1; bits < 64; bits *= 2) inverse *= 2 + value * inverse;
  }
  uint64_t multiply(uint64_t x, uint64_t y) const {
    const Wide product = Wide(x) * y;
    const Wide folded = Wide(uint64_t(product) * inverse) * p;  // its low half is the product's, negated
    return uint64_t(product >> 64) + uint64_t(folded >> 64) + (uint64_t(product) != 0);
  }
  uint64_t squared(uint64_t y, int times) const {
    while (times--) y = multiply(y, y);
    return y;
  }
};

// x^((p+1)/4): multiplicative; its square is x or -x. What is calculated is y = x^((p-3)/4), whose exponent is 31 ones and
// 28 bits, taken four at a time: the root is xy, and xy * y is 1 or -1, so that y or -y is the root's inverse.
uint64_t computed_root(uint64_t x) {
  const Modulus& p = field.p;
  const Montgomery m(p.value);
  uint64_t odd[8] = {p.multiply(x, field.shifted_p)};  // x, x^3, x^5, ...
  const uint64_t square = m.multiply(odd[0], odd[0]);
  for (int i = 1; i < 8; ++i) odd[i] = m.multiply(odd[i - 1], square);
  const uint64_t ones3 = odd[3], ones4 = odd[7];
  const uint64_t ones8 = m.multiply(m.squared(ones4, 4), ones4), ones16 = m.multiply(m.squared(ones8, 8), ones8);
  const uint64_t ones24 = m.multiply(m.squared(ones16, 8), ones8), ones28 = m.multiply(m.squared(ones24, 4), ones4);
  uint64_t power = m.multiply(m.squared(ones28, 3), ones3);
  const uint64_t low = ((p.value - 3) / 4) & ((1u << 28) - 1);
  for (int at = 24; at >= 0; at -= 4) {
    const uint64_t digit = low >> at & 15;
    const int even = digit ? __builtin_ctzll(digit) : 0;
    power = m.squared(power, digit ? 4 - even : 4);
    if (digit) power = m.squared(m.multiply(power, odd[digit >> even >> 1]), even);
  }
  const uint64_t result = p.reduced(m.multiply(power, 1)), root = p.multiply(x, result);
  if (root) inverses_p[slot_of(root)] = {root, p.multiply(root, result) == 1 ? result : p.negative(result)};
  return root;
}
uint64_t root_p(uint64_t x) { return remembered(roots, x, computed_root); }

uint64_t exponential(uint64_t b) {
  uint64_t result = field.powers[0][b & 255];
  for (uint32_t window = 1; window < kWindows; ++window)
    result = field.p.multiply(result, field.powers[window][b >> kWindow * window & 255]);
  return result;
}

// Free functions: 1 / x and 1 / sqrt(x) as unknown functions of x. What is equal for any such functions is equal for these
// two; what needs their laws differs, and the parent asks again with them. A hash takes a tenth of an inverse, and a
// twentieth of a root.
uint64_t free_function(const Modulus& modulus, uint64_t x, uint64_t name) {
  *__simt_shadow.free_functions = 1;
  return modulus.reduced(scrambled(x, name));
}

// Of small natural numbers, which counts and sizes are, the inverse itself.
uint64_t divisor_p(uint64_t x) {
  return __simt_shadow.free_functions && x >> kSmallBits ? free_function(field.p, x, 42) : inverse_p(x);
}
uint64_t divisor_q(uint64_t x) {
  return __simt_shadow.free_functions && x >> kSmallBits ? free_function(field.q, x, 43) : inverse_q(x);
}

uint64_t opaque_b(uint64_t a) { return field.q.reduced(scrambled(a, 2)); }

Shadow split(uint64_t a, uint64_t b, long double value) {
  const auto high = double(value);
  return {a, b, high, std::isfinite(high) ? double(value - (long double)high) : 0};
}

long double whole(double d, double e) { return (long double)d + e; }

// For functions that a double tells well enough, unless the program calculates in double.
template <class Double, class Longer>
Shadow with(uint64_t a, uint64_t b, double d, double e, uint32_t wide, Double plain, Longer longer) {
  return wide ? split(a, b, longer(whole(d, e))) : Shadow{a, b, plain(d), 0};
}

Shadow sum(const Shadow& x, const Shadow& y) {
  return split(field.p.add(x.a, y.a), field.q.add(x.b, y.b), whole(x.d, x.e) + whole(y.d, y.e));
}
Shadow scaled(const Shadow& x, double factor) {
  const Shadow f = embedded(factor);
  return split(field.p.multiply(x.a, f.a), field.q.multiply(x.b, f.b), whole(x.d, x.e) * factor);
}
Shadow negative(const Shadow& x) { return {field.p.negative(x.a), field.q.negative(x.b), -x.d, -x.e}; }

Shadow quotient(const Shadow& x, const Shadow& y, uint32_t wide) {
  const uint64_t a = field.p.multiply(x.a, divisor_p(y.a)), b = y.b ? field.q.multiply(x.b, divisor_q(y.b)) : 0;
  return wide ? split(a, b, whole(x.d, x.e) / whole(y.d, y.e)) : Shadow{a, b, x.d / y.d, 0};
}

Shadow of_exponential(const Shadow& x, uint32_t wide) {
  const uint64_t a = exponential(x.b);
  return with(a, opaque_b(a), x.d, x.e, wide, [](double v) { return exp(v); }, [](long double v) { return expl(v); });
}

uint64_t ln2_of(const Modulus& m) { return &m == &field.p ? field.ln2_p : field.ln2_q; }

// Any function of the number, but for its power of two.
uint64_t logarithm_of_factor(const Modulus& m, uint64_t a, double d) {
  int power = 0;
  // Cut where no sum of round numbers lies: near it, two ways to calculate one number may be told apart.
  const double part = std::isfinite(d) ? std::fabs(std::frexp(d, &power)) : 0;
  if (part != 0 && part < kCut) --power;
  if (power <= -kPowersOfTwo || power >= kPowersOfTwo) power = 0;
  const uint64_t rest = field.p.multiply(a, field.twos_p[kPowersOfTwo - power]);
  const uint64_t h = scrambled(rest, 31), any = m.reduced(&m == &field.p ? h : scrambled(h, 32));
  const uint64_t size = uint64_t(power < 0 ? -power : power), twos = m.multiply(size, ln2_of(m));
  return m.add(any, power < 0 ? m.negative(twos) : twos);
}

// Of a natural number: the sum of its prime factors' logarithms.
uint64_t logarithm_of_natural(const Modulus& m, uint64_t natural) {
  uint64_t sum = 0;
  for (uint64_t factor = 2; natural > 1; factor += factor == 2 ? 1 : 2) {
    if (factor * factor > natural) factor = natural;
    for (; natural % factor == 0; natural /= factor)
      sum = m.add(sum, factor == 2 ? ln2_of(m) : logarithm_of_factor(m, factor, double(factor)));
  }
  return sum;
}

uint64_t logarithm_in(const Modulus& m, const Shadow& x) {
  const bool natural = x.a && x.a < kMostFactored && std::fabs(x.d - double(x.a)) < 1e-3;
  return natural ? logarithm_of_natural(m, x.a) : logarithm_of_factor(m, x.a, x.d);
}

// Logarithms to base 2 and 10 are multiples of the natural one.
Shadow logarithm(const Shadow& x, uint64_t times_p, uint64_t times_q, uint32_t wide, double (*plain)(double),
                 long double (*longer)(long double)) {
  return with(field.p.multiply(logarithm_in(field.p, x), times_p), field.q.multiply(logarithm_in(field.q, x), times_q),
              x.d, x.e, wide, plain, longer);
}

Shadow opaque(uint64_t name, const Shadow& x, uint32_t wide, double (*plain)(double),
              long double (*longer)(long double)) {
  const uint64_t h = scrambled(x.a, name);
  return with(field.p.reduced(h), field.q.reduced(scrambled(h, 33)), x.d, x.e, wide, plain, longer);
}

Shadow raised(const Shadow& x, int n, uint32_t wide) {
  const auto count = uint64_t(n < 0 ? -n : n);
  Shadow r = {field.p.power(x.a, count), field.q.power(x.b, count), 0, 0};
  if (n < 0) r = {inverse_p(r.a), inverse_q(r.b), 0, 0};
  const long double value = powl(whole(x.d, x.e), n);
  return wide ? split(r.a, r.b, value) : Shadow{r.a, r.b, double(value), 0};
}

Shadow root(const Shadow& x, uint32_t wide) {
  const uint64_t a =
      __simt_shadow.free_functions ? field.p.multiply(x.a, free_function(field.p, x.a, 41)) : root_p(x.a);
  return with(a, opaque_b(a), x.d, x.e, wide, [](double v) { return sqrt(v); }, [](long double v) { return sqrtl(v); });
}

Shadow reciprocal_root(const Shadow& x, uint32_t wide) {
  if (!__simt_shadow.free_functions) return quotient({1, 1, 1, 0}, root(x, wide), wide);
  const uint64_t a = x.a ? free_function(field.p, x.a, 41) : 0;
  return with(
      a, opaque_b(a), x.d, x.e, wide, [](double v) { return 1 / sqrt(v); }, [](long double v) { return 1 / sqrtl(v); });
}

}  // namespace

const Modulus& prime_p() { return field.p; }
const Modulus& prime_q() { return field.q; }

void prepare_field() {
  const ShadowState& s = __simt_shadow;
  field.p = {s.p, s.c, 61};
  field.q = {s.q, s.cq, 60};
  field.ln2_p = kLn2P % s.p, field.ln2_q = kLn2Q % s.q;
  field.half_p = field.p.inverse(2), field.half_q = field.q.inverse(2);
  field.shifted_p = field.p.power(2, 64);
  field.twos_p[kPowersOfTwo] = field.twos_q[kPowersOfTwo] = 1;
  for (int i = 1; i < kPowersOfTwo; ++i) {
    field.twos_p[kPowersOfTwo + i] = field.p.multiply(field.twos_p[kPowersOfTwo + i - 1], 2);
    field.twos_q[kPowersOfTwo + i] = field.q.multiply(field.twos_q[kPowersOfTwo + i - 1], 2);
    field.twos_p[kPowersOfTwo - i] = field.p.multiply(field.twos_p[kPowersOfTwo - i + 1], field.half_p);
    field.twos_q[kPowersOfTwo - i] = field.q.multiply(field.twos_q[kPowersOfTwo - i + 1], field.half_q);
  }
  uint64_t step = field.p.power(2, field.q.inverse(field.ln2_q));  // w
  for (auto& window : field.powers) {
    window[0] = 1;
    for (uint32_t i = 1; i < 1u << kWindow; ++i) window[i] = field.p.multiply(window[i - 1], step);
    step = field.p.multiply(window[(1u << kWindow) - 1], step);
  }
}

Shadow embedded(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const auto exponent = int(bits >> 52 & 2047);
  uint64_t mantissa = bits & ((1ull << 52) - 1);
  if (exponent == 2047) return {mantissa ? 11u : bits >> 63 ? 17u : 13u, 11, value, 0};
  if (exponent) mantissa |= 1ull << 52;
  const int power = kPowersOfTwo + (exponent ? exponent : 1) - 1075;
  const uint64_t a = field.p.multiply(mantissa, field.twos_p[power]),
                 b = field.q.multiply(mantissa, field.twos_q[power]);
  return {bits >> 63 ? field.p.negative(a) : a, bits >> 63 ? field.q.negative(b) : b, value, 0};
}

namespace {

constexpr int32_t kLog10Of2 = -1, kLog2Of10 = -2;

struct Literal {  // ir/shadow/constants.py writes them
  int64_t numerator, denominator;
  int32_t two, ten;  // times powers of these
  // Times 1, ln 2 or 1 / ln 2; from 3 on the unit's logarithm, below -2 the inverse of that; -1: log10 2, -2: log2 10.
  int32_t unit;
  int32_t reserved;
};

void image(const Modulus& m, const uint64_t* twos, uint64_t ln2, const Literal& literal, uint64_t* out) {
  const uint64_t size = literal.numerator < 0 ? uint64_t(-literal.numerator) : uint64_t(literal.numerator);
  uint64_t value = m.multiply(m.reduced(size), m.inverse(m.reduced(uint64_t(literal.denominator))));
  value = m.multiply(value, twos[kPowersOfTwo + literal.two]);
  const uint64_t tens = m.power(10, uint64_t(literal.ten < 0 ? -literal.ten : literal.ten));
  value = m.multiply(value, literal.ten < 0 ? m.inverse(tens) : tens);
  if (literal.unit == 1) value = m.multiply(value, ln2);
  if (literal.unit == 2) value = m.multiply(value, m.inverse(ln2));
  const bool both = literal.unit == kLog10Of2 || literal.unit == kLog2Of10;
  const auto of_unit = [&] { return logarithm_of_natural(m, uint64_t(both ? 10 : std::abs(literal.unit))); };
  if (literal.unit > 2) value = m.multiply(value, of_unit());
  if (literal.unit < kLog2Of10) value = m.multiply(value, m.inverse(of_unit()));
  if (literal.unit == kLog10Of2) value = m.multiply(value, m.multiply(ln2, m.inverse(of_unit())));
  if (literal.unit == kLog2Of10) value = m.multiply(value, m.multiply(of_unit(), m.inverse(ln2)));
  *out = literal.numerator < 0 ? m.negative(value) : value;
}

constexpr double kLn2 = 0.69314718055994530942;
constexpr int kLargestLogarithm = 100;  // ir/shadow/constants.py

bool same_number(double x, double y, LiteralKind kind) {
  return kind == LiteralKind::kFloat ? float(x) == float(y) : x == y;
}

// The nearest fraction with a denominator up to `most`; x > 0 and less than 2^40.
void nearest_fraction(double x, int64_t most, int64_t* numerator, int64_t* denominator) {
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  long double rest = x;
  for (;;) {
    const auto whole_part = int64_t(rest);
    const int64_t q2 = q0 + whole_part * q1;
    if (q2 > most) break;
    const int64_t p2 = p0 + whole_part * p1;
    p0 = p1, q0 = q1, p1 = p2, q1 = q2;
    if (rest - (long double)whole_part < 1e-15L) {
      *numerator = p1, *denominator = q1;
      return;
    }
    rest = 1 / (rest - (long double)whole_part);
  }
  const int64_t k = (most - q0) / q1;
  const long double first = (long double)(p0 + k * p1) / (long double)(q0 + k * q1),
                    second = (long double)p1 / (long double)q1;
  const bool take_second = fabsl(second - x) <= fabsl(first - x);
  *numerator = take_second ? p1 : p0 + k * p1;
  *denominator = take_second ? q1 : q0 + k * q1;
}

bool decimal(double value, LiteralKind kind, Literal* out) {
  char text[40];
  const int digits = kind == LiteralKind::kFloat ? 7 : 15;
  snprintf(text, sizeof text, "%.*e", digits - 1, value);
  if (!same_number(strtod(text, nullptr), value, kind)) return false;
  int64_t mantissa = 0;
  const char* at = text;
  for (; *at && *at != 'e'; ++at)
    if (*at >= '0' && *at <= '9') mantissa = mantissa * 10 + (*at - '0');
  *out = {mantissa, 1, 0, atoi(at + 1) - (digits - 1), 0, 0};
  return true;
}

// Of a positive number; false: itself.
bool meant(double value, LiteralKind kind, Literal* out) {
  const double scaled_value = value * 64;
  if (kind == LiteralKind::kNarrow || (scaled_value == std::trunc(scaled_value) && value < 0x1p40)) return false;
  int power, unit_power;
  const double mantissa = frexp(value, &power);
  for (int unit = 1; unit <= 2; ++unit) {
    const double same = frexp(unit == 1 ? kLn2 : 1 / kLn2, &unit_power);
    if (!same_number(mantissa, same, kind)) continue;
    *out = {1, 1, power - unit_power, 0, unit, 0};
    return true;
  }
  constexpr int32_t kOfTen[] = {kLog10Of2, kLog2Of10};
  for (const int32_t of_ten : kOfTen) {
    const double same = of_ten == kLog10Of2 ? std::log10(2.0) : 1 / std::log10(2.0);
    if (!same_number(value, same, kind)) continue;
    *out = {1, 1, 0, 0, of_ten, 0};
    return true;
  }
  for (int natural = 3; value < 5 && natural <= kLargestLogarithm; ++natural) {
    if ((natural & (natural - 1)) == 0 || !same_number(value, log(double(natural)), kind)) continue;
    *out = {1, 1, 0, 0, natural, 0};
    return true;
  }
  if (same_number(value, 1 / log(10.0), kind)) {
    *out = {1, 1, 0, 0, -10, 0};
    return true;
  }
  if (value < 0x1p40) {
    nearest_fraction(value, 1000, &out->numerator, &out->denominator);
    if (out->numerator && same_number(double(out->numerator) / double(out->denominator), value, kind)) {
      out->two = out->ten = out->unit = 0;
      return true;
    }
  }
  return decimal(value, kind, out);
}

long double value_of(const Literal& literal) {
  const int times = literal.unit;
  long double unit = times == 0 ? 1 : times == 1 ? (long double)kLn2 : 1 / (long double)kLn2;
  if (times > 2) unit = logl(times);
  if (times < kLog2Of10) unit = 1 / logl(-times);
  if (times == kLog10Of2) unit = log10l(2);
  if (times == kLog2Of10) unit = 1 / log10l(2);
  return ldexpl((long double)literal.numerator / (long double)literal.denominator, literal.two) *
         powl(10, literal.ten) * unit;
}

// Compilers write the logarithms of these bases as a float and a second one for what it lacks (LLVM's expansions of log,
// log10, exp and exp10 for AMD's chips): together they are the constant, though neither would say so alone.
bool half_of_constant(double value, LiteralKind kind, Shadow* out) {
  if (kind != LiteralKind::kFloat) return false;
  constexpr std::pair<long double, int32_t> kConstants[] = {{0.693147180559945309417232121458L, 1},
                                                            {1.442695040888963407359924681002L, 2},
                                                            {0.301029995663981195213738894724L, kLog10Of2},
                                                            {3.321928094887362347870319429489L, kLog2Of10}};
  const auto size = float(std::fabs(value));
  for (const auto& [constant, unit] : kConstants) {
    const auto nearest = float(constant);
    if (size == std::fabs(float(constant - (long double)nearest))) {  // `nearest` already means the constant
      *out = embedded(0);
      return true;
    }
    if ((long double)nearest < constant) continue;
    const float below = std::nextafter(nearest, 0.0f);
    if (size == below) {
      *out = embedded(value);
      return true;
    }
    if (size != float(constant - (long double)below)) continue;
    uint64_t a, b;
    const Literal whole_constant{1, 1, 0, 0, unit, 0};
    image(field.p, field.twos_p, field.ln2_p, whole_constant, &a);
    image(field.q, field.twos_q, field.ln2_q, whole_constant, &b);
    const Shadow rest = sum(split(a, b, constant), negative(embedded(below)));
    *out = value < 0 ? negative(rest) : rest;
    return true;
  }
  return false;
}

}  // namespace

Shadow of_literal(double value, LiteralKind kind) {
  Literal literal{};
  Shadow half;
  if (value != 0 && half_of_constant(value, kind, &half)) return half;
  if (value == 0 || !std::isfinite(value) || !meant(std::fabs(value), kind, &literal)) return embedded(value);
  if (value < 0) literal.numerator = -literal.numerator;
  uint64_t a, b;
  image(field.p, field.twos_p, field.ln2_p, literal, &a);
  image(field.q, field.twos_q, field.ln2_q, literal, &b);
  return split(a, b, value_of(literal));
}

void shadow_constants(const void* literals, uint64_t count, void* into) {
  const auto* from = static_cast<const Literal*>(literals);
  auto* to = static_cast<uint64_t*>(into);  // a and b of each
  for (uint64_t i = 0; i < count; ++i) {
    image(field.p, field.twos_p, field.ln2_p, from[i], to + 2 * i);
    image(field.q, field.twos_q, field.ln2_q, from[i], to + 2 * i + 1);
  }
}

extern "C" {

// All take the shadow of their argument in parts; `concrete` is the argument or divisor that the program has.
#define FUNCTION(name)                                                                                         \
  SIMT_EXPORT void __simt_shadow_##name(Shadow* out, [[maybe_unused]] uint64_t a, [[maybe_unused]] uint64_t b, \
                                        double d, double e, uint32_t wide)

SIMT_EXPORT void __simt_shadow_embed(Shadow* out, double value) { *out = embedded(value); }

SIMT_EXPORT void __simt_shadow_integer(Shadow* out, int64_t value, uint32_t is_unsigned) {
  const bool below = value < 0 && !is_unsigned;
  const uint64_t size = below ? -uint64_t(value) : uint64_t(value), a = field.p.reduced(size),
                 b = field.q.reduced(size);
  const long double whole_value = is_unsigned ? (long double)uint64_t(value) : (long double)value;
  *out = split(below ? field.p.negative(a) : a, below ? field.q.negative(b) : b, whole_value);
}

// Bits that came as an integer: their shadow, or the number itself where they had none.
SIMT_EXPORT void __simt_shadow_known(Shadow* out, uint64_t a, uint64_t b, double d, double e, double value) {
  *out = a == ~0ull ? embedded(value) : Shadow{a, b, d, e};
}

SIMT_EXPORT void __simt_shadow_divide(Shadow* out, const Shadow* x, const Shadow* y, double divisor, uint32_t wide) {
  if (std::isinf(divisor))
    *out = {0, 0, 0, 0};
  else
    *out = quotient(*x, *y, wide);
}

FUNCTION(sqrt) { *out = root({a, b, d, e}, wide); }
FUNCTION(rsqrt) { *out = reciprocal_root({a, b, d, e}, wide); }
FUNCTION(cbrt) { *out = opaque(40, {a, b, d, e}, wide, cbrt, cbrtl); }

FUNCTION(exp) {
  if (std::isinf(d) && d < 0)
    *out = {0, 0, 0, 0};
  else
    *out = of_exponential({a, b, d, e}, wide);
}
FUNCTION(exp2) {
  const uint64_t r = exponential(field.q.multiply(b, field.ln2_q));
  *out = with(r, opaque_b(r), d, e, wide, [](double v) { return exp2(v); }, [](long double v) { return exp2l(v); });
  if (std::isinf(d) && d < 0) *out = {0, 0, 0, 0};
}
FUNCTION(exp10) {
  const uint64_t r = exponential(field.q.multiply(b, logarithm_of_natural(field.q, 10)));
  *out = with(
      r, opaque_b(r), d, e, wide, [](double v) { return pow(10.0, v); }, [](long double v) { return powl(10.0L, v); });
}
FUNCTION(expm1) {
  const Shadow grown = of_exponential({a, b, d, e}, wide);
  *out = with(
      field.p.subtract(grown.a, 1), field.q.subtract(grown.b, 1), d, e, wide, [](double v) { return expm1(v); },
      [](long double v) { return expm1l(v); });
}
FUNCTION(tanh) {  // (e^2x - 1) / (e^2x + 1)
  const uint64_t grown = exponential(field.q.add(b, b));
  const uint64_t r = field.p.multiply(field.p.subtract(grown, 1), inverse_p(field.p.add(grown, 1)));
  *out = with(r, opaque_b(r), d, e, wide, [](double v) { return tanh(v); }, [](long double v) { return tanhl(v); });
}
FUNCTION(sinh) {
  const uint64_t grown = exponential(b), r = field.p.multiply(field.p.subtract(grown, inverse_p(grown)), field.half_p);
  *out = with(r, opaque_b(r), d, e, wide, [](double v) { return sinh(v); }, [](long double v) { return sinhl(v); });
}
FUNCTION(cosh) {
  const uint64_t grown = exponential(b), r = field.p.multiply(field.p.add(grown, inverse_p(grown)), field.half_p);
  *out = with(r, opaque_b(r), d, e, wide, [](double v) { return cosh(v); }, [](long double v) { return coshl(v); });
}

FUNCTION(log) { *out = logarithm({a, b, d, e}, 1, 1, wide, log, logl); }
FUNCTION(log2) { *out = logarithm({a, b, d, e}, inverse_p(field.ln2_p), inverse_q(field.ln2_q), wide, log2, log2l); }
FUNCTION(log10) {
  *out = logarithm({a, b, d, e}, inverse_p(logarithm_of_natural(field.p, 10)),
                   inverse_q(logarithm_of_natural(field.q, 10)), wide, log10, log10l);
}
FUNCTION(log1p) {
  const Shadow moved = sum({a, b, d, e}, {1, 1, 1, 0});
  *out = logarithm(moved, 1, 1, wide, [](double v) { return log(v); }, logl);
  out->d = log1p(d), out->e = 0;
  if (wide) *out = split(out->a, out->b, log1pl(whole(d, e)));
}

#define OPAQUE(name, number) \
  FUNCTION(name) { *out = opaque(number, {a, b, d, e}, wide, name, name##l); }
OPAQUE(sin, 50)
OPAQUE(cos, 51)
OPAQUE(tan, 52)
OPAQUE(asin, 53)
OPAQUE(acos, 54)
OPAQUE(atan, 55)
OPAQUE(asinh, 56)
OPAQUE(acosh, 57)
OPAQUE(atanh, 58)
OPAQUE(erf, 59)
OPAQUE(erfc, 60)
OPAQUE(tgamma, 61)
OPAQUE(lgamma, 62)
#undef OPAQUE

SIMT_EXPORT void __simt_shadow_atan2(Shadow* out, const Shadow* x, const Shadow* y, uint32_t wide) {
  const uint64_t h = scrambled(x->a, 63) ^ scrambled(y->a, 64);
  const long double value = wide ? atan2l(whole(x->d, x->e), whole(y->d, y->e)) : (long double)atan2(x->d, y->d);
  *out = split(field.p.reduced(scrambled(h, 65)), field.q.reduced(scrambled(h, 66)), value);
}
SIMT_EXPORT void __simt_shadow_fmod(Shadow* out, const Shadow* x, const Shadow* y, double concrete, uint32_t wide) {
  // x - n y for the n that the program found
  const double times = std::trunc((x->d - concrete) / y->d + (x->d < 0 ? -0.5 : 0.5));
  const Shadow n = embedded(std::isfinite(times) ? times : 0);
  const Shadow product = {field.p.multiply(n.a, y->a), field.q.multiply(n.b, y->b), 0, 0};
  const long double value = whole(x->d, x->e) - times * whole(y->d, y->e);
  *out = split(field.p.subtract(x->a, product.a), field.q.subtract(x->b, product.b), value);
  if (!wide) out->e = 0;
}
SIMT_EXPORT void __simt_shadow_hypot(Shadow* out, const Shadow* x, const Shadow* y, uint32_t wide) {
  const auto squared = [](const Shadow& s) {
    return split(field.p.multiply(s.a, s.a), field.q.multiply(s.b, s.b), whole(s.d, s.e) * whole(s.d, s.e));
  };
  *out = root(sum(squared(*x), squared(*y)), wide);
}
SIMT_EXPORT void __simt_shadow_pow(Shadow* out, const Shadow* x, const Shadow* y, double exponent, uint32_t wide) {
  const bool exact = y->d == exponent && y->a == embedded(exponent).a;
  if (exact && exponent == std::trunc(exponent) && std::fabs(exponent) <= 1024) {
    *out = raised(*x, int(exponent), wide);
  } else if (exact && std::fabs(exponent) == 0.5) {
    *out = exponent < 0 ? reciprocal_root(*x, wide) : root(*x, wide);
  } else {
    const long double value = wide ? powl(whole(x->d, x->e), whole(y->d, y->e)) : (long double)pow(x->d, y->d);
    if (exact && 2 * exponent == std::trunc(2 * exponent) && std::fabs(exponent) <= 1024) {
      // Not a power of the root: its square is the number only up to the sign.
      const uint64_t whole_part = field.p.power(x->a, uint64_t(std::fabs(exponent)));
      const uint64_t a = exponent < 0 ? field.p.multiply(divisor_p(whole_part), reciprocal_root(*x, wide).a)
                                      : field.p.multiply(whole_part, root(*x, wide).a);
      *out = split(a, opaque_b(a), value);
      return;
    }
    const uint64_t a = exponential(field.q.multiply(y->b, logarithm_in(field.q, *x)));  // e^(y ln x)
    *out = split(a, opaque_b(a), value);
    if (!wide) out->e = 0;
  }
}
SIMT_EXPORT void __simt_shadow_scale(Shadow* out, const Shadow* x, int32_t power) {
  if (power < -1100 || power > 1100)
    *out = embedded(std::ldexp(x->d, power));
  else
    *out = {field.p.multiply(x->a, field.twos_p[kPowersOfTwo + power]),
            field.q.multiply(x->b, field.twos_q[kPowersOfTwo + power]), std::ldexp(x->d, power),
            std::ldexp(x->e, power)};
}
// What rounds to a whole number, and the fraction that is left: the program's own choice of the whole one.
SIMT_EXPORT void __simt_shadow_fraction(Shadow* out, const Shadow* x, double whole_part) {
  *out = sum(*x, negative(embedded(whole_part)));
}
SIMT_EXPORT void __simt_shadow_turns(Shadow* out, const Shadow* x, uint32_t function, uint32_t wide) {  // sinpi, cospi
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  const uint64_t h = scrambled(x->a, 71 + function);
  const Shadow angle = scaled(*x, 1);
  const long double value = function ? cosl(kPi * whole(angle.d, angle.e)) : sinl(kPi * whole(angle.d, angle.e));
  *out = split(field.p.reduced(h), field.q.reduced(scrambled(h, 73)), value);
  if (!wide) out->e = 0;
}

}  // extern "C"

}  // namespace simt
