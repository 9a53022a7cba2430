// What the host asked the device for, in order, with the time that the host spent by itself in between and the place
// that asked: calls.jsonl and callsites.jsonl beside the other records.
#pragma once
#include <cstddef>
#include <cstdint>

namespace simt {

class JsonWriter;

// The clock of the host's own time starts: main begins.
void host_begins();
// The application's host code runs where no call of the API does. Both with api_lock() held.
void host_enters();
void host_leaves();
bool in_host_code();
// The host's own time so far, since the call that was noted last.
double host_ns_since_last_call();

constexpr uint32_t kNoLine = 0xFFFFFFFF;

struct HostCall {
  const char* operation;     // as in launches.jsonl, or: wait_device, wait_stream, wait_event, free, clock
  uint32_t index = kNoLine;  // of its line in launches.jsonl
  uint64_t stream = 0;
  bool waits = false;          // the host continues when the work is done
  bool pageable = false;       // a copy from or to host memory that is neither pinned nor registered
  bool held = false;           // a copy that brought what was there already, byte for byte
  bool visible = false;        // of a wait: the host could read what the device writes, without a copy
  uintptr_t to = 0, from = 0;  // of a copy
  uint64_t content = 0;        // of a copy: a hash of its bytes
};
void note_call(const HostCall& call);

bool calls_are_noted();

// The places of the application's code from which the API is called, as "frames".
void write_caller(JsonWriter& json);

}  // namespace simt
