// Entry of the injection library: the CUDA driver loads it through CUDA_INJECTION64_PATH and calls it once.
#include <cstdlib>
#include <cstring>

#include "flush.h"
#include "intercept.h"
#include "trace.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* mode = std::getenv("INTELLIPERF_CUDA_MODE");
  if (mode && std::strcmp(mode, "trace") == 0) {
    intelliperf::start_trace();
    intelliperf::start_flush();
  }
  if (mode && std::strcmp(mode, "export") == 0) intelliperf::start_intercept();
  return 1;
}
