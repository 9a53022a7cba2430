// Textures that a file declares and the host binds to memory, as before texture objects; both runtimes' C++ forms.
// Removed from CUDA 12; sources of earlier days and HIP's have them. The includer defines SIMT_PREFIX.
namespace __simt {
template <class _T>
constexpr SIMT_T(ChannelFormatDesc) channels_of() {
  typedef typename channel_of<_T>::type _C;
  const int bits = 8 * static_cast<int>(sizeof(_C)), count = static_cast<int>(sizeof(_T) / sizeof(_C));
  return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
          static_cast<_C>(0.5f) != static_cast<_C>(0)   ? SIMT_T(ChannelFormatKindFloat)
          : static_cast<_C>(-1) < static_cast<_C>(0) ? SIMT_T(ChannelFormatKindSigned)
                                                     : SIMT_T(ChannelFormatKindUnsigned)};
}
template <int channels>
struct floats {
  typedef float type;
};
template <>
struct floats<2> {
  typedef float2 type;
};
template <>
struct floats<3> {
  typedef float3 type;
};
template <>
struct floats<4> {
  typedef float4 type;
};
template <class _T, int mode>  // what a read gives: the element, or its channels as fractions
struct read_of {
  typedef _T type;
};
template <class _T>
struct read_of<_T, 1> {
  typedef typename floats<sizeof(_T) / sizeof(typename channel_of<_T>::type)>::type type;
};
}  // namespace __simt

template <class _T, int dimensions = 1, enum SIMT_T(TextureReadMode) mode = SIMT_T(ReadModeElementType)>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
  constexpr texture(int is_normalized = 0, enum SIMT_T(TextureFilterMode) filter = SIMT_T(FilterModePoint),
                    enum SIMT_T(TextureAddressMode) address = SIMT_T(AddressModeClamp))
      : texture(is_normalized, filter, address, __simt::channels_of<_T>()) {}
  constexpr texture(int is_normalized, enum SIMT_T(TextureFilterMode) filter, enum SIMT_T(TextureAddressMode) address,
                    SIMT_T(ChannelFormatDesc) format)
      : textureReference{is_normalized, filter, {address, address, address}, format, 0, 0, SIMT_T(FilterModePoint), 0, 0, 0, mode, {}} {}
};

#define SIMT_BINDING template <class _T, int _D, enum SIMT_T(TextureReadMode) _M> \
static inline SIMT_T(Error_t)
#define SIMT_REFERENCE const texture<_T, _D, _M>& reference
SIMT_BINDING SIMT_T(BindTexture)(size_t* offset, SIMT_REFERENCE, const void* pointer, const SIMT_T(ChannelFormatDesc)& format, size_t bytes = 0xffffffffu) {
  return SIMT_T(BindTexture)(offset, &reference, pointer, &format, bytes);
}
SIMT_BINDING SIMT_T(BindTexture)(size_t* offset, SIMT_REFERENCE, const void* pointer, size_t bytes = 0xffffffffu) {
  return SIMT_T(BindTexture)(offset, &reference, pointer, &reference.channelDesc, bytes);
}
SIMT_BINDING SIMT_T(BindTexture2D)(size_t* offset, SIMT_REFERENCE, const void* pointer, const SIMT_T(ChannelFormatDesc)& format, size_t width, size_t height, size_t pitch) {
  return SIMT_T(BindTexture2D)(offset, &reference, pointer, &format, width, height, pitch);
}
SIMT_BINDING SIMT_T(BindTexture2D)(size_t* offset, SIMT_REFERENCE, const void* pointer, size_t width, size_t height, size_t pitch) {
  return SIMT_T(BindTexture2D)(offset, &reference, pointer, &reference.channelDesc, width, height, pitch);
}
SIMT_BINDING SIMT_T(BindTextureToArray)(SIMT_REFERENCE, SIMT_T(Array_const_t) array, const SIMT_T(ChannelFormatDesc)& format) {
  return SIMT_T(BindTextureToArray)(&reference, array, &format);
}
SIMT_BINDING SIMT_T(BindTextureToArray)(SIMT_REFERENCE, SIMT_T(Array_const_t) array) {
  return SIMT_T(BindTextureToArray)(&reference, array, nullptr);
}
SIMT_BINDING SIMT_T(UnbindTexture)(SIMT_REFERENCE) { return SIMT_T(UnbindTexture)(&reference); }
SIMT_BINDING SIMT_T(GetTextureAlignmentOffset)(size_t* offset, SIMT_REFERENCE) {
  return SIMT_T(GetTextureAlignmentOffset)(offset, &reference);
}
#undef SIMT_BINDING

#define SIMT_READ template <class _T, int _D, enum SIMT_T(TextureReadMode) _M> \
SIMT_DT typename __simt::read_of<_T, _M>::type
#define SIMT_READ_TYPE typename __simt::read_of<_T, _M>::type
#define SIMT_BOUND (SIMT_TEXTURE)__simt_bound_texture(&reference)
SIMT_READ tex1Dfetch(SIMT_REFERENCE, int x) { return tex1Dfetch<SIMT_READ_TYPE>(SIMT_BOUND, x); }
SIMT_READ tex1D(SIMT_REFERENCE, float x) { return tex1D<SIMT_READ_TYPE>(SIMT_BOUND, x); }
SIMT_READ tex2D(SIMT_REFERENCE, float x, float y) { return tex2D<SIMT_READ_TYPE>(SIMT_BOUND, x, y); }
SIMT_READ tex3D(SIMT_REFERENCE, float x, float y, float z) { return tex3D<SIMT_READ_TYPE>(SIMT_BOUND, x, y, z); }
SIMT_READ tex1DLod(SIMT_REFERENCE, float x, float) { return tex1D<SIMT_READ_TYPE>(SIMT_BOUND, x); }
SIMT_READ tex2DLod(SIMT_REFERENCE, float x, float y, float) { return tex2D<SIMT_READ_TYPE>(SIMT_BOUND, x, y); }
SIMT_READ tex3DLod(SIMT_REFERENCE, float x, float y, float z, float) { return tex3D<SIMT_READ_TYPE>(SIMT_BOUND, x, y, z); }
SIMT_READ tex1DLayered(SIMT_REFERENCE, float x, int layer) { return tex1DLayered<SIMT_READ_TYPE>(SIMT_BOUND, x, layer); }
SIMT_READ tex2DLayered(SIMT_REFERENCE, float x, float y, int layer) { return tex2DLayered<SIMT_READ_TYPE>(SIMT_BOUND, x, y, layer); }
SIMT_READ texCubemap(SIMT_REFERENCE, float x, float y, float z) { return texCubemap<SIMT_READ_TYPE>(SIMT_BOUND, x, y, z); }
#undef SIMT_BOUND
#undef SIMT_READ_TYPE
#undef SIMT_READ
#undef SIMT_REFERENCE
