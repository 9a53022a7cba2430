// The table of lane-wise vector instructions: one line per instruction in vector_*.cpp.
#pragma once
#include "operands.h"

namespace machine {

// `out` overlaps no source.
using LaneFunction = void (*)(const void* a, const void* b, const void* c, void* out);

enum VectorTrait : uint8_t {
  kPlain = 0,
  kAccumulates = 1,  // the third source is the destination
  kFlushes = 2,      // denormals are flushed whatever MODE says
  kKeepsHighHalf = 4,
  kLiteralSecond = 8,  // sources: first, literal, second
  kLiteralThird = 16,
};

struct VectorOperation {
  const char* name;
  LaneFunction run;
  Kind destination;
  Kind source[3];
  uint8_t sources;
  uint8_t traits;
};

struct Registered {
  explicit Registered(const VectorOperation& operation);
};

const VectorOperation* find_vector_operation(const std::string& name);

#define MACHINE_UNARY(NAME, D, A, TRAITS, ...)                                   \
  static void NAME##_lanes(const void* x, const void*, const void*, void* out) { \
    D* const __restrict made = static_cast<D*>(out);                             \
    for (uint32_t lane = 0; lane < kWave; ++lane) {                              \
      const A a = static_cast<const A*>(x)[lane];                                \
      made[lane] = D(__VA_ARGS__);                                               \
    }                                                                            \
  }                                                                              \
  static const Registered NAME##_registered(                                     \
      {#NAME, NAME##_lanes, KindOf<D>::value, {KindOf<A>::value, Kind::kB32, Kind::kB32}, 1, TRAITS});

#define MACHINE_BINARY(NAME, D, A, B, TRAITS, ...)                                 \
  static void NAME##_lanes(const void* x, const void* y, const void*, void* out) { \
    D* const __restrict made = static_cast<D*>(out);                               \
    for (uint32_t lane = 0; lane < kWave; ++lane) {                                \
      const A a = static_cast<const A*>(x)[lane];                                  \
      const B b = static_cast<const B*>(y)[lane];                                  \
      made[lane] = D(__VA_ARGS__);                                                 \
    }                                                                              \
  }                                                                                \
  static const Registered NAME##_registered(                                       \
      {#NAME, NAME##_lanes, KindOf<D>::value, {KindOf<A>::value, KindOf<B>::value, Kind::kB32}, 2, TRAITS});

#define MACHINE_TERNARY(NAME, D, A, B, C, TRAITS, ...)                               \
  static void NAME##_lanes(const void* x, const void* y, const void* z, void* out) { \
    D* const __restrict made = static_cast<D*>(out);                                 \
    for (uint32_t lane = 0; lane < kWave; ++lane) {                                  \
      const A a = static_cast<const A*>(x)[lane];                                    \
      const B b = static_cast<const B*>(y)[lane];                                    \
      const C c = static_cast<const C*>(z)[lane];                                    \
      made[lane] = D(__VA_ARGS__);                                                   \
    }                                                                                \
  }                                                                                  \
  static const Registered NAME##_registered(                                         \
      {#NAME, NAME##_lanes, KindOf<D>::value, {KindOf<A>::value, KindOf<B>::value, KindOf<C>::value}, 3, TRAITS});

}  // namespace machine
