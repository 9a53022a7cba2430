// What algorithms and containers throw: the standard library's system_error with the runtime's codes, and bad_alloc.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build
#include <thrust/detail/language.h>

#include <new>
#include <string>
#include <system_error>

namespace thrust {
namespace system {
using std::errc;
using std::error_category;
using std::error_code;
using std::error_condition;
using std::generic_category;
using std::make_error_code;
using std::make_error_condition;
using std::system_category;
using std::system_error;

namespace detail {
class runtime_category : public std::error_category {
 public:
  const char* name() const noexcept override {
#if defined(__HIP__)
    return "hip";
#else
    return "cuda";
#endif
  }
  std::string message(int code) const override {
    const auto status = static_cast<SIMT_GPU(Error_t)>(code);
    return std::string(SIMT_GPU(GetErrorName)(status)) + ": " + SIMT_GPU(GetErrorString)(status);
  }
};
class bad_alloc : public std::bad_alloc {
 public:
  explicit bad_alloc(const std::string& what) : what_("std::bad_alloc: " + what) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};
}  // namespace detail
inline const error_category& gpu_category() {
  static const detail::runtime_category category;
  return category;
}
inline const error_category& cuda_category() { return gpu_category(); }
inline const error_category& hip_category() { return gpu_category(); }
}  // namespace system
using system::cuda_category;
using system::error_category;
using system::error_code;
using system::error_condition;
using system::generic_category;
using system::hip_category;
using system::system_category;
using system::system_error;

namespace detail {
inline void check(SIMT_GPU(Error_t) status, const char* what) {
  if (status == SIMT_GPU(Success)) return;
  const auto& category = system::gpu_category();
  if (status == SIMT_GPU(ErrorMemoryAllocation)) throw system::detail::bad_alloc(category.message(static_cast<int>(status)));
  throw system::system_error(static_cast<int>(status), category, what);
}
}  // namespace detail
}  // namespace thrust
