// The generators of cuRAND and hipRAND for device code. Integer sequences of XORWOW, Philox4x32-10 and MRG32k3a are
// the vendors' for the same seed, subsequence and offset; distributions follow their documented transformations.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/random_states.h>
#include <simt/xorwow_jumps.h>

namespace __simt {
namespace random {
constexpr float kTo32 = 2.3283064e-10f;               // 2^-32
constexpr double kTo32Double = 2.3283064365386963e-10;
constexpr double kTo53 = 1.1102230246251565e-16;      // 2^-53

// ---- XORWOW: Marsaglia 2003; subsequences are 2^67 apart ---------------------------------------------------
SIMT_D unsigned int next(xorwow* state) {
  const unsigned int t = state->v[0] ^ (state->v[0] >> 2);
  for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
  state->v[4] = (state->v[4] ^ (state->v[4] << 4)) ^ (t ^ (t << 1));
  state->d += 362437u;
  return state->v[4] + state->d;
}
static __attribute__((device, nodebug)) void jump(xorwow* state, unsigned long long n, const unsigned int (*table)[5]) {
  const unsigned int d = state->d;
  for (int bit = 0; n != 0; n >>= 1, ++bit) {
    if (!(n & 1u)) continue;
    unsigned int sum[5] = {};
    for (int i = 0; i < 160; ++i) {
      if ((table[bit][i / 32] >> (i % 32)) & 1u)
        for (int j = 0; j < 5; ++j) sum[j] ^= state->v[j];
      next(state);
    }
    for (int j = 0; j < 5; ++j) state->v[j] = sum[j];
  }
  state->d = d;
}
SIMT_D void skip(xorwow* state, unsigned long long n) {
  jump(state, n, xorwow_step_jumps);
  state->d += 362437u * static_cast<unsigned int>(n);
}
SIMT_D void skip_sequence(xorwow* state, unsigned long long n) { jump(state, n, xorwow_sequence_jumps); }
SIMT_D void start(xorwow* state, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
#if defined(__HIP__)  // rocRAND's salt
  const unsigned int low = static_cast<unsigned int>(seed) ^ 0x2c7f967fu, high = static_cast<unsigned int>(seed >> 32) ^ 0xa03697cbu;
  const unsigned int a = 1228688033u * low, b = 2073658381u * high;
#else
  const unsigned int low = static_cast<unsigned int>(seed) ^ 0xaad26b49u, high = static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddu;
  const unsigned int a = 1099087573u * low, b = 2591861531u * high;
#endif
  *state = xorwow{6615241u + a + b, {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a}, {}};
  skip_sequence(state, subsequence);
  skip(state, offset);
}

// ---- Philox4x32-10: Salmon et al. 2011; the subsequence is the counter's upper half ---------------------------
SIMT_D uint4 philox_block(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
    c = uint4{static_cast<unsigned int>(b >> 32) ^ c.y ^ k.x, static_cast<unsigned int>(b),
              static_cast<unsigned int>(a >> 32) ^ c.w ^ k.y, static_cast<unsigned int>(a)};
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}
SIMT_D void advance(philox* state, unsigned long long blocks) {
  const unsigned long long low = (static_cast<unsigned long long>(state->counter.y) << 32 | state->counter.x) + blocks;
  if (low < blocks && ++state->counter.z == 0) ++state->counter.w;
  state->counter.x = static_cast<unsigned int>(low);
  state->counter.y = static_cast<unsigned int>(low >> 32);
}
SIMT_D void skip(philox* state, unsigned long long n) {
  const unsigned long long used = state->used + (n & 3u);
  advance(state, n / 4 + used / 4);
  state->used = static_cast<unsigned int>(used % 4);
  state->output = philox_block(state->counter, state->key);
}
SIMT_D void skip_sequence(philox* state, unsigned long long n) {
  const unsigned long long high = (static_cast<unsigned long long>(state->counter.w) << 32 | state->counter.z) + n;
  state->counter.z = static_cast<unsigned int>(high);
  state->counter.w = static_cast<unsigned int>(high >> 32);
  state->output = philox_block(state->counter, state->key);
}
SIMT_D void start(philox* state, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
  *state = philox{{0, 0, 0, 0}, {0, 0, 0, 0}, {static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32)}, 0, {}};
  skip_sequence(state, subsequence);
  skip(state, offset);
}
SIMT_D unsigned int next(philox* state) {
  const unsigned int used = state->used;
  const unsigned int out = used == 0 ? state->output.x : used == 1 ? state->output.y : used == 2 ? state->output.z : state->output.w;
  if (++state->used == 4) {
    state->used = 0;
    advance(state, 1);
    state->output = philox_block(state->counter, state->key);
  }
  return out;
}
SIMT_D uint4 next4(philox* state) {
  uint4 out;
  out.x = next(state);
  out.y = next(state);
  out.z = next(state);
  out.w = next(state);
  return out;
}

// ---- MRG32k3a: L'Ecuyer 1999; subsequences are 2^76 apart -------------------------------------------------------
constexpr unsigned long long kModulus1 = 4294967087ull, kModulus2 = 4294944443ull;
SIMT_D unsigned long long step(mrg32k3a* state) {  // 1 … modulus 1
  const unsigned long long a = (1403580ull * state->s1[1] + (kModulus1 - 810728ull) * state->s1[0]) % kModulus1;
  const unsigned long long b = (527612ull * state->s2[2] + (kModulus2 - 1370589ull) * state->s2[0]) % kModulus2;
  for (int i = 0; i < 2; ++i) {
    state->s1[i] = state->s1[i + 1];
    state->s2[i] = state->s2[i + 1];
  }
  state->s1[2] = static_cast<unsigned int>(a);
  state->s2[2] = static_cast<unsigned int>(b);
  return a > b ? a - b : a + kModulus1 - b;
}
SIMT_D unsigned int next(mrg32k3a* state) {
  return static_cast<unsigned int>(static_cast<double>(step(state)) * 1.000000048662);  // stretched to 32 bits
}
// state = matrix^(2^doublings * n) * state, modulo m.
static __attribute__((device, nodebug)) void jump(unsigned int (&state)[3], const unsigned long long (&matrix)[3][3],
                                                            unsigned long long m, int doublings, unsigned long long n) {
  unsigned long long power[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) power[i][j] = matrix[i][j];
  for (int bit = 0; n != 0; ++bit) {
    if (bit >= doublings) {
      if (n & 1u) {
        unsigned long long sum[3];
        for (int i = 0; i < 3; ++i)
          sum[i] = (power[i][0] * state[0] % m + power[i][1] * state[1] % m + power[i][2] * state[2] % m) % m;
        for (int i = 0; i < 3; ++i) state[i] = static_cast<unsigned int>(sum[i]);
      }
      n >>= 1;
    }
    unsigned long long square[3][3];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        square[i][j] = (power[i][0] * power[0][j] % m + power[i][1] * power[1][j] % m + power[i][2] * power[2][j] % m) % m;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) power[i][j] = square[i][j];
  }
}
SIMT_D void jump(mrg32k3a* state, int doublings, unsigned long long n) {
  const unsigned long long first[3][3] = {{0, 1, 0}, {0, 0, 1}, {kModulus1 - 810728ull, 1403580ull, 0}};
  const unsigned long long second[3][3] = {{0, 1, 0}, {0, 0, 1}, {kModulus2 - 1370589ull, 0, 527612ull}};
  jump(state->s1, first, kModulus1, doublings, n);
  jump(state->s2, second, kModulus2, doublings, n);
}
SIMT_D void skip(mrg32k3a* state, unsigned long long n) { jump(state, 0, n); }
SIMT_D void skip_sequence(mrg32k3a* state, unsigned long long n) { jump(state, 76, n); }
SIMT_D void start(mrg32k3a* state, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
  *state = mrg32k3a{{12345u, 12345u, 12345u}, {12345u, 12345u, 12345u}, {}};
  if (seed != 0) {
    const unsigned long long low = static_cast<unsigned int>(seed) ^ 0x55555555u, high = static_cast<unsigned int>(seed >> 32) ^ 0xAAAAAAAAu;
    for (int i = 0; i < 3; ++i) {
      state->s1[i] = static_cast<unsigned int>((i == 1 ? high : low) * state->s1[i] % kModulus1);
      state->s2[i] = static_cast<unsigned int>((i == 1 ? low : high) * state->s2[i] % kModulus2);
    }
  }
  skip_sequence(state, subsequence);
  skip(state, offset);
}

// ---- distributions ------------------------------------------------------------------------------------------------
SIMT_D float to_uniform(unsigned int x) { return x * kTo32 + kTo32 / 2.0f; }  // (0, 1]
template <class State>
SIMT_DT float uniform(State* state) { return to_uniform(next(state)); }
template <class State>
SIMT_DT double uniform_double(State* state) {
  const unsigned long long x = next(state), y = next(state);
  return static_cast<double>(x ^ (y << 21)) * kTo53 + kTo53 / 2.0;
}
SIMT_D double uniform_double(philox* state) { return next(state) * kTo32Double + kTo32Double / 2.0; }
SIMT_D float uniform(mrg32k3a* state) { return static_cast<float>(static_cast<double>(step(state)) * 2.328306549295727688e-10); }
SIMT_D double uniform_double(mrg32k3a* state) { return static_cast<double>(step(state)) * 2.328306549295727688e-10; }

template <class State>
SIMT_DT float2 normal2(State* state) {
  const float u = uniform(state), v = uniform(state) * 6.2831855f, radius = __builtin_sqrtf(-2.0f * ::logf(u));
  return float2{radius * ::sinf(v), radius * ::cosf(v)};
}
template <class State>
SIMT_DT double2 normal2_double(State* state) {
  const double u = uniform_double(state), v = uniform_double(state) * 6.2831853071795864769;
  const double radius = __builtin_sqrt(-2.0 * ::log(u));
  return double2{radius * ::sin(v), radius * ::cos(v)};
}
template <class State>
SIMT_DT float normal(State* state) {
  leftover& extra = state->extra;
  if (extra.has_float) {
    extra.has_float = 0;
    return extra.as_float;
  }
  const float2 both = normal2(state);
  extra.has_float = 1;
  extra.as_float = both.y;
  return both.x;
}
template <class State>
SIMT_DT double normal_double(State* state) {
  leftover& extra = state->extra;
  if (extra.has_double) {
    extra.has_double = 0;
    return extra.as_double;
  }
  const double2 both = normal2_double(state);
  extra.has_double = 1;
  extra.as_double = both.y;
  return both.x;
}
// Knuth's product for small means; Hörmann's transformed rejection (PTRS, 1993) from 10 on.
template <class State>
SIMT_DT unsigned int poisson(State* state, double mean) {
  if (mean < 10.0) {
    const double limit = ::exp(-mean);
    unsigned int count = 0;
    for (double product = uniform_double(state); product > limit; product *= uniform_double(state)) ++count;
    return count;
  }
  const double b = 0.931 + 2.53 * __builtin_sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2.0), log_mean = ::log(mean);
  for (;;) {
    const double u = uniform_double(state) - 0.5, v = uniform_double(state), us = 0.5 - __builtin_fabs(u);
    const double k = __builtin_floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<unsigned int>(k);
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    if (::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - ::lgamma(k + 1.0)) return static_cast<unsigned int>(k);
  }
}
}  // namespace random
}  // namespace __simt
