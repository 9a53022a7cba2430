// The exported C functions: each core function under its hip and its cuda name.
#include "host_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))
// The lists in terms of the core's types, as in host_api.h.
#define SIMT_T(name) T_##name
#define SIMT_OR(value)
#define SIMT_COOPERATIVE_SIZE size_t

namespace simt::host {

namespace {

template <class Core>
int through(Vendor vendor, bool device, Core core) {
  const Call call(vendor);
  const int sticky = device ? call.sticky() : kSuccess;
  return call.done(sticky != kSuccess ? sticky : core());
}

}  // namespace

extern "C" {

#define SIMT_CALL(name, parameters, arguments)                                      \
  SIMT_EXPORT int hip##name parameters {                                            \
    return through(Vendor::kHip, true, [&] { return simt::host::name arguments; }); \
  }
#define SIMT_QUERY(name, parameters, arguments)                                      \
  SIMT_EXPORT int hip##name parameters {                                             \
    return through(Vendor::kHip, false, [&] { return simt::host::name arguments; }); \
  }
#include "simt/host_functions.h"
#include "simt/host_functions_hip.h"
#undef SIMT_CALL
#undef SIMT_QUERY

#define SIMT_CALL(name, parameters, arguments)                                       \
  SIMT_EXPORT int cuda##name parameters {                                            \
    return through(Vendor::kCuda, true, [&] { return simt::host::name arguments; }); \
  }
#define SIMT_QUERY(name, parameters, arguments)                                       \
  SIMT_EXPORT int cuda##name parameters {                                             \
    return through(Vendor::kCuda, false, [&] { return simt::host::name arguments; }); \
  }
#include "simt/host_functions.h"
#include "simt/host_functions_cuda.h"
#undef SIMT_CALL
#undef SIMT_QUERY

// Whatever they are given, nothing is read of it.
#define SIMT_UNSUPPORTED(name, parameters)                                          \
  SIMT_EXPORT int hip##name() {                                                     \
    return through(Vendor::kHip, false, [] { return not_supported("hip" #name); }); \
  }
#include "simt/host_unsupported.h"
#include "simt/host_unsupported_hip.h"
#undef SIMT_UNSUPPORTED
#define SIMT_UNSUPPORTED(name, parameters)                                            \
  SIMT_EXPORT int cuda##name() {                                                      \
    return through(Vendor::kCuda, false, [] { return not_supported("cuda" #name); }); \
  }
#include "simt/host_unsupported.h"
#include "simt/host_unsupported_cuda.h"
#undef SIMT_UNSUPPORTED

// What clang calls for <<<>>> with -fgpu-default-stream=per-thread; all work is ordered anyway.
SIMT_EXPORT int hipLaunchKernel_spt(const void* function, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes,
                                    Stream* stream) {
  return hipLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}
SIMT_EXPORT int cudaLaunchKernel_ptsz(const void* function, Dim3 grid, Dim3 block, void** arguments,
                                      size_t shared_bytes, Stream* stream) {
  return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

SIMT_EXPORT int hipGetLastError() { return take_last_error(); }
SIMT_EXPORT int hipExtGetLastError() { return take_last_error(); }
SIMT_EXPORT int hipPeekAtLastError() { return peek_last_error(); }
SIMT_EXPORT int cudaGetLastError() { return take_last_error(); }
SIMT_EXPORT int cudaPeekAtLastError() { return peek_last_error(); }
SIMT_EXPORT const char* hipGetErrorName(int error) { return error_name(Vendor::kHip, error); }
SIMT_EXPORT const char* hipGetErrorString(int error) { return error_text(Vendor::kHip, error); }
SIMT_EXPORT const char* cudaGetErrorName(int error) { return error_name(Vendor::kCuda, error); }
SIMT_EXPORT const char* cudaGetErrorString(int error) { return error_text(Vendor::kCuda, error); }
SIMT_EXPORT int hipDrvGetErrorName(int error, const char** text) {
  *text = error_name(Vendor::kHip, error);
  return kSuccess;
}
SIMT_EXPORT int hipDrvGetErrorString(int error, const char** text) {
  *text = error_text(Vendor::kHip, error);
  return kSuccess;
}

}  // extern "C"

}  // namespace simt::host
