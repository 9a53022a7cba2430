// CUDA's driver API: arrays, texture and surface objects, and copies of several dimensions.
#include <algorithm>
#include <iterator>

#include "host_driver.h"
#include "textures.h"

namespace simt {

namespace {

constexpr int kToDevice = 1, kToHost = 2, kBetween = 3, kUnknown = 4;  // cudaMemcpyKind
constexpr int kSigned = 0, kUnsigned = 1, kFloat = 2;                  // cudaChannelFormatKind
constexpr unsigned int kMostChannels = 4;

struct Element {
  CUarray_format name;
  int bits, kind;
};
constexpr Element kElements[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, kUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, kUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, kUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, kSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, kSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, kSigned},
    {CU_AD_FORMAT_HALF, 16, kFloat},
    {CU_AD_FORMAT_FLOAT, 32, kFloat},
};

Array* of(CUarray array) { return reinterpret_cast<Array*>(array); }
Stream* of(CUstream stream) { return reinterpret_cast<Stream*>(stream); }

// Without bits where there is no such format.
ChannelFormat format_of(CUarray_format name, unsigned int channels) {
  ChannelFormat format = {};
  const Element* const element =
      std::find_if(std::begin(kElements), std::end(kElements), [&](const Element& one) { return one.name == name; });
  if (element == std::end(kElements) || channels > kMostChannels) return format;
  std::fill_n(format.bits, channels, element->bits);
  format.kind = element->kind;
  return format;
}

void describe(const ChannelFormat& format, CUarray_format& name, unsigned int& channels) {
  channels =
      static_cast<unsigned int>(std::count_if(format.bits, format.bits + kMostChannels, [](int b) { return b; }));
  for (const Element& one : kElements)
    if (one.bits == format.bits[0] && one.kind == format.kind) name = one.name;
}

int array_of(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* described) {
  if (!array || !described) return kInvalidValue;
  const ChannelFormat format = format_of(described->Format, described->NumChannels);
  if (format.bits[0] == 0) return kInvalidValue;
  const host::Extent extent = {described->Width, described->Height, described->Depth};
  return host::Malloc3DArray(reinterpret_cast<Array**>(array), &format, extent, described->Flags);
}

int description_of(CUarray array, CUDA_ARRAY3D_DESCRIPTOR* described) {
  ChannelFormat format;
  host::Extent extent;
  if (!described) return kInvalidValue;
  const int error = host::ArrayGetInfo(&format, &extent, &described->Flags, of(array));
  if (error != kSuccess) return error;
  described->Width = extent.width, described->Height = extent.height, described->Depth = extent.depth;
  describe(format, described->Format, described->NumChannels);
  return kSuccess;
}

struct Side {  // of a copy: its first byte, null where there is none, and the bytes from row to row and slice to slice
  char* at;
  size_t pitch, slice;
};

Side side_of(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, const size_t (&first)[3],
             size_t pitch, size_t height, const CUDA_MEMCPY3D& copy) {
  char* base = static_cast<char*>(type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer_to(device));
  pitch = pitch ? pitch : copy.WidthInBytes;
  height = height ? height : copy.Height;
  if (type == CU_MEMORYTYPE_ARRAY) {
    unsigned int flags;
    ChannelFormat format;
    host::Extent extent;
    if (host::ArrayGetInfo(&format, &extent, &flags, of(array)) != kSuccess) return {};
    base = static_cast<char*>(pointer_to(of(array)->base));
    pitch = of(array)->pitch, height = std::max<size_t>(extent.height, 1);
    if (first[0] + copy.WidthInBytes > pitch || first[1] + copy.Height > height) return {};
    if (first[2] + copy.Depth > std::max<size_t>(extent.depth, 1)) return {};
  }
  return {base + first[0] + first[1] * pitch + first[2] * pitch * height, pitch, pitch * height};
}

int copied(const CUDA_MEMCPY3D& c, Stream* stream, bool blocking) {
  const Side from = side_of(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, {c.srcXInBytes, c.srcY, c.srcZ},
                            c.srcPitch, c.srcHeight, c);
  const Side to = side_of(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, {c.dstXInBytes, c.dstY, c.dstZ},
                          c.dstPitch, c.dstHeight, c);
  if (!from.at || !to.at) return kInvalidValue;
  int error = kSuccess;
  for (size_t z = 0; z < c.Depth && error == kSuccess; ++z) {
    char *into = to.at + z * to.slice, *out = from.at + z * from.slice;
    error = blocking ? host::Memcpy2D(into, to.pitch, out, from.pitch, c.WidthInBytes, c.Height, kUnknown)
                     : host::Memcpy2DAsync(into, to.pitch, out, from.pitch, c.WidthInBytes, c.Height, kUnknown, stream);
  }
  return error;
}

int copied(const CUDA_MEMCPY2D* c, Stream* stream, bool blocking) {
  if (!c) return kInvalidValue;
  CUDA_MEMCPY3D whole = {};
  whole.srcXInBytes = c->srcXInBytes, whole.srcY = c->srcY, whole.srcMemoryType = c->srcMemoryType;
  whole.srcHost = c->srcHost, whole.srcDevice = c->srcDevice, whole.srcArray = c->srcArray;
  whole.srcPitch = c->srcPitch;
  whole.dstXInBytes = c->dstXInBytes, whole.dstY = c->dstY, whole.dstMemoryType = c->dstMemoryType;
  whole.dstHost = c->dstHost, whole.dstDevice = c->dstDevice, whole.dstArray = c->dstArray;
  whole.dstPitch = c->dstPitch;
  whole.WidthInBytes = c->WidthInBytes, whole.Height = c->Height, whole.Depth = 1;
  return copied(whole, stream, blocking);
}

int resource_of(const CUDA_RESOURCE_DESC* driver, ResourceDescription& resource) {
  if (!driver) return kInvalidValue;
  resource.type = driver->resType, resource.flags = driver->flags;
  const auto& linear = driver->res.linear;
  const auto& pitched = driver->res.pitch2D;
  switch (driver->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
      resource.linear = {pointer_to(linear.devPtr), format_of(linear.format, linear.numChannels), linear.sizeInBytes};
      return kSuccess;
    case CU_RESOURCE_TYPE_PITCH2D:
      resource.pitched = {pointer_to(pitched.devPtr), format_of(pitched.format, pitched.numChannels), pitched.width,
                          pitched.height, pitched.pitchInBytes};
      return kSuccess;
    default:
      resource.array = of(driver->res.array.hArray);
      return kSuccess;
  }
}

int first_bits(const ResourceDescription& resource) {
  unsigned int flags;
  host::Extent extent;
  ChannelFormat format = resource.type == CU_RESOURCE_TYPE_LINEAR ? resource.linear.format : resource.pitched.format;
  if (resource.type == CU_RESOURCE_TYPE_ARRAY) host::ArrayGetInfo(&format, &extent, &flags, resource.array);
  return format.bits[0];
}

int texture_of(CUtexObject* object, const CUDA_RESOURCE_DESC* driver, const CUDA_TEXTURE_DESC* described,
               const CUDA_RESOURCE_VIEW_DESC* view) {
  constexpr int kWidest = 32;  // bits of an integer that is never read as a fraction
  ResourceDescription resource = {};
  TextureDescription texture = {};
  if (!described || resource_of(driver, resource) != kSuccess) return kInvalidValue;
  std::copy_n(described->addressMode, 3, texture.address_mode);
  std::copy_n(described->borderColor, 4, texture.border);
  texture.filter_mode = described->filterMode;
  const bool as_integer = (described->flags & CU_TRSF_READ_AS_INTEGER) != 0;
  texture.read_mode = !as_integer && first_bits(resource) < kWidest;
  texture.srgb = (described->flags & CU_TRSF_SRGB) != 0;
  texture.normalized_coordinates = (described->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  uint64_t handle = 0;
  const int error =
      host::CreateTextureObject(&handle, &resource, &texture, reinterpret_cast<const ResourceView*>(view));
  if (object) *object = handle;
  return object ? error : static_cast<int>(kInvalidValue);
}

int surface_of(CUsurfObject* object, const CUDA_RESOURCE_DESC* driver) {
  ResourceDescription resource = {};
  uint64_t handle = 0;
  if (!object || resource_of(driver, resource) != kSuccess) return kInvalidValue;
  const int error = host::CreateSurfaceObject(&handle, &resource);
  *object = handle;
  return error;
}

}  // namespace

SIMT_DRIVER(cuArrayCreate, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR* described), {
  if (!described) return kInvalidValue;
  const CUDA_ARRAY3D_DESCRIPTOR whole = {described->Width,  described->Height,      0,
                                         described->Format, described->NumChannels, 0};
  return array_of(array, &whole);
})
SIMT_DRIVER(cuArray3DCreate, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR* described),
            return array_of(array, described);)
SIMT_DRIVER(cuArrayGetDescriptor, (CUDA_ARRAY_DESCRIPTOR * described, CUarray array), {
  CUDA_ARRAY3D_DESCRIPTOR whole = {};
  const int error = description_of(array, &whole);
  if (error != kSuccess || !described) return described ? error : static_cast<int>(kInvalidValue);
  *described = {whole.Width, whole.Height, whole.Format, whole.NumChannels};
  return kSuccess;
})
SIMT_DRIVER(cuArray3DGetDescriptor, (CUDA_ARRAY3D_DESCRIPTOR * described, CUarray array),
            return description_of(array, described);)
SIMT_DRIVER(cuArrayDestroy, (CUarray array), return host::FreeArray(of(array));)

SIMT_DRIVER(cuMemcpy2D, (const CUDA_MEMCPY2D* copy), return copied(copy, nullptr, true);)
SIMT_DRIVER(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D* copy), return copied(copy, nullptr, true);)
SIMT_DRIVER(cuMemcpy2DAsync, (const CUDA_MEMCPY2D* copy, CUstream stream), return copied(copy, of(stream), false);)
SIMT_DRIVER(cuMemcpy3D, (const CUDA_MEMCPY3D* copy),
            return copy ? copied(*copy, nullptr, true) : static_cast<int>(kInvalidValue);)
SIMT_DRIVER(cuMemcpy3DAsync, (const CUDA_MEMCPY3D* copy, CUstream stream),
            return copy ? copied(*copy, of(stream), false) : static_cast<int>(kInvalidValue);)
SIMT_DRIVER(cuMemcpyHtoA, (CUarray to, size_t offset, const void* from, size_t bytes),
            return host::MemcpyToArray(of(to), offset, 0, from, bytes, kToDevice);)
SIMT_DRIVER(cuMemcpyAtoH, (void* to, CUarray from, size_t offset, size_t bytes),
            return host::MemcpyFromArray(to, of(from), offset, 0, bytes, kToHost);)
SIMT_DRIVER(cuMemcpyDtoA, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
            return host::MemcpyToArray(of(to), offset, 0, pointer_to(from), bytes, kBetween);)
SIMT_DRIVER(cuMemcpyAtoD, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
            return host::MemcpyFromArray(pointer_to(to), of(from), offset, 0, bytes, kBetween);)

SIMT_DRIVER(cuTexObjectCreate,
            (CUtexObject * object, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
             const CUDA_RESOURCE_VIEW_DESC* view),
            return texture_of(object, resource, texture, view);)
SIMT_DRIVER(cuTexObjectDestroy, (CUtexObject object), return host::DestroyTextureObject(object);)
SIMT_DRIVER(cuSurfObjectCreate, (CUsurfObject * object, const CUDA_RESOURCE_DESC* resource),
            return surface_of(object, resource);)
SIMT_DRIVER(cuSurfObjectDestroy, (CUsurfObject object), return host::DestroySurfaceObject(object);)

}  // namespace simt
