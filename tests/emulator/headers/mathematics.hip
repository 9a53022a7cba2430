#include <algorithm>
#include <cmath>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <limits>
#include <string>

#include "check.h"

enum { kDoubles = 40, kFloats = 40, kInts = 40 };

__global__ void doubles(double* o, double x) {
  int n = 0;
  o[n++] = std::sin(x);
  o[n++] = exp(x);
  o[n++] = std::pow(x, 2.5);
  o[n++] = pow(x, 3);
  o[n++] = rsqrt(x);
  o[n++] = sinpi(x);
  o[n++] = cospi(1e15 + 0.5);
  o[n++] = erfinv(0.3);
  o[n++] = erfinv(-0.999999);
  o[n++] = erfcinv(1e-20);
  o[n++] = normcdf(-x);
  o[n++] = normcdfinv(0.975);
  o[n++] = erfcx(30.0);
  o[n++] = erfcx(5.0);
  o[n++] = cyl_bessel_i0(2.0);
  o[n++] = cyl_bessel_i1(40.0);
  o[n++] = j0(x);
  o[n++] = norm3d(3.0, 4.0, 12.0);
  o[n++] = rcbrt(8.0);
  o[n++] = exp10(2.0);
  o[n++] = __dadd_rd(1.0, 1e-30);
  o[n++] = __dadd_ru(1.0, 1e-30);
  o[n++] = __dmul_rz(1.0 / 3, 3.0000000000000004);
  o[n++] = __ddiv_ru(1.0, 3.0);
  o[n++] = __dsqrt_rd(2.0);
  o[n++] = __fma_rd(1.0 / 3, 3.0, -1.0);
  o[n++] = std::max(1, 2) + std::abs(-2.5) + std::numeric_limits<float>::epsilon();
  double whole, sine, cosine;
  o[n++] = modf(-3.25, &whole);
  sincos(x, &sine, &cosine);
  o[n++] = sine * sine + cosine * cosine;
  o[n++] = max(1, 2.5) + min(3u, 2);
}

__global__ void floats(float* o, float x) {
  int n = 0;
  o[n++] = sinf(x);
  o[n++] = __expf(x);
  o[n++] = __fadd_rn(0.1f, 0.2f);
  o[n++] = __fadd_rd(0.1f, 0.2f);
  o[n++] = __fadd_ru(0.1f, 0.2f);
  o[n++] = __fmul_rz(0.1f, 0.2f);
  o[n++] = __fdiv_ru(1.0f, 3.0f);
  o[n++] = __frcp_rd(3.0f);
  o[n++] = __fsqrt_ru(2.0f);
  o[n++] = __fmaf_rd(0.1f, 0.2f, 0.3f);
  o[n++] = __double2float_ru(0.1);
  o[n++] = __int2float_rz(2147483647);
  o[n++] = __saturatef(-2.0f);
  o[n++] = __half2float(__float2half(65519.0f));
  o[n++] = __half2float(__float2half(65520.0f));
  o[n++] = __half2float(__double2half(1.0 + 0.00048828125 + 1e-12));  // just above half a unit in the last place
  o[n++] = __half2float(__float2half(5.9604644775390625e-8f * 1.5f));
  o[n++] = __half2float(__hfma(__float2half(2.0f), __float2half(1024.5f), __float2half(-0.0001f)));
  o[n++] = __half2float(__float2half_rd(0.1f));
  o[n++] = __half2float(__float2half_ru(0.1f));
  o[n++] = __low2float(__hadd2(__floats2half2_rn(1, 2), __half2half2(__half(3))));
  o[n++] = __bfloat162float(__float2bfloat16(1.00390625f));
  o[n++] = __bfloat162float(__float2bfloat16(1.01171875f));
  o[n++] = static_cast<float>(__hip_bfloat16(3.0f) * __hip_bfloat16(7.0f));
  o[n++] = hexp(__half(1.0f));
}

__global__ void integers(long long* o) {
  int n = 0;
  o[n++] = __popc(0xf0f0u);
  o[n++] = __clz(1);
  o[n++] = __ffs(0);
  o[n++] = __brev(1u);
  o[n++] = __byte_perm(0x33221100u, 0x77665544u, 0x7531u);
  o[n++] = __funnelshift_l(0x80000000u, 1u, 1u);
  o[n++] = __umulhi(0xffffffffu, 2u);
  o[n++] = __mul64hi(-1, 2);
  o[n++] = __dp4a(0x01ff0203, 0x01010101, 10);
  o[n++] = __sad(-2000000000, 2000000000, 1u);
  o[n++] = __float2int_rn(2.5f);
  o[n++] = __float2int_rn(1e20f);
  o[n++] = __float2int_rz(nanf(""));
  o[n++] = __double2ull_rn(-5.0);
  o[n++] = __float2uint_ru(2.1f);
  o[n++] = __double2ll_rd(-2.5);
  o[n++] = __vadd4(0x01ff02fe, 0x01010101);
  o[n++] = __hiloint2double(0x3ff00000, 0) == 1.0;
  o[n++] = __fns(0x12u, 0, 2);
  o[n++] = isnan(nan("")) + std::isinf(INFINITY) + signbit(-0.0f);
}

int main() {
  double* d;
  float* f;
  long long* i;
  (void)hipMallocManaged(&d, kDoubles * 8);
  (void)hipMallocManaged(&f, kFloats * 4);
  (void)hipMallocManaged(&i, kInts * 8);
  doubles<<<1, 1>>>(d, 0.7);
  floats<<<1, 1>>>(f, 0.7f);
  integers<<<1, 1>>>(i);
  expect(hipDeviceSynchronize() == hipSuccess, "kernels");

  const double wanted_d[] = {std::sin(0.7), std::exp(0.7), std::pow(0.7, 2.5), 0.343, 1 / std::sqrt(0.7),
      std::sin(0.7 * M_PI), 0.0, 0.27246271472675435, -3.4589107372795, 6.601580622355143, 0.5 * std::erfc(0.7 / std::sqrt(2.0)),
      1.959963984540054, 0.018795888861416751, 0.11070463773306861, 2.2795853023360673, 1.4707396163259354e16,
      0.8812008886074052, 13.0, 0.5, 100.0, 1.0, std::nextafter(1.0, 2.0), 1.0, 0.33333333333333337,
      1.4142135623730949, -5.5511151231257827e-17, 2 + 2.5 + 1.1920928955078125e-07, -0.25, 1.0, 4.5};
  const double slack_d[] = {1e-15, 1e-15, 1e-15, 1e-15, 1e-15, 1e-15, 0, 1e-14, 1e-10, 1e-14, 1e-14, 1e-14, 1e-12, 1e-13,
      1e-14, 1e-10, 1e-14, 1e-15, 1e-15, 1e-15, 0, 0, 1e-15, 0, 0, 0, 0, 0, 1e-15, 0};
  for (int n = 0; n < 30; ++n) expect_close(d[n], wanted_d[n], slack_d[n], ("double " + std::to_string(n)).c_str());

  const double wanted_f[] = {std::sin(0.7f), std::exp(0.7f), 0.3f + 2.98e-8, 0.3f, 0.3f + 2.98e-8, 0.02f, 0.333333343f,
      0.333333313f, 1.41421366f, 0.32f, 0.1f, 2147483520.0, 0.0, 65504.0, INFINITY, 1.0009765625, 1.1920928955078125e-7,
      2048.0, 0.0999755859375, 0.10003662109375, 4.0, 1.0, 1.015625, 21.0, 2.71875};
  const double slack_f[] = {2e-7, 2e-7, 1e-7, 1e-7, 1e-7, 1e-7, 0, 0, 0, 1e-7, 1e-7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  for (int n = 0; n < 25; ++n) expect_close(f[n], wanted_f[n], slack_f[n], ("float " + std::to_string(n)).c_str());
  expect(f[3] < f[4], "directed sums differ");

  const long long wanted_i[] = {8, 31, 0, 0x80000000ll, 0x77553311ll, 3, 1, -1, 10 + 1 - 1 + 2 + 3, 4000000001ll, 2, 2147483647, 0,
      0, 3, -3, 0x020003ffll, 1, 4, 3};
  for (int n = 0; n < 20; ++n) expect_close(i[n], wanted_i[n], 0, ("integer " + std::to_string(n)).c_str());
  return verdict();
}
