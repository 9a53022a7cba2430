// Preloaded into programs: their waits sleep. A device that computes on the processor needs the core on which HIP would
// spin until a kernel ends. Only waits without a timeout are changed, and nothing but when they look.
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr unsigned kPart = 32, kShortestNapMicroseconds = 20, kLongestNapMicroseconds = 10000;  // of the wait so far

using Wait = hsa_signal_value_t (*)(hsa_signal_t, hsa_signal_condition_t, hsa_signal_value_t, uint64_t,
                                    hsa_wait_state_t);

bool holds(hsa_signal_condition_t condition, hsa_signal_value_t value, hsa_signal_value_t reference) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == reference;
    case HSA_SIGNAL_CONDITION_NE:
      return value != reference;
    case HSA_SIGNAL_CONDITION_LT:
      return value < reference;
    default:
      return value >= reference;
  }
}

hsa_signal_value_t wait(Wait real, hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t reference,
                        uint64_t timeout, hsa_wait_state_t state) {
  if (timeout != UINT64_MAX || state != HSA_WAIT_STATE_ACTIVE)
    return real(signal, condition, reference, timeout, state);
  for (unsigned waited = 0;;) {
    const hsa_signal_value_t value = real(signal, condition, reference, 0, HSA_WAIT_STATE_ACTIVE);
    if (holds(condition, value, reference)) return value;
    const unsigned nap = std::clamp(waited / kPart, kShortestNapMicroseconds, kLongestNapMicroseconds);
    usleep(nap);
    waited = std::min(waited + nap, kPart * kLongestNapMicroseconds);
  }
}

// ROCr is not always among what RTLD_NEXT finds: Python loads HIP for itself alone.
Wait in_rocr(const char* name) {
  void* const rocr = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Wait>(rocr ? dlsym(rocr, name) : nullptr);
}

}  // namespace

#define PATIENT(NAME)                                                                                        \
  extern "C" __attribute__((visibility("default"))) hsa_signal_value_t NAME(                                 \
      hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t reference, uint64_t timeout, \
      hsa_wait_state_t state) {                                                                              \
    static const Wait real = in_rocr(#NAME);                                                                 \
    return wait(real, signal, condition, reference, timeout, state);                                         \
  }

PATIENT(hsa_signal_wait_scacquire)
PATIENT(hsa_signal_wait_relaxed)
