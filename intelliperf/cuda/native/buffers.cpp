#include "buffers.h"

#include <cuda.h>

#include <cstring>
#include <string>

namespace intelliperf {

bool read_buffer(void* to, const Buffer& from) {
  if (from.kind != MemoryKind::kPinned) return cuMemcpyDtoH(to, from.base, from.bytes) == CUDA_SUCCESS;
  std::memcpy(to, reinterpret_cast<const void*>(from.base), from.bytes);  // NOLINT(performance-no-int-to-ptr)
  return true;
}

bool write_buffer(const Buffer& to, const void* from) {
  if (to.kind != MemoryKind::kPinned) return cuMemcpyHtoD(to.base, from, to.bytes) == CUDA_SUCCESS;
  std::memcpy(reinterpret_cast<void*>(to.base), from, to.bytes);  // NOLINT(performance-no-int-to-ptr)
  return true;
}

Shared share_buffer(const Buffer& buffer) {
  Shared shared;
  if (buffer.kind != MemoryKind::kDevice || buffer.bytes == 0) {
    shared.why = "no memory of cudaMalloc";  // CUDA has IPC handles for that alone
    return shared;
  }
  CUipcMemHandle handle;
  const CUresult made = cuIpcGetMemHandle(&handle, buffer.base);
  if (made != CUDA_SUCCESS) {
    shared.why = "cuIpcGetMemHandle fails with " + std::to_string(made);
    return shared;
  }
  shared.handle.assign(handle.reserved, sizeof handle.reserved);
  shared.bytes = buffer.bytes;
  shared.style = "CUDA";
  return shared;
}

}  // namespace intelliperf
