// Arithmetic of the shadow: elements of Z_p (what is compared) and of Z_q (what stands in exponents), p = 2q + 1 prime.
//
// p = 2^61 - c with c < 2^28, so that a product is reduced by two folds; q = 2^60 - (c + 1) / 2 likewise. p is 7 modulo
// 8, so that 2 is a square and -1 is none. exp(x) = w^b for the image b of x in Z_q is a homomorphism into the squares
// of Z_p (after Mirage, OSDI 2025), with w chosen so that exp(ln 2) = 2.
#pragma once
#include <cstdint>

namespace simt {

using Wide = unsigned __int128;

struct Modulus {
  uint64_t value, fold;  // 2^bits - fold
  uint32_t bits;

  uint64_t add(uint64_t x, uint64_t y) const {
    const uint64_t sum = x + y;
    return sum >= value ? sum - value : sum;
  }
  uint64_t subtract(uint64_t x, uint64_t y) const { return x >= y ? x - y : x - y + value; }
  uint64_t negative(uint64_t x) const { return x ? value - x : 0; }
  uint64_t multiply(uint64_t x, uint64_t y) const {
    const uint64_t mask = (uint64_t(1) << bits) - 1;
    const Wide product = Wide(x) * y;
    const Wide once = Wide(uint64_t(product >> bits)) * fold + (uint64_t(product) & mask);
    const uint64_t twice = (uint64_t(once) & mask) + uint64_t(once >> bits) * fold;
    return twice >= value ? twice - value : twice;
  }
  uint64_t power(uint64_t base, uint64_t exponent) const {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base = multiply(base, base))
      if (exponent & 1) result = multiply(result, base);
    return result;
  }
  // Of what is not zero; 0 for zero. Euclid's algorithm.
  uint64_t inverse(uint64_t x) const {
    int64_t before = 0, now = 1;
    uint64_t larger = value, smaller = x;
    while (smaller) {
      const uint64_t times = larger / smaller, rest = larger - times * smaller;
      larger = smaller, smaller = rest;
      const int64_t next = before - int64_t(times) * now;
      before = now, now = next;
    }
    if (x == 0) return 0;
    return before < 0 ? value - uint64_t(-before) : uint64_t(before);
  }
  uint64_t reduced(uint64_t x) const { return x % value; }
};

inline uint64_t scrambled(uint64_t x, uint64_t salt) {  // a hash, for functions of which nothing is known
  x = (x + 1) * 0x9E3779B97F4A7C15ull ^ salt * 0xD6E8FEB86659FD93ull;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ull;
  x ^= x >> 29;
  x *= 0x9E3779B97F4A7C15ull;
  return x ^ x >> 32;
}

}  // namespace simt
