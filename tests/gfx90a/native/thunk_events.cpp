// Events: what interrupts wake. ROCr's signals carry the event's number and the address of its mailbox.
#include <sys/mman.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "thunk.h"

namespace gfx90a {
namespace {

constexpr uint32_t kMostEvents = 4096;

struct Event {
  HsaEvent visible = {};  // first: ROCr holds its address
  bool signaled = false, manual_reset = false;
};

struct Events {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint32_t, Event*> by_number;
  uint64_t* mailboxes = nullptr;
  uint32_t last = 0;
};

Events& events() {
  static auto* const all = new Events;
  return *all;
}

Event* whole(HsaEvent* visible) { return reinterpret_cast<Event*>(visible); }

}  // namespace

void signal_event(uint32_t number) {
  const std::lock_guard<std::mutex> lock(events().mutex);
  const auto found = events().by_number.find(number);
  if (found == events().by_number.end()) return;
  found->second->signaled = true;
  events().changed.notify_all();
}

// A message holds the low bits of the event's number at most: whose mailbox is full tells which it was.
void answer_interrupt() {
  Events& all = events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (const auto& [number, event] : all.by_number)
    if (__atomic_exchange_n(&all.mailboxes[number], 0, __ATOMIC_ACQ_REL) != 0) event->signaled = true;
  all.changed.notify_all();
}

bool find_mailboxes(uint64_t address, uint64_t& begin, uint64_t& end) {
  Events& all = events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  begin = reinterpret_cast<uint64_t>(all.mailboxes);
  end = begin + kMostEvents * sizeof(uint64_t);
  return all.mailboxes && begin <= address && address < end;
}

}  // namespace gfx90a

using namespace gfx90a;

GFX90A_API hsaKmtCreateEvent(HsaEventDescriptor* descriptor, bool manual_reset, bool signaled, HsaEvent** event) {
  Events& all = events();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (!all.mailboxes) {
    void* const mapped =
        mmap(nullptr, kMostEvents * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return HSAKMT_STATUS_NO_MEMORY;
    all.mailboxes = static_cast<uint64_t*>(mapped);
  }
  if (all.last + 1 >= kMostEvents) return HSAKMT_STATUS_NO_MEMORY;
  auto* const created = new Event;
  const uint32_t number = ++all.last;
  created->visible.EventId = number;
  created->visible.EventData.EventType = descriptor->EventType;
  created->visible.EventData.HWData1 = number;
  created->visible.EventData.HWData2 = reinterpret_cast<HSAuint64>(&all.mailboxes[number]);
  created->visible.EventData.HWData3 = number;
  created->visible.EventData.EventData.SyncVar = descriptor->SyncVar;
  created->signaled = signaled;
  created->manual_reset = manual_reset;
  all.by_number[number] = created;
  *event = &created->visible;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtDestroyEvent(HsaEvent* event) {
  if (!event) return HSAKMT_STATUS_INVALID_HANDLE;
  const std::lock_guard<std::mutex> lock(events().mutex);
  events().by_number.erase(event->EventId);
  delete whole(event);
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtSetEvent(HsaEvent* event) {
  if (!event) return HSAKMT_STATUS_INVALID_HANDLE;
  signal_event(event->EventId);
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtWaitOnMultipleEvents(HsaEvent* waited[], HSAuint32 count, bool all, HSAuint32 milliseconds) {
  std::unique_lock<std::mutex> lock(events().mutex);
  const auto satisfied = [&] {
    HSAuint32 signaled = 0;
    for (HSAuint32 n = 0; n < count; ++n) signaled += whole(waited[n])->signaled;
    return all ? signaled == count : signaled > 0;
  };
  if (milliseconds == HSA_EVENTTIMEOUT_INFINITE)
    events().changed.wait(lock, satisfied);
  else if (!events().changed.wait_for(lock, std::chrono::milliseconds(milliseconds), satisfied))
    return HSAKMT_STATUS_WAIT_TIMEOUT;
  for (HSAuint32 n = 0; n < count; ++n)
    if (!whole(waited[n])->manual_reset) whole(waited[n])->signaled = false;
  return HSAKMT_STATUS_SUCCESS;
}

GFX90A_API hsaKmtWaitOnEvent(HsaEvent* event, HSAuint32 milliseconds) {
  return hsaKmtWaitOnMultipleEvents(&event, 1, true, milliseconds);
}
