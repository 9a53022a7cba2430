#include "streams.h"

#include <algorithm>
#include <set>

#include "graphs.h"
#include "host_api.h"
#include "host_calls.h"
#include "settings.h"

namespace simt {

namespace {

constexpr uint32_t kDisableTiming = 2;
constexpr int kLeastPriority = 0;
constexpr uint32_t kNonBlocking = 1;

struct Timeline {
  double device_ns = 0;  // when the device has done all work so far
  double host_ns = 0;    // up to where the host has waited
  StreamClock host;
  uint64_t next_id = 1;
  Stream default_stream;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::set<Graph*> graphs;
  std::set<Graph*> executables;
};

Timeline& timeline() {
  static auto* const instance = new Timeline;  // outlives the application's destructors
  return *instance;
}

// Of the default stream all streams that wait for it, too.
StreamClock done_by(const Stream& stream) {
  StreamClock done = stream.before;
  if (stream.id != 0) return done;
  for (const Stream* other : timeline().streams)
    if (!(other->flags & kNonBlocking)) join(done, other->before);
  return done;
}

int greatest_priority() { return current_vendor() == Vendor::kCuda ? -5 : -1; }

bool known(Event* event) { return timeline().events.count(event) != 0; }

// The host may not wait for work that is only being written down.
int not_while_capturing() { return any_capture() ? kCaptureUnsupported : kSuccess; }

void note_wait(const char* operation, uint64_t stream) {
  HostCall call{operation};
  call.stream = stream;
  call.waits = true;
  for_each_allocation(
      [](const Allocation& a, void* seen) {
        *static_cast<bool*>(seen) |=
            a.kind == MemoryKind::kManaged || a.kind == MemoryKind::kPinned || a.kind == MemoryKind::kRegistered;
      },
      &call.visible);
  note_call(call);
}

// What is timed has to be waited for.
void note_clock() { note_call(HostCall{"clock"}); }

}  // namespace

Stream* resolve_stream(Stream* handle) {
  Timeline& t = timeline();
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value <= 2) return &t.default_stream;  // null, legacy, per-thread
  return t.streams.count(handle) ? handle : nullptr;
}

void advance(Stream& stream, double duration_ns, bool blocking) {
  Timeline& t = timeline();
  const double end = std::max({stream.ready_ns, t.device_ns, t.host_ns}) + duration_ns;
  t.device_ns = stream.ready_ns = end;
  StreamClock clock;
  next_operation(stream, clock);
  if (!blocking) return;
  t.host_ns = end;
  join(t.host, done_by(stream));
}

StreamPlace next_operation(Stream& stream, StreamClock& clock) {
  Timeline& t = timeline();
  if (stream.id != 0 && !(stream.flags & kNonBlocking)) join(stream.before, t.default_stream.before);
  stream.before = done_by(stream);
  join(stream.before, t.host);
  clock = stream.before;
  stream.before[stream.id] = ++stream.operations;
  return {stream.id, stream.operations, &clock};
}

void wait_for(const Stream& stream) {
  Timeline& t = timeline();
  const double until = stream.id == 0 ? t.device_ns : stream.ready_ns;
  t.host_ns = std::max(t.host_ns, until);
  join(t.host, done_by(stream));
}

void wait_for_device() {
  Timeline& t = timeline();
  t.host_ns = std::max(t.host_ns, t.device_ns);
  join(t.host, t.default_stream.before);
  for (const Stream* stream : t.streams) join(t.host, stream->before);
}

bool any_capture() {
  const Timeline& t = timeline();
  return std::any_of(t.streams.begin(), t.streams.end(), [](const Stream* s) { return s->capture != nullptr; });
}

void forget_streams() {
  Timeline& t = timeline();
  for (Stream* stream : t.streams) delete stream;
  for (Event* event : t.events) delete event;
  t.streams.clear();
  t.events.clear();
}

Notes::Notes(Graph& graph) : stream_(new Stream) {
  stream_->capture = &graph;
  timeline().streams.insert(stream_);
}
Notes::~Notes() {
  timeline().streams.erase(stream_);
  delete stream_;
}
void keep_graph(Graph* graph) { timeline().graphs.insert(graph); }
bool known_graph(const Graph* graph) { return timeline().graphs.count(const_cast<Graph*>(graph)) != 0; }
bool known_executable(const Graph* graph) { return timeline().executables.count(const_cast<Graph*>(graph)) != 0; }
Graph* graph_of(const GraphNode* node) {
  for (Graph* graph : timeline().graphs)
    for (const auto& each : graph->nodes)
      if (each.get() == node) return graph;
  return nullptr;
}

namespace host {

int StreamCreateWithPriority(Stream** stream, unsigned int flags, int priority) {
  if (!stream || flags > 1) return kInvalidValue;
  Timeline& t = timeline();
  auto* made = new Stream;
  made->id = t.next_id++;
  made->flags = flags;
  made->priority = std::clamp(priority, greatest_priority(), kLeastPriority);
  t.streams.insert(made);
  *stream = made;
  return kSuccess;
}
int StreamCreate(Stream** stream) { return StreamCreateWithPriority(stream, 0, 0); }
int StreamCreateWithFlags(Stream** stream, unsigned int flags) { return StreamCreateWithPriority(stream, flags, 0); }

int StreamDestroy(Stream* stream) {
  if (!timeline().streams.count(stream)) return kInvalidHandle;
  if (!(stream->flags & kNonBlocking)) join(timeline().default_stream.before, stream->before);
  timeline().streams.erase(stream);
  delete stream;
  return kSuccess;
}
int StreamQuery(Stream* handle) {
  const Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  const int error = not_while_capturing();
  if (error == kSuccess) wait_for(*stream);
  note_no_effect();
  return error;
}
int StreamSynchronize(Stream* handle) {
  const int error = StreamQuery(handle);
  if (error == kSuccess) note_wait("wait_stream", resolve_stream(handle)->id);
  return error;
}
int DeviceSynchronize() {
  const int error = not_while_capturing();
  if (error != kSuccess) return error;
  wait_for_device();
  note_wait("wait_device", 0);
  note_no_effect();
  return kSuccess;
}
int ThreadSynchronize() { return DeviceSynchronize(); }
int CtxSynchronize() { return DeviceSynchronize(); }

int StreamWaitEvent(Stream* handle, Event* event, unsigned int) {
  Stream* stream = resolve_stream(handle);
  if (!stream || !known(event)) return kInvalidHandle;
  if (event->capture)
    stream->capture = event->capture;  // the stream joins that capture
  else if (event->recorded)
    stream->ready_ns = std::max(stream->ready_ns, event->time_ns), join(stream->before, event->before);
  return kSuccess;
}

namespace {

// Callbacks run without the lock: they may wait for threads that use the API.
template <class Function>
int call_host(Stream& stream, Function function) {
  if (stream.capture) {
    stream.capture->operations.emplace_back([function](Stream* on) { return call_host(*on, function); });
    return kSuccess;
  }
  api_lock().unlock();
  function();
  api_lock().lock();
  return kSuccess;
}

}  // namespace

int StreamAddCallback(Stream* handle, T_StreamCallback_t callback, void* data, unsigned int flags) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!callback || flags != 0) return kInvalidValue;
  return call_host(*stream, [=] { callback(handle, kSuccess, data); });
}
int LaunchHostFunc(Stream* handle, T_HostFn_t function, void* data) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!function) return kInvalidValue;
  return call_host(*stream, [=] { function(data); });
}
int StreamGetFlags(Stream* handle, unsigned int* flags) {
  const Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!flags) return kInvalidValue;
  *flags = stream->flags;
  return kSuccess;
}
int StreamGetPriority(Stream* handle, int* priority) {
  const Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!priority) return kInvalidValue;
  *priority = stream->priority;
  return kSuccess;
}
int StreamGetDevice(Stream* handle, int* device) {
  if (!resolve_stream(handle)) return kInvalidHandle;
  if (!device) return kInvalidValue;
  *device = 0;
  return kSuccess;
}
int DeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = kLeastPriority;
  if (greatest) *greatest = greatest_priority();
  return kSuccess;
}
int StreamAttachMemAsync(Stream* handle, void* pointer, size_t, unsigned int) {
  if (!resolve_stream(handle)) return kInvalidHandle;
  return find(pointer) ? kSuccess : kInvalidValue;
}

// ---- events

int EventCreateWithFlags(Event** event, unsigned int flags) {
  if (!event) return kInvalidValue;
  *event = new Event;
  (*event)->flags = flags;
  timeline().events.insert(*event);
  return kSuccess;
}
int EventCreate(Event** event) { return EventCreateWithFlags(event, 0); }
int EventDestroy(Event* event) {
  if (!known(event)) return kInvalidHandle;
  timeline().events.erase(event);
  delete event;
  return kSuccess;
}
int EventRecord(Event* event, Stream* handle) {
  Timeline& t = timeline();
  const Stream* stream = resolve_stream(handle);
  if (!stream || !known(event)) return kInvalidHandle;
  event->capture = stream->capture;
  event->recorded = true;
  if (stream->capture) {
    ++stream->capture->event_records;
    stream->capture->operations.emplace_back([event](Stream* on) {
      if (known(event)) event->time_ns = on->ready_ns;
      return static_cast<int>(kSuccess);
    });
    return kSuccess;
  }
  event->time_ns = std::max(stream->id == 0 ? t.device_ns : stream->ready_ns, t.host_ns);
  event->before = done_by(*stream);
  note_no_effect();
  return kSuccess;
}
int EventRecordWithFlags(Event* event, Stream* stream, unsigned int) { return EventRecord(event, stream); }
int EventQuery(Event* event) {
  if (!known(event)) return kInvalidHandle;
  if (event->capture) return kCapturedEvent;
  timeline().host_ns = std::max(timeline().host_ns, event->time_ns);
  join(timeline().host, event->before);
  note_no_effect();
  return kSuccess;
}
int EventSynchronize(Event* event) {
  const int error = EventQuery(event);
  if (error == kSuccess) note_wait("wait_event", 0);
  return error;
}
int EventElapsedTime(float* milliseconds, Event* start, Event* end) {
  if (!milliseconds) return kInvalidValue;
  if (!known(start) || !known(end) || !start->recorded || !end->recorded) return kInvalidHandle;
  if ((start->flags | end->flags) & kDisableTiming) return kInvalidHandle;
  note_clock();
  note_no_effect();
  *milliseconds = static_cast<float>(shown_ns(end->time_ns - start->time_ns) * 1e-6);
  return kSuccess;
}

// ---- graphs

int StreamBeginCapture(Stream* handle, int) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (stream->id == 0) return kCaptureUnsupported;
  if (stream->capture) return 401;  // the operation cannot be performed in the present state
  stream->capture = new Graph;
  stream->capture_origin = true;
  return kSuccess;
}
int StreamEndCapture(Stream* handle, Graph** graph) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!graph) return kInvalidValue;
  if (!stream->capture || !stream->capture_origin) return kCaptureUnmatched;
  *graph = stream->capture;
  timeline().graphs.insert(*graph);
  stream->capture_origin = false;
  for (Stream* each : timeline().streams)
    if (each->capture == *graph) each->capture = nullptr;
  if (timeline().default_stream.capture == *graph) timeline().default_stream.capture = nullptr;
  for (Event* event : timeline().events)
    if (event->capture == *graph) event->capture = nullptr;
  return kSuccess;
}
int StreamIsCapturing(Stream* handle, int* status) {
  const Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  if (!status) return kInvalidValue;
  *status = stream->capture ? 1 : 0;
  return kSuccess;
}
int GraphDestroy(Graph* graph) {
  if (!timeline().graphs.erase(graph)) return kInvalidValue;
  delete graph;
  return kSuccess;
}
int GraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long) {
  if (!executable || !timeline().graphs.count(graph)) return kInvalidValue;
  *executable = new Graph(*graph);
  timeline().executables.insert(*executable);
  return kSuccess;
}
int GraphInstantiate(Graph** executable, Graph* graph, GraphNode** error_node, char* log, size_t log_bytes) {
  if (error_node) *error_node = nullptr;
  if (log && log_bytes) *log = '\0';
  return GraphInstantiateWithFlags(executable, graph, 0);
}
int GraphLaunch(Graph* executable, Stream* handle) {
  Stream* stream = resolve_stream(handle);
  if (!timeline().executables.count(executable)) return kInvalidValue;
  if (!stream) return kInvalidHandle;
  if (stream->capture) return not_supported("launching a graph into a stream that is being captured");
  for (const auto& operation : executable->operations) {
    note_effect();
    const int error = operation(stream);
    if (error != kSuccess) return error;
  }
  return kSuccess;
}
int GraphUpload(Graph* executable, Stream* handle) {
  if (!timeline().executables.count(executable)) return kInvalidValue;
  return resolve_stream(handle) ? kSuccess : kInvalidHandle;
}
int GraphExecDestroy(Graph* executable) {
  if (!timeline().executables.erase(executable)) return kInvalidValue;
  delete executable;
  return kSuccess;
}

}  // namespace host
}  // namespace simt
