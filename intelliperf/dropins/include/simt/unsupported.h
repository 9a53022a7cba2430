// What the emulator does not have fails by name when the program is built.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#define SIMT_UNSUPPORTED(what) static_assert(__simt::never<_T>, "intelliperf: " what " are not supported by the emulator")
namespace __simt {
template <class...>
inline constexpr bool never = false;
}
// Declaring one is fine (sources keep them for old toolkits), using one is not.
template <class _T, int dimensions = 1, int mode = 0>
struct texture {};
template <class _T, int dimensions = 1>
struct surface {};
#define SIMT_NO_REFERENCE(name)                             \
  template <class _T, int _D, int _M, class... _A>           \
  SIMT_DT _T name(const texture<_T, _D, _M>&, _A...) {       \
    SIMT_UNSUPPORTED("texture references");                 \
    return _T();                                            \
  }
SIMT_NO_REFERENCE(tex1Dfetch)
SIMT_NO_REFERENCE(tex1D)
SIMT_NO_REFERENCE(tex2D)
SIMT_NO_REFERENCE(tex3D)
#undef SIMT_NO_REFERENCE
#undef SIMT_UNSUPPORTED
