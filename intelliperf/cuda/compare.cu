// Two buffers of one length, compared where they lie: bit for bit, and as numbers where they are.
//
// Blocks (x, y) take slice x of chunk y. What differs is added to the chunk's entry in `found`, which begins as zeros.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

using Word = unsigned long long;

constexpr int kWordBytes = 16;  // what a thread loads at a time
constexpr int kAtOnce = 4;      // such loads under way before the first one is looked at

enum Kind : int { kBits8, kBits16, kBits32, kBits64, kHalf, kBfloat, kFloat, kDouble };

// One entry a chunk; `comparing.py` reads it. Largest values are bits of doubles, whose order is that of the numbers.
struct Difference {
  Word elements;        // that are not equal bit for bit
  Word first;           // complement of the first one's number in the chunk
  Word beyond;          // of them, those farther than atol + rtol * |reference|
  Word specials;        // of these, those with a NaN or an infinity where the other has none
  Word ulps;            // largest distance in units in the last place
  Word absolute;        // largest absolute distance
  Word relative;        // largest distance relative to the reference
};

__device__ int bytes_of(int kind) {
  switch (kind) {
    case kBits8: return 1;
    case kBits16: case kHalf: case kBfloat: return 2;
    case kBits32: case kFloat: return 4;
    default: return 8;
  }
}

__device__ double number(Word bits, int kind) {
  switch (kind) {
    case kHalf: return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    case kBfloat: return __uint_as_float(static_cast<unsigned>(bits) << 16);
    case kFloat: return __uint_as_float(static_cast<unsigned>(bits));
    default: return __longlong_as_double(static_cast<long long>(bits));
  }
}

// Rises with the number that the bits stand for.
__device__ Word rank(Word bits, int bytes) {
  const Word sign = 1ull << (8 * bytes - 1);
  return bits & sign ? 2 * sign - 1 - bits : bits | sign;
}

__device__ void measure(Difference& sum, Word left, Word right, int kind, double rtol, double atol) {
  const double a = number(left, kind), b = number(right, kind);
  if (isnan(a) && isnan(b)) return;
  if (!isfinite(a) || !isfinite(b)) {
    atomicAdd(&sum.specials, 1ull);
    atomicAdd(&sum.beyond, 1ull);
    return;
  }
  const double gap = fabs(a - b), relative = gap / fabs(a);
  if (!(gap <= atol + rtol * fabs(a))) atomicAdd(&sum.beyond, 1ull);
  const int bytes = bytes_of(kind);
  const Word x = rank(left, bytes), y = rank(right, bytes);
  atomicMax(&sum.ulps, x > y ? x - y : y - x);
  atomicMax(&sum.absolute, static_cast<Word>(__double_as_longlong(gap)));
  if (gap > 0) atomicMax(&sum.relative, static_cast<Word>(__double_as_longlong(relative)));
}

__device__ void look_closer(Difference& sum, const uint4& left, const uint4& right, Word offset, int kind, double rtol,
                            double atol) {
  const int bytes = bytes_of(kind);
  const Word mask = bytes == 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
  const Word halves[2][2] = {{left.x | Word{left.y} << 32, left.z | Word{left.w} << 32},
                             {right.x | Word{right.y} << 32, right.z | Word{right.w} << 32}};
  for (int at = 0; at < kWordBytes; at += bytes) {
    const Word a = halves[0][at / 8] >> (8 * (at % 8)) & mask, b = halves[1][at / 8] >> (8 * (at % 8)) & mask;
    if (a == b) continue;
    atomicAdd(&sum.elements, 1ull);
    atomicMax(&sum.first, ~((offset + at) / bytes));
    if (kind >= kHalf) measure(sum, a, b, kind, rtol, atol);
    else atomicAdd(&sum.beyond, 1ull);
  }
}

__device__ bool equal(const uint4& a, const uint4& b) {
  return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w)) == 0;
}

// The last words of a buffer may have fewer than 16 bytes.
__device__ uint4 tail(const unsigned char* from, Word bytes) {
  uint4 word = {0, 0, 0, 0};
  for (Word i = 0; i < bytes; ++i) reinterpret_cast<unsigned char*>(&word)[i] = from[i];
  return word;
}

__device__ void add_to(Difference& whole, const Difference& sum) {
  if (sum.elements == 0) return;
  atomicAdd(&whole.elements, sum.elements);
  atomicMax(&whole.first, sum.first);
  atomicAdd(&whole.beyond, sum.beyond);
  atomicAdd(&whole.specials, sum.specials);
  atomicMax(&whole.ulps, sum.ulps);
  atomicMax(&whole.absolute, sum.absolute);
  atomicMax(&whole.relative, sum.relative);
}

}  // namespace

// Both pointers are multiples of 16, `chunk` is one, too.
extern "C" __global__ void compare(const unsigned char* left, const unsigned char* right, Word bytes, Word chunk,
                                   int kind, double rtol, double atol, Difference* found) {
  __shared__ Difference sum;
  if (threadIdx.x == 0) sum = {};
  __syncthreads();
  const Word begin = blockIdx.y * chunk;
  const Word length = min(chunk, bytes - begin);
  const auto* a = reinterpret_cast<const uint4*>(left + begin);
  const auto* b = reinterpret_cast<const uint4*>(right + begin);
  const Word words = length / kWordBytes;
  const Word step = Word{gridDim.x} * blockDim.x;
  for (Word first = Word{blockIdx.x} * blockDim.x + threadIdx.x; first < words; first += kAtOnce * step) {
    uint4 x[kAtOnce], y[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const Word i = min(first + j * step, words - 1);
      x[j] = __ldcs(a + i);
      y[j] = __ldcs(b + i);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      const Word i = first + j * step;
      if (i < words && !equal(x[j], y[j])) look_closer(sum, x[j], y[j], i * kWordBytes, kind, rtol, atol);
    }
  }
  if (const Word rest = length % kWordBytes; rest > 0 && blockIdx.x == 0 && threadIdx.x == 0) {
    const uint4 x = tail(left + begin + words * kWordBytes, rest), y = tail(right + begin + words * kWordBytes, rest);
    if (!equal(x, y)) look_closer(sum, x, y, words * kWordBytes, kind, rtol, atol);
  }
  __syncthreads();
  if (threadIdx.x == 0) add_to(found[blockIdx.y], sum);
}
