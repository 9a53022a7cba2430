#include "recording.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
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
constexpr uint64_t kWaveWords = 8192;  // on average, where nothing is asked for
constexpr size_t kPage = 4096;

struct State {
  explicit State(const Functions& runtime) : runtime(runtime), pools(runtime), programs(runtime) {}
  const Functions& runtime;
  std::mutex lock;            // of what is loaded
  std::mutex recording_lock;  // of the file and of what follows
  std::condition_variable recording_ended;
  bool under_way = false;  // one dispatch after another is recorded
  bool beside = false;     // another ran while this one was under way
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
  uint64_t groups, words;
  uint32_t waves_per_group, recorded_groups;
  uint64_t waves() const { return uint64_t(recorded_groups) * waves_per_group; }
};

Plan plan_for(const Grid& grid, unsigned wave_size) {
  Plan plan{uint64_t(grid.groups[0]) * grid.groups[1] * grid.groups[2], state->buffer_bytes / 8, 0, 0};
  const unsigned items = grid.items[0] * grid.items[1] * grid.items[2];
  plan.waves_per_group = std::max(1u, (items + wave_size - 1) / wave_size);
  const uint64_t each = state->asked_words ? state->asked_words : kWaveWords;
  plan.recorded_groups = uint32_t(std::clamp<uint64_t>(plan.words / each / plan.waves_per_group, 1, plan.groups));
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

// The pool and the groups' slots, in one piece of the device's memory.
class Buffers {
 public:
  Buffers(hsa_agent_t agent, const Plan& plan, const std::vector<uint32_t>& slots)
      : words_(plan.words), pool_bytes_(sizeof(PoolHead) + plan.words * 8) {
    memory_ = static_cast<char*>(state->pools.allocate_on(agent, pool_bytes_ + slots.size() * 4));
    // Where the last record has no room, nothing is written: it is to be seen that there is none.
    const std::vector<uint64_t> nothing(std::min<uint64_t>(words_, kRecordWords + kMostLanes));
    const PoolHead empty{};
    if (memory_ && copy(memory_, &empty, sizeof empty) &&
        copy(pool_end() - nothing.size() * 8, nothing.data(), nothing.size() * 8) &&
        copy(pool_end(), slots.data(), slots.size() * 4))
      return;
    release();
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() { release(); }

  explicit operator bool() const { return memory_ != nullptr; }
  uint64_t pool() const { return reinterpret_cast<uint64_t>(memory_); }
  uint64_t slots() const { return reinterpret_cast<uint64_t>(pool_end()); }

  // After the dispatch: whole records, as they lie in the pool; false where they cannot be read.
  bool read(std::vector<uint64_t>& records, uint64_t& wanted) const {
    PoolHead head{};
    if (!copy(&head, memory_, sizeof head)) return false;
    wanted = head.cursor;
    records.resize(std::min(wanted, words_));
    if (!copy(records.data(), memory_ + sizeof head, records.size() * 8)) return false;
    uint64_t at = 0;
    while (records.size() - at > kRecordWords && lanes_of(&records[at])) {
      const uint64_t next = at + kRecordWords + lanes_of(&records[at]);
      if (next > records.size()) break;
      at = next;
    }
    records.resize(at);
    return true;
  }

  static unsigned lanes_of(const uint64_t* record) { return unsigned(__builtin_popcountll(record[1])); }

 private:
  char* pool_end() const { return memory_ + pool_bytes_; }
  static bool copy(void* to, const void* from, size_t bytes) {
    return bytes == 0 || state->runtime.core.hsa_memory_copy_fn(to, from, bytes) == HSA_STATUS_SUCCESS;
  }
  void release() {
    if (memory_) state->runtime.amd.hsa_amd_memory_pool_free_fn(memory_);
    memory_ = nullptr;
  }

  uint64_t words_, pool_bytes_;
  char* memory_ = nullptr;
};

// ---- the file --------------------------------------------------------------------------------

void put(const void* content, size_t bytes) {
  std::fwrite(content, 1, bytes, state->file);
  static const char zeros[8] = {};
  if (bytes % 8) std::fwrite(zeros, 1, 8 - bytes % 8, state->file);
}

DispatchHead head_of(const LoadedKernel& kernel, const Grid& grid, const Plan& plan, Fate fate, uint64_t identity) {
  DispatchHead head{};
  std::memcpy(head.mark, kRecordMark, sizeof head.mark);
  head.identity = identity;
  head.fate = uint32_t(fate);
  head.name_bytes = uint32_t(kernel.symbol.size());
  std::memcpy(head.groups, grid.groups, sizeof head.groups);
  std::memcpy(head.items, grid.items, sizeof head.items);
  head.waves_per_group = plan.waves_per_group;
  head.wave_size = state->pools.wave_size();
  return head;
}

void put_head(const LoadedKernel& kernel, const DispatchHead& head) {
  put(&head, sizeof head);
  put(kernel.symbol.data(), kernel.symbol.size());
}

// Records by wave, each wave's as it made them.
void put_waves(const Plan& plan, const std::vector<uint32_t>& chosen, const std::vector<uint64_t>& records) {
  std::vector<std::vector<uint64_t>> places(plan.waves());
  for (uint64_t at = 0; at < records.size(); at += kRecordWords + Buffers::lanes_of(&records[at]))
    if (const uint64_t wave = records[at] >> 32; wave < places.size()) places[wave].push_back(at);
  std::vector<uint64_t> own;
  for (uint64_t wave = 0; wave < plan.waves(); ++wave) {
    own.clear();
    for (const uint64_t at : places[wave]) {
      const uint64_t lanes = Buffers::lanes_of(&records[at]);
      own.push_back(uint32_t(records[at]) | lanes << 32);
      own.insert(own.end(), &records[at + 1], &records[at + kRecordWords] + lanes);
    }
    const WaveHead head{chosen[wave / plan.waves_per_group], uint32_t(wave % plan.waves_per_group), own.size()};
    put(&head, sizeof head);
    put(own.data(), own.size() * 8);
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

// A dispatch that records. It outlives the call that launched it where its end is not waited for there.
struct Recorded {
  LoadedKernel kernel;
  Grid grid;
  Plan plan;
  std::vector<uint32_t> chosen;
  Buffers buffers;
  uint64_t variable, identity;

  Recorded(const LoadedKernel& kernel, const Grid& grid, const Plan& plan, hsa_agent_t agent, uint64_t variable,
           uint64_t identity)
      : kernel(kernel),
        grid(grid),
        plan(plan),
        buffers(agent, plan, slots_for(plan, chosen)),
        variable(variable),
        identity(identity) {}

  bool begin() const {
    const RecordsVariable content{identity,
                                  buffers.slots(),
                                  buffers.pool(),
                                  plan.words,
                                  plan.waves_per_group,
                                  {grid.groups[0], grid.groups[1]},
                                  {grid.items[0], grid.items[1]},
                                  uint32_t(plan.groups)};
    return buffers && write_variable(variable, content);
  }

  void end() const {
    RecordsVariable off{};
    off.identity = identity;
    write_variable(variable, off);
    const Hold hold(state->recording_lock);
    state->under_way = false;
    state->recording_ended.notify_all();
    DispatchHead head = head_of(kernel, grid, plan, state->beside ? Fate::kBeside : Fate::kRecorded, identity);
    std::vector<uint64_t> records;
    if (!buffers.read(records, head.wanted)) head.fate = uint32_t(Fate::kNoMemory);
    const bool kept = head.fate == uint32_t(Fate::kRecorded);
    head.recorded_groups = kept ? plan.recorded_groups : 0;
    head.kept = kept ? records.size() : 0;
    if (!kept) head.wanted = 0;
    put_head(kernel, head);
    if (kept) put_waves(plan, chosen, records);
    state->recorded += kept;
    std::fflush(state->file);
  }
};

// Ready to record; nothing where it is to run as it is, which is written down then.
std::shared_ptr<Recorded> begun(const hsa_kernel_dispatch_packet_t& packet, hsa_agent_t agent,
                                const LoadedKernel& kernel, uint64_t variable) {
  const Grid grid(packet);
  const Plan plan = plan_for(grid, state->pools.wave_size());
  RecordsVariable content{};
  const auto as_it_is = [&](Fate fate) {
    put_head(kernel, head_of(kernel, grid, plan, fate, content.identity));
    std::fflush(state->file);
    return nullptr;
  };
  if (!variable || !read_variable(variable, content)) return as_it_is(Fate::kNotInstrumented);
  if (state->recorded >= state->most_dispatches) return as_it_is(Fate::kBeyondLimit);
  if (plan.groups > UINT32_MAX || plan.waves() > UINT32_MAX) return as_it_is(Fate::kNoMemory);
  if (state->under_way) {  // the two write to the same pool
    state->beside = true;
    return as_it_is(Fate::kBeside);
  }
  auto one = std::make_shared<Recorded>(kernel, grid, plan, agent, variable, content.identity);
  if (!one->begin()) return as_it_is(Fate::kNoMemory);
  state->under_way = true;
  state->beside = false;
  return one;
}

// False where the dispatch is to run as it is.
bool recorded(const hsa_kernel_dispatch_packet_t& packet, hsa_agent_t agent, const LoadedKernel& kernel,
              uint64_t variable, Writer writer) {
  std::shared_ptr<Recorded> one;
  {
    std::unique_lock<std::mutex> hold(state->recording_lock);
    state->recording_ended.wait_for(hold, std::chrono::nanoseconds(kPatienceNs), [] { return !state->under_way; });
    one = begun(packet, agent, kernel, variable);
  }
  if (!one) return false;
  if (!run_alone(state->runtime, packet, writer, [one] { one->end(); })) std::abort();  // into memory that goes away
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

void on_packets(const void* packets, uint64_t count, uint64_t, void* agent, Writer writer) {
  const auto* all = static_cast<const hsa_kernel_dispatch_packet_t*>(packets);  // every packet has 64 bytes
  if (!watching()) return writer(packets, count);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t variable = 0;
    const std::optional<LoadedKernel> kernel = target_of(all[i], variable);
    if (!kernel) {
      writer(&all[i], 1);
      continue;
    }
    if (!recorded(all[i], {reinterpret_cast<uint64_t>(agent)}, *kernel, variable, writer)) writer(&all[i], 1);
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
  std::atexit([] {
    if (watching()) await_followed();
  });
}

}  // namespace intelliperf
