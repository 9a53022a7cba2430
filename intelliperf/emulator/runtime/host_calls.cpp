#include "host_calls.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <climits>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "json.h"
#include "recorder.h"

namespace simt {
namespace {

constexpr size_t kMostFrames = 24;  // of the application's; a wrapper in a wrapper in a library's callback has ten

double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

// This library's own code, whose frames are not call sites.
struct OwnCode {
  uintptr_t low = UINTPTR_MAX, high = 0;
  bool holds(uintptr_t address) const { return low <= address && address < high; }
};

int find_own_code(dl_phdr_info* info, size_t, void* data) {
  auto* own = static_cast<OwnCode*>(data);
  const auto wanted = reinterpret_cast<uintptr_t>(&find_own_code);
  OwnCode found;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    found.low = begin < found.low ? begin : found.low;
    found.high = begin + segment.p_memsz > found.high ? begin + segment.p_memsz : found.high;
  }
  if (!found.holds(wanted)) return 0;
  *own = found;
  return 1;
}

const OwnCode& own_code() {
  static const OwnCode own = [] {
    OwnCode found;
    dl_iterate_phdr(find_own_code, &found);
    return found;
  }();
  return own;
}

using Frames = std::vector<uintptr_t>;  // return addresses, the innermost first

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto* frames = static_cast<Frames*>(data);
  const auto address = static_cast<uintptr_t>(_Unwind_GetIP(context));
  if (address == 0) return _URC_END_OF_STACK;
  if (!own_code().holds(address)) frames->push_back(address);
  return frames->size() < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::string file_of(const Dl_info& known) {
  const std::string name = known.dli_fname ? known.dli_fname : "";
  if (!name.empty() && name[0] == '/') return name;
  char own[PATH_MAX];  // the program itself is known by what it was called as
  const ssize_t length = readlink("/proc/self/exe", own, sizeof own);
  return length > 0 ? std::string(own, size_t(length)) : name;
}

struct Notes {
  double outside_since = 0, outside_ns = 0;  // since the call that was noted last
  int depth = 0;                             // of API calls: callbacks make some from within one
  std::map<Frames, uint32_t> sites;
};

Notes& notes() {
  static auto* const instance = new Notes;
  return *instance;
}

void write_frames(JsonWriter& line, const Frames& frames) {
  line.key("frames").begin_array();
  for (const uintptr_t address : frames) {
    Dl_info known{};
    const uintptr_t call = address - 1;                                  // a return address may belong to the next line
    if (!dladdr(reinterpret_cast<const void*>(call), &known)) continue;  // NOLINT(performance-no-int-to-ptr)
    line.begin_object().key("file").string(file_of(known).c_str());
    line.key("offset").number(call - reinterpret_cast<uintptr_t>(known.dli_fbase)).end_object();
  }
  line.end_array();
}

void write_site(uint32_t number, const Frames& frames) {
  JsonWriter line;
  line.begin_object().key("site").number(number);
  write_frames(line, frames);
  line.end_object();
  Recorder::instance().call_site_line(line.text());
}

Frames frames_of_caller() {
  Frames frames;
  frames.reserve(kMostFrames);
  _Unwind_Backtrace(add_frame, &frames);
  return frames;
}

uint32_t site_of_caller() {
  const Frames frames = frames_of_caller();
  const auto added = notes().sites.emplace(frames, uint32_t(notes().sites.size()));
  if (added.second) write_site(added.first->second, frames);
  return added.first->second;
}

__attribute__((constructor)) void begin() { notes().outside_since = now_ns(); }

}  // namespace

void write_caller(JsonWriter& json) { write_frames(json, frames_of_caller()); }

bool calls_are_noted() { return Recorder::instance().active(); }

void host_begins() {
  Notes& all = notes();
  all.outside_ns = 0;
  all.outside_since = now_ns();
}

void host_enters() {
  Notes& all = notes();
  if (all.depth++ == 0) all.outside_ns += now_ns() - all.outside_since;
}

bool in_host_code() { return notes().depth == 0; }

void host_leaves() {
  Notes& all = notes();
  if (--all.depth == 0) all.outside_since = now_ns();
}

void note_call(const HostCall& call) {
  if (!calls_are_noted()) return;
  JsonWriter line;
  line.begin_object().key("operation").string(call.operation).key("index");
  if (call.index == kNoLine)
    line.null();
  else
    line.number(call.index);
  line.key("stream").number(call.stream).key("site").number(site_of_caller());
  line.key("host_ns").real(notes().outside_ns).key("waits").boolean(call.waits);
  line.key("pageable").boolean(call.pageable).key("held").boolean(call.held);
  line.key("visible").boolean(call.visible);
  line.key("to").number(call.to).key("from").number(call.from);
  line.key("content").number(call.content >> 12).end_object();  // as many bits as JSON's numbers keep
  notes().outside_ns = 0;
  Recorder::instance().call_line(line.text());
}

double host_ns_since_last_call() {
  const Notes& all = notes();
  return all.outside_ns + (all.depth == 0 ? now_ns() - all.outside_since : 0);
}

}  // namespace simt
