#include "fault_log.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "execution.h"
#include "fiber.h"
#include "memory.h"
#include "recorder.h"
#include "settings.h"

namespace simt {
namespace {

struct Noted {
  Fault fault;
  uint32_t block[3];
  uint64_t count;
  uint32_t value;  // before the access
};

constexpr size_t kMaxDistinct = 4096;

std::vector<Noted>& noted() {
  static auto* list = new std::vector<Noted>;
  return *list;
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds:
      return "out_of_bounds";
    case FaultKind::kRace:
      return "race";
    case FaultKind::kUninitialized:
      return "uninitialized";
    case FaultKind::kDeadlock:
      return "deadlock";
    case FaultKind::kTrap:
      return "trap";
    case FaultKind::kAssert:
      return "assert";
    case FaultKind::kDivergentBarrier:
      return "divergent_barrier";
    case FaultKind::kUnacquired:
      return "unacquired";
    case FaultKind::kMisaligned:
      return "misaligned";
    case FaultKind::kDivergentShuffle:
      return "divergent_shuffle";
    case FaultKind::kShuffleFromEnded:
      return "shuffle_from_ended";
    case FaultKind::kBarrierAfterEnd:
      return "barrier_after_end";
    case FaultKind::kOutsideMask:
      return "outside_mask";
  }
  return "trap";
}

const char* name_of(FaultScope scope) {
  switch (scope) {
    case FaultScope::kWave:
      return "wave";
    case FaultScope::kBlock:
      return "block";
    case FaultScope::kGrid:
      return "grid";
    case FaultScope::kNone:
      break;
  }
  return nullptr;
}

const char* name_of(FaultCause cause) {
  switch (cause) {
    case FaultCause::kNoRelease:
      return "no_release_fence";
    case FaultCause::kNarrowFence:
      return "narrow_release_fence";
    case FaultCause::kNoAcquire:
      return "no_acquire_fence";
    case FaultCause::kNarrowAtomic:
      return "narrow_atomic";
    case FaultCause::kLostUpdate:
      return "lost_update";
    case FaultCause::kReadOnlyLoad:
      return "read_only_load";
    case FaultCause::kUnorderedStreams:
      return "unordered_streams";
    case FaultCause::kUnknown:
      break;
  }
  return nullptr;
}

void text_member(JsonWriter& line, const char* key, const char* text) {
  line.key(key);
  if (text)
    line.string(text);
  else
    line.null();
}

void other_member(JsonWriter& line, const Fault& fault, const LaunchRequest& request) {
  line.key("other_block");
  if (fault.other_block == kNoBlock) {
    line.null().key("other_thread").null();
    return;
  }
  const Dim3& grid = request.grid;
  line.begin_array().number(fault.other_block % grid.x).number(fault.other_block / grid.x % grid.y);
  line.number(fault.other_block / grid.x / grid.y).end_array().key("other_thread").number(fault.other_thread);
}

void site_member(JsonWriter& line, const char* key, uint32_t site) {
  line.key(key);
  if (site == kNoSite)
    line.null();
  else
    line.number(site);
}

std::string to_json(const Noted& entry, const LaunchRequest& request, uint32_t launch_index) {
  const Fault& fault = entry.fault;
  JsonWriter line;
  line.begin_object();
  line.key("kind").string(fault.freed ? "use_after_free" : name_of(fault.kind));
  line.key("launch").number(launch_index);
  line.key("kernel").string(request.kernel->name);
  line.key("module").number(request.kernel->module->id);
  site_member(line, "site", fault.site);
  site_member(line, "other_site", fault.other_site);
  text_member(line, "scope", name_of(fault.scope));
  text_member(line, "cause", name_of(fault.cause));
  line.key("space").string(fault.shared ? "shared" : "global");
  line.key("address_offset").integer(fault.address_offset);
  line.key("allocation_bytes").number(fault.allocation_bytes);
  line.key("block").begin_array();
  for (uint32_t index : entry.block) line.number(index);
  line.end_array();
  line.key("thread").number(fault.thread);
  other_member(line, fault, request);
  line.key("value");
  if (fault.address)
    line.number(entry.value);
  else
    line.null();
  line.key("resident");
  if (fault.resident)
    line.number(fault.resident);
  else
    line.null();
  if (fault.code_offset != kNoOffset) line.key("code_offset").number(fault.code_offset);
  if (fault.same_value) line.key("same_value").boolean(true);
  if (fault.why) line.key("detail").string(fault.why);
  line.key("count").number(entry.count);
  line.end_object();
  return line.text();
}

bool worth_saying(FaultKind kind) {
  return kind == FaultKind::kDeadlock || kind == FaultKind::kTrap || kind == FaultKind::kOutOfBounds;
}

// ", file:line" of a site, from the metadata; empty if unknown.
std::string place_of(const Module& module, uint32_t site) {
  const auto& sites = module.metadata["sites"].items();
  if (site >= sites.size()) return "";
  const auto& locations = sites[site]["locations"].items();
  if (locations.empty()) return "";
  return ", " + locations[0]["file"].text() + ":" + std::to_string(locations[0]["line"].unsigned_or(0));
}

std::string description(const Fault& fault) {
  if (fault.kind == FaultKind::kDeadlock)
    return "deadlock (no thread can make progress, and the host waits for the launch)";
  if (fault.kind == FaultKind::kTrap) return "device trap";
  const char* space = fault.shared ? "shared" : "global";
  if (fault.kind == FaultKind::kRace && fault.cause == FaultCause::kLostUpdate)
    return std::string("an update of ") + space + " memory that is not atomic";
  if (fault.kind == FaultKind::kRace) return std::string("accesses to ") + space + " memory that no barrier orders";
  if (fault.freed) return "access to memory that was freed before";
  if (fault.allocation_bytes == 0) return std::string("access to ") + space + " memory outside any allocation";
  return "access at byte " + std::to_string(fault.address_offset) + " of " + std::to_string(fault.allocation_bytes) +
         " bytes of " + space + " memory";
}

bool is_grave_race(const Fault& fault) {
  if (fault.kind != FaultKind::kRace) return false;
  return fault.cause == FaultCause::kLostUpdate || (fault.shared && fault.scope == FaultScope::kBlock);
}

void tell(const Noted& entry, const LaunchRequest& request) {
  const Kernel& kernel = *request.kernel;
  fprintf(stderr, "intelliperf: %s in kernel %s, block (%u,%u,%u), thread %u%s\n", description(entry.fault).c_str(),
          kernel.display.empty() ? kernel.name.c_str() : kernel.display.c_str(), entry.block[0], entry.block[1],
          entry.block[2], entry.fault.thread, place_of(*kernel.module, entry.fault.site).c_str());
}

}  // namespace

int abort_status = 0;

void note_fault(const Fault& fault) {
  for (Noted& known : noted()) {
    if (known.fault.kind != fault.kind || known.fault.site != fault.site ||
        known.fault.other_site != fault.other_site || known.fault.scope != fault.scope ||
        known.fault.same_value != fault.same_value)
      continue;
    ++known.count;
    if (known.fault.cause == FaultCause::kUnknown) known.fault.cause = fault.cause;
    return;
  }
  if (noted().size() >= kMaxDistinct) return;
  const uint32_t* at = __simt_grid.block_index;
  noted().push_back(Noted{fault, {at[0], at[1], at[2]}, 1, 0});
  if (!fault.address) return;
  Noted& made = noted().back();
  const Allocation* owner = fault.shared ? nullptr : find(fault.address);
  if (owner) {
    made.fault.address_offset = int64_t(fault.address - owner->base);
    made.fault.allocation_bytes = owner->bytes;
  }
  // Where nothing lies a misaligned address leads nowhere: the access itself is still to come.
  const bool inside = owner && fault.address + fault.bytes <= owner->base + owner->bytes;
  if (fault.held)
    made.value = *fault.held;
  else if (inside || fault.kind != FaultKind::kMisaligned)
    memcpy(&made.value, reinterpret_cast<const void*>(fault.address),
           sizeof made.value < fault.bytes ? sizeof made.value : fault.bytes);
}

bool noted_bad_access() {
  for (const Noted& entry : noted())
    if (entry.fault.kind == FaultKind::kOutOfBounds || entry.fault.kind == FaultKind::kMisaligned) return true;
  return false;
}

bool noted_grave_race() {
  return std::any_of(noted().begin(), noted().end(), [](const Noted& entry) { return is_grave_race(entry.fault); });
}

void flush_faults(const LaunchRequest& request, uint32_t launch_index) {
  std::vector<Noted> list;
  list.swap(noted());
  bool located = false, misaligned = false;
  for (const Noted& entry : list) misaligned |= entry.fault.kind == FaultKind::kMisaligned;
  for (const Noted& entry : list) located |= entry.fault.kind == FaultKind::kOutOfBounds && entry.fault.site != kNoSite;
  for (const Noted& entry : list) {
    // The same access as the fast version met it, without its place.
    if (located && entry.fault.kind == FaultKind::kOutOfBounds && entry.fault.site == kNoSite) continue;
    // The processor refuses some misaligned addresses, too, and does not say which: it may be an access before the last.
    if (misaligned && entry.fault.kind == FaultKind::kOutOfBounds && entry.fault.allocation_bytes == 0) continue;
    if (worth_saying(entry.fault.kind) || (request.altered && settings().races && is_grave_race(entry.fault)))
      tell(entry, request);
    Recorder::instance().fault_line(to_json(entry, request, launch_index));
  }
}

// On the lane's own stack, or on the signal handler's: either way nothing of it is needed again.
void abort_lane(int status) {
  if (!abort_status) abort_status = status;
  simt_current->next = &home_lane();
  simt_park();
  __builtin_unreachable();
}

void record_host_fault(const char* kind, const char* detail) {
  JsonWriter line;
  line.begin_object();
  line.key("kind").string(kind);
  for (const char* absent : {"launch", "kernel", "module", "site", "other_site", "scope", "cause", "other_block",
                             "other_thread", "value", "resident"})
    line.key(absent).null();
  line.key("space").string("global");
  line.key("address_offset").integer(0);
  line.key("allocation_bytes").number(0);
  line.key("block").begin_array().number(0).number(0).number(0).end_array();
  line.key("thread").number(0);
  line.key("count").number(1);
  if (detail) line.key("detail").string(detail);
  line.end_object();
  Recorder::instance().fault_line(line.text());
}

}  // namespace simt
