// Launches: validation as the vendors do it, the launch itself, what comes after it.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "apart.h"
#include "described.h"
#include "device_file.h"
#include "export.h"
#include "host_api.h"
#include "host_calls.h"
#include "launch_alterations.h"
#include "other_numbers.h"
#include "properties.h"
#include "repeats.h"
#include "replay.h"
#include "settings.h"

namespace simt::host {

namespace {

constexpr uint64_t kMostThreadsOfAGrid = 1ull << 32;  // HIP's one limit of grids: grid times block, per dimension

bool within(const Dim3& size, const int (&most)[3]) {
  const uint32_t sizes[3] = {size.x, size.y, size.z};
  for (int i = 0; i < 3; ++i)
    if (sizes[i] == 0 || sizes[i] > static_cast<uint32_t>(most[i])) return false;
  return true;
}

// clang and nvcc differ in how many registers they give a kernel: 68 and 62, 48 and 56, 56 and 64 for three of NPB's bt
// (GMAP/NPB-GPU, clang 22 and nvcc 13.0 for sm_90). A launch this share beyond the limit is made, and told.
constexpr double kDoubtfulRegisters = 0.25;

// By how much the block fills the registers of a multiprocessor, by clang's count; 0 where it is not known.
double registers_wanted(const Kernel& kernel, const Dim3& block) {
  if (!kernel.facts.known) return 0;
  return static_cast<double>(block.count()) * kernel.facts.vgprs / device_limits().registers_per_block;
}

int check_shape(const Kernel& kernel, const Dim3& grid, const Dim3& block) {
  const DeviceLimits& limits = device_limits();
  if (!within(block, limits.block) || grid.count() == 0) return kInvalidConfiguration;
  if (block.count() > static_cast<uint64_t>(limits.threads_per_block)) return kInvalidConfiguration;
  const bool bounded = kernel.max_threads != 0 && block.count() > kernel.max_threads;
  if (current_vendor() == Vendor::kCuda) {
    if (!within(grid, limits.grid)) return kInvalidConfiguration;
    if (bounded) return kInvalidValue;
    return registers_wanted(kernel, block) > 1 + kDoubtfulRegisters ? kOutOfResources : kSuccess;
  }
  if (bounded) return kLaunchFailed;  // returned by the call, not sticky
  const bool huge = uint64_t{grid.x} * block.x >= kMostThreadsOfAGrid ||
                    uint64_t{grid.y} * block.y >= kMostThreadsOfAGrid ||
                    uint64_t{grid.z} * block.z >= kMostThreadsOfAGrid;
  if (huge) return kInvalidConfiguration;
  return kSuccess;
}

int check_shared(const Kernel& kernel, size_t shared_bytes) {
  const DeviceLimits& limits = device_limits();
  const uint64_t total = uint64_t{kernel.static_lds} + shared_bytes;
  if (current_vendor() == Vendor::kHip)
    return total > static_cast<uint64_t>(limits.shared_per_block) ? kInvalidValue : kSuccess;
  const uint64_t allowed = kernel.dynamic_lds_limit ? kernel.dynamic_lds_limit + kernel.static_lds
                                                    : static_cast<uint64_t>(limits.shared_per_block);
  return total > allowed ? kInvalidValue : kSuccess;
}

int check_residency(const Kernel& kernel, const Dim3& grid, const Dim3& block, size_t shared_bytes) {
  const uint64_t resident =
      resident_blocks(kernel, static_cast<uint32_t>(block.count()), static_cast<uint32_t>(shared_bytes));
  if (grid.count() > resident * target_device().compute_units) return kCooperativeTooLarge;
  return kSuccess;
}

void report_damage(const Allocation& allocation, int64_t offset, void* context) {
  const auto* kernel = static_cast<const Kernel*>(context);
  char detail[512];
  std::snprintf(detail, sizeof detail, "kernel=%s allocation_bytes=%llu address_offset=%lld", kernel->name.c_str(),
                static_cast<unsigned long long>(allocation.bytes), static_cast<long long>(offset));
  record_host_fault("out_of_bounds", detail);
}

void report_refusal(const Kernel& kernel, const Dim3& grid, const Dim3& block, size_t shared_bytes) {
  char detail[512];
  std::snprintf(detail, sizeof detail, "%s with %u×%u×%u blocks of %u×%u×%u threads and %zu bytes of dynamic LDS",
                kernel.display.empty() ? kernel.name.c_str() : kernel.display.c_str(), grid.x, grid.y, grid.z, block.x,
                block.y, block.z, shared_bytes);
  record_host_fault("invalid_launch", detail);
}

void report_doubt(const Kernel& kernel, const Dim3& block) {
  static std::mutex mutex;
  static auto* const told = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!told->insert(kernel.name).second) return;
  char detail[512];
  std::snprintf(detail, sizeof detail, "%s: %u registers a thread by clang, %llu threads, %d registers a block at most",
                kernel.display.empty() ? kernel.name.c_str() : kernel.display.c_str(), kernel.facts.vgprs,
                static_cast<unsigned long long>(block.count()), device_limits().registers_per_block);
  record_host_fault("doubtful_launch", detail);
}

// The arguments, copied: a captured launch outlives the caller's.
struct Arguments {
  std::vector<std::vector<char>> values;
  std::vector<void*> pointers;
};

std::shared_ptr<Arguments> copy_arguments(const Kernel& kernel, void** arguments) {
  auto copied = std::make_shared<Arguments>();
  copied->values.resize(kernel.parameters.size());
  for (const Parameter& parameter : kernel.parameters) {
    const auto* from = static_cast<const char*>(arguments[parameter.index]);
    if (parameter.index < copied->values.size()) copied->values[parameter.index].assign(from, from + parameter.size);
  }
  for (auto& value : copied->values) copied->pointers.push_back(value.data());
  return copied;
}

int status_of(const LaunchOutcome& altered) {
  if (altered.status != kLaunchOk) return altered.status;
  if (altered.out_of_bounds) return kIllegalAddress;
  if (altered.divided) return kDivided;
  return settings().races && altered.raced ? kRaced : kLaunchOk;
}

// Runs on other numbers first, and shows the parent that instead. False: nothing was shown.
bool shown_on_other_numbers(const LaunchRequest& request) {
  if (!export_awaits(*request.kernel)) return false;
  choose_plan(request.kernel->name);
  static auto* const counts = new std::map<std::string, uint64_t>;
  const uint64_t launches = (*counts)[request.kernel->name]++;
  const auto altered = [&](OtherNumbersMode mode) { return OtherNumbers::variants(request, launches, mode) > 0; };
  if (settings().awaits_numbers && std::any_of(settings().ways.begin(), settings().ways.end(), altered))
    export_waits(request);
  bool shown = false;
  for (const OtherNumbersMode mode : settings().ways) {
    const uint32_t variants = OtherNumbers::variants(request, launches, mode);
    for (uint32_t variant = 0; variant < variants; ++variant) {
      const OtherNumbers numbers(request, launches, mode, variant);
      const Alteration alteration{numbers.told(), mode, numbers.changed()};
      const Repeats::Aside aside;
      LaunchRequest altered_request = numbers.request();
      altered_request.watched |= settings().races && may_be_watched(altered_request);
      const LaunchOutcome outcome = launch(altered_request);
      export_dispatch(altered_request, status_of(outcome), true, alteration);
    }
    shown |= variants > 0;
  }
  return shown;
}

int run_once(const LaunchRequest& request, Stream& stream) {
  mirror_to_device(*request.kernel->module);
  const bool shown = !trying() && shown_on_other_numbers(request);
  if (!trying()) export_begins(request);
  StreamClock clock;
  LaunchRequest placed = request;
  placed.place = next_operation(stream, clock);
  const bool apart = settings().apart && !trying() && export_awaits(*request.kernel);
  const LaunchOutcome outcome = apart ? launch_apart(placed) : launch(placed);
  mirror_to_host(*request.kernel->module);
  advance(stream, outcome.time_ns, false);
  if (!trying()) note_call({"kernel", outcome.index, stream.id});
  check_canaries(report_damage, request.kernel);
  // Where launches are altered, another comparison looks at the unaltered ones.
  const OtherNumbersMode mode = settings().other_numbers;
  if (!shown && !trying())
    export_dispatch(request, outcome.status, mode == OtherNumbersMode::kNone || alters_copies(mode));
  if (outcome.status == kLaunchOk) return kSuccess;
  if (outcome.status < kIllegalAddress || outcome.status == kCooperativeTooLarge || outcome.status == kNotSupported)
    return outcome.status;
  // As on a GPU the launch itself succeeds; the next call that reaches the device tells.
  std::fprintf(stderr, "intelliperf: kernel %s failed: %s\n", request.kernel->display.c_str(),
               error_text(current_vendor(), outcome.status));
  set_sticky_error(outcome.status);
  return kSuccess;
}

int run(const LaunchRequest& request, Stream& stream) {
  const int error = run_once(request, stream);
  static uint64_t launches = 0;
  if (!trying() && settings().stop_after != 0 && ++launches == settings().stop_after) stop_after(launches);
  return error;
}

}  // namespace

int launch_kernel(Kernel* kernel, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes, Stream* handle,
                  bool cooperative) {
  if (!kernel) return kInvalidDeviceFunction;
  refuse_launch_beside_replay();
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  int error = check_shape(*kernel, grid, block);
  if (error == kSuccess) error = check_shared(*kernel, shared_bytes);
  if (error == kSuccess && cooperative) error = check_residency(*kernel, grid, block, shared_bytes);
  if (error != kSuccess) {
    report_refusal(*kernel, grid, block, shared_bytes);
    return error;
  }
  if (current_vendor() == Vendor::kCuda && registers_wanted(*kernel, block) > 1) report_doubt(*kernel, block);
  LaunchRequest request;
  request.kernel = kernel;
  request.grid = grid;
  request.block = block;
  request.dynamic_lds = static_cast<uint32_t>(shared_bytes);
  request.arguments = arguments;
  request.stream = stream->id;
  request.cooperative = cooperative;
  if (!stream->capture) return run(request, *stream);
  if (!kernel->has_parameters) return not_supported("capturing a kernel without known parameters");
  stream->capture->operations.emplace_back([request, copied = copy_arguments(*kernel, arguments)](Stream* on) {
    LaunchRequest again = request;
    again.arguments = copied->pointers.data();
    again.stream = on->id;
    return run(again, *on);
  });
  return kSuccess;
}

int LaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes, Stream* stream) {
  return launch_kernel(find_kernel(function), grid, block, arguments, shared_bytes, stream, false);
}
int LaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes,
                            Stream* stream) {
  return launch_kernel(find_kernel(function), grid, block, arguments, shared_bytes, stream, true);
}
int ExtLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes, Stream* stream,
                    Event* start, Event* stop, int) {
  int error = start ? EventRecord(start, stream) : static_cast<int>(kSuccess);
  if (error == kSuccess) error = LaunchKernel(function, grid, block, arguments, shared_bytes, stream);
  if (error == kSuccess && stop) error = EventRecord(stop, stream);
  return error;
}
int GetFuncBySymbol(Kernel** function, const void* symbol) {
  if (!function) return kInvalidValue;
  *function = find_kernel(symbol);
  return *function ? kSuccess : kInvalidDeviceFunction;
}

int FuncGetName(const char** name, const void* function) {
  if (!name) return kInvalidValue;
  const Kernel* kernel = find_kernel(function);
  if (!kernel) return kInvalidDeviceFunction;
  *name = kernel->name.c_str();
  return kSuccess;
}

}  // namespace simt::host
