#include "flush.h"

#include <cuda.h>
#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "launches.h"

namespace intelliperf {

namespace {

constexpr unsigned kBlocks = 1024, kThreads = 256;
constexpr uint64_t kTimesTheL2 = 2;  // what lies in both halves of a divided L2 counts twice

// Writes `bytes` from `base` on. As text: the driver of whatever GPU compiles it.
constexpr const char* kHead = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry ";
constexpr const char* kBody = R"((.param .u64 base, .param .u64 bytes)
{
  .reg .pred %last;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [base];
  ld.param.u64 %rd2, [bytes];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 16;
  mov.u32 %r1, %nctaid.x;
  mul.lo.u32 %r5, %r1, %r2;
  mul.wide.u32 %rd4, %r5, 16;
again:
  setp.ge.u64 %last, %rd3, %rd2;
  @%last bra done;
  add.u64 %rd5, %rd1, %rd3;
  st.global.v4.u32 [%rd5], {%r4, %r4, %r4, %r4};
  add.u64 %rd3, %rd3, %rd4;
  bra again;
done:
  ret;
}
)";

struct Writer {                   // of one context
  CUfunction function = nullptr;  // null where it cannot be had
  CUdeviceptr base = 0;
  uint64_t bytes = 0;
};

struct Flush {
  std::mutex lock;
  std::string before, name;
  pid_t owner = 0;
  std::vector<CallFacts> calls;  // by callback id
  std::map<CUcontext, Writer> writers;
};

Flush* flush = nullptr;
thread_local bool inside = false;

// Memory is asked for and code is loaded although some stream of the application may be captured just then.
class Relaxed {
 public:
  Relaxed() { cuThreadExchangeStreamCaptureMode(&mode_); }
  ~Relaxed() { cuThreadExchangeStreamCaptureMode(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

CUresult make(Writer& writer) {
  int l2_bytes = 0;
  CUdevice device = 0;
  CUmodule module = nullptr;
  CUresult status = cuCtxGetDevice(&device);
  if (status == CUDA_SUCCESS) status = cuDeviceGetAttribute(&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
  writer.bytes = kTimesTheL2 * static_cast<uint64_t>(l2_bytes) / 16 * 16;
  if (status == CUDA_SUCCESS) status = cuMemAlloc(&writer.base, writer.bytes);
  const std::string code = kHead + flush->name + kBody;
  if (status == CUDA_SUCCESS) status = cuModuleLoadData(&module, code.c_str());
  CUfunction function = nullptr;
  if (status == CUDA_SUCCESS) status = cuModuleGetFunction(&function, module, flush->name.c_str());
  if (status == CUDA_SUCCESS) writer.function = function;
  return status;
}

Writer& writer_here() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  const auto [found, fresh] = flush->writers.try_emplace(context);
  if (!fresh) return found->second;
  const Relaxed relaxed;
  const CUresult status = make(found->second);
  if (status != CUDA_SUCCESS) std::fprintf(stderr, "intelliperf: the L2 cannot be emptied: error %d\n", status);
  return found->second;
}

void write_over(CUstream stream) {
  Writer& writer = writer_here();
  if (!writer.function) return;
  void* values[] = {&writer.base, &writer.bytes};
  cuLaunchKernel(writer.function, kBlocks, 1, 1, kThreads, 1, 1, 0, stream, values, nullptr);
}

void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId id, const void* data) {
  const auto* info = static_cast<const CUpti_CallbackData*>(data);
  if (inside || getpid() != flush->owner || info->callbackSite != CUPTI_API_ENTER || id >= flush->calls.size()) return;
  inside = true;
  {
    const std::lock_guard<std::mutex> hold(flush->lock);
    const Request request = request_of(flush->calls[id], info);
    if (request.launch.kernel == flush->before && !capturing(request.stream)) write_over(request.stream);
  }
  inside = false;
}

}  // namespace

void start_flush() {
  const char* before = std::getenv("INTELLIPERF_FLUSH_BEFORE");
  const char* name = std::getenv("INTELLIPERF_FLUSH_NAME");
  if (!before || !*before || !name || !*name) return;
  flush = new Flush;
  flush->before = before;
  flush->name = name;
  flush->owner = getpid();
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(called), nullptr) != CUPTI_SUCCESS) {
    std::fprintf(stderr, "intelliperf: the L2 cannot be emptied: another profiler hears of the launches\n");
    return;
  }
  flush->calls.resize(CUPTI_DRIVER_TRACE_CBID_SIZE);
  for (uint32_t id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* called_name = nullptr;
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &called_name) != CUPTI_SUCCESS || !called_name) continue;
    flush->calls[id] = facts_of(called_name);
    if (launches(flush->calls[id].call)) cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  }
}

}  // namespace intelliperf
