// What the files of CUDA's driver API share.
#pragma once
#include "host_api.h"

#include "cuda.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

template <class Core>
CUresult through_driver(Core core) {
  const Call call(Vendor::kCuda);
  return static_cast<CUresult>(call.sticky() ? call.sticky() : core());  // the runtime's last error is not touched
}

inline void* pointer_to(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}  // NOLINT(performance-no-int-to-ptr)

// One function of the driver API; what follows its parameters is its body, which returns an error code.
#define SIMT_DRIVER(name, parameters, ...)               \
  extern "C" SIMT_EXPORT CUresult name parameters {      \
    return through_driver([&]() -> int { __VA_ARGS__ }); \
  }

}  // namespace simt
