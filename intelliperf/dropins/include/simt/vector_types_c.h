// char1 … double4, dim3 and make_* for programs in C.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

#define SIMT_ALIGNED(bytes) __attribute__((aligned((bytes) > 16 ? 16 : (bytes))))
#define SIMT_VECTORS(name, _T)                                                                               \
  typedef struct name##1 {                                                                                   \
    _T x;                                                                                                    \
  } name##1;                                                                                                 \
  typedef struct SIMT_ALIGNED(2 * sizeof(_T)) name##2 {                                                      \
    _T x, y;                                                                                                 \
  } name##2;                                                                                                 \
  typedef struct name##3 {                                                                                   \
    _T x, y, z;                                                                                              \
  } name##3;                                                                                                 \
  typedef struct SIMT_ALIGNED(4 * sizeof(_T)) name##4 {                                                      \
    _T x, y, z, w;                                                                                           \
  } name##4;                                                                                                 \
  static __inline__ name##1 make_##name##1(_T x) { return (name##1){x}; }                                    \
  static __inline__ name##2 make_##name##2(_T x, _T y) { return (name##2){x, y}; }                           \
  static __inline__ name##3 make_##name##3(_T x, _T y, _T z) { return (name##3){x, y, z}; }                  \
  static __inline__ name##4 make_##name##4(_T x, _T y, _T z, _T w) { return (name##4){x, y, z, w}; }
SIMT_VECTORS(char, signed char)
SIMT_VECTORS(uchar, unsigned char)
SIMT_VECTORS(short, short)
SIMT_VECTORS(ushort, unsigned short)
SIMT_VECTORS(int, int)
SIMT_VECTORS(uint, unsigned int)
SIMT_VECTORS(long, long)
SIMT_VECTORS(ulong, unsigned long)
SIMT_VECTORS(longlong, long long)
SIMT_VECTORS(ulonglong, unsigned long long)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)
#undef SIMT_VECTORS
#undef SIMT_ALIGNED

typedef struct dim3 {
  unsigned int x, y, z;
} dim3;
