// Texture and surface objects in device code. The runtime says where a texel lies (runtime/textures.cpp); it is read
// here, so that it counts as the access of the line that asked. Filtering follows CUDA's guide: weights of 8 bits.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#if defined(__HIP__)
typedef struct __hip_texture* hipTextureObject_t;
typedef struct __hip_surface* hipSurfaceObject_t;
#define SIMT_TEXTURE hipTextureObject_t
#define SIMT_SURFACE hipSurfaceObject_t
#define SIMT_BOUNDARY 2
#else
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
#define SIMT_TEXTURE cudaTextureObject_t
#define SIMT_SURFACE cudaSurfaceObject_t
#define SIMT_BOUNDARY 2
#endif

#if defined(__AMDGCN__) || defined(__NVPTX__)
// Compiled for its static facts only, a sample is one load: about what the image instructions need of registers.
SIMT_D uint32_t __simt_texture_format(uint64_t) { return 0; }
SIMT_D int32_t __simt_texture_size(uint64_t, int32_t) { return 1; }
SIMT_D float __simt_texture_border(uint64_t, int32_t) { return 0.0f; }
SIMT_D const void* __simt_texel(uint64_t object, int32_t x, int32_t y, int32_t z) {
  return reinterpret_cast<const float4*>(object) + ((z << 24) + (y << 12) + x);
}
SIMT_D const void* __simt_texel_in_line(uint64_t object, int32_t index) {
  return reinterpret_cast<const float4*>(object) + index;
}
SIMT_D void* __simt_surface_place(uint64_t object, int32_t x_bytes, int32_t y, int32_t z, int32_t) {
  return reinterpret_cast<char*>(object) + ((z << 24) + (y << 12) + x_bytes);
}
SIMT_D uint64_t __simt_bound_texture(const void* reference) { return *static_cast<const uint64_t*>(reference); }
#else
extern "C" {
__device__ uint32_t __simt_texture_format(uint64_t object);
__device__ int32_t __simt_texture_size(uint64_t object, int32_t axis);
__device__ float __simt_texture_border(uint64_t object, int32_t channel);
__device__ const void* __simt_texel(uint64_t object, int32_t x, int32_t y, int32_t z);
__device__ const void* __simt_texel_in_line(uint64_t object, int32_t index);
__device__ void* __simt_surface_place(uint64_t object, int32_t x_bytes, int32_t y, int32_t z, int32_t boundary);
__device__ uint64_t __simt_bound_texture(const void* reference);
}
#endif

namespace __simt {
template <class...>
struct no_type {
  typedef void type;
};
template <class _T, class = void>
struct channel_of {
  typedef _T type;
};
template <class _T>
struct channel_of<_T, typename no_type<decltype(_T::x)>::type> {
  typedef decltype(_T::x) type;
};

struct texel_format {
  uint32_t packed;
  SIMT_DT int channels() const { return packed & 15; }
  SIMT_DT int bits() const { return packed >> 4 & 255; }
  SIMT_DT int kind() const { return packed >> 12 & 3; }  // signed, unsigned, float
  SIMT_DT bool normalized_read() const { return packed >> 14 & 1; }
  SIMT_DT bool linear() const { return packed >> 15 & 1; }
  SIMT_DT bool normalized_coordinates() const { return packed >> 16 & 1; }
};

// One channel in another format than the one asked for: halves, and integers read as fractions.
template <class _C>
SIMT_DT _C converted_channel(const void* at, texel_format format, int channel) {
  if (format.kind() == 2) {
    if (format.bits() == 16) return static_cast<_C>(static_cast<float>(static_cast<const _Float16*>(at)[channel]));
    return static_cast<_C>(static_cast<const float*>(at)[channel]);
  }
  const bool is_signed = format.kind() == 0;
  long long value = 0;
  if (format.bits() == 8)
    value = is_signed ? (long long)static_cast<const signed char*>(at)[channel] : static_cast<const unsigned char*>(at)[channel];
  else if (format.bits() == 16)
    value = is_signed ? (long long)static_cast<const short*>(at)[channel] : static_cast<const unsigned short*>(at)[channel];
  else
    value = is_signed ? (long long)static_cast<const int*>(at)[channel] : static_cast<const unsigned int*>(at)[channel];
  if (!format.normalized_read()) return static_cast<_C>(value);
  const float whole = static_cast<float>((1ll << (format.bits() - (is_signed ? 1 : 0))) - 1);
  const float fraction = static_cast<float>(value) / whole;
  return static_cast<_C>(fraction < -1.0f ? -1.0f : fraction);
}

template <class _T>
SIMT_DT _T texel_at(uint64_t object, const void* at, texel_format format, bool border) {
  typedef typename channel_of<_T>::type _C;
  constexpr int count = sizeof(_T) / sizeof(_C);
#if defined(__AMDGCN__) || defined(__NVPTX__)
  return *static_cast<const _T*>(at);
#endif
  if (at && !format.normalized_read() && format.bits() == 8 * static_cast<int>(sizeof(_C)) && format.channels() == count)
    return *static_cast<const _T*>(at);
  _T made = {};
  for (int i = 0; i < count && i < format.channels(); ++i) {
    _C& channel = reinterpret_cast<_C*>(&made)[i];
    if (at)
      channel = converted_channel<_C>(at, format, i);
    else if (border)
      channel = static_cast<_C>(::__simt_texture_border(object, i));
  }
  return made;
}
template <class _T>
SIMT_DT _T texel(uint64_t object, texel_format format, int x, int y, int z) {
  return texel_at<_T>(object, ::__simt_texel(object, x, y, z), format, true);
}

template <class _A, class _B>
inline constexpr bool same_type = false;
template <class _A>
inline constexpr bool same_type<_A, _A> = true;

struct texel_position {
  int first;
  float weight;  // of the texel after `first`
};
SIMT_D texel_position between_texels(float coordinate) {
  const float shifted = coordinate - 0.5f;
  const float low = __builtin_floorf(shifted);
  return {static_cast<int>(low), __builtin_floorf((shifted - low) * 256.0f + 0.5f) / 256.0f};
}

// A sample in up to three filtered axes; `layer` stands for z where only fewer are.
template <int axes, class _T>
SIMT_DT _T sampled(uint64_t object, float x, float y, float z, int layer) {
  typedef typename channel_of<_T>::type _C;
  const texel_format format{::__simt_texture_format(object)};
  float at[3] = {x, y, z};
  if (format.normalized_coordinates())
    for (int axis = 0; axis < axes; ++axis) at[axis] *= static_cast<float>(::__simt_texture_size(object, axis));
  if constexpr (same_type<_C, float>) {
    if (format.linear()) {
      texel_position to[3] = {{0, 0.0f}, {0, 0.0f}, {layer, 0.0f}};
      for (int axis = 0; axis < axes; ++axis) to[axis] = between_texels(at[axis]);
      _T sum = {};
      for (int corner = 0; corner < 1 << axes; ++corner) {
        float weight = 1.0f;
        int place[3];
        for (int axis = 0; axis < 3; ++axis) {
          const int after = corner >> axis & 1;
          place[axis] = to[axis].first + after;
          if (axis < axes) weight *= after ? to[axis].weight : 1.0f - to[axis].weight;
        }
        const _T value = texel<_T>(object, format, place[0], place[1], place[2]);
        for (unsigned int i = 0; i < sizeof(_T) / sizeof(float); ++i)
          reinterpret_cast<float*>(&sum)[i] += weight * reinterpret_cast<const float*>(&value)[i];
      }
      return sum;
    }
  }
  int place[3] = {0, 0, layer};
  for (int axis = 0; axis < axes; ++axis) place[axis] = static_cast<int>(__builtin_floorf(at[axis]));
  return texel<_T>(object, format, place[0], place[1], place[2]);
}

// The four texels that a filtered read of one channel would weigh, in the order that textureGather has.
template <class _T>
SIMT_DT _T gathered(uint64_t object, float x, float y, int component) {
  typedef typename channel_of<_T>::type _C;
  const texel_format format{::__simt_texture_format(object)};
  if (format.normalized_coordinates()) {
    x *= static_cast<float>(::__simt_texture_size(object, 0));
    y *= static_cast<float>(::__simt_texture_size(object, 1));
  }
  const int left = between_texels(x).first, top = between_texels(y).first;
  const int columns[4] = {left, left + 1, left + 1, left}, rows[4] = {top + 1, top + 1, top, top};
  _T made = {};
  for (int i = 0; i < 4; ++i) {
    const void* at = ::__simt_texel(object, columns[i], rows[i], 0);
    if (at) reinterpret_cast<_C*>(&made)[i] = converted_channel<_C>(at, format, component);
  }
  return made;
}

struct cube_place {
  float u, v;
  int face;
};
SIMT_D cube_place on_cube(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  float s, t, m;
  int face;
  if (ax >= ay && ax >= az)
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
  else if (ay >= az)
    face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
  else
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
  return {(s / m + 1.0f) / 2.0f, (t / m + 1.0f) / 2.0f, face};
}
}  // namespace __simt

#define SIMT_OBJECT (uint64_t)object
// Only one mipmap level exists.
#define SIMT_TEXTURE_READ(name, parameters, value)                  \
  template <class _T>                                                \
  SIMT_DT _T name parameters {                                       \
    return value;                                                   \
  }
#define SIMT_P(...) (SIMT_TEXTURE object, __VA_ARGS__)
SIMT_TEXTURE_READ(tex1Dfetch, SIMT_P(int x), (__simt::texel_at<_T>(SIMT_OBJECT, ::__simt_texel_in_line(SIMT_OBJECT, x), {::__simt_texture_format(SIMT_OBJECT)}, false)))
SIMT_TEXTURE_READ(tex1D, SIMT_P(float x), (__simt::sampled<1, _T>(SIMT_OBJECT, x, 0, 0, 0)))
SIMT_TEXTURE_READ(tex2D, SIMT_P(float x, float y), (__simt::sampled<2, _T>(SIMT_OBJECT, x, y, 0, 0)))
SIMT_TEXTURE_READ(tex3D, SIMT_P(float x, float y, float z), (__simt::sampled<3, _T>(SIMT_OBJECT, x, y, z, 0)))
SIMT_TEXTURE_READ(tex1DLod, SIMT_P(float x, float), (__simt::sampled<1, _T>(SIMT_OBJECT, x, 0, 0, 0)))
SIMT_TEXTURE_READ(tex2DLod, SIMT_P(float x, float y, float), (__simt::sampled<2, _T>(SIMT_OBJECT, x, y, 0, 0)))
SIMT_TEXTURE_READ(tex3DLod, SIMT_P(float x, float y, float z, float), (__simt::sampled<3, _T>(SIMT_OBJECT, x, y, z, 0)))
SIMT_TEXTURE_READ(tex1DGrad, SIMT_P(float x, float, float), (__simt::sampled<1, _T>(SIMT_OBJECT, x, 0, 0, 0)))
SIMT_TEXTURE_READ(tex2DGrad, SIMT_P(float x, float y, float2, float2), (__simt::sampled<2, _T>(SIMT_OBJECT, x, y, 0, 0)))
SIMT_TEXTURE_READ(tex1DLayered, SIMT_P(float x, int layer), (__simt::sampled<1, _T>(SIMT_OBJECT, x, 0, 0, layer)))
SIMT_TEXTURE_READ(tex2DLayered, SIMT_P(float x, float y, int layer), (__simt::sampled<2, _T>(SIMT_OBJECT, x, y, 0, layer)))
SIMT_TEXTURE_READ(tex2Dgather, SIMT_P(float x, float y, int component = 0), (__simt::gathered<_T>(SIMT_OBJECT, x, y, component)))
#undef SIMT_P
template <class _T>
SIMT_DT _T texCubemap(SIMT_TEXTURE object, float x, float y, float z) {
  const __simt::cube_place place = __simt::on_cube(x, y, z);
  return __simt::sampled<2, _T>(SIMT_OBJECT, place.u, place.v, 0, place.face);
}
template <class _T>
SIMT_DT void tex1Dfetch(_T* value, SIMT_TEXTURE object, int x) { *value = tex1Dfetch<_T>(object, x); }
template <class _T>
SIMT_DT void tex1D(_T* value, SIMT_TEXTURE object, float x) { *value = tex1D<_T>(object, x); }
template <class _T>
SIMT_DT void tex2D(_T* value, SIMT_TEXTURE object, float x, float y) { *value = tex2D<_T>(object, x, y); }
template <class _T>
SIMT_DT void tex3D(_T* value, SIMT_TEXTURE object, float x, float y, float z) { *value = tex3D<_T>(object, x, y, z); }

namespace __simt {
template <class _T>
SIMT_DT _T surface_read(uint64_t object, int x, int y, int z, int mode) {
  const void* at = ::__simt_surface_place(object, x, y, z, mode);
  return at ? *static_cast<const _T*>(at) : _T{};
}
template <class _T>
SIMT_DT void surface_write(_T value, uint64_t object, int x, int y, int z, int mode) {
  void* at = ::__simt_surface_place(object, x, y, z, mode);
  if (at) *static_cast<_T*>(at) = value;
}
}  // namespace __simt
// x counts bytes.
#define SIMT_SURFACE_FUNCTIONS(name, parameters, x, y, z)                                            \
  template <class _T>                                                                                 \
  SIMT_DT _T name##read(SIMT_SURFACE object, parameters, int mode = SIMT_BOUNDARY) {                  \
    return __simt::surface_read<_T>(SIMT_OBJECT, x, y, z, mode);                                      \
  }                                                                                                  \
  template <class _T>                                                                                 \
  SIMT_DT void name##read(_T* value, SIMT_SURFACE object, parameters, int mode = SIMT_BOUNDARY) {     \
    *value = __simt::surface_read<_T>(SIMT_OBJECT, x, y, z, mode);                                    \
  }                                                                                                  \
  template <class _T>                                                                                 \
  SIMT_DT void name##write(_T value, SIMT_SURFACE object, parameters, int mode = SIMT_BOUNDARY) {     \
    __simt::surface_write<_T>(value, SIMT_OBJECT, x, y, z, mode);                                     \
  }
#define SIMT_COMMA ,
SIMT_SURFACE_FUNCTIONS(surf1D, int x, x, 0, 0)
SIMT_SURFACE_FUNCTIONS(surf2D, int x SIMT_COMMA int y, x, y, 0)
SIMT_SURFACE_FUNCTIONS(surf3D, int x SIMT_COMMA int y SIMT_COMMA int z, x, y, z)
SIMT_SURFACE_FUNCTIONS(surf1DLayered, int x SIMT_COMMA int layer, x, 0, layer)
SIMT_SURFACE_FUNCTIONS(surf2DLayered, int x SIMT_COMMA int y SIMT_COMMA int layer, x, y, layer)
SIMT_SURFACE_FUNCTIONS(surfCubemap, int x SIMT_COMMA int y SIMT_COMMA int face, x, y, face)
#undef SIMT_COMMA
#undef SIMT_SURFACE_FUNCTIONS
#undef SIMT_TEXTURE_READ
#undef SIMT_OBJECT
