// Compares what a kernel wrote with a reference computed on the host; the last line printed is the verdict.
#pragma once
#include <cmath>
#include <cstdio>

static int failures = 0;
inline void expect(bool good, const char* what) {
  if (!good) {
    std::printf("FAIL %s\n", what);
    ++failures;
  }
}
inline void expect_close(double got, double wanted, double relative, const char* what) {
  const bool good = got == wanted || std::fabs(got - wanted) <= relative * std::fabs(wanted) ||
                    (std::isnan(got) && std::isnan(wanted));
  if (!good) {
    std::printf("FAIL %s: got %.17g, wanted %.17g\n", what, got, wanted);
    ++failures;
  }
}
inline int verdict() {
  std::printf(failures == 0 ? "all good\n" : "%d failures\n", failures);
  return failures != 0;
}
