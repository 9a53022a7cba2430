// Arrays, texture objects and surface objects. An array is an ordinary allocation, its rows one after another: what
// a lane reads of it is a global access at the address that the row, column and addressing mode give. (Real
// hardware stores arrays in an undocumented order that favours 2-D neighbourhoods.)
#pragma once
#include <cstddef>
#include <cstdint>

namespace simt {

struct ChannelFormat {  // cudaChannelFormatDesc, hipChannelFormatDesc
  int bits[4];
  int kind;
};
struct Array {
  uintptr_t base;
  ChannelFormat format;
  size_t width, height, depth;  // in elements; 0: lacks the dimension, as in the API
  size_t element_bytes, pitch;
  unsigned int flags;
};
struct ResourceDescription {  // cudaResourceDesc, hipResourceDesc
  int type;                   // 0 array, 1 mipmapped array, 2 linear, 3 pitched
  union {
    Array* array;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t bytes;
    } linear;
    struct {
      void* pointer;
      ChannelFormat format;
      size_t width, height, pitch;
    } pitched;
  };
  unsigned int flags, reserved[15];
};
struct TextureDescription {  // cudaTextureDesc, hipTextureDesc
  int address_mode[3], filter_mode, read_mode, srgb;
  float border[4];
  int normalized_coordinates;
  unsigned int rest[7];
};
struct ResourceView;
struct textureReference {  // a file's texture; both APIs call it so
  int normalized_coordinates, filter_mode, address_mode[3];
  ChannelFormat format;
  int srgb;
  unsigned int most_anisotropy;
  int mipmap_filter_mode;
  float mipmap_levels[3];
  int read_mode, reserved[14];
};

}  // namespace simt
