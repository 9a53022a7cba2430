#include "library_call.h"

#include <algorithm>

#include "device_file.h"
#include "export.h"
#include "fault_log.h"
#include "host_api.h"
#include "host_calls.h"
#include "json.h"
#include "launch.h"
#include "recorder.h"
#include "time_model.h"

namespace simt {
namespace {

bool known(const Extent2D& extent) {
  return extent.bytes == 0 || inside(reinterpret_cast<uintptr_t>(extent.base), extent.bytes);
}

uint64_t total(const std::vector<Extent2D>& extents) {
  uint64_t bytes = 0;
  for (const Extent2D& extent : extents) bytes += extent.bytes;
  return bytes;
}

double roofline_ns(const LibraryCall& call, uint64_t bytes) {
  const Device& d = device();
  const double rate = call.double_precision ? d.fp64_flops_per_s : d.fp32_flops_per_s;
  return d.launch_overhead_ns + std::max(call.flops / rate, double(bytes) / d.dram_bytes_per_s) * 1e9;
}

void account(const LibraryCall& call, Stream& stream, bool waits) {
  const uint64_t bytes = total(call.reads) + total(call.writes);
  const double time_ns = roofline_ns(call, bytes);
  JsonWriter line;
  line.begin_object();
  HostCall noted{"library", Recorder::instance().next_launch(), stream.id, waits};
  line.key("index").number(noted.index);
  line.key("operation").string("library");
  line.key("name").string(call.name.c_str());
  line.key("bytes").number(bytes);
  line.key("stream").number(stream.id);
  line.key("time_ns").real(time_ns);
  line.end_object();
  Recorder::instance().launch_line(line.text());
  advance(stream, time_ns, waits);
  note_call(noted);
  export_transfer(("library " + call.name).c_str(), bytes);
}

}  // namespace

int run_library_call(const LibraryCall& call, Stream* handle, bool waits, std::function<void()> work) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return kInvalidHandle;
  for (const auto* extents : {&call.reads, &call.writes})
    for (const Extent2D& extent : *extents) {
      if (known(extent)) continue;
      const std::string detail =
          call.name + " is given " + std::to_string(extent.bytes) + " bytes that are not wholly in device memory";
      record_host_fault("out_of_bounds", detail.c_str());
      return kInvalidValue;
    }
  if (!stream->capture) {
    work();
    account(call, *stream, waits);
    return kSuccess;
  }
  if (waits) return kCaptureUnsupported;
  stream->capture->operations.emplace_back([call, work](Stream* on) {
    work();
    account(call, *on, false);
    return static_cast<int>(kSuccess);
  });
  return kSuccess;
}

}  // namespace simt
