#include "share.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace intelliperf {

namespace {

constexpr size_t kPageBytes = 4096;

Shared refused(const std::string& why) {
  Shared shared;
  shared.why = why;
  return shared;
}

std::string hexadecimal(unsigned status) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", status);
  return text;
}

// Where IPC goes by dmabuf, a handle is a ticket for the exporting runtime's socket: the address, of the allocation or
// of the block that it is a fragment of, and the process. The kernel driver's own handles are random numbers.
const char* style_of(const hsa_amd_ipc_memory_t& handle, uint64_t base) {
  constexpr uint64_t kBlockBytes = 2 << 20;
  const uint64_t address = handle.handle[0] | static_cast<uint64_t>(handle.handle[1]) << 32;
  const bool here = address <= base && base - address < kBlockBytes;
  return here && handle.handle[2] == static_cast<uint32_t>(getpid()) ? "dmabuf" : "legacy";
}

}  // namespace

Shared share_memory(const Functions& runtime, const Buffer& buffer) {
  // HIP takes managed memory from the host's pools where the driver cannot move pages.
  if (buffer.kind == MemoryKind::kRuntime || buffer.kind == MemoryKind::kPinned)
    return refused("host memory, pinned or managed");
  if (buffer.kind == MemoryKind::kManaged) return refused("memory that moves between host and device");
  if (buffer.bytes == 0) return refused("no bytes");
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  auto* address = reinterpret_cast<void*>(buffer.base);  // NOLINT(performance-no-int-to-ptr)
  const hsa_status_t known = runtime.amd.hsa_amd_pointer_info_fn(address, &info, nullptr, nullptr, nullptr);
  if (known != HSA_STATUS_SUCCESS) return refused("hsa_amd_pointer_info fails with " + hexadecimal(known));
  if (info.type != HSA_EXT_POINTER_TYPE_HSA) return refused("memory that the runtime did not allocate");
  // A handle is of a whole allocation, in whole pages, as HIP asks for it: ROCr 6 tells the exact size of an allocation,
  // but takes a part of its last page for a fragment of a block of 2 MiB, and aborts where its assertions are on.
  const auto base = reinterpret_cast<uint64_t>(info.agentBaseAddress);
  if (buffer.base < base || buffer.base - base + buffer.bytes > info.sizeInBytes)
    return refused("larger than the allocation that it lies in");
  const size_t bytes = (info.sizeInBytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  hsa_amd_ipc_memory_t handle{};
  const hsa_status_t made = runtime.amd.hsa_amd_ipc_memory_create_fn(info.agentBaseAddress, bytes, &handle);
  if (made != HSA_STATUS_SUCCESS) return refused("hsa_amd_ipc_memory_create fails with " + hexadecimal(made));
  Shared shared;
  shared.handle.assign(reinterpret_cast<const char*>(handle.handle), sizeof handle.handle);
  shared.bytes = bytes;
  shared.at = buffer.base - base;
  shared.style = style_of(handle, base);
  return shared;
}

}  // namespace intelliperf
