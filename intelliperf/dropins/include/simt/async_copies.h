// Copies that CUDA makes in the background are made at once here, in turns by the threads of a group.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

namespace __simt {
template <class _T>
SIMT_DT void copy_together(unsigned long long rank, unsigned long long threads, _T* to, const _T* from, size_t bytes) {
  for (size_t i = rank; i < bytes / sizeof(_T); i += threads) to[i] = from[i];
}
}  // namespace __simt

namespace cuda {
template <size_t alignment>
struct aligned_size_t {
  size_t value;
  SIMT_HDT explicit constexpr aligned_size_t(size_t size) : value(size) {}
  SIMT_HDT constexpr operator size_t() const { return value; }
};
}  // namespace cuda
