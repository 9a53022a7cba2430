// What the emulator does not have fails by name when the program is built.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#define SIMT_UNSUPPORTED(what) static_assert(__simt::never<T>, "intelliperf: " what " are not supported by the emulator")
namespace __simt {
template <class...>
inline constexpr bool never = false;
}
#define SIMT_NO_TEXTURE(name)                                        \
  template <class T, class... A>                                     \
  SIMT_DT T name(A...) {                                             \
    SIMT_UNSUPPORTED("textures and surfaces");                       \
    return T();                                                      \
  }
SIMT_NO_TEXTURE(tex1D)
SIMT_NO_TEXTURE(tex1Dfetch)
SIMT_NO_TEXTURE(tex2D)
SIMT_NO_TEXTURE(tex3D)
SIMT_NO_TEXTURE(tex2DLod)
SIMT_NO_TEXTURE(tex2DLayered)
SIMT_NO_TEXTURE(surf1Dread)
SIMT_NO_TEXTURE(surf2Dread)
SIMT_NO_TEXTURE(surf3Dread)
#undef SIMT_NO_TEXTURE
template <class T, class... A>
SIMT_DT void surf1Dwrite(T, A...) {
  SIMT_UNSUPPORTED("textures and surfaces");
}
template <class T, class... A>
SIMT_DT void surf2Dwrite(T, A...) {
  SIMT_UNSUPPORTED("textures and surfaces");
}
template <class T, int dimensions = 1, int mode = 0>
struct texture {
  SIMT_UNSUPPORTED("texture references");
};
template <class T, int dimensions = 1>
struct surface {
  SIMT_UNSUPPORTED("surface references");
};
#undef SIMT_UNSUPPORTED
