// What ROCr 6 and 7 ask of the library beyond ROCr 5.2.
#include <cstddef>
#include <cstring>

#include "thunk.h"

namespace gfx90a {
namespace {

bool rocr_7 = false;

}  // namespace

// ROCr 7 has put in three words: neural cores, more capabilities, an engine to pass for. What it has put at the end is
// zero as ROCr made it.
void store_node(const HsaNodeProperties& node, void* where) {
  const auto* from = reinterpret_cast<const uint8_t*>(&node);
  auto* to = static_cast<uint8_t*>(where);
  size_t done = 0;
  const auto insert_word_at = [&](size_t offset) {
    std::memcpy(to, from + done, offset - done);
    to += offset - done;
    done = offset;
    std::memset(to, 0, sizeof(HSAuint32));
    to += sizeof(HSAuint32);
  };
  if (rocr_7) {
    insert_word_at(offsetof(HsaNodeProperties, NumMemoryBanks));
    insert_word_at(offsetof(HsaNodeProperties, MaxWavesPerSIMD));
    insert_word_at(offsetof(HsaNodeProperties, VendorId));
  }
  std::memcpy(to, from + done, sizeof node - done);
}

}  // namespace gfx90a

using namespace gfx90a;

GFX90A_API hsaKmtAllocMemoryAlign(HSAuint32 node, HSAuint64 bytes, HSAuint64, HsaMemFlags flags, void** address) {
  return hsaKmtAllocMemory(node, bytes, flags, address);
}

GFX90A_API hsaKmtAvailableMemory(HSAuint32, HSAuint64* bytes) {
  *bytes = 4ull << 30;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtRegisterMemory(void* address, HSAuint64 bytes) {
  return hsaKmtRegisterMemoryWithFlags(address, bytes, HsaMemFlags{});
}
GFX90A_API hsaKmtRegisterMemoryToNodes(void* address, HSAuint64 bytes, HSAuint64, HSAuint32*) {
  return hsaKmtRegisterMemory(address, bytes);
}

GFX90A_API hsaKmtCreateQueueExt(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 share, HSA_QUEUE_PRIORITY priority,
                                HSAuint32, void* ring, HSAuint64 bytes, HsaEvent* event, HsaQueueResource* resource) {
  return hsaKmtCreateQueue(node, type, share, priority, ring, bytes, event, resource);
}
// The queues' threads look for packets by themselves.
GFX90A_API hsaKmtQueueRingDoorbell(HSA_QUEUEID, HSAuint64) { return HSAKMT_STATUS_SUCCESS; }

GFX90A_API hsaKmtWaitOnEvent_Ext(HsaEvent* event, HSAuint32 milliseconds, HSAuint64*) {
  return hsaKmtWaitOnEvent(event, milliseconds);
}
GFX90A_API hsaKmtWaitOnMultipleEvents_Ext(HsaEvent* events[], HSAuint32 count, bool all, HSAuint32 milliseconds,
                                          HSAuint64*) {
  return hsaKmtWaitOnMultipleEvents(events, count, all, milliseconds);
}

GFX90A_API hsaKmtGetRuntimeCapabilities(HSAuint32* capabilities) {
  *capabilities = 0;
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtModelEnabled(bool* enabled) {
  *enabled = false;
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtGetAMDGPUDeviceHandle(HSAuint32, void** handle) {
  static int device;
  *handle = &device;
  return HSAKMT_STATUS_SUCCESS;
}

// libdrm's part, where ROCr takes it from the same library.
extern "C" {
__attribute__((visibility("default"))) int amdgpu_query_gpu_info(void*, void* info) {
  constexpr size_t kStart = 64;  // of a structure that differs by version; the rest is as ROCr made it
  std::memset(info, 0, kStart);
  return 0;
}
__attribute__((visibility("default"))) void* DtifCreate(const char*) {
  rocr_7 = true;
  return &rocr_7;
}
__attribute__((visibility("default"))) void DtifDestroy() {}
}
