// The 16-bit formats of CUDA's headers in a host compiler: every value there and back, and every tie between two.
#include <cublas_v2.h>

#include <cmath>
#include <cstdio>

namespace {
int wrong = 0;

void expect(unsigned got, unsigned wanted, const char* what) {
  if (got == wanted) return;
  if (wrong++ < 5) std::printf("%s: %04x, not %04x\n", what, got, wanted);
}

unsigned half_bits(__half v) { return __half_as_ushort(v); }

void there_and_back() {
  for (unsigned i = 0; i < 65536; ++i) {
    const __half h = __ushort_as_half(static_cast<unsigned short>(i));
    const __nv_bfloat16 b = __ushort_as_bfloat16(static_cast<unsigned short>(i));
    if (!__hisnan(h)) expect(half_bits(__float2half(__half2float(h))), i, "half");
    if (!__hisnan(b)) expect(__bfloat16_as_ushort(__float2bfloat16(__bfloat162float(b))), i, "bfloat16");
  }
}

void between_neighbours() {
  const float most = INFINITY;
  for (unsigned i = 0; i + 1 < 0x7c00; ++i) {
    const float low = __ushort_as_half(static_cast<unsigned short>(i));
    const float high = __ushort_as_half(static_cast<unsigned short>(i + 1));
    const double tie = (static_cast<double>(low) + high) / 2;
    expect(half_bits(__float2half(static_cast<float>(tie))), i + (i & 1), "tie");
    expect(half_bits(__double2half(std::nextafter(tie, 0.0))), i, "below the tie");
    expect(half_bits(__double2half(std::nextafter(tie, 1e9))), i + 1, "above the tie");
    expect(half_bits(__float2half_rz(std::nextafter(high, 0.0f))), i, "towards zero");
    expect(half_bits(__float2half_ru(std::nextafter(low, most))), i + 1, "upwards");
    expect(half_bits(__float2half_rd(-std::nextafter(low, most))), (i + 1) | 0x8000, "downwards");
  }
}
}  // namespace

int main() {
  there_and_back();
  between_neighbours();
  expect(half_bits(__float2half(65519.0f)), 0x7bff, "the largest");
  expect(half_bits(__float2half(65520.0f)), 0x7c00, "beyond the largest");
  const half2 pair = __floats2half2_rn(1.0f, 2.0f);
  half sum = __hadd(pair.x, pair.y);
  sum += pair.y;
  const half row[] = {sum, 0.5, 3};
  expect(static_cast<unsigned>(2 * (row[0] * row[1] + row[2])), 11, "arithmetic");
  const cuDoubleComplex square = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(1, 2));
  expect(static_cast<unsigned>(-cuCreal(square)), 3, "complex");
  if (!wrong) std::printf("all good\n");
  return wrong != 0;
}
