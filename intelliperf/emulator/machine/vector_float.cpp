// Lane-wise instructions on floating-point numbers. Transcendental ones are correctly rounded here; hardware promises
// one unit in the last place.
#include "arithmetic.h"
#include "vector.h"

namespace machine {
namespace {

#define UNARY(NAME, T, ...) MACHINE_UNARY(NAME, T, T, kPlain, __VA_ARGS__)
#define BINARY(NAME, T, ...) MACHINE_BINARY(NAME, T, T, T, kPlain, __VA_ARGS__)
#define TERNARY(NAME, T, ...) MACHINE_TERNARY(NAME, T, T, T, T, kPlain, __VA_ARGS__)

UNARY(v_fract_f32, float, fraction(a))
UNARY(v_trunc_f32, float, std::trunc(a))
UNARY(v_ceil_f32, float, std::ceil(a))
UNARY(v_rndne_f32, float, to_even(a))
UNARY(v_floor_f32, float, std::floor(a))
UNARY(v_exp_f32, float, std::exp2(double(a)))
UNARY(v_exp_legacy_f32, float, std::exp2(double(a)))
UNARY(v_log_f32, float, std::log2(double(a)))
UNARY(v_log_legacy_f32, float, std::log2(double(a)))
UNARY(v_rcp_f32, float, 1 / a)
UNARY(v_rcp_iflag_f32, float, 1 / a)
UNARY(v_rsq_f32, float, 1 / std::sqrt(double(a)))
UNARY(v_sqrt_f32, float, std::sqrt(a))
UNARY(v_sin_f32, float, std::sin(turns(a)))
UNARY(v_cos_f32, float, std::cos(turns(a)))
UNARY(v_frexp_mant_f32, float, mantissa(a))
MACHINE_UNARY(v_frexp_exp_i32_f32, int32_t, float, kPlain, exponent_of(a))

BINARY(v_add_f32, float, a + b)
BINARY(v_sub_f32, float, a - b)
BINARY(v_subrev_f32, float, b - a)
BINARY(v_mul_f32, float, a* b)
BINARY(v_mul_legacy_f32, float, a == 0 || b == 0 ? 0.0f : a * b)
BINARY(v_min_f32, float, least(a, b))
BINARY(v_max_f32, float, greatest(a, b))
MACHINE_BINARY(v_ldexp_f32, float, float, int32_t, kPlain, std::ldexp(a, b))

TERNARY(v_fma_f32, float, std::fma(a, b, c))
MACHINE_TERNARY(v_fmac_f32, float, float, float, float, kAccumulates, std::fma(a, b, c))
MACHINE_TERNARY(v_mac_f32, float, float, float, float, kAccumulates | kFlushes, a* b + c)
MACHINE_TERNARY(v_mad_f32, float, float, float, float, kFlushes, a* b + c)
MACHINE_TERNARY(v_mad_legacy_f32, float, float, float, float, kFlushes, (a == 0 || b == 0 ? 0.0f : a * b) + c)
MACHINE_TERNARY(v_fmamk_f32, float, float, float, float, kLiteralSecond, std::fma(a, b, c))
MACHINE_TERNARY(v_fmaak_f32, float, float, float, float, kLiteralThird, std::fma(a, b, c))
MACHINE_TERNARY(v_madmk_f32, float, float, float, float, kFlushes | kLiteralSecond, a* b + c)
MACHINE_TERNARY(v_madak_f32, float, float, float, float, kFlushes | kLiteralThird, a* b + c)
TERNARY(v_min3_f32, float, least(least(a, b), c))
TERNARY(v_max3_f32, float, greatest(greatest(a, b), c))
TERNARY(v_med3_f32, float, middle(a, b, c))
TERNARY(v_div_fixup_f32, float, fixed_up_quotient(a, b, c))

UNARY(v_fract_f64, double, fraction(a))
UNARY(v_trunc_f64, double, std::trunc(a))
UNARY(v_ceil_f64, double, std::ceil(a))
UNARY(v_rndne_f64, double, to_even(a))
UNARY(v_floor_f64, double, std::floor(a))
UNARY(v_rcp_f64, double, 1 / a)
UNARY(v_rsq_f64, double, 1 / std::sqrt(a))
UNARY(v_sqrt_f64, double, std::sqrt(a))
UNARY(v_frexp_mant_f64, double, mantissa(a))
MACHINE_UNARY(v_frexp_exp_i32_f64, int32_t, double, kPlain, exponent_of(a))
BINARY(v_add_f64, double, a + b)
BINARY(v_mul_f64, double, a* b)
BINARY(v_min_f64, double, least(a, b))
BINARY(v_max_f64, double, greatest(a, b))
MACHINE_BINARY(v_ldexp_f64, double, double, int32_t, kPlain, std::ldexp(a, b))
MACHINE_BINARY(v_trig_preop_f64, double, double, uint32_t, kPlain, two_over_pi_piece(a, b))
TERNARY(v_fma_f64, double, std::fma(a, b, c))
MACHINE_TERNARY(v_fmac_f64, double, double, double, double, kAccumulates, std::fma(a, b, c))
TERNARY(v_div_fixup_f64, double, fixed_up_quotient(a, b, c))

UNARY(v_fract_f16, Half, half_fraction(a))
UNARY(v_trunc_f16, Half, std::trunc(double(a)))
UNARY(v_ceil_f16, Half, std::ceil(double(a)))
UNARY(v_rndne_f16, Half, to_even(double(a)))
UNARY(v_floor_f16, Half, std::floor(double(a)))
UNARY(v_exp_f16, Half, std::exp2(double(a)))
UNARY(v_log_f16, Half, std::log2(double(a)))
UNARY(v_rcp_f16, Half, 1 / double(a))
UNARY(v_rsq_f16, Half, 1 / std::sqrt(double(a)))
UNARY(v_sqrt_f16, Half, std::sqrt(double(a)))
UNARY(v_sin_f16, Half, std::sin(turns(double(a))))
UNARY(v_cos_f16, Half, std::cos(turns(double(a))))
UNARY(v_frexp_mant_f16, Half, mantissa(double(a)))
MACHINE_UNARY(v_frexp_exp_i16_f16, int16_t, Half, kPlain, exponent_of(double(a)))
BINARY(v_add_f16, Half, double(a) + double(b))
BINARY(v_sub_f16, Half, double(a) - double(b))
BINARY(v_subrev_f16, Half, double(b) - double(a))
BINARY(v_mul_f16, Half, double(a) * double(b))
BINARY(v_min_f16, Half, least(a, b))
BINARY(v_max_f16, Half, greatest(a, b))
MACHINE_BINARY(v_ldexp_f16, Half, Half, int16_t, kPlain, std::ldexp(double(a), b))
MACHINE_TERNARY(v_fma_f16, Half, Half, Half, Half, kKeepsHighHalf, fused_half(a, b, c))
MACHINE_TERNARY(v_mac_f16, Half, Half, Half, Half, kAccumulates, Half(Half(double(a) * double(b)) + double(c)))
MACHINE_TERNARY(v_mad_f16, Half, Half, Half, Half, kKeepsHighHalf, Half(Half(double(a) * double(b)) + double(c)))
MACHINE_TERNARY(v_madmk_f16, Half, Half, Half, Half, kLiteralSecond, Half(Half(double(a) * double(b)) + double(c)))
MACHINE_TERNARY(v_madak_f16, Half, Half, Half, Half, kLiteralThird, Half(Half(double(a) * double(b)) + double(c)))
MACHINE_TERNARY(v_min3_f16, Half, Half, Half, Half, kKeepsHighHalf, least(least(a, b), c))
MACHINE_TERNARY(v_max3_f16, Half, Half, Half, Half, kKeepsHighHalf, greatest(greatest(a, b), c))
MACHINE_TERNARY(v_med3_f16, Half, Half, Half, Half, kKeepsHighHalf, middle(a, b, c))

Half fixed_up_half(Half quotient, Half denominator, Half numerator) {
  return Half(fixed_up_quotient(double(quotient), double(denominator), double(numerator)));
}
MACHINE_TERNARY(v_div_fixup_f16, Half, Half, Half, Half, kKeepsHighHalf, fixed_up_half(a, b, c))

uint32_t pair_of_halves(uint16_t low, uint16_t high) { return uint32_t(high) << 16 | low; }
uint32_t normalized(float value, float low, float factor) {
  const float bounded = value != value ? 0 : std::min(std::max(value, low), 1.0f);
  return uint32_t(int32_t(to_even(bounded * factor))) & 0xFFFF;
}
uint32_t replaced_byte(uint32_t word, uint32_t place, uint32_t byte) {
  const uint32_t shift = 8 * (place & 3);
  return (word & ~(0xFFu << shift)) | byte << shift;
}

MACHINE_UNARY(v_cvt_f32_i32, float, int32_t, kPlain, a)
MACHINE_UNARY(v_cvt_f32_u32, float, uint32_t, kPlain, a)
MACHINE_UNARY(v_cvt_i32_f32, int32_t, float, kPlain, saturated<int32_t>(a))
MACHINE_UNARY(v_cvt_u32_f32, uint32_t, float, kPlain, saturated<uint32_t>(a))
MACHINE_UNARY(v_cvt_rpi_i32_f32, int32_t, float, kPlain, saturated<int32_t>(std::floor(double(a) + 0.5)))
MACHINE_UNARY(v_cvt_flr_i32_f32, int32_t, float, kPlain, saturated<int32_t>(std::floor(a)))
MACHINE_UNARY(v_cvt_off_f32_i4, float, uint32_t, kPlain, float(int32_t(a << 28) >> 28) / 16)
MACHINE_UNARY(v_cvt_f16_f32, Half, float, kPlain, a)
MACHINE_UNARY(v_cvt_f32_f16, float, Half, kPlain, double(a))
MACHINE_UNARY(v_cvt_f32_f64, float, double, kPlain, a)
MACHINE_UNARY(v_cvt_f64_f32, double, float, kPlain, a)
MACHINE_UNARY(v_cvt_f64_i32, double, int32_t, kPlain, a)
MACHINE_UNARY(v_cvt_f64_u32, double, uint32_t, kPlain, a)
MACHINE_UNARY(v_cvt_i32_f64, int32_t, double, kPlain, saturated<int32_t>(a))
MACHINE_UNARY(v_cvt_u32_f64, uint32_t, double, kPlain, saturated<uint32_t>(a))
MACHINE_UNARY(v_cvt_f32_ubyte0, float, uint32_t, kPlain, a & 0xFF)
MACHINE_UNARY(v_cvt_f32_ubyte1, float, uint32_t, kPlain, a >> 8 & 0xFF)
MACHINE_UNARY(v_cvt_f32_ubyte2, float, uint32_t, kPlain, a >> 16 & 0xFF)
MACHINE_UNARY(v_cvt_f32_ubyte3, float, uint32_t, kPlain, a >> 24)
MACHINE_UNARY(v_cvt_f16_u16, Half, uint16_t, kPlain, double(a))
MACHINE_UNARY(v_cvt_f16_i16, Half, int16_t, kPlain, double(a))
MACHINE_UNARY(v_cvt_u16_f16, uint16_t, Half, kPlain, saturated<uint16_t>(a))
MACHINE_UNARY(v_cvt_i16_f16, int16_t, Half, kPlain, saturated<int16_t>(a))
MACHINE_UNARY(v_cvt_norm_i16_f16, uint16_t, Half, kPlain, normalized(float(double(a)), -1, 32767))
MACHINE_UNARY(v_cvt_norm_u16_f16, uint16_t, Half, kPlain, normalized(float(double(a)), 0, 65535))
MACHINE_BINARY(v_cvt_pkrtz_f16_f32, uint32_t, float, float, kPlain,
               pair_of_halves(double_to_half_toward_zero(a), double_to_half_toward_zero(b)))
MACHINE_BINARY(v_cvt_pknorm_i16_f32, uint32_t, float, float, kPlain,
               normalized(a, -1, 32767) | normalized(b, -1, 32767) << 16)
MACHINE_BINARY(v_cvt_pknorm_u16_f32, uint32_t, float, float, kPlain,
               normalized(a, 0, 65535) | normalized(b, 0, 65535) << 16)
MACHINE_BINARY(v_pack_b32_f16, uint32_t, Half, Half, kPlain, pair_of_halves(a.bits, b.bits))
MACHINE_TERNARY(v_cvt_pk_u8_f32, uint32_t, float, uint32_t, uint32_t, kPlain,
                replaced_byte(c, b, saturated<uint8_t>(a)))

}  // namespace
}  // namespace machine
