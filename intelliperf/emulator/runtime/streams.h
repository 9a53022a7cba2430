// Streams, events and captured graphs on the modelled clock.
//
// Work is done when it is issued. Its modelled time is laid on one device timeline: an operation begins when
// its stream's previous one, the device's previous one and the host (which waits where it synchronises) allow.
// Streams therefore order work but never overlap it. Host time does not pass on this clock.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "stream_order.h"

namespace simt {

// The operations of a capture, in the order of issue (which respects every dependency between its streams).
struct GraphNode;
struct Graph {
  std::vector<std::function<int(struct Stream*)>> operations;
  std::vector<std::shared_ptr<GraphNode>> nodes;  // where it was built node by node
  size_t event_records = 0;                       // operations that no node stands for
};

struct Stream {
  uint64_t id = 0;  // 0 is the default stream
  uint32_t flags = 0;
  int priority = 0;
  double ready_ns = 0;
  Graph* capture = nullptr;  // being captured into
  bool capture_origin = false;
  StreamClock before;  // and its own operations so far
  uint64_t operations = 0;
};

struct Event {
  uint32_t flags = 0;
  bool recorded = false;
  double time_ns = 0;
  StreamClock before;
  Graph* capture = nullptr;  // recorded in a capturing stream
};

// The stream behind a handle: null and the two special handles are the default stream. Null if invalid.
Stream* resolve_stream(Stream* handle);
// Puts `duration_ns` of device work on the timeline; the host waits for it if `blocking`.
void advance(Stream& stream, double duration_ns, bool blocking);
void wait_for(const Stream& stream);  // the host waits
void wait_for_device();
// The next operation of the stream; `clock` takes what is ordered before it.
StreamPlace next_operation(Stream& stream, StreamClock& clock);
bool any_capture();     // some stream is capturing
void forget_streams();  // device reset

}  // namespace simt
