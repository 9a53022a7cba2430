#include "recording.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>

#include "dispatches.h"
#include "pools.h"
#include "programs.h"
#include "recordfile.h"
#include "records.h"

namespace intelliperf {

namespace {

constexpr uint64_t kBufferBytes = 256 << 20, kDispatches = 32;
constexpr uint32_t kFewestWords = 8192, kMostWords = 1 << 17;  // of one wave, where nothing is asked for
constexpr size_t kPage = 4096;

struct State {
  explicit State(const Functions& runtime) : runtime(runtime), pools(runtime), programs(runtime) {}
  const Functions& runtime;
  std::mutex lock;            // of what is loaded
  std::mutex recording_lock;  // one dispatch after another is recorded
  Pools pools;
  Programs programs;
  std::vector<std::string> kernels;
  uint64_t buffer_bytes = 0, asked_words = 0, most_dispatches = 0, recorded = 0;
  std::FILE* file = nullptr;
  pid_t owner = 0;
};

State* state = nullptr;

using Hold = std::lock_guard<std::mutex>;

bool watching() { return getpid() == state->owner; }

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// ---- where a dispatch's records go -----------------------------------------------------------

struct Plan {
  uint64_t groups;
  uint32_t waves_per_group, region_words, recorded_groups;
  uint64_t waves() const { return uint64_t(recorded_groups) * waves_per_group; }
};

Plan plan_for(const Grid& grid, unsigned wave_size) {
  Plan plan{uint64_t(grid.groups[0]) * grid.groups[1] * grid.groups[2], 0, 0, 0};
  const unsigned items = grid.items[0] * grid.items[1] * grid.items[2];
  plan.waves_per_group = (items + wave_size - 1) / wave_size;
  const uint64_t words = state->buffer_bytes / 8, all = std::max<uint64_t>(1, plan.groups * plan.waves_per_group);
  const uint64_t share = std::clamp<uint64_t>(words / all, kFewestWords, kMostWords);
  plan.region_words = uint32_t(std::min<uint64_t>(state->asked_words ? state->asked_words : share, words));
  const uint64_t room = words / plan.region_words / std::max(1u, plan.waves_per_group);
  plan.recorded_groups = uint32_t(std::clamp<uint64_t>(room, 1, plan.groups));
  return plan;
}

// As many groups as there is room for, each as likely as the others; the same ones in every run.
std::vector<uint32_t> slots_for(const Plan& plan, std::vector<uint32_t>& chosen) {
  std::vector<uint32_t> slots(plan.groups, kNotRecorded);
  std::mt19937_64 random(plan.groups);
  uint64_t wanted = plan.recorded_groups;
  for (uint64_t group = 0; group < plan.groups && wanted; ++group) {
    if (random() % (plan.groups - group) >= wanted) continue;
    slots[group] = uint32_t(chosen.size());
    chosen.push_back(uint32_t(group));
    --wanted;
  }
  return slots;
}

// Slots, cursors and regions in one piece of shared memory.
class Buffers {
 public:
  Buffers(const Plan& plan, const std::vector<uint32_t>& slots) : plan_(plan) {
    const size_t slot_bytes = rounded(slots.size() * 4), cursor_bytes = rounded(plan.waves() * 4);
    memory_ = static_cast<char*>(state->pools.allocate_shared(slot_bytes + cursor_bytes +
                                                              plan.waves() * plan.region_words * 8));
    if (!memory_) return;
    std::memcpy(memory_, slots.data(), slots.size() * 4);
    cursors_ = reinterpret_cast<uint32_t*>(memory_ + slot_bytes);
    std::memset(cursors_, 0, cursor_bytes);
    regions_ = reinterpret_cast<uint64_t*>(memory_ + slot_bytes + cursor_bytes);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    if (memory_) state->runtime.amd.hsa_amd_memory_pool_free_fn(memory_);
  }

  explicit operator bool() const { return memory_ != nullptr; }
  uint64_t slots() const { return reinterpret_cast<uint64_t>(memory_); }
  uint64_t cursors() const { return reinterpret_cast<uint64_t>(cursors_); }
  uint64_t regions() const { return reinterpret_cast<uint64_t>(regions_); }
  uint32_t wanted(uint64_t wave) const { return cursors_[wave]; }
  const uint64_t* region(uint64_t wave) const { return regions_ + wave * plan_.region_words; }

  // Words of whole records; the first that had no room ends them.
  uint32_t kept(uint64_t wave) const {
    const uint32_t wanted = cursors_[wave];
    if (wanted <= plan_.region_words) return wanted;
    uint32_t at = 0;
    while (at + kRecordWords <= plan_.region_words) {
      const auto lanes = uint32_t(region(wave)[at] >> 32);
      if (lanes > plan_.region_words || at + kRecordWords + lanes > plan_.region_words) break;
      at += kRecordWords + lanes;
    }
    return at;
  }

 private:
  static size_t rounded(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  Plan plan_;
  char* memory_ = nullptr;
  uint32_t* cursors_ = nullptr;
  uint64_t* regions_ = nullptr;
};

// ---- the file --------------------------------------------------------------------------------

void put(const void* content, size_t bytes) {
  std::fwrite(content, 1, bytes, state->file);
  static const char zeros[8] = {};
  if (bytes % 8) std::fwrite(zeros, 1, 8 - bytes % 8, state->file);
}

void put_head(const LoadedKernel& kernel, const Grid& grid, const Plan& plan, Fate fate, uint64_t identity) {
  const bool recorded = fate == Fate::kRecorded;
  DispatchHead head{{}, identity, uint32_t(fate), uint32_t(kernel.symbol.size()), {}, {}, recorded ? plan.recorded_groups : 0,
                    plan.waves_per_group, state->pools.wave_size(), plan.region_words};
  std::memcpy(head.mark, kRecordMark, sizeof head.mark);
  std::memcpy(head.groups, grid.groups, sizeof head.groups);
  std::memcpy(head.items, grid.items, sizeof head.items);
  put(&head, sizeof head);
  put(kernel.symbol.data(), kernel.symbol.size());
}

void put_waves(const Plan& plan, const std::vector<uint32_t>& chosen, const Buffers& buffers) {
  for (uint64_t wave = 0; wave < plan.waves(); ++wave) {
    const WaveHead head{chosen[wave / plan.waves_per_group], uint32_t(wave % plan.waves_per_group),
                        buffers.wanted(wave), buffers.kept(wave)};
    put(&head, sizeof head);
    put(buffers.region(wave), size_t(head.kept) * 8);
  }
}

// ---- dispatches ------------------------------------------------------------------------------

bool write_variable(uint64_t at, const RecordsVariable& content) {
  auto* to = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
  return state->runtime.core.hsa_memory_copy_fn(to, &content, sizeof content) == HSA_STATUS_SUCCESS;
}

bool read_variable(uint64_t at, RecordsVariable& content) {
  const auto* from = reinterpret_cast<const void*>(at);  // NOLINT(performance-no-int-to-ptr)
  return state->runtime.core.hsa_memory_copy_fn(&content, from, sizeof content) == HSA_STATUS_SUCCESS;
}

// The dispatch with its records; false where it is to run as it is.
bool recorded(const hsa_kernel_dispatch_packet_t& packet, const LoadedKernel& kernel, uint64_t variable,
              Writer writer) {
  const Grid grid(packet);
  const Plan plan = plan_for(grid, state->pools.wave_size());
  RecordsVariable content{};
  if (!variable || !read_variable(variable, content)) {
    put_head(kernel, grid, plan, Fate::kNotInstrumented, 0);
    return false;
  }
  if (state->recorded >= state->most_dispatches) {
    put_head(kernel, grid, plan, Fate::kBeyondLimit, content.identity);
    return false;
  }
  std::vector<uint32_t> chosen;
  const Buffers buffers(plan, slots_for(plan, chosen));
  const RecordsVariable off{content.identity, 0, 0, 0, 0, 0, {}, {}, 0, 0};
  content = {content.identity, buffers.slots(), buffers.cursors(), buffers.regions(), plan.region_words,
             plan.waves_per_group, {grid.groups[0], grid.groups[1]}, {grid.items[0], grid.items[1]},
             uint32_t(plan.groups), 0};
  if (!buffers || plan.groups > UINT32_MAX || !write_variable(variable, content)) {
    put_head(kernel, grid, plan, Fate::kNoMemory, content.identity);
    return false;
  }
  const bool waited = run_alone(state->runtime, packet, writer, [&] {
    write_variable(variable, off);
    put_head(kernel, grid, plan, Fate::kRecorded, content.identity);
    put_waves(plan, chosen, buffers);
    ++state->recorded;
  });
  if (!waited) std::abort();  // the buffers go away while they are written to
  return true;
}

// The kernel of a dispatch that is looked at, with the address of its variable.
std::optional<LoadedKernel> target_of(const hsa_kernel_dispatch_packet_t& packet, uint64_t& address) {
  if (!is_dispatch(packet)) return std::nullopt;
  const Hold hold(state->lock);
  const LoadedKernel* kernel = state->programs.find(packet.kernel_object);
  const auto& names = state->kernels;
  if (!kernel || std::find(names.begin(), names.end(), kernel->symbol) == names.end()) return std::nullopt;
  const Variable* variable = state->programs.variable(*kernel, kRecordsVariable);
  address = variable ? variable->base : 0;
  return *kernel;
}

void on_packets(const void* packets, uint64_t count, uint64_t, void*, Writer writer) {
  const auto* all = static_cast<const hsa_kernel_dispatch_packet_t*>(packets);  // every packet has 64 bytes
  if (!watching()) return writer(packets, count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t variable = 0;
    const std::optional<LoadedKernel> kernel = target_of(all[i], variable);
    if (!kernel) {
      writer(&all[i], 1);
      continue;
    }
    const Hold hold(state->recording_lock);
    if (!recorded(all[i], *kernel, variable, writer)) writer(&all[i], 1);
    std::fflush(state->file);
  }
}

hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                          void (*on_error)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t private_bytes,
                          uint32_t group_bytes, hsa_queue_t** queue) {
  const QueueRequest request{agent, size, type, on_error, data, private_bytes, group_bytes};
  if (watching()) return create_watched_queue(state->runtime, request, on_packets, queue);
  return state->runtime.core.hsa_queue_create_fn(agent, size, type, on_error, data, private_bytes, group_bytes, queue);
}

hsa_status_t freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = state->runtime.core.hsa_executable_freeze_fn(executable, options);
  if (status != HSA_STATUS_SUCCESS || !watching()) return status;
  const Hold hold(state->lock);
  state->programs.freeze(executable);
  return status;
}

hsa_status_t destroy(hsa_executable_t executable) {
  if (watching()) {
    const Hold hold(state->lock);
    state->programs.destroy(executable);
  }
  return state->runtime.core.hsa_executable_destroy_fn(executable);
}

std::vector<std::string> names_of(const char* variable) {
  std::vector<std::string> names;
  const char* text = std::getenv(variable);
  std::string rest = text ? text : "";
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    names.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return names;
}

}  // namespace

void start_recording(HsaApiTable& table, const Functions& runtime) {
  const std::string path = std::string(std::getenv("INTELLIPERF_RECORD_FILE")) + "." + std::to_string(getpid());
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return;  // whoever looks for the file misses it
  state = new State(runtime);
  state->file = file;
  state->owner = getpid();
  state->kernels = names_of("INTELLIPERF_RECORD_KERNELS");
  state->buffer_bytes = number_of("INTELLIPERF_RECORD_BYTES", kBufferBytes);
  state->asked_words = number_of("INTELLIPERF_RECORD_WORDS", 0);
  state->most_dispatches = number_of("INTELLIPERF_RECORD_DISPATCHES", kDispatches);
  table.core_->hsa_queue_create_fn = create_queue;
  table.core_->hsa_executable_freeze_fn = freeze;
  table.core_->hsa_executable_destroy_fn = destroy;
}

}  // namespace intelliperf
