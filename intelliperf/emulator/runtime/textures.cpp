#include "textures.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "fault_log.h"
#include "host_api.h"

namespace simt {

namespace {

constexpr unsigned int kLayered = 1, kCubemap = 4;
constexpr uint64_t kFirstObject = 0x7e00000000;  // apart from addresses and small numbers; ids are not reused

enum AddressMode : int { kWrap, kClamp, kMirror, kBorder };
enum ResourceType : int { kArray, kMipmapped, kLinear, kPitched };
enum Boundary : int { kZero, kClampTo, kTrap };

struct Object {  // a texture or a surface
  ResourceDescription resource;
  TextureDescription texture;
  ChannelFormat format;
  uintptr_t base;
  int size[3];
  size_t element_bytes, pitch, slice;
  bool surface;
  uint32_t packed_format;  // as `__simt_texture_format` gives it
};

std::vector<std::unique_ptr<Array>> arrays;
std::vector<std::unique_ptr<Object>> objects;  // null where destroyed

size_t element_bytes_of(const ChannelFormat& format) {
  int bits = 0;
  for (const int channel : format.bits) bits += channel;
  return static_cast<size_t>(bits) / 8;
}

bool known(const Array* array) {
  return std::any_of(arrays.begin(), arrays.end(), [&](const auto& kept) { return kept.get() == array; });
}

Object* object_of(uint64_t handle) {
  const uint64_t index = handle - kFirstObject;
  return index < objects.size() ? objects[index].get() : nullptr;
}

int make_array(Array** made, const ChannelFormat* format, size_t width, size_t height, size_t depth,
               unsigned int flags) {
  if (!made || !format || width == 0) return kInvalidValue;
  const size_t element = element_bytes_of(*format);
  if (element == 0 || element > 16) return kInvalidValue;
  auto array = std::make_unique<Array>(Array{0, *format, width, height, depth, element, width * element, flags});
  void* memory = nullptr;
  const int error = host::Malloc(&memory, array->pitch * std::max<size_t>(height, 1) * std::max<size_t>(depth, 1));
  if (error != kSuccess) return error;
  array->base = reinterpret_cast<uintptr_t>(memory);
  *made = array.get();
  arrays.push_back(std::move(array));
  return kSuccess;
}

void* place_in(const Array& array, size_t x_bytes, size_t y) {
  return reinterpret_cast<void*>(array.base + y * array.pitch + x_bytes);  // NOLINT(performance-no-int-to-ptr)
}

bool holds(const Array* array, size_t x_bytes, size_t y, size_t width_bytes, size_t rows) {
  if (!known(array)) return false;
  return x_bytes + width_bytes <= array->pitch && y + rows <= std::max<size_t>(array->height, 1);
}

bool holds_run(const Array* array, size_t x_bytes, size_t y, size_t bytes) {
  return known(array) && y * array->pitch + x_bytes + bytes <= array->pitch * std::max<size_t>(array->height, 1);
}

int shape(Object& object) {
  const ResourceDescription& resource = object.resource;
  const auto set = [&](uintptr_t base, const ChannelFormat& format, size_t w, size_t h, size_t d, size_t pitch) {
    object.base = base, object.format = format, object.element_bytes = element_bytes_of(format), object.pitch = pitch;
    object.size[0] = static_cast<int>(w), object.size[1] = static_cast<int>(std::max<size_t>(h, 1));
    object.size[2] = static_cast<int>(std::max<size_t>(d, 1));
    object.slice = pitch * std::max<size_t>(h, 1);
    return object.element_bytes == 0 || base == 0 ? kInvalidValue : kSuccess;
  };
  if (resource.type == kArray) {
    const Array* a = resource.array;
    return known(a) ? set(a->base, a->format, a->width, a->height, a->depth, a->pitch)
                    : static_cast<int>(kInvalidValue);
  }
  if (resource.type == kMipmapped) return host::not_mipmapped();
  if (object.surface) return kInvalidValue;
  if (resource.type == kLinear) {
    const auto& linear = resource.linear;
    const size_t element = std::max<size_t>(element_bytes_of(linear.format), 1);
    return set(reinterpret_cast<uintptr_t>(linear.pointer), linear.format, linear.bytes / element, 1, 1, linear.bytes);
  }
  if (resource.type != kPitched) return kInvalidValue;
  const auto& p = resource.pitched;
  return set(reinterpret_cast<uintptr_t>(p.pointer), p.format, p.width, p.height, 1, p.pitch);
}

uint32_t packed_format(const ChannelFormat& format, const TextureDescription& texture) {
  uint32_t channels = 0;
  for (const int bits : format.bits) channels += bits != 0;
  const bool normalized = texture.read_mode == 1 && format.kind < 2;
  return channels | static_cast<uint32_t>(format.bits[0]) << 4 | static_cast<uint32_t>(format.kind) << 12 |
         uint32_t{normalized} << 14 | uint32_t{texture.filter_mode == 1} << 15 |
         uint32_t{texture.normalized_coordinates != 0} << 16;
}

int make_object(uint64_t* handle, const ResourceDescription* resource, const TextureDescription* texture) {
  if (!handle || !resource) return kInvalidValue;
  auto object = std::make_unique<Object>();
  object->resource = *resource;
  object->surface = texture == nullptr;
  if (texture) object->texture = *texture;
  const int error = shape(*object);
  if (error != kSuccess) return error;
  object->packed_format = packed_format(object->format, object->texture);
  *handle = kFirstObject + objects.size();
  objects.push_back(std::move(object));
  return kSuccess;
}

int destroy_object(uint64_t handle, bool surface) {
  Object* object = object_of(handle);
  if (!object || object->surface != surface) return kInvalidValue;
  objects[handle - kFirstObject].reset();
  return kSuccess;
}

// The texel that coordinate `i` means on an axis of `n`; -1: outside, the border.
int addressed(int i, int n, int mode, bool normalized) {
  if (i >= 0 && i < n) return i;
  if (mode == kBorder) return -1;
  if (!normalized || mode == kClamp) return i < 0 ? 0 : n - 1;  // wrap and mirror need normalised coordinates
  const int period = mode == kMirror ? 2 * n : n;
  const int at = ((i % period) + period) % period;
  return at < n ? at : period - 1 - at;
}

// The texel that coordinates outside the texture mean; false: the border.
bool to_addressed(const Object& object, int (&at)[3]) {
  const TextureDescription& texture = object.texture;
  const bool normalized = texture.normalized_coordinates != 0;
  const bool layered = object.resource.type == kArray && (object.resource.array->flags & (kLayered | kCubemap));
  for (int axis = 0; axis < 3; ++axis) {
    const bool layer = axis == 2 && layered;
    at[axis] = addressed(at[axis], object.size[axis], layer ? kClamp : texture.address_mode[axis], normalized);
    if (at[axis] < 0) return false;
  }
  return true;
}

}  // namespace

namespace host {

int not_mipmapped() { return not_supported("mipmapped arrays"); }

Copy3D without_arrays(const Copy3D& asked, bool& valid) {
  Copy3D copy = asked;
  size_t element = 1;
  const auto resolve = [&](void*& handle, PitchedPtr& memory) {
    if (!handle) return;
    const auto* array = static_cast<const Array*>(handle);
    valid = valid && known(array);
    if (!valid) return;
    memory = {place_in(*array, 0, 0), array->pitch, array->pitch, std::max<size_t>(array->height, 1)};
    element = array->element_bytes;
    handle = nullptr;
  };
  valid = true;
  const bool from = copy.from_array != nullptr, to = copy.to_array != nullptr;
  resolve(copy.from_array, copy.from);
  resolve(copy.to_array, copy.to);
  copy.extent.width *= element;  // with an array, extents count elements; positions in plain memory stay bytes
  if (from) copy.from_position.x *= element;
  if (to) copy.to_position.x *= element;
  return copy;
}

int MallocArray(Array** array, const ChannelFormat* format, size_t width, size_t height, unsigned int flags) {
  return make_array(array, format, width, height, 0, flags);
}
int Malloc3DArray(Array** array, const ChannelFormat* format, Extent extent, unsigned int flags) {
  if ((flags & kCubemap) && !(flags & kLayered) && extent.depth != 6) return kInvalidValue;
  return make_array(array, format, extent.width, extent.height, extent.depth, flags);
}
int FreeArray(Array* array) {
  if (!array) return kSuccess;
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const auto& kept) { return kept.get() == array; });
  if (found == arrays.end()) return kInvalidValue;
  const int error = Free(place_in(*array, 0, 0));
  arrays.erase(found);
  return error;
}
int ArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned int* flags, Array* array) {
  if (!known(array)) return kInvalidValue;
  if (format) *format = array->format;
  if (extent) *extent = {array->width, array->height, array->depth};
  if (flags) *flags = array->flags;
  return kSuccess;
}
int GetChannelDesc(ChannelFormat* format, const Array* array) {
  if (!format || !known(array)) return kInvalidValue;
  *format = array->format;
  return kSuccess;
}

int MemcpyToArray(Array* to, size_t x, size_t y, const void* from, size_t bytes, int kind) {
  return holds_run(to, x, y, bytes) ? Memcpy(place_in(*to, x, y), from, bytes, kind) : static_cast<int>(kInvalidValue);
}
int MemcpyFromArray(void* to, const Array* from, size_t x, size_t y, size_t bytes, int kind) {
  return holds_run(from, x, y, bytes) ? Memcpy(to, place_in(*from, x, y), bytes, kind)
                                      : static_cast<int>(kInvalidValue);
}
int MemcpyToArrayAsync(Array* to, size_t x, size_t y, const void* from, size_t bytes, int kind, Stream* stream) {
  if (!holds_run(to, x, y, bytes)) return kInvalidValue;
  return MemcpyAsync(place_in(*to, x, y), from, bytes, kind, stream);
}
int Memcpy2DToArray(Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                    int kind) {
  if (!holds(to, x, y, width, height)) return kInvalidValue;
  return Memcpy2D(place_in(*to, x, y), to->pitch, from, pitch, width, height, kind);
}
int Memcpy2DToArrayAsync(Array* to, size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                         int kind, Stream* stream) {
  if (!holds(to, x, y, width, height)) return kInvalidValue;
  return Memcpy2DAsync(place_in(*to, x, y), to->pitch, from, pitch, width, height, kind, stream);
}
int Memcpy2DFromArray(void* to, size_t pitch, const Array* from, size_t x, size_t y, size_t width, size_t height,
                      int kind) {
  if (!holds(from, x, y, width, height)) return kInvalidValue;
  return Memcpy2D(to, pitch, place_in(*from, x, y), from->pitch, width, height, kind);
}
int Memcpy2DFromArrayAsync(void* to, size_t pitch, const Array* from, size_t x, size_t y, size_t width, size_t height,
                           int kind, Stream* stream) {
  if (!holds(from, x, y, width, height)) return kInvalidValue;
  return Memcpy2DAsync(to, pitch, place_in(*from, x, y), from->pitch, width, height, kind, stream);
}

int CreateTextureObject(uint64_t* object, const ResourceDescription* resource, const TextureDescription* texture,
                        const ResourceView* view) {
  if (view) return not_supported("resource views");
  return texture ? make_object(object, resource, texture) : static_cast<int>(kInvalidValue);
}
int DestroyTextureObject(uint64_t object) { return object == 0 ? kSuccess : destroy_object(object, false); }
int GetTextureObjectResourceDesc(ResourceDescription* resource, uint64_t handle) {
  const Object* object = object_of(handle);
  if (!resource || !object) return kInvalidValue;
  *resource = object->resource;
  return kSuccess;
}
int CreateSurfaceObject(uint64_t* object, const ResourceDescription* resource) {
  return make_object(object, resource, nullptr);
}
int DestroySurfaceObject(uint64_t object) { return object == 0 ? kSuccess : destroy_object(object, true); }

}  // namespace host

// What device code asks; include/simt/textures.h. A handle that names nothing stops the kernel.
extern "C" {

namespace {
const Object* used(uint64_t handle) {
  const Object* object = object_of(handle);
  if (!object) trap_in_a_call();
  return object;
}
}  // namespace

// Bits 0-3 channels, 4-11 bits of each, 12-13 kind, 14 reads as normalised float, 15 linear filter, 16 normalised
// coordinates.
__attribute__((visibility("default"))) uint32_t __simt_texture_format(uint64_t handle) {
  return used(handle)->packed_format;
}
__attribute__((visibility("default"))) int32_t __simt_texture_size(uint64_t handle, int32_t axis) {
  return used(handle)->size[axis];
}
__attribute__((visibility("default"))) float __simt_texture_border(uint64_t handle, int32_t channel) {
  return used(handle)->texture.border[channel];
}

__attribute__((visibility("default"))) const void* __simt_texel(uint64_t handle, int32_t x, int32_t y, int32_t z) {
  const Object* object = used(handle);
  int at[3] = {x, y, z};
  const auto within = [&](int axis) {
    return static_cast<uint32_t>(at[axis]) < static_cast<uint32_t>(object->size[axis]);
  };
  if (!(within(0) && within(1) && within(2)) && !to_addressed(*object, at)) return nullptr;
  const uintptr_t address = object->base + static_cast<size_t>(at[2]) * object->slice +
                            static_cast<size_t>(at[1]) * object->pitch +
                            static_cast<size_t>(at[0]) * object->element_bytes;
  return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

__attribute__((visibility("default"))) const void* __simt_texel_in_line(uint64_t handle, int32_t index) {
  const Object* object = used(handle);
  if (index < 0 || index >= object->size[0]) return nullptr;
  return reinterpret_cast<const void*>(object->base + static_cast<size_t>(index) * object->element_bytes);  // NOLINT
}

__attribute__((visibility("default"))) void* __simt_surface_place(uint64_t handle, int32_t x_bytes, int32_t y,
                                                                  int32_t z, int32_t boundary) {
  const Object* object = used(handle);
  const auto element = static_cast<int32_t>(object->element_bytes);
  int at[3] = {x_bytes < 0 ? -1 : x_bytes / element, y, z};
  for (int axis = 0; axis < 3; ++axis) {
    const bool outside = at[axis] < 0 || at[axis] >= object->size[axis];
    if (!outside) continue;
    if (boundary == kTrap) trap_in_a_call();
    if (boundary != kClampTo) return nullptr;
    at[axis] = std::clamp(at[axis], 0, object->size[axis] - 1);
  }
  const uintptr_t address = object->base + static_cast<size_t>(at[2]) * object->slice +
                            static_cast<size_t>(at[1]) * object->pitch +
                            static_cast<size_t>(at[0]) * object->element_bytes;
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // extern "C"

}  // namespace simt
