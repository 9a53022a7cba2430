// What inline assembly asks of a lane; compiler/ptx*.py have the instructions that call these.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "abi.h"
#include "device_file.h"
#include "fault_log.h"
#include "host_state.h"

#define SIMT_EXPORT extern "C" __attribute__((visibility("default")))

namespace simt {

namespace {

uint32_t lane() { return __simt_thread()->linear % __simt_grid.wave_size; }
uint32_t threads() { return __simt_grid.block_dim[0] * __simt_grid.block_dim[1] * __simt_grid.block_dim[2]; }
uint32_t below(uint32_t bit) { return static_cast<uint32_t>((uint64_t{1} << bit) - 1); }
template <class T>
constexpr uint32_t width = 8 * sizeof(T);
template <class T>
T first(uint32_t bits) {
  return bits >= width<T> ? ~T{0} : T((T{1} << bits) - 1);
}
template <class T>
T extract(T value, uint32_t position, uint32_t length) {
  return position >= width<T> ? T{0} : (value >> position) & first<T>(length);
}
template <class T>
T extract_signed(T value, uint32_t position, uint32_t length) {
  if (length == 0) return 0;
  const uint32_t sign_at = position + length - 1 < width<T> ? position + length - 1 : width<T> - 1;
  const T sign = (value >> sign_at) & 1 ? ~T{0} : T{0};
  const T kept = first<T>(length) & (position >= width<T> ? T{0} : first<T>(width<T> - position));
  return (extract<T>(value, position, length) & kept) | (sign & ~kept);
}

template <class To, class From>
To as(From value) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept");
  To made;
  memcpy(&made, &value, sizeof made);
  return made;
}

// The optimiser may not move arithmetic over the change of the rounding mode: operands and result are volatile.
template <class T>
T rounded(uint32_t operation, uint32_t mode, T a, T b, T c) {
  constexpr int kModes[] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const int before = fegetround();
  fesetround(kModes[mode]);
  volatile T x = a, y = b, z = c, made = 0;
  switch (operation) {
    case 0:
      made = x + y;
      break;
    case 1:
      made = x - y;
      break;
    case 2:
      made = x * y;
      break;
    case 3:
      made = x / y;
      break;
    case 4:
      made = std::fma(T(x), T(y), T(z));
      break;
    case 5:
      made = std::sqrt(T(x));
      break;
    default:
      made = T(1) / x;
      break;
  }
  fesetround(before);
  return made;
}

int32_t signed_byte(uint32_t word, uint32_t i) { return int8_t(word >> (8 * i)); }
int32_t unsigned_byte(uint32_t word, uint32_t i) { return uint8_t(word >> (8 * i)); }
template <class A, class B>
uint32_t dot(uint32_t a, uint32_t b, uint32_t c, A left, B right) {
  for (uint32_t i = 0; i < 4; ++i) c += uint32_t(left(a, i) * right(b, i));
  return c;
}

uint32_t compute_units() { return static_cast<uint32_t>(device_limits().compute_units); }

}  // namespace

SIMT_EXPORT float __simt_ptx_from_f16(uint16_t bits);

namespace {

struct Factors {
  const uint32_t* a[32];
  const uint32_t* b[32];
};

// Adds the products of the elements that two registers hold.
uint32_t accumulate(uint32_t type, uint32_t sum, uint32_t a, uint32_t b) {
  switch (type) {
    case 0: {
      float total = as<float>(sum);
      for (uint32_t i = 0; i < 32; i += 16)
        total += __simt_ptx_from_f16(uint16_t(a >> i)) * __simt_ptx_from_f16(uint16_t(b >> i));
      return as<uint32_t>(total);
    }
    case 1:
      return as<uint32_t>(as<float>(sum) + as<float>(a << 16) * as<float>(b << 16) +
                          as<float>(a & 0xFFFF0000u) * as<float>(b & 0xFFFF0000u));
    case 2:
      return as<uint32_t>(as<float>(sum) + as<float>(a & ~0x1FFFu) * as<float>(b & ~0x1FFFu));
    case 3:
      return dot(a, b, sum, signed_byte, signed_byte);
    default:
      return dot(a, b, sum, unsigned_byte, unsigned_byte);
  }
}

}  // namespace

SIMT_EXPORT uint32_t __simt_ptx_laneid() { return lane(); }
SIMT_EXPORT uint32_t __simt_ptx_warpid() { return __simt_thread()->linear / __simt_grid.wave_size; }
SIMT_EXPORT uint32_t __simt_ptx_nwarpid() { return (threads() + __simt_grid.wave_size - 1) / __simt_grid.wave_size; }
SIMT_EXPORT uint32_t __simt_ptx_nsmid() { return compute_units(); }
// Blocks are dealt out in turn, as an idle device begins to.
SIMT_EXPORT uint32_t __simt_ptx_smid() {
  const auto& g = __simt_grid;
  const uint64_t block =
      g.block_index[0] + uint64_t{g.grid_dim[0]} * (g.block_index[1] + uint64_t{g.grid_dim[1]} * g.block_index[2]);
  return static_cast<uint32_t>(block % compute_units());
}
SIMT_EXPORT uint32_t __simt_ptx_lanemask_eq() { return uint32_t{1} << lane(); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_lt() { return below(lane()); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_le() { return below(lane() + 1); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_gt() { return ~below(lane() + 1); }
SIMT_EXPORT uint32_t __simt_ptx_lanemask_ge() { return ~below(lane()); }

// PTX ISA, bit field extract and insert: positions and lengths are taken modulo 256.
#define SIMT_BIT_FIELDS(bits)                                                                                    \
  SIMT_EXPORT uint##bits##_t __simt_ptx_bfe_u##bits(uint##bits##_t value, uint32_t position, uint32_t length) {  \
    return extract<uint##bits##_t>(value, position & 255, length & 255);                                         \
  }                                                                                                              \
  SIMT_EXPORT uint##bits##_t __simt_ptx_bfe_s##bits(uint##bits##_t value, uint32_t position, uint32_t length) {  \
    return extract_signed<uint##bits##_t>(value, position & 255, length & 255);                                  \
  }                                                                                                              \
  SIMT_EXPORT uint##bits##_t __simt_ptx_bfi_u##bits(uint##bits##_t from, uint##bits##_t into, uint32_t position, \
                                                    uint32_t length) {                                           \
    position &= 255, length &= 255;                                                                              \
    if (position >= (bits)) return into;                                                                         \
    const uint##bits##_t mask = first<uint##bits##_t>(length) << position;                                       \
    return (into & ~mask) | ((from << position) & mask);                                                         \
  }
SIMT_BIT_FIELDS(32)
SIMT_BIT_FIELDS(64)
#undef SIMT_BIT_FIELDS

SIMT_EXPORT uint32_t __simt_ptx_prmt(uint32_t low, uint32_t high, uint32_t selector) {
  const uint64_t bytes = uint64_t{high} << 32 | low;
  uint32_t made = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t choice = selector >> (4 * i) & 15;
    auto byte = static_cast<uint32_t>(bytes >> (8 * (choice & 7)) & 255);
    if (choice & 8) byte = byte & 128 ? 255 : 0;  // the sign, spread
    made |= byte << (8 * i);
  }
  return made;
}

// The n-th set bit from a position, upwards or downwards.
SIMT_EXPORT uint32_t __simt_ptx_fns(uint32_t mask, uint32_t base, uint32_t offset) {
  const auto wanted = int32_t(offset);
  const int32_t step = wanted < 0 ? -1 : 1;
  int32_t left = wanted < 0 ? -wanted : wanted == 0 ? 1 : wanted;
  for (auto at = int64_t(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1) && --left == 0) return uint32_t(at);
    if (wanted == 0) break;
  }
  return 0xFFFFFFFFu;
}
SIMT_EXPORT uint32_t __simt_ptx_dp4a_uu(uint32_t a, uint32_t b, uint32_t c) {
  return dot(a, b, c, unsigned_byte, unsigned_byte);
}
SIMT_EXPORT uint32_t __simt_ptx_dp4a_us(uint32_t a, uint32_t b, uint32_t c) {
  return dot(a, b, c, unsigned_byte, signed_byte);
}
SIMT_EXPORT uint32_t __simt_ptx_dp4a_su(uint32_t a, uint32_t b, uint32_t c) {
  return dot(a, b, c, signed_byte, unsigned_byte);
}
SIMT_EXPORT uint32_t __simt_ptx_dp4a_ss(uint32_t a, uint32_t b, uint32_t c) {
  return dot(a, b, c, signed_byte, signed_byte);
}
// Of four pairs of bytes: the differences side by side, or added to c.
SIMT_EXPORT uint32_t __simt_ptx_vabsdiff4(uint32_t a, uint32_t b, uint32_t) {
  uint32_t made = 0;
  for (uint32_t i = 0; i < 4; ++i) made |= uint32_t(std::abs(unsigned_byte(a, i) - unsigned_byte(b, i))) << (8 * i);
  return made;
}
SIMT_EXPORT uint32_t __simt_ptx_vabsdiff4_add(uint32_t a, uint32_t b, uint32_t c) {
  for (uint32_t i = 0; i < 4; ++i) c += uint32_t(std::abs(unsigned_byte(a, i) - unsigned_byte(b, i)));
  return c;
}

SIMT_EXPORT float __simt_ptx_rounded_f32(uint32_t operation, uint32_t mode, float a, float b, float c) {
  return rounded(operation, mode, a, b, c);
}
SIMT_EXPORT double __simt_ptx_rounded_f64(uint32_t operation, uint32_t mode, double a, double b, double c) {
  return rounded(operation, mode, a, b, c);
}

// binary16 and bfloat16, without what the processor or its compiler may lack; the arithmetic of include/simt.
SIMT_EXPORT float __simt_ptx_from_f16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, fraction = bits & 0x3FFu;
  if (exponent == 31) return as<float>(sign | 0x7F800000u | (fraction << 13));
  if (exponent != 0) return as<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = float(fraction) * 5.9604644775390625e-8f;  // 2^-24
  return sign ? -magnitude : magnitude;
}
SIMT_EXPORT uint16_t __simt_ptx_to_f16(float value) {
  const auto bits = as<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return uint16_t(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return uint16_t(sign | 0x7C00u);
  if (magnitude < 0x38800000u)  // subnormal: the adder rounds at 2^-24
    return uint16_t(sign | (as<uint32_t>(as<float>(magnitude) + 0.5f) - 0x3F000000u));
  return uint16_t(sign | ((magnitude - 0x38000000u + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13));
}
SIMT_EXPORT uint16_t __simt_ptx_to_bf16(float value) {
  const auto bits = as<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return uint16_t((bits >> 16) | 0x40u);
  return uint16_t((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
// a * b + c of 16-bit floats, rounded towards zero with a last bit that says "not exact": the next rounding is right.
SIMT_EXPORT float __simt_ptx_fma_to_odd(float a, float b, float c) {
  const float down = rounded<float>(4, 0, a, b, c), up = rounded<float>(4, 2, a, b, c);
  return down == up || !std::isfinite(down) ? down : as<float>(as<uint32_t>(down) | 1u);
}

// From which lane a shuffle reads, and whether that is within its bounds (32). Modes: up, down, bfly, idx.
SIMT_EXPORT uint32_t __simt_ptx_shuffle_source(uint32_t mode, uint32_t by, uint32_t bounds) {
  const uint32_t self = lane(), segment = bounds >> 8 & 31, clamp = bounds & 31;
  const uint32_t last = (self & segment) | (clamp & ~segment), begin = self & segment;
  by &= 31;
  uint32_t source = 0;
  bool inside = false;
  switch (mode) {
    case 0:
      source = self - by, inside = int32_t(source) >= int32_t(last);
      break;
    case 1:
      source = self + by, inside = source <= last;
      break;
    case 2:
      source = self ^ by, inside = source <= last;
      break;
    default:
      source = begin | (by & ~segment), inside = source <= last;
      break;
  }
  return inside ? (source & 31) | 32 : self;
}

// D = A B + C, 16 by 8 elements, of a warp. Lane 4g+t has the elements of rows g and g+8 of A, column g of B, in
// registers of 32 bits (PTX ISA, matrix fragments for mma): `depth` of B, twice as many of A. Sums are of 32 bits.
SIMT_EXPORT void __simt_ptx_mma(uint32_t type, uint32_t depth, uint32_t halves, uint32_t* d, const uint32_t* a,
                                const uint32_t* b, const uint32_t* c) {
  const auto together = [](Collective operation, uint64_t value) {
    return __simt_collective(uint32_t(operation), 0xFFFFFFFFu, value, 0, 32);
  };
  Factors own;  // the first lane lends its own to all
  auto& all = *reinterpret_cast<Factors*>(together(Collective::kShuffle, reinterpret_cast<uint64_t>(&own)));
  all.a[lane()] = a;
  all.b[lane()] = b;
  together(Collective::kSyncWave, 0);
  const uint32_t group = lane() / 4, pair = lane() % 4 * 2;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t column = pair + i % 2, upper = i / 2;
    const uint32_t before = halves ? as<uint32_t>(__simt_ptx_from_f16(uint16_t(c[upper] >> (16 * (i % 2))))) : c[i];
    uint32_t sum = before;
    for (uint32_t part = 0; part < depth; ++part)
      for (uint32_t t = 0; t < 4; ++t)
        sum = accumulate(type, sum, all.a[4 * group + t][2 * part + upper], all.b[4 * column + t][part]);
    if (!halves)
      d[i] = sum;
    else
      d[upper] = (i % 2 ? d[upper] & 0xFFFFu : 0) | uint32_t(__simt_ptx_to_f16(as<float>(sum))) << (16 * (i % 2));
  }
  together(Collective::kSyncWave, 0);  // nobody's factors go before all have read them
}

SIMT_EXPORT uint32_t __simt_is_shared(const void* address) { return in_shared_memory(address); }

}  // namespace simt
