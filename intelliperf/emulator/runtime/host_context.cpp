// HIP's contexts: there is one device and one context, which is always current.
#include "host_api.h"

namespace simt::host {

namespace {

// Its handle only has to be no null pointer.
hipCtx_t the_context() {
  static char context;
  return &context;
}

int give(hipCtx_t* context) {
  if (!context) return kInvalidValue;
  *context = the_context();
  return kSuccess;
}

}  // namespace

int CtxCreate(hipCtx_t* context, unsigned int, hipDevice_t device) {
  return device == 0 ? give(context) : kInvalidDevice;
}
int CtxDestroy(hipCtx_t context) { return context ? kSuccess : kInvalidValue; }
int CtxSetCurrent(hipCtx_t) { return kSuccess; }
int CtxGetCurrent(hipCtx_t* context) { return give(context); }
int CtxPushCurrent(hipCtx_t) { return kSuccess; }
int CtxPopCurrent(hipCtx_t* context) { return context ? give(context) : kSuccess; }
int CtxGetDevice(hipDevice_t* device) { return GetDevice(device); }
int CtxGetApiVersion(hipCtx_t, unsigned int* version) {
  if (!version) return kInvalidValue;
  *version = 4;
  return kSuccess;
}
int CtxGetFlags(unsigned int* flags) { return GetDeviceFlags(flags); }
int DevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) { return CtxCreate(context, 0, device); }
int DevicePrimaryCtxRelease(hipDevice_t device) { return device == 0 ? kSuccess : kInvalidDevice; }
int DevicePrimaryCtxReset(hipDevice_t device) { return device == 0 ? DeviceReset() : kInvalidDevice; }
int DevicePrimaryCtxSetFlags(hipDevice_t device, unsigned int flags) {
  return device == 0 ? SetDeviceFlags(flags) : kInvalidDevice;
}
int DevicePrimaryCtxGetState(hipDevice_t device, unsigned int* flags, int* active) {
  if (!flags || !active) return kInvalidValue;
  *active = 1;
  return device == 0 ? GetDeviceFlags(flags) : kInvalidDevice;
}

}  // namespace simt::host
