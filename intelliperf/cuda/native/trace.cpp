#include "trace.h"

#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "json.h"
#include "signature.h"

namespace intelliperf {

namespace {

// The newest record layouts that the headers know; CUPTI of the same release writes these.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif
#if CUPTI_API_VERSION >= 18
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using FillRecord = CUpti_ActivityMemset4;

constexpr size_t kBufferBytes = 4u << 20;
constexpr uint32_t kFlushPeriodMs = 200;  // what an application that ends without exit() loses at most

std::FILE* out = nullptr;
std::mutex lock;
size_t dropped = 0;

void complain(const char* what, CUptiResult result) {
  const char* why = nullptr;
  cuptiGetResultString(result, &why);
  std::fprintf(stderr, "intelliperf: %s: %s\n", what, why ? why : "unknown error");
}

void write_line(simt::JsonWriter& json) { std::fprintf(out, "%s\n", json.text().c_str()); }

void write_shape(simt::JsonWriter& json, const char* name, int x, int y, int z) {
  json.key(name).begin_array().integer(x).integer(y).integer(z).end_array();
}

void write_kernel(const KernelRecord& record) {
  simt::JsonWriter json;
  const std::string symbol = canonical(record.name ? record.name : "");
  json.begin_object().key("type").string("kernel").key("kernel").string(symbol);
  json.key("name").string(demangled(symbol));
  json.key("start_ns").number(record.start).key("end_ns").number(record.end);
  write_shape(json, "grid", record.gridX, record.gridY, record.gridZ);
  write_shape(json, "block", record.blockX, record.blockY, record.blockZ);
  json.key("dynamic_lds").integer(record.dynamicSharedMemory).key("static_lds").integer(record.staticSharedMemory);
  json.key("registers").number(record.registersPerThread).key("local_bytes").number(record.localMemoryPerThread);
  json.key("stream").number(record.streamId).key("context").number(record.contextId);
  json.key("graph").boolean(record.graphId != 0).key("correlation").number(record.correlationId).end_object();
  write_line(json);
}

const char* operation_of(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "memcpy_htod";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "memcpy_dtoh";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "memcpy_dtod";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "memcpy_peer";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "memcpy_htod";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "memcpy_dtoh";
    default:
      return "memcpy_dtod";
  }
}

void write_copy(const CopyRecord& record) {
  simt::JsonWriter json;
  const bool to_device = record.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  const uint8_t host_side = to_device ? record.srcKind : record.dstKind;
  json.begin_object().key("type").string("memcpy").key("operation").string(operation_of(record.copyKind));
  json.key("bytes").number(record.bytes).key("start_ns").number(record.start).key("end_ns").number(record.end);
  json.key("pageable").boolean(host_side == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  json.key("stream").number(record.streamId).end_object();
  write_line(json);
}

void write_fill(const FillRecord& record) {
  simt::JsonWriter json;
  json.begin_object().key("type").string("memset").key("operation").string("memset").key("bytes").number(record.bytes);
  json.key("start_ns").number(record.start).key("end_ns").number(record.end).key("pageable").boolean(false);
  json.key("stream").number(record.streamId).end_object();
  write_line(json);
}

void write_record(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      write_kernel(reinterpret_cast<const KernelRecord&>(record));
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      write_copy(reinterpret_cast<const CopyRecord&>(record));
      break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      write_fill(reinterpret_cast<const FillRecord&>(record));
      break;
    default:
      break;
  }
}

void CUPTIAPI provide(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *most_records = 0;
}

void CUPTIAPI consume(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  const std::lock_guard<std::mutex> hold(lock);
  CUpti_Activity* record = nullptr;
  while (out && valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) write_record(*record);
  size_t lost = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  if (out) std::fflush(out);
  std::free(buffer);
}

void finish() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const std::lock_guard<std::mutex> hold(lock);
  if (!out) return;
  simt::JsonWriter json;
  json.begin_object().key("type").string("end").key("dropped").number(dropped);
  json.key("process").number(static_cast<uint64_t>(getpid())).end_object();
  write_line(json);
  std::fclose(out);
  out = nullptr;
}

}  // namespace

void start_trace() {
  const char* path = std::getenv("INTELLIPERF_CUDA_TRACE");
  if (!path || !*path) return;
  const std::string name = std::string(path) + "." + std::to_string(getpid());
  out = std::fopen(name.c_str(), "we");
  if (!out) {
    std::fprintf(stderr, "intelliperf: cannot write %s: %s\n", name.c_str(), std::strerror(errno));
    return;
  }
  CUptiResult result = cuptiActivityRegisterCallbacks(provide, consume);
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
    if (result == CUPTI_SUCCESS) result = cuptiActivityEnable(kind);
  if (result == CUPTI_SUCCESS) cuptiActivityFlushPeriod(kFlushPeriodMs);
  if (result != CUPTI_SUCCESS) complain("the activity records of CUPTI cannot be had", result);
  std::atexit(finish);
}

}  // namespace intelliperf
