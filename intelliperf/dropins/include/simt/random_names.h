// A vendor's names for simt/random.h; the includer defines SIMT_RANDOM(name), for example curand_##name.
// No include guard: included once per vendor.
#define SIMT_FOR_STATE(State)                                                                                          \
  SIMT_D void SIMT_RANDOM(_init)(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, State* state) { \
    __simt::random::start(state, seed, subsequence, offset);                                                           \
  }                                                                                                                    \
  SIMT_D unsigned int SIMT_RANDOM()(State* state) { return __simt::random::next(state); }                              \
  SIMT_D float SIMT_RANDOM(_uniform)(State* state) { return __simt::random::uniform(state); }                          \
  SIMT_D double SIMT_RANDOM(_uniform_double)(State* state) { return __simt::random::uniform_double(state); }           \
  SIMT_D float SIMT_RANDOM(_normal)(State* state) { return __simt::random::normal(state); }                            \
  SIMT_D double SIMT_RANDOM(_normal_double)(State* state) { return __simt::random::normal_double(state); }             \
  SIMT_D float2 SIMT_RANDOM(_normal2)(State* state) { return __simt::random::normal2(state); }                         \
  SIMT_D double2 SIMT_RANDOM(_normal2_double)(State* state) { return __simt::random::normal2_double(state); }          \
  SIMT_D float SIMT_RANDOM(_log_normal)(State* state, float mean, float deviation) {                                   \
    return ::expf(mean + deviation * __simt::random::normal(state));                                                   \
  }                                                                                                                    \
  SIMT_D double SIMT_RANDOM(_log_normal_double)(State* state, double mean, double deviation) {                         \
    return ::exp(mean + deviation * __simt::random::normal_double(state));                                             \
  }                                                                                                                    \
  SIMT_D float2 SIMT_RANDOM(_log_normal2)(State* state, float mean, float deviation) {                                 \
    const float2 v = __simt::random::normal2(state);                                                                   \
    return float2{::expf(mean + deviation * v.x), ::expf(mean + deviation * v.y)};                                     \
  }                                                                                                                    \
  SIMT_D double2 SIMT_RANDOM(_log_normal2_double)(State* state, double mean, double deviation) {                       \
    const double2 v = __simt::random::normal2_double(state);                                                           \
    return double2{::exp(mean + deviation * v.x), ::exp(mean + deviation * v.y)};                                      \
  }                                                                                                                    \
  SIMT_D unsigned int SIMT_RANDOM(_poisson)(State* state, double mean) { return __simt::random::poisson(state, mean); }
SIMT_FOR_STATE(__simt::random::xorwow)
SIMT_FOR_STATE(__simt::random::philox)
SIMT_FOR_STATE(__simt::random::mrg32k3a)
#undef SIMT_FOR_STATE

#if !defined(SIMT_SKIPAHEAD)  // the vendors agree on these names
#define SIMT_SKIPAHEAD(State)                                                                                          \
  SIMT_D void skipahead(unsigned long long n, State* state) { __simt::random::skip(state, n); }                        \
  SIMT_D void skipahead_sequence(unsigned long long n, State* state) { __simt::random::skip_sequence(state, n); }      \
  SIMT_D void skipahead_subsequence(unsigned long long n, State* state) { __simt::random::skip_sequence(state, n); }
SIMT_SKIPAHEAD(__simt::random::xorwow)
SIMT_SKIPAHEAD(__simt::random::philox)
SIMT_SKIPAHEAD(__simt::random::mrg32k3a)
#endif

SIMT_D uint4 SIMT_RANDOM(4)(__simt::random::philox* state) { return __simt::random::next4(state); }
SIMT_D float4 SIMT_RANDOM(_uniform4)(__simt::random::philox* state) {
  const uint4 v = __simt::random::next4(state);
  return float4{__simt::random::to_uniform(v.x), __simt::random::to_uniform(v.y), __simt::random::to_uniform(v.z),
                __simt::random::to_uniform(v.w)};
}
SIMT_D float2 SIMT_RANDOM(_uniform2)(__simt::random::philox* state) {
  const float first = __simt::random::uniform(state);
  return float2{first, __simt::random::uniform(state)};
}
SIMT_D double2 SIMT_RANDOM(_uniform2_double)(__simt::random::philox* state) {
  double2 out;
  out.x = __simt::random::uniform_double(state);
  out.y = __simt::random::uniform_double(state);
  return out;
}
SIMT_D float4 SIMT_RANDOM(_normal4)(__simt::random::philox* state) {
  const float2 a = __simt::random::normal2(state), b = __simt::random::normal2(state);
  return float4{a.x, a.y, b.x, b.y};
}
SIMT_D float4 SIMT_RANDOM(_log_normal4)(__simt::random::philox* state, float mean, float deviation) {
  const float2 a = SIMT_RANDOM(_log_normal2)(state, mean, deviation), b = SIMT_RANDOM(_log_normal2)(state, mean, deviation);
  return float4{a.x, a.y, b.x, b.y};
}
SIMT_D double4 SIMT_RANDOM(_uniform4_double)(__simt::random::philox* state) {
  const double2 a = SIMT_RANDOM(_uniform2_double)(state), b = SIMT_RANDOM(_uniform2_double)(state);
  return double4{a.x, a.y, b.x, b.y};
}
SIMT_D double4 SIMT_RANDOM(_normal4_double)(__simt::random::philox* state) {
  const double2 a = __simt::random::normal2_double(state), b = __simt::random::normal2_double(state);
  return double4{a.x, a.y, b.x, b.y};
}
SIMT_D double4 SIMT_RANDOM(_log_normal4_double)(__simt::random::philox* state, double mean, double deviation) {
  const double2 a = SIMT_RANDOM(_log_normal2_double)(state, mean, deviation);
  const double2 b = SIMT_RANDOM(_log_normal2_double)(state, mean, deviation);
  return double4{a.x, a.y, b.x, b.y};
}
SIMT_D uint4 SIMT_RANDOM(_poisson4)(__simt::random::philox* state, double mean) {
  uint4 out;
  out.x = __simt::random::poisson(state, mean), out.y = __simt::random::poisson(state, mean);
  out.z = __simt::random::poisson(state, mean), out.w = __simt::random::poisson(state, mean);
  return out;
}
