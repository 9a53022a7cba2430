// The C library in device code: printf, assert, malloc, memcpy, string functions; operator new and delete.
// Overloads by target of the host's functions, declared before any host header is read.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

template <class... _A>
SIMT_DT int printf(const char* format, _A... values) {
  return __simt::print(format, values...);
}
namespace std {
using ::printf;
}

extern "C" {
SIMT_D void* malloc(size_t bytes) { return __simt::allocate(bytes); }
SIMT_D void free(void* pointer) { __simt::release(pointer); }
SIMT_D void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
SIMT_D void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
SIMT_D void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }
SIMT_D int memcmp(const void* a, const void* b, size_t bytes) {
  auto p = static_cast<const unsigned char*>(a), q = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (p[i] != q[i]) return p[i] < q[i] ? -1 : 1;
  return 0;
}
SIMT_D size_t strlen(const char* text) {
  size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}
SIMT_D int strcmp(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}
SIMT_D int strncmp(const char* a, const char* b, size_t n) {
  for (; n != 0; ++a, ++b, --n)
    if (*a != *b || *a == 0) return static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
  return 0;
}
SIMT_D char* strcpy(char* to, const char* from) {
  char* out = to;
  while ((*out++ = *from++) != 0) {
  }
  return to;
}
SIMT_D void abort() { __simt::trap(); }
SIMT_D void __assertfail(const char* expression, const char* file, unsigned int line, const char* function, size_t) {
  __simt::assert_fail(expression, file, line, function);
}
}
// A template, for libraries declare it for host and device as well where NDEBUG leaves it undeclared.
template <typename = void>
SIMT_D void __assert_fail(const char* expression, const char* file, unsigned int line, const char* function) {
  __simt::assert_fail(expression, file, line, function);
}

namespace std {
using ::abort;
using ::free;
using ::malloc;
using ::memcmp;
using ::memcpy;
using ::memmove;
using ::memset;
using ::strcmp;
using ::strlen;
using ::strncmp;
template <class _T>
SIMT_DT void swap(_T& a, _T& b) {
  _T kept = static_cast<_T&&>(a);
  a = static_cast<_T&&>(b);
  b = static_cast<_T&&>(kept);
}
}  // namespace std

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
#define SIMT_NEW __device__ inline __attribute__((always_inline, nodebug))
SIMT_NEW void* operator new(__SIZE_TYPE__ bytes) { return __simt::allocate(bytes); }
SIMT_NEW void* operator new[](__SIZE_TYPE__ bytes) { return __simt::allocate(bytes); }
SIMT_NEW void* operator new(__SIZE_TYPE__, void* place) noexcept { return place; }
SIMT_NEW void* operator new[](__SIZE_TYPE__, void* place) noexcept { return place; }
SIMT_NEW void operator delete(void* pointer) noexcept { __simt::release(pointer); }
SIMT_NEW void operator delete[](void* pointer) noexcept { __simt::release(pointer); }
SIMT_NEW void operator delete(void* pointer, __SIZE_TYPE__) noexcept { __simt::release(pointer); }
SIMT_NEW void operator delete[](void* pointer, __SIZE_TYPE__) noexcept { __simt::release(pointer); }
SIMT_NEW void operator delete(void*, void*) noexcept {}
SIMT_NEW void operator delete[](void*, void*) noexcept {}
#undef SIMT_NEW
#pragma clang diagnostic pop
