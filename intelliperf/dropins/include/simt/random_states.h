// What the generators of simt/random.h keep from number to number: all that a plain C++ file sees of them.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <simt/vector_types.h>

namespace __simt {
namespace random {
// What Box and Muller's method has left over.
struct leftover {
  int has_float, has_double;
  float as_float;
  double as_double;
};

struct xorwow {
  unsigned int d, v[5];
  leftover extra;
};
struct philox {
  uint4 counter, output;
  uint2 key;
  unsigned int used;
  leftover extra;
};
struct mrg32k3a {
  unsigned int s1[3], s2[3];
  leftover extra;
};
}  // namespace random
}  // namespace __simt
