// cuFFT and hipFFT: plans of one to three dimensions with their advanced layouts, transformed on the host.
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fourier.h"
#include "host_blas.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt::host {

enum FftStatus : int {
  kFftSuccess = 0,
  kFftInvalidPlan = 1,
  kFftInvalidType = 3,
  kFftInvalidValue = 4,
  kFftExecutionFailed = 6,
  kFftInvalidSize = 8,
};
enum class FftType : int { kR2C = 0x2a, kC2R = 0x2c, kC2C = 0x29, kD2Z = 0x6a, kZ2D = 0x6c, kZ2Z = 0x69 };

namespace {

using Number = std::complex<double>;

struct Layout {
  std::vector<int64_t> embed;  // allocated sizes; empty: as many numbers as are transformed, closely packed
  int64_t stride = 1, distance = 0;
};

struct Plan {
  Vendor vendor;
  std::vector<int64_t> sizes;  // the last one is contiguous
  Layout in, out;
  FftType type{};
  int64_t batch = 0;  // 0: not made yet
  Stream* stream = nullptr;

  bool is_double() const { return (int(type) & 0x40) != 0; }
  bool reads_real() const { return type == FftType::kR2C || type == FftType::kD2Z; }
  bool writes_real() const { return type == FftType::kC2R || type == FftType::kZ2D; }
};

std::mutex plans_mutex;
std::map<int64_t, std::shared_ptr<Plan>>& plans() {
  static auto* const known = new std::map<int64_t, std::shared_ptr<Plan>>;
  return *known;
}

std::shared_ptr<Plan> plan_of(int64_t handle) {
  const std::lock_guard lock(plans_mutex);
  const auto found = plans().find(handle);
  return found == plans().end() ? nullptr : found->second;
}

int64_t new_plan(Vendor vendor) {
  const std::lock_guard lock(plans_mutex);
  static int64_t last = 0;
  plans()[++last] = std::make_shared<Plan>(Plan{vendor, {}, {}, {}, {}, 0, nullptr});
  return last;
}

bool is_known(int type) {
  for (const FftType known : {FftType::kR2C, FftType::kC2R, FftType::kC2C, FftType::kD2Z, FftType::kZ2D, FftType::kZ2Z})
    if (type == int(known)) return true;
  return false;
}

// Layouts are given as both libraries take them: with `embed` null the other two are not looked at.
template <typename T>
Layout layout_of(int rank, const T* embed, int64_t stride, int64_t distance) {
  if (!embed) return {};
  return {std::vector<int64_t>(embed, embed + rank), stride, distance};
}

int make(int64_t handle, std::vector<int64_t> sizes, int type, int64_t batch, Layout in, Layout out, size_t* work) {
  const std::shared_ptr<Plan> plan = plan_of(handle);
  if (!plan) return kFftInvalidPlan;
  if (!is_known(type)) return kFftInvalidType;
  if (sizes.empty() || sizes.size() > 3 || batch < 1) return kFftInvalidValue;
  for (const int64_t size : sizes)
    if (size < 1) return kFftInvalidSize;
  plan->sizes = std::move(sizes), plan->in = std::move(in), plan->out = std::move(out);
  plan->type = FftType{type}, plan->batch = batch;
  if (work) *work = 0;
  return kFftSuccess;
}

// Where the numbers of one side are; `half`: of n complex numbers in the last dimension n / 2 + 1 are kept.
struct Side {
  std::vector<int64_t> sizes, embed;
  int64_t stride, distance;

  int64_t at(int64_t batch, int64_t index) const {
    int64_t offset = 0, scale = 1;
    for (size_t d = sizes.size(); d-- > 0; index /= sizes[d]) {
      offset += index % sizes[d] * scale;
      scale *= embed[d];
    }
    return batch * distance + offset * stride;
  }
  int64_t count() const {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  }
};

Side side_of(const Plan& plan, const Layout& layout, bool half, bool padded) {
  Side side{plan.sizes, plan.sizes, layout.stride, layout.distance};
  const int64_t kept = plan.sizes.back() / 2 + 1;
  if (half) side.sizes.back() = side.embed.back() = kept;
  if (padded) side.embed.back() = 2 * kept;
  if (!layout.embed.empty()) {
    for (size_t d = 1; d < side.embed.size(); ++d) side.embed[d] = layout.embed[d];
    return side;
  }
  side.stride = side.distance = 1;
  for (const int64_t size : side.embed) side.distance *= size;
  return side;
}

template <typename T>
Number complex_at(const void* from, int64_t at) {
  return {double(static_cast<const T*>(from)[2 * at]), double(static_cast<const T*>(from)[2 * at + 1])};
}

// Along each dimension but the last, of an array of `sizes`.
void transform_outer(std::vector<Number>& values, const std::vector<int64_t>& sizes, int sign) {
  int64_t stride = sizes.back();
  for (size_t d = sizes.size() - 1; d-- > 0; stride *= sizes[d]) {
    const Fourier fourier(size_t(sizes[d]), sign);
    std::vector<Number> line(size_t(sizes[d]), 0);
    const int64_t block = stride * sizes[d];
    for (int64_t start = 0; start < int64_t(values.size()); start += block)
      for (int64_t offset = start; offset < start + stride; ++offset) {
        for (int64_t i = 0; i < sizes[d]; ++i) line[size_t(i)] = values[size_t(offset + i * stride)];
        fourier.transform(line.data());
        for (int64_t i = 0; i < sizes[d]; ++i) values[size_t(offset + i * stride)] = line[size_t(i)];
      }
  }
}

template <typename T>
void from_real(const Plan& plan, const Side& in, const Side& out, const void* from, void* to, int64_t batch) {
  const int64_t length = plan.sizes.back(), kept = length / 2 + 1, rows = in.count() / length;
  const Fourier fourier(size_t(length), -1);
  std::vector<Number> values(size_t(rows * kept)), line(size_t(length), 0);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < length; ++i)
      line[size_t(i)] = double(static_cast<const T*>(from)[in.at(batch, row * length + i)]);
    fourier.transform(line.data());
    std::copy(line.begin(), line.begin() + kept, values.begin() + row * kept);
  }
  transform_outer(values, out.sizes, -1);
  for (int64_t i = 0; i < rows * kept; ++i) {
    static_cast<T*>(to)[2 * out.at(batch, i)] = T(values[size_t(i)].real());
    static_cast<T*>(to)[2 * out.at(batch, i) + 1] = T(values[size_t(i)].imag());
  }
}

template <typename T>
void to_real(const Plan& plan, const Side& in, const Side& out, const void* from, void* to, int64_t batch) {
  const int64_t length = plan.sizes.back(), kept = length / 2 + 1, rows = in.count() / kept;
  std::vector<Number> values(size_t(rows * kept)), line(size_t(length), 0);
  for (int64_t i = 0; i < rows * kept; ++i) values[size_t(i)] = complex_at<T>(from, in.at(batch, i));
  transform_outer(values, in.sizes, 1);
  const Fourier fourier(size_t(length), 1);
  for (int64_t row = 0; row < rows; ++row) {
    const Number* half = values.data() + row * kept;
    line[0] = half[0].real();
    for (int64_t i = 1; i < kept; ++i) line[size_t(length - i)] = std::conj(line[size_t(i)] = half[i]);
    if (length % 2 == 0) line[size_t(length / 2)] = half[kept - 1].real();
    fourier.transform(line.data());
    for (int64_t i = 0; i < length; ++i)
      static_cast<T*>(to)[out.at(batch, row * length + i)] = T(line[size_t(i)].real());
  }
}

template <typename T>
void complex_to_complex(const Plan& plan, const Side& in, const Side& out, const void* from, void* to, int64_t batch,
                        int sign) {
  const int64_t length = plan.sizes.back(), count = in.count();
  std::vector<Number> values(size_t(count), 0);
  for (int64_t i = 0; i < count; ++i) values[size_t(i)] = complex_at<T>(from, in.at(batch, i));
  const Fourier fourier(size_t(length), sign);
  for (int64_t row = 0; row < count; row += length) fourier.transform(values.data() + row);
  transform_outer(values, plan.sizes, sign);
  for (int64_t i = 0; i < count; ++i) {
    static_cast<T*>(to)[2 * out.at(batch, i)] = T(values[size_t(i)].real());
    static_cast<T*>(to)[2 * out.at(batch, i) + 1] = T(values[size_t(i)].imag());
  }
}

template <typename T>
void transform(const Plan& plan, const Side& in, const Side& out, const void* from, void* to, int sign) {
  for (int64_t batch = 0; batch < plan.batch; ++batch) {
    if (plan.reads_real()) from_real<T>(plan, in, out, from, to, batch);
    if (plan.writes_real()) to_real<T>(plan, in, out, from, to, batch);
    if (!plan.reads_real() && !plan.writes_real()) complex_to_complex<T>(plan, in, out, from, to, batch, sign);
  }
}

uint64_t bytes_of(const Plan& plan, const Side& side, bool real) {
  const int64_t last = side.at(plan.batch - 1, side.count() - 1);
  return uint64_t(last + 1) * (plan.is_double() ? 8 : 4) * (real ? 1 : 2);
}

// https://docs.nvidia.com/cuda/cufft counts 5 n log2(n) operations for n complex numbers, half of that for real ones.
double operations(const Plan& plan) {
  double count = 1;
  for (const int64_t size : plan.sizes) count *= double(size);
  const double factor = plan.reads_real() || plan.writes_real() ? 2.5 : 5;
  return factor * count * std::log2(count > 1 ? count : 2) * double(plan.batch);
}

int execute(const char* name, FftType type, int64_t handle, const void* from, void* to, int sign) {
  const std::shared_ptr<Plan> plan = plan_of(handle);
  if (!plan || plan->batch == 0) return kFftInvalidPlan;
  if (plan->type != type) return kFftInvalidType;
  if (!from || !to || (sign != -1 && sign != 1)) return kFftInvalidValue;
  const Call call(plan->vendor);
  const bool in_place = from == to;
  const Side in = side_of(*plan, plan->in, plan->writes_real(), in_place && plan->reads_real());
  const Side out = side_of(*plan, plan->out, plan->reads_real(), in_place && plan->writes_real());
  LibraryCall noted{name, operations(*plan), plan->is_double(), {}, {}};
  noted.reads.push_back({from, bytes_of(*plan, in, plan->reads_real())});
  noted.writes.push_back({to, bytes_of(*plan, out, plan->writes_real())});
  const int error = run_library_call(noted, plan->stream, false, [=, plan = *plan] {
    plan.is_double() ? transform<double>(plan, in, out, from, to, sign)
                     : transform<float>(plan, in, out, from, to, sign);
  });
  if (error == kInvalidValue) return kFftInvalidValue;
  return error == kSuccess ? kFftSuccess : kFftExecutionFailed;
}

template <typename H>
int64_t number_of(H handle) {
  return (int64_t)handle;
}

template <typename H, typename F>
int made(H* handle, Vendor vendor, F make_it) {
  if (!handle) return kFftInvalidValue;
  const int64_t fresh = new_plan(vendor);
  const int status = make_it(fresh);
  if (status == kFftSuccess) *handle = (H)fresh;
  return status;
}

int with_plan(int64_t handle, size_t* bytes) {
  if (!plan_of(handle)) return kFftInvalidPlan;
  if (bytes) *bytes = 0;
  return kFftSuccess;
}

template <typename T>
std::vector<int64_t> sizes_of(int rank, const T* sizes) {
  if (rank < 1 || rank > 3 || !sizes) return {};
  return {sizes, sizes + rank};
}

int destroy(int64_t handle) {
  const std::lock_guard lock(plans_mutex);
  return plans().erase(handle) ? kFftSuccess : kFftInvalidPlan;
}

int set_stream(int64_t handle, Stream* stream) {
  const std::shared_ptr<Plan> plan = plan_of(handle);
  return plan ? (plan->stream = stream, kFftSuccess) : kFftInvalidPlan;
}

}  // namespace

extern "C" {
using CudaPlan = int;
using HipPlan = void*;

#define SIMT_EXECUTION(P, H, NAME, TYPE, SIGN)                                       \
  SIMT_EXPORT int P##Exec##NAME(H plan, void* from, void* to) {                      \
    return execute(#P "Exec" #NAME, FftType::TYPE, number_of(plan), from, to, SIGN); \
  }
#define SIMT_COMPLEX_EXECUTION(P, H, NAME, TYPE)                                     \
  SIMT_EXPORT int P##Exec##NAME(H plan, void* from, void* to, int sign) {            \
    return execute(#P "Exec" #NAME, FftType::TYPE, number_of(plan), from, to, sign); \
  }
#define SIMT_MANY(P, H, SUFFIX, T)                                                                           \
  SIMT_EXPORT int P##MakePlanMany##SUFFIX(H plan, int rank, T* n, T* in, T in_stride, T in_distance, T* out, \
                                          T out_stride, T out_distance, int type, T batch, size_t* work) {   \
    const bool both = in && out; /* one alone is not looked at */                                            \
    return make(number_of(plan), sizes_of(rank, n), type, batch,                                             \
                layout_of(rank, both ? in : nullptr, in_stride, in_distance),                                \
                layout_of(rank, both ? out : nullptr, out_stride, out_distance), work);                      \
  }
#define SIMT_LIBRARY(P, H, VENDOR)                                                                                   \
  SIMT_EXPORT int P##Create(H* plan) {                                                                               \
    return made(plan, VENDOR, [](int64_t) { return int(kFftSuccess); });                                             \
  }                                                                                                                  \
  SIMT_EXPORT int P##Destroy(H plan) { return destroy(number_of(plan)); }                                            \
  SIMT_EXPORT int P##SetStream(H plan, Stream* stream) { return set_stream(number_of(plan), stream); }               \
  SIMT_EXPORT int P##SetAutoAllocation(H plan, int) { return with_plan(number_of(plan), nullptr); }                  \
  SIMT_EXPORT int P##SetWorkArea(H plan, void*) { return with_plan(number_of(plan), nullptr); }                      \
  SIMT_EXPORT int P##GetSize(H plan, size_t* work) { return with_plan(number_of(plan), work); }                      \
  SIMT_EXPORT int P##MakePlan1d(H plan, int x, int type, int batch, size_t* work) {                                  \
    return make(number_of(plan), {x}, type, batch, {}, {}, work);                                                    \
  }                                                                                                                  \
  SIMT_EXPORT int P##MakePlan2d(H plan, int x, int y, int type, size_t* work) {                                      \
    return make(number_of(plan), {x, y}, type, 1, {}, {}, work);                                                     \
  }                                                                                                                  \
  SIMT_EXPORT int P##MakePlan3d(H plan, int x, int y, int z, int type, size_t* work) {                               \
    return make(number_of(plan), {x, y, z}, type, 1, {}, {}, work);                                                  \
  }                                                                                                                  \
  SIMT_MANY(P, H, , int)                                                                                             \
  SIMT_MANY(P, H, 64, long long)                                                                                     \
  SIMT_EXPORT int P##Plan1d(H* plan, int x, int type, int batch) {                                                   \
    return made(plan, VENDOR, [=](int64_t it) { return make(it, {x}, type, batch, {}, {}, nullptr); });              \
  }                                                                                                                  \
  SIMT_EXPORT int P##Plan2d(H* plan, int x, int y, int type) {                                                       \
    return made(plan, VENDOR, [=](int64_t it) { return make(it, {x, y}, type, 1, {}, {}, nullptr); });               \
  }                                                                                                                  \
  SIMT_EXPORT int P##Plan3d(H* plan, int x, int y, int z, int type) {                                                \
    return made(plan, VENDOR, [=](int64_t it) { return make(it, {x, y, z}, type, 1, {}, {}, nullptr); });            \
  }                                                                                                                  \
  SIMT_EXPORT int P##PlanMany(H* plan, int rank, int* n, int* in, int in_stride, int in_distance, int* out,          \
                              int out_stride, int out_distance, int type, int batch) {                               \
    return made(plan, VENDOR, [=](int64_t it) {                                                                      \
      return P##MakePlanMany((H)it, rank, n, in, in_stride, in_distance, out, out_stride, out_distance, type, batch, \
                             nullptr);                                                                               \
    });                                                                                                              \
  }                                                                                                                  \
  SIMT_COMPLEX_EXECUTION(P, H, C2C, kC2C)                                                                            \
  SIMT_COMPLEX_EXECUTION(P, H, Z2Z, kZ2Z)                                                                            \
  SIMT_EXECUTION(P, H, R2C, kR2C, -1)                                                                                \
  SIMT_EXECUTION(P, H, D2Z, kD2Z, -1)                                                                                \
  SIMT_EXECUTION(P, H, C2R, kC2R, 1)                                                                                 \
  SIMT_EXECUTION(P, H, Z2D, kZ2D, 1)
SIMT_LIBRARY(cufft, CudaPlan, Vendor::kCuda)
SIMT_LIBRARY(hipfft, HipPlan, Vendor::kHip)

SIMT_EXPORT int cufftGetVersion(int* version) { return *version = 11203, kFftSuccess; }
SIMT_EXPORT int hipfftGetVersion(int* version) { return *version = 10014, kFftSuccess; }
}  // extern "C"

}  // namespace simt::host
