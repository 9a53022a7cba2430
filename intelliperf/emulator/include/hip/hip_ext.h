// AMD's launch extension: a kernel launch between two events.
#pragma once
#include <hip/hip_runtime.h>
#if defined(__HIP__)
template <class... Parameters, class... Arguments>
inline void hipExtLaunchKernelGGL(void (*kernel)(Parameters...), const dim3& blocks, const dim3& threads,
                                  uint32_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                                  uint32_t /*flags*/, Arguments... arguments) {
  if (start != nullptr) (void)hipEventRecord(start, stream);
  kernel<<<blocks, threads, shared_bytes, stream>>>(arguments...);
  if (stop != nullptr) (void)hipEventRecord(stop, stream);
}
#endif
