// Queues whose dispatches we see before the device does, and a dispatch that is waited for.
#pragma once
#include <functional>

#include "tables.h"

namespace intelliperf {

using Writer = hsa_amd_queue_intercept_packet_writer;

struct QueueRequest {
  hsa_agent_t agent;
  uint32_t size;
  hsa_queue_type32_t type;
  void (*on_error)(hsa_status_t, hsa_queue_t*, void*);
  void* data;
  uint32_t private_bytes, group_bytes;
};

// A plain queue where the runtime cannot make one that is watched. The handler's data is the agent's handle.
hsa_status_t create_watched_queue(const Functions& runtime, const QueueRequest& request,
                                  hsa_amd_queue_intercept_handler on_packets, hsa_queue_t** queue);

bool is_dispatch(const hsa_kernel_dispatch_packet_t& packet);

// Of a dispatch: work-groups in each direction.
struct Grid {
  explicit Grid(const hsa_kernel_dispatch_packet_t& packet);
  unsigned groups[3], items[3];
};

constexpr uint64_t kPatienceNs = 2000000000;

// After everything before it in its queue; calls `after` when it has ended, before the application learns of it.
// A dispatch that takes longer than `patience_ns` no longer holds the thread that submitted it: a thread of the runtime
// calls `after` then, which must own what it uses, and the packets behind it in its queue wait for that.
// False, with the dispatch under way as it was, where it cannot be waited for.
bool run_alone(const Functions& runtime, hsa_kernel_dispatch_packet_t packet, Writer writer,
               const std::function<void()>& after, uint64_t patience_ns = kPatienceNs);

// Until threads of the runtime have called what they were given, or for so long. For a process that ends.
void await_followed(uint64_t patience_ns = kPatienceNs);

}  // namespace intelliperf
