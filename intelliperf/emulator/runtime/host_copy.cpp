// Copies and fills. All are done at once; asynchronous ones only leave the host's modelled clock alone.
#include <algorithm>
#include <cstring>
#include <string>

#include "export.h"
#include "host_api.h"
#include "host_calls.h"
#include "l2_contents.h"
#include "other_numbers.h"
#include "settings.h"
#include "shadow.h"

namespace simt::host {

namespace {

enum CopyKind : int {
  kHostToHost,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kDefault,
  kDeviceToDeviceNoCU = 1024
};

struct Rows {  // `count` runs of `bytes`, `pitch` apart; a plain range is one run
  uintptr_t first;
  size_t bytes, count, pitch;
  size_t extent() const { return count ? (count - 1) * pitch + bytes : 0; }
};

uintptr_t number(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
void* pointer_to(uintptr_t address) { return reinterpret_cast<void*>(address); }  // NOLINT(performance-no-int-to-ptr)

// Memory that the runtime knows must contain the whole range; the application's own is not checked.
bool reachable(const Rows& rows, bool must_be_known) {
  if (rows.first == 0) return false;
  const Allocation* a = find(rows.first);
  if (!a) return !must_be_known && !in_arena(rows.first);
  return rows.extent() <= a->bytes - (rows.first - a->base);
}

// CUDA takes the direction at its word; HIP looks at the pointers.
int check(const Rows& to, const Rows& from, int kind) {
  if ((kind < kHostToHost || kind > kDefault) && kind != kDeviceToDeviceNoCU) return kInvalidMemcpyDirection;
  const bool strict = current_vendor() == Vendor::kCuda;
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  if (!reachable(to, strict && to_device) || !reachable(from, strict && from_device)) return kInvalidValue;
  if (!strict) return kSuccess;
  const auto device_only = [](const Rows& rows) {
    const Allocation* a = find(rows.first);
    return a && a->kind == MemoryKind::kDevice;
  };
  const bool to_host = kind == kDeviceToHost || kind == kHostToHost;
  const bool from_host = kind == kHostToDevice || kind == kHostToHost;
  return (to_host && device_only(to)) || (from_host && device_only(from)) ? kInvalidValue : kSuccess;
}

const char* operation(bool to_device, bool from_device) {
  if (to_device) return from_device ? "memcpy_dtod" : "memcpy_htod";
  return from_device ? "memcpy_dtoh" : nullptr;
}

void move_rows(const Rows& to, const Rows& from) {
  for (size_t row = 0; row < to.count; ++row)
    std::memmove(pointer_to(to.first + row * to.pitch), pointer_to(from.first + row * from.pitch), to.bytes);
}

void touch(const Rows& rows, bool by_host) {
  const uint64_t bytes = rows.bytes * rows.count;
  const uint64_t kept = by_host ? std::min(bytes, L2Contents::kOfHostCopy) : bytes;
  L2Contents::instance().replace({rows.first, rows.first + rows.extent(), kept});
}

// `read`: where a copy to the host begins in device memory.
void account(HostCall call, size_t bytes, Stream& stream, uintptr_t read = 0) {
  const Transferred made = record_transfer(call.operation, bytes, stream.id);
  advance(stream, made.time_ns, call.waits);
  export_transfer(call.operation, bytes, read);
  call.index = made.index;
  call.stream = stream.id;
  note_call(call);
}

bool same_bytes(const Rows& to, const Rows& from) {
  for (size_t row = 0; row < to.count; ++row)
    if (std::memcmp(pointer_to(to.first + row * to.pitch), pointer_to(from.first + row * from.pitch), to.bytes) != 0)
      return false;
  return true;
}

uint64_t hash_of(const Rows& rows) {
  uint64_t hash = rows.bytes * rows.count;
  for (size_t row = 0; row < rows.count; ++row) {
    const auto* at = static_cast<const char*>(pointer_to(rows.first + row * rows.pitch));
    for (size_t done = 0; done < rows.bytes; done += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, at + done, std::min(sizeof word, rows.bytes - done));
      hash = (hash ^ word) * 0x9E3779B97F4A7C15ull;  // Fibonacci hashing, with the high half folded in
      hash ^= hash >> 32;
    }
  }
  return hash;
}

// As it is before the bytes are moved.
HostCall copy_call(const char* name, const Rows& to, const Rows& from) {
  HostCall call{name};
  if (!name || !calls_are_noted()) return call;
  call.to = to.first;
  call.from = from.first;
  const bool to_device = side_of(pointer_to(to.first)) == Side::kDevice;
  const bool from_device = side_of(pointer_to(from.first)) == Side::kDevice;
  if (to_device == from_device) return call;
  call.pageable = find(to_device ? from.first : to.first) == nullptr;
  call.held = same_bytes(to, from);
  call.content = hash_of(from);
  return call;
}

void shade_rows(const Rows& to, const Rows& from, bool to_device, bool from_device) {
  for (size_t row = 0; to_device && row < to.count; ++row) {
    void* place = pointer_to(to.first + row * to.pitch);
    if (from_device)
      shadow_moved(place, pointer_to(from.first + row * from.pitch), to.bytes);
    else
      shadow_uploaded(place, to.bytes);
  }
}

void move_and_account(const Rows& to, const Rows& from, Stream& stream, bool blocking) {
  const bool to_device = side_of(pointer_to(to.first)) == Side::kDevice;
  const bool from_device = side_of(pointer_to(from.first)) == Side::kDevice;
  const char* name = operation(to_device, from_device);
  // A device-to-device copy does not make the host wait.
  HostCall call = copy_call(name, to, from);
  call.waits = blocking && !(to_device && from_device);
  move_rows(to, from);
  if (to_device && !from_device && alters_copies(settings().other_numbers))
    for (size_t row = 0; row < to.count; ++row)
      OtherNumbers::alter_copy(pointer_to(to.first + row * to.pitch), to.bytes);
  shade_rows(to, from, to_device, from_device);
  if (from_device) touch(from, !to_device);
  if (to_device) touch(to, !from_device);
  if (name) account(call, to.bytes * to.count, stream, to_device ? 0 : from.first);
}

// Runs `work` now, or keeps it for the graph that the stream is being captured into.
template <class Work>
int issue(Stream& stream, bool blocking, Work work) {
  if (blocking && any_capture()) return kCaptureUnsupported;
  if (!stream.capture) {
    work(stream);
    return kSuccess;
  }
  stream.capture->operations.emplace_back([work](Stream* on) {
    work(*on);
    return static_cast<int>(kSuccess);
  });
  return kSuccess;
}

int copy_rows(const Rows& to, const Rows& from, int kind, Stream* handle, bool blocking) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (to.bytes == 0 || to.count == 0) return kSuccess;
  const int error = check(to, from, kind);
  if (error != kSuccess) return error;
  return issue(*stream, blocking, [to, from, blocking](Stream& on) { move_and_account(to, from, on, blocking); });
}

int copy_plain(void* to, const void* from, size_t bytes, int kind, Stream* stream, bool blocking) {
  return copy_rows({number(to), bytes, 1, bytes}, {number(from), bytes, 1, bytes}, kind, stream, blocking);
}

int copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind,
            Stream* stream, bool blocking) {
  if (width > to_pitch || width > from_pitch) return kInvalidPitch;
  return copy_rows({number(to), width, height, to_pitch}, {number(from), width, height, from_pitch}, kind, stream,
                   blocking);
}

int copy_3d(const Copy3D* asked, Stream* stream, bool blocking) {
  if (!asked) return kInvalidValue;
  bool valid = true;
  const Copy3D plain = without_arrays(*asked, valid);
  const Copy3D* copy = &plain;
  if (!valid) return kInvalidValue;
  const auto slice = [](const PitchedPtr& memory, const Position& position, size_t z) {
    return number(memory.pointer) + ((position.z + z) * memory.ysize + position.y) * memory.pitch + position.x;
  };
  const Extent& extent = copy->extent;
  if (extent.width > copy->to.pitch || extent.width > copy->from.pitch) return kInvalidPitch;
  for (size_t z = 0; z < extent.depth; ++z) {
    const Rows to{slice(copy->to, copy->to_position, z), extent.width, extent.height, copy->to.pitch};
    const Rows from{slice(copy->from, copy->from_position, z), extent.width, extent.height, copy->from.pitch};
    const int error = copy_rows(to, from, copy->kind, stream, blocking);
    if (error != kSuccess) return error;
  }
  return kSuccess;
}

int copy_symbol(const void* symbol, size_t bytes, size_t offset, void* to, const void* from, int kind, Stream* stream,
                bool blocking) {
  const Variable* variable = find_variable(symbol);
  if (!variable) return kInvalidSymbol;
  if (offset > variable->bytes || bytes > variable->bytes - offset) return kInvalidValue;
  char* place = static_cast<char*>(variable->address) + offset;
  const bool into = to == nullptr;
  const bool fits = kind == kDefault || kind == kDeviceToDevice || kind == (into ? kHostToDevice : kDeviceToHost);
  if (!fits) return kInvalidMemcpyDirection;
  return copy_plain(into ? place : to, into ? from : place, bytes, kind, stream, blocking);
}

template <class Element>
void fill(void* pointer, Element value, size_t count) {
  auto* at = static_cast<Element*>(pointer);
  for (size_t i = 0; i < count; ++i) at[i] = value;
}

template <class Element>
int set_rows(const Rows& rows, Element value, Stream* handle, bool blocking) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (rows.bytes == 0 || rows.count == 0) return kSuccess;
  if (!reachable(rows, true)) return kInvalidValue;
  return issue(*stream, blocking, [rows, value](Stream& on) {
    for (size_t row = 0; row < rows.count; ++row)
      fill(pointer_to(rows.first + row * rows.pitch), value, rows.bytes / sizeof(Element));
    for (size_t row = 0; row < rows.count; ++row) shadow_filled(pointer_to(rows.first + row * rows.pitch), rows.bytes);
    touch(rows, false);
    HostCall call{"memset"};  // never makes the host wait
    call.to = rows.first;
    account(call, rows.bytes * rows.count, on);
  });
}

template <class Element>
int set_plain(void* pointer, Element value, size_t count, Stream* stream, bool blocking) {
  const size_t bytes = count * sizeof(Element);
  return set_rows({number(pointer), bytes, 1, bytes}, value, stream, blocking);
}

uint8_t byte_of(int value) { return static_cast<uint8_t>(value); }

int set_3d(const PitchedPtr& memory, int value, const Extent& extent, Stream* stream, bool blocking) {
  if (extent.width > memory.pitch) return kInvalidPitch;
  for (size_t z = 0; z < extent.depth; ++z) {
    const uintptr_t first = number(memory.pointer) + z * memory.ysize * memory.pitch;
    const int error = set_rows({first, extent.width, extent.height, memory.pitch}, byte_of(value), stream, blocking);
    if (error != kSuccess) return error;
  }
  return kSuccess;
}

}  // namespace

void transfer(void* to, const void* from, size_t bytes, Stream& stream, bool blocking) {
  move_and_account({number(to), bytes, 1, bytes}, {number(from), bytes, 1, bytes}, stream, blocking);
}

int Memcpy(void* to, const void* from, size_t bytes, int kind) {
  return copy_plain(to, from, bytes, kind, nullptr, true);
}
int MemcpyAsync(void* to, const void* from, size_t bytes, int kind, Stream* stream) {
  return copy_plain(to, from, bytes, kind, stream, false);
}
int MemcpyWithStream(void* to, const void* from, size_t bytes, int kind, Stream* stream) {
  return copy_plain(to, from, bytes, kind, stream, true);
}
int MemcpyHtoD(void* to, void* from, size_t bytes) { return copy_plain(to, from, bytes, kHostToDevice, nullptr, true); }
int MemcpyDtoH(void* to, void* from, size_t bytes) { return copy_plain(to, from, bytes, kDeviceToHost, nullptr, true); }
int MemcpyDtoD(void* to, void* from, size_t bytes) {
  return copy_plain(to, from, bytes, kDeviceToDevice, nullptr, true);
}
int MemcpyHtoDAsync(void* to, void* from, size_t bytes, Stream* stream) {
  return copy_plain(to, from, bytes, kHostToDevice, stream, false);
}
int MemcpyDtoHAsync(void* to, void* from, size_t bytes, Stream* stream) {
  return copy_plain(to, from, bytes, kDeviceToHost, stream, false);
}
int MemcpyDtoDAsync(void* to, void* from, size_t bytes, Stream* stream) {
  return copy_plain(to, from, bytes, kDeviceToDevice, stream, false);
}
int Memcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true);
}
int Memcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height, int kind,
                  Stream* stream) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, stream, false);
}
int Memcpy3D(const Copy3D* copy) { return copy_3d(copy, nullptr, true); }
int Memcpy3DAsync(const Copy3D* copy, Stream* stream) { return copy_3d(copy, stream, false); }
int MemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device != 0 || from_device != 0) return kInvalidDevice;
  return copy_plain(to, from, bytes, kDeviceToDevice, nullptr, true);
}
int MemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes, Stream* stream) {
  if (to_device != 0 || from_device != 0) return kInvalidDevice;
  return copy_plain(to, from, bytes, kDeviceToDevice, stream, false);
}

int MemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return copy_symbol(symbol, bytes, offset, nullptr, from, kind, nullptr, true);
}
int MemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, int kind, Stream* stream) {
  return copy_symbol(symbol, bytes, offset, nullptr, from, kind, stream, false);
}
int MemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  if (!to) return kInvalidValue;
  return copy_symbol(symbol, bytes, offset, to, nullptr, kind, nullptr, true);
}
int MemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind, Stream* stream) {
  if (!to) return kInvalidValue;
  return copy_symbol(symbol, bytes, offset, to, nullptr, kind, stream, false);
}
int GetSymbolAddress(void** pointer, const void* symbol) {
  const Variable* variable = find_variable(symbol);
  if (!pointer) return kInvalidValue;
  if (!variable) return kInvalidSymbol;
  *pointer = variable->address;
  return kSuccess;
}
int GetSymbolSize(size_t* bytes, const void* symbol) {
  const Variable* variable = find_variable(symbol);
  if (!bytes) return kInvalidValue;
  if (!variable) return kInvalidSymbol;
  *bytes = variable->bytes;
  return kSuccess;
}

int Memset(void* pointer, int value, size_t bytes) { return set_plain(pointer, byte_of(value), bytes, nullptr, true); }
int MemsetAsync(void* pointer, int value, size_t bytes, Stream* stream) {
  return set_plain(pointer, byte_of(value), bytes, stream, false);
}
int MemsetD8(void* pointer, unsigned char value, size_t count) {
  return set_plain<uint8_t>(pointer, value, count, nullptr, true);
}
int MemsetD8Async(void* pointer, unsigned char value, size_t count, Stream* stream) {
  return set_plain<uint8_t>(pointer, value, count, stream, false);
}
int MemsetD16(void* pointer, unsigned short value, size_t count) {
  return set_plain<uint16_t>(pointer, value, count, nullptr, true);
}
int MemsetD16Async(void* pointer, unsigned short value, size_t count, Stream* stream) {
  return set_plain<uint16_t>(pointer, value, count, stream, false);
}
int MemsetD32(void* pointer, int value, size_t count) {
  return set_plain<int32_t>(pointer, value, count, nullptr, true);
}
int MemsetD32Async(void* pointer, int value, size_t count, Stream* stream) {
  return set_plain<int32_t>(pointer, value, count, stream, false);
}
int Memset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  if (width > pitch) return kInvalidPitch;
  return set_rows({number(pointer), width, height, pitch}, byte_of(value), nullptr, true);
}
int Memset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height, Stream* stream) {
  if (width > pitch) return kInvalidPitch;
  return set_rows({number(pointer), width, height, pitch}, byte_of(value), stream, false);
}
int Memset3D(PitchedPtr pointer, int value, Extent extent) { return set_3d(pointer, value, extent, nullptr, true); }
int Memset3DAsync(PitchedPtr pointer, int value, Extent extent, Stream* stream) {
  return set_3d(pointer, value, extent, stream, false);
}

}  // namespace simt::host
