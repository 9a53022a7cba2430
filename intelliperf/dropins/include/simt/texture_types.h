// The host types of arrays, texture objects and surface objects, under the includer's prefix (SIMT_PREFIX: hip or
// cuda). Both vendors lay them out alike; runtime/textures.h has the same structures under our names.
// No include guard: hip/hip_runtime_api.h and driver_types.h each include it once.
typedef enum SIMT_T(ChannelFormatKind) {
  SIMT_T(ChannelFormatKindSigned) = 0,
  SIMT_T(ChannelFormatKindUnsigned) = 1,
  SIMT_T(ChannelFormatKindFloat) = 2,
  SIMT_T(ChannelFormatKindNone) = 3
} SIMT_T(ChannelFormatKind);
typedef struct SIMT_T(ChannelFormatDesc) {
  int x, y, z, w;  // bits of each channel
  enum SIMT_T(ChannelFormatKind) f;
} SIMT_T(ChannelFormatDesc);
typedef enum SIMT_T(ResourceType) {
  SIMT_T(ResourceTypeArray) = 0,
  SIMT_T(ResourceTypeMipmappedArray) = 1,
  SIMT_T(ResourceTypeLinear) = 2,
  SIMT_T(ResourceTypePitch2D) = 3
} SIMT_T(ResourceType);
typedef struct SIMT_T(ResourceDesc) {
  enum SIMT_T(ResourceType) resType;
  union {
    struct {
      SIMT_T(Array_t) array;
    } array;
    struct {
      SIMT_T(MipmappedArray_t) mipmap;
    } mipmap;
    struct {
      void* devPtr;
      struct SIMT_T(ChannelFormatDesc) desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      struct SIMT_T(ChannelFormatDesc) desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
  unsigned int flags, reserved[15];
} SIMT_T(ResourceDesc);
typedef enum SIMT_T(TextureAddressMode) {
  SIMT_T(AddressModeWrap) = 0,
  SIMT_T(AddressModeClamp) = 1,
  SIMT_T(AddressModeMirror) = 2,
  SIMT_T(AddressModeBorder) = 3
} SIMT_T(TextureAddressMode);
typedef enum SIMT_T(TextureFilterMode) {
  SIMT_T(FilterModePoint) = 0,
  SIMT_T(FilterModeLinear) = 1
} SIMT_T(TextureFilterMode);
typedef enum SIMT_T(TextureReadMode) {
  SIMT_T(ReadModeElementType) = 0,
  SIMT_T(ReadModeNormalizedFloat) = 1
} SIMT_T(TextureReadMode);
typedef struct SIMT_T(TextureDesc) {
  enum SIMT_T(TextureAddressMode) addressMode[3];
  enum SIMT_T(TextureFilterMode) filterMode;
  enum SIMT_T(TextureReadMode) readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned int maxAnisotropy;
  enum SIMT_T(TextureFilterMode) mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
} SIMT_T(TextureDesc);
#ifndef SIMT_TEXTURE_REFERENCE
#define SIMT_TEXTURE_REFERENCE
// Of a file's texture that the host binds to memory; runtime/texture_references.h has it under our names.
struct textureReference {
  int normalized;
  enum SIMT_T(TextureFilterMode) filterMode;
  enum SIMT_T(TextureAddressMode) addressMode[3];
  struct SIMT_T(ChannelFormatDesc) channelDesc;
  int sRGB;
  unsigned int maxAnisotropy;
  enum SIMT_T(TextureFilterMode) mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  enum SIMT_T(TextureReadMode) readMode;
  int reserved[14];
};
#endif
typedef enum SIMT_T(ResourceViewFormat) { SIMT_T(ResViewFormatNone) = 0 } SIMT_T(ResourceViewFormat);
typedef struct SIMT_T(ResourceViewDesc) {
  enum SIMT_T(ResourceViewFormat) format;
  size_t width, height, depth;
  unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
} SIMT_T(ResourceViewDesc);
typedef enum SIMT_T(SurfaceBoundaryMode) {
  SIMT_T(BoundaryModeZero) = 0,
  SIMT_T(BoundaryModeClamp) = 1,
  SIMT_T(BoundaryModeTrap) = 2
} SIMT_T(SurfaceBoundaryMode);
enum {
  SIMT_T(ArrayDefault) = 0x00,
  SIMT_T(ArrayLayered) = 0x01,
  SIMT_T(ArraySurfaceLoadStore) = 0x02,
  SIMT_T(ArrayCubemap) = 0x04,
  SIMT_T(ArrayTextureGather) = 0x08
};

static inline struct SIMT_T(ChannelFormatDesc) SIMT_T(CreateChannelDesc)(int x, int y, int z, int w,
                                                                         enum SIMT_T(ChannelFormatKind) kind) {
  struct SIMT_T(ChannelFormatDesc) made;
  made.x = x, made.y = y, made.z = z, made.w = w, made.f = kind;
  return made;
}
#if defined(__cplusplus)
namespace SIMT_JOIN(__simt_, SIMT_PREFIX) {
template <class _T, class = void>
struct channels {  // of a scalar
  typedef _T type;
};
template <class...>
struct none {
  typedef void type;
};
template <class _T>
struct channels<_T, typename none<decltype(_T::x)>::type> {
  typedef decltype(_T::x) type;
};
}
template <class _T>
static inline SIMT_T(ChannelFormatDesc) SIMT_T(CreateChannelDesc)() {
  typedef typename SIMT_JOIN(__simt_, SIMT_PREFIX)::channels<_T>::type channel;
  const int bits = 8 * (int)sizeof(channel), count = (int)(sizeof(_T) / sizeof(channel));
  const SIMT_T(ChannelFormatKind) kind = static_cast<channel>(0.5f) != static_cast<channel>(0)
                                             ? SIMT_T(ChannelFormatKindFloat)
                                         : static_cast<channel>(-1) < static_cast<channel>(0)
                                             ? SIMT_T(ChannelFormatKindSigned)
                                             : SIMT_T(ChannelFormatKindUnsigned);
  return SIMT_T(CreateChannelDesc)(bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind);
}
static inline SIMT_T(ChannelFormatDesc) SIMT_T(CreateChannelDescHalf)() {
  return SIMT_T(CreateChannelDesc)(16, 0, 0, 0, SIMT_T(ChannelFormatKindFloat));
}
#endif
