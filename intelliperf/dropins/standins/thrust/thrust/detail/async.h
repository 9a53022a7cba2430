// thrust::async: the work is done before the call returns; a future only keeps what it gave.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/algorithms.h>

#include <utility>

namespace thrust {
class device_event {
 public:
  void wait() const {}
  bool ready() const { return true; }
  bool valid_stream() const { return true; }
};
template <class _T>
class device_future {
 public:
  explicit device_future(_T value) : value_(std::move(value)) {}
  _T get() const { return value_; }
  _T extract() { return std::move(value_); }
  void wait() const {}
  bool ready() const { return true; }

 private:
  _T value_;
};
namespace async {
template <class... _A>
auto reduce(_A&&... arguments) {
  return device_future<decltype(thrust::reduce(arguments...))>(thrust::reduce(arguments...));
}
#define SIMT_ASYNC(name)                             \
  template <class... _A>                             \
  device_event name(_A&&... arguments) {             \
    thrust::name(std::forward<_A>(arguments)...);    \
    return {};                                       \
  }
SIMT_ASYNC(for_each)
SIMT_ASYNC(transform)
SIMT_ASYNC(sort)
SIMT_ASYNC(stable_sort)
SIMT_ASYNC(inclusive_scan)
SIMT_ASYNC(exclusive_scan)
SIMT_ASYNC(copy)
#undef SIMT_ASYNC
}  // namespace async
}  // namespace thrust
