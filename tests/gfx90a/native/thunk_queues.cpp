// Queues: one thread each. Dispatches run one at a time, whatever queue they come from.
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "counts.h"
#include "device_memory.h"
#include "sdma.h"
#include "thunk.h"

namespace gfx90a {
namespace {

constexpr uint32_t kPacketBytes = 64, kPointerBytes = 4096;

// Each look at an idle queue costs some microseconds of a core, and processes are paused for minutes: the longer a
// queue has been idle, the longer its naps, so that no wait gets longer by more than a part of itself.
class Naps {
 public:
  void take() {
    const unsigned nap = std::clamp(idle_microseconds_ / kPart, kShortest, kLongest);
    usleep(nap);
    idle_microseconds_ = std::min(idle_microseconds_ + nap, kPart * kLongest);
  }
  void forget() { idle_microseconds_ = 0; }

 private:
  static constexpr unsigned kPart = 32, kShortest = 20, kLongest = 10000;
  unsigned idle_microseconds_ = 0;
};

struct Queue {
  uint64_t number = 0;
  bool copies = false;  // SDMA
  uint8_t* ring = nullptr;
  uint64_t ring_bytes = 0;
  volatile uint64_t* read = nullptr;
  volatile uint64_t* write = nullptr;
  void* pointers = nullptr;  // where the two live, if they are ours
  volatile uint64_t doorbell = 0;
  std::atomic<bool> stopped{false};
  std::thread thread;
};

struct Device {
  std::mutex queues_mutex, execution_mutex;
  std::map<uint64_t, std::unique_ptr<Queue>> queues;
  uint64_t queues_made = 0, dispatches = 0, last_end_ns = 0;
  Code code;
};

Device& device() {
  static auto* const only = new Device;
  return *only;
}

[[noreturn]] void give_up(const std::string& kernel, const std::string& why) {
  std::fprintf(stderr, "gfx90a: kernel %s: %s\n", kernel.empty() ? "(unknown)" : kernel.c_str(), why.c_str());
  std::fflush(nullptr);
  std::abort();
}

template <class Packet>
const Packet& as(const uint8_t* packet) {
  return *reinterpret_cast<const Packet*>(packet);
}

amd_signal_t* signal_of(hsa_signal_t handle) { return reinterpret_cast<amd_signal_t*>(handle.handle); }
int64_t value_of(hsa_signal_t handle) { return __atomic_load_n(&signal_of(handle)->value, __ATOMIC_ACQUIRE); }

struct Span {
  uint64_t start_ns, end_ns;
};

void complete(hsa_signal_t handle, const Span& span) {
  amd_signal_t* const signal = signal_of(handle);
  if (!signal) return;
  signal->start_ts = span.start_ns;
  signal->end_ts = span.end_ns;
  __atomic_fetch_sub(&signal->value, 1, __ATOMIC_ACQ_REL);
  if (!signal->event_mailbox_ptr) return;
  __atomic_store_n(reinterpret_cast<uint64_t*>(signal->event_mailbox_ptr), signal->event_id, __ATOMIC_RELEASE);
  signal_event(signal->event_id);
}

Dispatch dispatch_of(const Queue& queue, const uint8_t* packet) {
  const auto& p = as<hsa_kernel_dispatch_packet_t>(packet);
  Dispatch dispatch;
  dispatch.kernel_object = p.kernel_object;
  dispatch.kernel_arguments = reinterpret_cast<uint64_t>(p.kernarg_address);
  dispatch.packet = reinterpret_cast<uint64_t>(packet);
  dispatch.queue = reinterpret_cast<uint64_t>(queue.read) - offsetof(amd_queue_t, read_dispatch_id);
  const uint32_t dimensions = p.setup & 3;
  dispatch.grid[0] = p.grid_size_x;
  dispatch.grid[1] = dimensions > 1 ? p.grid_size_y : 1;
  dispatch.grid[2] = dimensions > 2 ? p.grid_size_z : 1;
  dispatch.group[0] = p.workgroup_size_x;
  dispatch.group[1] = dimensions > 1 ? p.workgroup_size_y : 1;
  dispatch.group[2] = dimensions > 2 ? p.workgroup_size_z : 1;
  dispatch.group_bytes = p.group_segment_size;
  dispatch.private_bytes = p.private_segment_size;
  return dispatch;
}

Span run_kernel(Queue& queue, const uint8_t* packet) {
  Device& gpu = device();
  const std::lock_guard<std::mutex> lock(gpu.execution_mutex);
  Ended ended;
  ended.dispatch = dispatch_of(queue, packet);
  ended.dispatch.number = gpu.dispatches++;
  ended.queue_number = queue.number;
  try {
    uint64_t begin = 0, end = 0;
    if (!find_allocation(ended.dispatch.kernel_object, begin, end))
      throw Stop("its code is not in the device's memory");
    ended.kernel = find_kernel(ended.dispatch.kernel_object, begin);
    ended.totals = run_dispatch(gpu.code, ended.dispatch, queue.stopped);
    ended.start_ns = std::max(host_ns(), gpu.last_end_ns);
    ended.end_ns = ended.start_ns + modelled_ns(gpu.code, ended.dispatch, ended.totals);
    gpu.last_end_ns = ended.end_ns;
    const char* const directory = std::getenv("GFX90A_COUNTS");
    if (directory && *directory) append_counts(directory, as_json_line(gpu.code, ended));
  } catch (const Stop& stop) {
    give_up(ended.kernel.name, stop.what());
  }
  return Span{ended.start_ns, ended.end_ns};
}

bool holds(uint32_t condition, int64_t value, int64_t reference) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return value == reference;
    case HSA_SIGNAL_CONDITION_NE:
      return value != reference;
    case HSA_SIGNAL_CONDITION_LT:
      return value < reference;
    default:
      return value >= reference;
  }
}

bool barrier_is_open(const uint8_t* packet, uint32_t type) {
  if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC) {
    const auto& p = as<hsa_amd_barrier_value_packet_t>(packet);
    return !p.signal.handle || holds(p.cond, value_of(p.signal) & p.mask, p.value);
  }
  uint32_t present = 0, done = 0;
  for (const hsa_signal_t signal : as<hsa_barrier_and_packet_t>(packet).dep_signal) {
    present += signal.handle != 0;
    done += signal.handle != 0 && value_of(signal) == 0;
  }
  return type == HSA_PACKET_TYPE_BARRIER_AND ? done == present : done > 0 || present == 0;
}

Span wait_at_barrier(const Queue& queue, const uint8_t* packet, uint32_t type) {
  const uint64_t start_ns = host_ns();
  Naps naps;
  while (!queue.stopped && !barrier_is_open(packet, type)) naps.take();
  return Span{start_ns, host_ns()};
}

Span run_packet(Queue& queue, const uint8_t* packet, uint32_t type) {
  if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) return run_kernel(queue, packet);
  const bool value_barrier = type == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
                             as<hsa_amd_vendor_packet_header_t>(packet).AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
  if (value_barrier || type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR)
    return wait_at_barrier(queue, packet, type);
  if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC) return Span{host_ns(), host_ns()};  // PM4 that ROCr sends: cache flushes
  give_up("", "AQL packet type " + std::to_string(type) + " is not implemented");
}

void serve_dispatches(Queue& queue) {
  uint64_t next = 0;
  Naps naps;
  while (!queue.stopped) {
    uint8_t* const packet = queue.ring + next * kPacketBytes % queue.ring_bytes;
    auto* const header = reinterpret_cast<uint16_t*>(packet);
    const uint32_t type = __atomic_load_n(header, __ATOMIC_ACQUIRE) & 0xFF;
    if (type == HSA_PACKET_TYPE_INVALID || next >= *queue.write) {
      naps.take();
      continue;
    }
    naps.forget();
    const hsa_signal_t signal = as<hsa_kernel_dispatch_packet_t>(packet).completion_signal;
    const Span span = run_packet(queue, packet, type);
    if (queue.stopped) return;
    __atomic_store_n(header, uint16_t(HSA_PACKET_TYPE_INVALID), __ATOMIC_RELEASE);
    __atomic_store_n(queue.read, ++next, __ATOMIC_RELEASE);
    complete(signal, span);
  }
}

void serve_copies(Queue& queue) {
  uint64_t next = 0;  // bytes, ever growing
  Naps naps;
  while (!queue.stopped) {
    if (next >= __atomic_load_n(queue.write, __ATOMIC_ACQUIRE)) {
      naps.take();
      continue;
    }
    naps.forget();
    try {
      next += run_copy_packet(reinterpret_cast<const uint32_t*>(queue.ring + next % queue.ring_bytes), queue.stopped);
    } catch (const Stop& stop) {
      give_up("(copy engine)", stop.what());
    }
    __atomic_store_n(queue.read, next, __ATOMIC_RELEASE);
  }
}

bool give_pointers(Queue& queue, HsaQueueResource& resource) {
  if (!queue.copies) {
    queue.read = reinterpret_cast<volatile uint64_t*>(resource.Queue_read_ptr_aql);
    queue.write = reinterpret_cast<volatile uint64_t*>(resource.Queue_write_ptr_aql);
    return true;
  }
  void* const mapped = mmap(nullptr, kPointerBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return false;
  queue.pointers = mapped;
  queue.read = static_cast<volatile uint64_t*>(mapped);
  queue.write = queue.read + 8;
  resource.Queue_read_ptr_aql = const_cast<HSAuint64*>(reinterpret_cast<volatile HSAuint64*>(queue.read));
  resource.Queue_write_ptr_aql = const_cast<HSAuint64*>(reinterpret_cast<volatile HSAuint64*>(queue.write));
  return true;
}

}  // namespace
}  // namespace gfx90a

using namespace gfx90a;

GFX90A_API hsaKmtCreateQueue(HSAuint32, HSA_QUEUE_TYPE type, HSAuint32, HSA_QUEUE_PRIORITY, void* ring, HSAuint64 bytes,
                             HsaEvent*, HsaQueueResource* resource) {
  Device& gpu = device();
  set_memory([](uint64_t address, uint64_t& begin, uint64_t& end) {
    return find_allocation(address, begin, end) || find_mailboxes(address, begin, end);
  });
  set_interrupt(answer_interrupt);
  auto queue = std::make_unique<Queue>();
  queue->copies = type != HSA_QUEUE_COMPUTE_AQL;
  queue->ring = static_cast<uint8_t*>(ring);
  queue->ring_bytes = bytes;
  if (!give_pointers(*queue, *resource)) return HSAKMT_STATUS_NO_MEMORY;
  const std::lock_guard<std::mutex> lock(gpu.queues_mutex);
  queue->number = gpu.queues_made++;
  resource->QueueId = queue->number;
  resource->Queue_DoorBell_aql = const_cast<HSAuint64*>(reinterpret_cast<volatile HSAuint64*>(&queue->doorbell));
  Queue& made = *queue;
  gpu.queues[made.number] = std::move(queue);
  made.thread = std::thread([&made] { made.copies ? serve_copies(made) : serve_dispatches(made); });
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtDestroyQueue(HSA_QUEUEID number) {
  std::unique_ptr<Queue> queue;
  {
    const std::lock_guard<std::mutex> lock(device().queues_mutex);
    const auto found = device().queues.find(number);
    if (found == device().queues.end()) return HSAKMT_STATUS_INVALID_HANDLE;
    queue = std::move(found->second);
    device().queues.erase(found);
  }
  queue->stopped = true;
  queue->thread.join();
  if (queue->pointers) munmap(queue->pointers, kPointerBytes);
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtUpdateQueue(HSA_QUEUEID, HSAuint32, HSA_QUEUE_PRIORITY, void*, HSAuint64, HsaEvent*) {
  return HSAKMT_STATUS_SUCCESS;
}
GFX90A_API hsaKmtSetQueueCUMask(HSA_QUEUEID, HSAuint32, HSAuint32*) { return HSAKMT_STATUS_SUCCESS; }
GFX90A_API hsaKmtAllocQueueGWS(HSA_QUEUEID, HSAuint32, HSAuint32* first) {
  if (first) *first = 0;
  return HSAKMT_STATUS_NOT_SUPPORTED;
}
