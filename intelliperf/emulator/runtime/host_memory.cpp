// Allocation: device, managed, pinned, pools, registered host memory, hints.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "host_api.h"
#include "host_calls.h"

namespace simt {

struct Pool {  // every pool takes from the arena; what it keeps is its attributes
  uint64_t release_threshold = 0;
  uint64_t used = 0, used_high = 0;
  int reuse[3] = {1, 1, 1};
};

namespace host {

namespace {

constexpr uint64_t kPitchBytes[2] = {256, 512};  // by Vendor
constexpr unsigned int kManagedFlags = 7;

Pool default_pool;
Pool* current_pool = &default_pool;
std::vector<Pool*> pools;
std::vector<uintptr_t> of_graphs;  // allocated by a graph's node

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Once: the GPU would have had the memory, and programs rarely say more than "out of memory".
void say_too_large(size_t bytes, MemoryKind kind) {
  static bool said = false;
  const uint64_t left = total_bytes() - std::min(total_bytes(), allocated_bytes());
  if (said || (counts_as_device(kind) && bytes > left)) return;
  said = true;
  constexpr double kGigabyte = 1e9;
  std::fprintf(stderr,
               "intelliperf: an allocation of %.3g GB fails here, not on the modelled device: this machine has %.3g GB "
               "to spare; "
               "try a smaller problem\n",
               double(bytes) / kGigabyte, double(available_memory()) / kGigabyte);
}

int make(void** pointer, size_t bytes, MemoryKind kind, unsigned int flags) {
  if (!pointer) return kInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  device_limits();  // the device's memory size is known from here on
  const Allocation* made = allocate(bytes, kind, flags);
  if (!made) {
    say_too_large(bytes, kind);
    return kOutOfMemory;
  }
  *pointer = reinterpret_cast<void*>(made->base);  // NOLINT(performance-no-int-to-ptr)
  return kSuccess;
}

int refuse_free(const void* pointer) {
  char detail[128];
  const Allocation* old = nearest(number(pointer));
  std::snprintf(detail, sizeof detail, "%s",
                !old        ? "not an allocation"
                : old->live ? "not the start of an allocation"
                            : "freed already");
  record_host_fault("invalid_free", detail);
  return kInvalidValue;
}

// HIP frees either kind with either function; CUDA keeps them apart.
int discard(void* pointer, bool pinned) {
  if (!pointer) return kSuccess;
  const Allocation* a = find(pointer);
  if (!a || a->base != number(pointer) || !in_arena(a->base)) return refuse_free(pointer);
  if (current_vendor() == Vendor::kCuda && (a->kind == MemoryKind::kPinned) != pinned) return refuse_free(pointer);
  wait_for_device();
  if (std::find(of_graphs.begin(), of_graphs.end(), a->base) != of_graphs.end()) return kSuccess;
  return release(a->base) ? kSuccess : refuse_free(pointer);
}

// Waits for the device.
int free_now(void* pointer, bool pinned) {
  const int error = discard(pointer, pinned);
  if (error == kSuccess && pointer) {
    HostCall call{"free"};
    call.waits = true;
    note_call(call);
  }
  return error;
}

bool valid(const Pool* pool) {
  return pool == &default_pool || std::find(pools.begin(), pools.end(), pool) != pools.end();
}

}  // namespace

Side side_of(const void* pointer) {
  const Allocation* a = find(pointer);
  if (!a || a->kind == MemoryKind::kPinned || a->kind == MemoryKind::kRegistered) return Side::kHost;
  return Side::kDevice;
}

void keep_for_graphs(const void* pointer) { of_graphs.push_back(number(pointer)); }

int Malloc(void** pointer, size_t bytes) { return make(pointer, bytes, MemoryKind::kDevice, 0); }
int Free(void* pointer) { return free_now(pointer, false); }
int FreeHost(void* pointer) { return free_now(pointer, true); }
int HostFree(void* pointer) { return free_now(pointer, true); }

int MallocManaged(void** pointer, size_t bytes, unsigned int flags) {
  if (flags == 0 || (flags & ~kManagedFlags) || bytes == 0) return kInvalidValue;
  return make(pointer, bytes, MemoryKind::kManaged, flags);
}
int MallocHost(void** pointer, size_t bytes) { return make(pointer, bytes, MemoryKind::kPinned, 0); }
int HostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return make(pointer, bytes, MemoryKind::kPinned, flags);
}
int HostMalloc(void** pointer, size_t bytes, unsigned int flags) {
  return make(pointer, bytes, MemoryKind::kPinned, flags);
}
int MemAllocHost(void** pointer, size_t bytes) { return make(pointer, bytes, MemoryKind::kPinned, 0); }
int ExtMallocWithFlags(void** pointer, size_t bytes, unsigned int flags) {
  return make(pointer, bytes, MemoryKind::kDevice, flags);
}

int HostGetDevicePointer(void** device, void* host, unsigned int flags) {
  const Allocation* a = find(host);
  if (!device || flags != 0 || !a || (a->kind != MemoryKind::kPinned && a->kind != MemoryKind::kRegistered))
    return kInvalidValue;
  *device = host;
  return kSuccess;
}

int HostGetFlags(unsigned int* flags, void* host) {
  const Allocation* a = find(host);
  if (!flags || !a || (a->kind != MemoryKind::kPinned && a->kind != MemoryKind::kRegistered)) return kInvalidValue;
  *flags = a->flags;
  return kSuccess;
}

int HostRegister(void* host, size_t bytes, unsigned int flags) {
  if (!host || bytes == 0) return kInvalidValue;
  if (find(host)) return kAlreadyRegistered;
  return register_memory(number(host), bytes, MemoryKind::kRegistered, flags, nullptr) ? kSuccess : kAlreadyRegistered;
}

int HostUnregister(void* host) {
  if (!host) return kInvalidValue;
  return unregister_memory(number(host)) ? kSuccess : kNotRegistered;
}

int MallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pointer || !pitch) return kInvalidValue;
  const uint64_t unit = kPitchBytes[static_cast<int>(current_vendor())];
  *pitch = (width + unit - 1) / unit * unit;
  return make(pointer, *pitch * height, MemoryKind::kDevice, 0);
}
int MemAllocPitch(void** pointer, size_t* pitch, size_t width, size_t height, unsigned int) {
  return MallocPitch(pointer, pitch, width, height);
}
int Malloc3D(PitchedPtr* pointer, Extent extent) {
  if (!pointer) return kInvalidValue;
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return MallocPitch(&pointer->pointer, &pointer->pitch, extent.width, extent.height * extent.depth);
}

int MallocFromPoolAsync(void** pointer, size_t bytes, Pool* pool, Stream* stream) {
  if (!valid(pool)) return kInvalidValue;
  const Stream* on = resolve_stream(stream);
  if (!on) return kInvalidHandle;
  const int error = make(pointer, bytes, MemoryKind::kDevice, 0);
  if (error == kSuccess && on->capture) keep_for_graphs(*pointer);
  if (error == kSuccess) {
    pool->used += bytes;
    pool->used_high = std::max(pool->used_high, pool->used);
  }
  return error;
}
int MallocAsync(void** pointer, size_t bytes, Stream* stream) {
  return MallocFromPoolAsync(pointer, bytes, current_pool, stream);
}
int FreeAsync(void* pointer, Stream* stream) {
  const Stream* on = resolve_stream(stream);
  if (!on) return kInvalidHandle;
  if (!pointer) return kInvalidValue;
  const Allocation* a = find(pointer);
  if (on->capture) return a ? kSuccess : kInvalidValue;  // each launch of the graph uses the memory again
  const uint64_t bytes = a ? a->bytes : 0;
  const int error = discard(pointer, false);
  if (error == kSuccess) current_pool->used -= std::min(current_pool->used, bytes);
  return error;
}

int DeviceGetDefaultMemPool(Pool** pool, int device) {
  if (!pool) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  *pool = &default_pool;
  return kSuccess;
}
int DeviceGetMemPool(Pool** pool, int device) {
  if (!pool) return kInvalidValue;
  if (device != 0) return kInvalidDevice;
  *pool = current_pool;
  return kSuccess;
}
int DeviceSetMemPool(int device, Pool* pool) {
  if (device != 0) return kInvalidDevice;
  if (!valid(pool)) return kInvalidValue;
  current_pool = pool;
  return kSuccess;
}
int MemPoolCreate(Pool** pool, const PoolProperties* properties) {
  if (!pool || !properties) return kInvalidValue;
  *pool = pools.emplace_back(new Pool);
  return kSuccess;
}
int MemPoolDestroy(Pool* pool) {
  const auto place = std::find(pools.begin(), pools.end(), pool);
  if (place == pools.end()) return kInvalidValue;
  if (current_pool == pool) current_pool = &default_pool;
  delete pool;
  pools.erase(place);
  return kSuccess;
}

namespace {
enum PoolAttribute : int {
  kReuseFirst = 1,
  kReuseLast = 3,
  kReleaseThreshold,
  kReserved,
  kReservedHigh,
  kUsed,
  kUsedHigh
};
}

int MemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  if (!valid(pool) || !value) return kInvalidValue;
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    pool->reuse[attribute - kReuseFirst] = *static_cast<int*>(value);
    return kSuccess;
  }
  const uint64_t given = *static_cast<uint64_t*>(value);
  switch (attribute) {
    case kReleaseThreshold:
      pool->release_threshold = given;
      return kSuccess;
    case kReservedHigh:
    case kUsedHigh:
      pool->used_high = pool->used;
      return given == 0 ? kSuccess : kInvalidValue;
    default:
      return kInvalidValue;
  }
}
int MemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  if (!valid(pool) || !value) return kInvalidValue;
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    *static_cast<int*>(value) = pool->reuse[attribute - kReuseFirst];
    return kSuccess;
  }
  auto* into = static_cast<uint64_t*>(value);
  switch (attribute) {
    case kReleaseThreshold:
      *into = pool->release_threshold;
      return kSuccess;
    case kReserved:
    case kUsed:
      *into = pool->used;
      return kSuccess;
    case kReservedHigh:
    case kUsedHigh:
      *into = pool->used_high;
      return kSuccess;
    default:
      return kInvalidValue;
  }
}
int MemPoolSetAccess(Pool* pool, const AccessDescription* list, size_t count) {
  return valid(pool) && (list || count == 0) ? kSuccess : kInvalidValue;
}
int MemPoolTrimTo(Pool* pool, size_t) { return valid(pool) ? kSuccess : kInvalidValue; }

int MemGetInfo(size_t* free_bytes, size_t* total) {
  if (!free_bytes || !total) return kInvalidValue;
  device_limits();
  *total = total_bytes();
  *free_bytes = total_bytes() - std::min(total_bytes(), allocated_bytes());
  return kSuccess;
}
int MemAdvise(const void* pointer, size_t bytes, int, int device) {
  if (device != 0 && device != -1) return kInvalidDevice;
  return bytes != 0 && inside(number(pointer), bytes) ? kSuccess : kInvalidValue;
}
int MemPrefetchAsync(const void* pointer, size_t bytes, int device, Stream* stream) {
  if (!resolve_stream(stream)) return kInvalidHandle;
  return MemAdvise(pointer, bytes, 0, device);
}
int MemPtrGetInfo(void* pointer, size_t* bytes) {
  const Allocation* a = find(pointer);
  if (!bytes || !a || a->base != number(pointer)) return kInvalidValue;
  *bytes = a->bytes;
  return kSuccess;
}
int MemGetAddressRange(void** base, size_t* bytes, void* pointer) {
  const Allocation* a = find(pointer);
  if (!a) return kInvalidValue;
  if (base) *base = reinterpret_cast<void*>(a->base);  // NOLINT(performance-no-int-to-ptr)
  if (bytes) *bytes = a->bytes;
  return kSuccess;
}

}  // namespace host
}  // namespace simt
