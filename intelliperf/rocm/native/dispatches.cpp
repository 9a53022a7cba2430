#include "dispatches.h"

#include <amd_hsa_signal.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace intelliperf {

namespace {

unsigned ratio_up(uint32_t work_items, uint16_t group) { return group ? (work_items + group - 1) / group : 1; }

// As if the dispatch had signalled the application's own signal: its times, then its count.
void pass_on(const Functions& runtime, hsa_signal_t from, hsa_signal_t to) {
  if (to.handle == 0) return;
  const auto* mine = reinterpret_cast<const amd_signal_t*>(from.handle);  // NOLINT(performance-no-int-to-ptr)
  auto* theirs = reinterpret_cast<amd_signal_t*>(to.handle);              // NOLINT(performance-no-int-to-ptr)
  theirs->start_ts = mine->start_ts;
  theirs->end_ts = mine->end_ts;
  runtime.core.hsa_signal_subtract_screlease_fn(to, 1);
}

}  // namespace

hsa_status_t create_watched_queue(const Functions& runtime, const QueueRequest& request,
                                  hsa_amd_queue_intercept_handler on_packets, hsa_queue_t** queue) {
  const auto& [core, amd] = runtime;
  const auto& r = request;
  const hsa_status_t made = amd.hsa_amd_queue_intercept_create_fn(r.agent, r.size, r.type, r.on_error, r.data,
                                                                  r.private_bytes, r.group_bytes, queue);
  if (made != HSA_STATUS_SUCCESS)
    return core.hsa_queue_create_fn(r.agent, r.size, r.type, r.on_error, r.data, r.private_bytes, r.group_bytes, queue);
  auto* agent = reinterpret_cast<void*>(r.agent.handle);  // NOLINT(performance-no-int-to-ptr)
  return amd.hsa_amd_queue_intercept_register_fn(*queue, on_packets, agent);
}

bool is_dispatch(const hsa_kernel_dispatch_packet_t& packet) {
  const unsigned type = (packet.header >> HSA_PACKET_HEADER_TYPE) & ((1u << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
  return type == HSA_PACKET_TYPE_KERNEL_DISPATCH;
}

Grid::Grid(const hsa_kernel_dispatch_packet_t& packet)
    : groups{ratio_up(packet.grid_size_x, packet.workgroup_size_x),
             ratio_up(packet.grid_size_y, packet.workgroup_size_y),
             ratio_up(packet.grid_size_z, packet.workgroup_size_z)},
      items{packet.workgroup_size_x, packet.workgroup_size_y, packet.workgroup_size_z} {}

namespace {

std::atomic<unsigned> followed_later{0};

// What a queue holds behind a dispatch starts when it has been inspected: it may write the same buffers, and HIP takes
// the end of a later packet for the end of all before it. A gate is 1 while it is closed, 0 when it opens, and less when
// the queue is through; only then it is another's.
class Gates {
 public:
  hsa_signal_t closed(const CoreApiTable& core) {
    const std::lock_guard<std::mutex> hold(lock_);
    for (const hsa_signal_t gate : gates_) {
      if (core.hsa_signal_load_scacquire_fn(gate) >= 0) continue;
      core.hsa_signal_store_screlease_fn(gate, 1);
      return gate;
    }
    hsa_signal_t gate{};
    if (core.hsa_signal_create_fn(1, 0, nullptr, &gate) != HSA_STATUS_SUCCESS) return hsa_signal_t{};
    gates_.push_back(gate);
    return gate;
  }

 private:
  std::mutex lock_;
  std::vector<hsa_signal_t> gates_;
};

Gates& gates() {
  static auto* const all = new Gates;  // also while the process ends
  return *all;
}

hsa_kernel_dispatch_packet_t gate_packet(hsa_signal_t gate) {
  hsa_barrier_and_packet_t packet{};
  packet.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER;
  packet.dep_signal[0] = gate;
  packet.completion_signal = gate;
  hsa_kernel_dispatch_packet_t as_any;  // every packet has 64 bytes
  static_assert(sizeof as_any == sizeof packet);
  std::memcpy(&as_any, &packet, sizeof packet);
  return as_any;
}

// What follows a dispatch, also where it is waited for by a thread of the runtime.
struct Follow {
  const Functions& runtime;
  hsa_signal_t mine, theirs, gate;
  std::function<void()> after;

  void ended() const {
    after();
    pass_on(runtime, mine, theirs);
    runtime.core.hsa_signal_destroy_fn(mine);
    runtime.core.hsa_signal_store_screlease_fn(gate, 0);
  }
};

bool follow_later(hsa_signal_value_t, void* data) {
  const std::unique_ptr<Follow> follow(static_cast<Follow*>(data));
  follow->ended();
  --followed_later;
  return false;  // it is not called once more
}

// Nothing before it in the queue still runs, and what it wrote is seen by all.
void set_apart(hsa_kernel_dispatch_packet_t& packet) {
  constexpr unsigned kScopes = (1u << HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE) - 1;
  unsigned header = packet.header | 1u << HSA_PACKET_HEADER_BARRIER;
  header &= ~(kScopes << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  header |= static_cast<unsigned>(HSA_FENCE_SCOPE_SYSTEM) << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  packet.header = static_cast<uint16_t>(header);
}

}  // namespace

bool run_alone(const Functions& runtime, hsa_kernel_dispatch_packet_t packet, Writer writer,
               const std::function<void()>& after, uint64_t patience_ns) {
  const CoreApiTable& core = runtime.core;
  hsa_signal_t mine{};
  const bool made = core.hsa_signal_create_fn(1, 0, nullptr, &mine) == HSA_STATUS_SUCCESS;
  const hsa_signal_t gate = made ? gates().closed(core) : hsa_signal_t{};
  if (gate.handle == 0) {
    if (made) core.hsa_signal_destroy_fn(mine);
    writer(&packet, 1);
    return false;
  }
  auto follow = std::make_unique<Follow>(Follow{runtime, mine, packet.completion_signal, gate, after});
  packet.completion_signal = mine;
  set_apart(packet);
  const hsa_kernel_dispatch_packet_t both[] = {packet, gate_packet(gate)};
  writer(both, 2);  // at once: ROCr 5.2 takes one call per packet that it passes
  const auto ended = [&] {
    return core.hsa_signal_wait_scacquire_fn(mine, HSA_SIGNAL_CONDITION_LT, 1, 1000000, HSA_WAIT_STATE_BLOCKED) < 1;
  };
  const auto begun = std::chrono::steady_clock::now();
  while (!ended()) {
    if (std::chrono::steady_clock::now() - begun < std::chrono::nanoseconds(patience_ns)) continue;
    // It may wait for what this very thread has yet to do: another stream's work, a flag in host memory.
    const auto later = runtime.amd.hsa_amd_signal_async_handler_fn;
    ++followed_later;
    if (later(mine, HSA_SIGNAL_CONDITION_LT, 1, follow_later, follow.get()) == HSA_STATUS_SUCCESS) {
      follow.release();
      return true;
    }
    --followed_later;
  }
  follow->ended();
  return true;
}

void await_followed(uint64_t patience_ns) {
  const auto begun = std::chrono::steady_clock::now();
  while (followed_later != 0 && std::chrono::steady_clock::now() - begun < std::chrono::nanoseconds(patience_ns))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace intelliperf
