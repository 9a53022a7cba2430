#include "time_limit.h"

#include <ctime>

#include "export.h"

namespace simt {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

bool TimeLimit::over() {
  if (end_s_ <= 0) return false;
  const double now_s = processor_seconds();
  if (now_s >= end_s_) return true;
  if (now_s < look_s_) return false;
  look_s_ = now_s + kLookS;
  if (!export_is_left()) return false;
  end_s_ = now_s;
  return true;
}

}  // namespace simt
