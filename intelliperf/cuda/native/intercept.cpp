#include "intercept.h"

#include <cuda.h>
#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "buffers.h"
#include "calls.h"
#include "cubin.h"
#include "graphs.h"
#include "launches.h"
#include "othernumbers.h"
#include "session.h"
#include "snapshot.h"

namespace intelliperf {

namespace {

struct State {
  std::recursive_mutex lock;
  Session session;
  int poison = -1;
  simt::OtherNumbersMode other_numbers = simt::OtherNumbersMode::kNone;
  pid_t owner = 0;
  std::vector<CallFacts> calls;      // by callback id
  std::set<std::string> variables;   // names in the loaded binaries
  std::map<void*, size_t> searched;  // module or library → how many names were looked up in it
  std::map<CUgraphExec, KeptGraph> graphs;
};

State* state = nullptr;
thread_local bool inside = false;  // our own calls are not the application's
constexpr Mover kMover = {read_buffer, write_buffer};

// ---- memory ----------------------------------------------------------------------------------

void fresh(uint64_t base, uint64_t bytes, MemoryKind kind) {
  state->session.allocations().add(base, bytes, kind);
  if (state->poison < 0 || kind == MemoryKind::kPinned || base == 0) return;
  if (cuMemsetD8(base, static_cast<unsigned char>(state->poison), bytes) == CUDA_SUCCESS) cuStreamSynchronize(nullptr);
}

// A replay says what lay in the addresses that it maps: "BASE:BYTES", comma list.
void mapped(uint64_t base, uint64_t bytes) {
  bool listed = false;
  const char* text = std::getenv("INTELLIPERF_EXPORT_PARTS");
  for (char* next = nullptr; text && *text; text = *next ? next + 1 : next) {
    const uint64_t start = std::strtoull(text, &next, 10);
    if (next == text || *next != ':') break;
    const uint64_t length = std::strtoull(next + 1, &next, 10);
    if (start < base || start + length > base + bytes) continue;
    fresh(start, length, MemoryKind::kMapped);
    listed = true;
  }
  if (!listed) fresh(base, bytes, MemoryKind::kMapped);
}

void on_allocation(const CallFacts& facts, const CUpti_CallbackData* info) {
  switch (facts.call) {
    case Call::kAllocate: {
      const auto& p = parameters<cuMemAlloc_v2_params>(info);
      return fresh(*p.dptr, p.bytesize, MemoryKind::kDevice);
    }
    case Call::kAllocatePitch: {
      const auto& p = parameters<cuMemAllocPitch_v2_params>(info);
      return fresh(*p.dptr, *p.pPitch * p.Height, MemoryKind::kDevice);
    }
    case Call::kAllocateManaged: {
      const auto& p = parameters<cuMemAllocManaged_params>(info);
      return fresh(*p.dptr, p.bytesize, MemoryKind::kManaged);
    }
    case Call::kMap: {
      const auto& p = parameters<cuMemSetAccess_params>(info);
      // Asked again for the same addresses, it says nothing new about them.
      const Buffer* known = state->session.allocations().find(p.ptr);
      return known ? void() : mapped(p.ptr, p.size);
    }
    case Call::kAllocateAsync: {
      const auto& p = parameters<cuMemAllocAsync_params>(info);
      cuStreamSynchronize(p.hStream);  // until then the memory is the stream's only
      return fresh(*p.dptr, p.bytesize, MemoryKind::kPool);
    }
    default: {  // both pinned forms begin alike
      const auto& p = parameters<cuMemAllocHost_v2_params>(info);
      return fresh(reinterpret_cast<uint64_t>(*p.pp), p.bytesize, MemoryKind::kPinned);
    }
  }
}

void on_free(const CUpti_CallbackData* info) {
  // All forms begin with the address.
  state->session.allocations().remove(*static_cast<const uint64_t*>(info->functionParams));
}

// ---- device variables ------------------------------------------------------------------------

void look_up(void* owner, const std::vector<std::string>& names,
             CUresult (*get)(CUdeviceptr*, size_t*, void*, const char*)) {
  for (const std::string& name : names) {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (get(&base, &bytes, owner, name.c_str()) != CUDA_SUCCESS || bytes == 0) continue;
    const Buffer* known = state->session.allocations().find(base);
    if (!known || known->base != base)
      state->session.allocations().add(base, bytes, MemoryKind::kSymbol, canonical(name));
  }
}

CUresult global_of_library(CUdeviceptr* base, size_t* bytes, void* owner, const char* name) {
  return cuLibraryGetGlobal(base, bytes, static_cast<CUlibrary>(owner), name);
}

CUresult global_of_module(CUdeviceptr* base, size_t* bytes, void* owner, const char* name) {
  return cuModuleGetGlobal(base, bytes, static_cast<CUmodule>(owner), name);
}

// The variables that live beside the kernel.
void find_variables(CUfunction function) {
  if (state->variables.empty()) return;
  CUlibrary library = nullptr;
  CUmodule module = nullptr;
  void* owner = nullptr;
  auto* get = global_of_library;
  if (is_kernel(function)) {
    if (cuKernelGetLibrary(&library, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS) owner = library;
  } else if (cuFuncGetModule(&module, function) == CUDA_SUCCESS) {
    owner = module;
    get = global_of_module;
  }
  if (!owner || state->searched[owner] == state->variables.size()) return;
  state->searched[owner] = state->variables.size();
  look_up(owner, {state->variables.begin(), state->variables.end()}, get);
}

// ---- launches --------------------------------------------------------------------------------

void report(Launch launch, int status, bool target) {
  if (target) {
    const CUresult ended = cuCtxSynchronize();
    if (status == 0) status = static_cast<int>(ended);
  }
  if (state->other_numbers != simt::OtherNumbersMode::kNone) launch.altered = 0;
  state->session.dispatch(launch, status, target);
}

// What is run twice must find the same again: everything that it can write to is known and can be put back.
bool keep(Snapshot& snapshot) {
  return state->session.all_comparable() && cuCtxSynchronize() == CUDA_SUCCESS &&
         snapshot.take(state->session.allocations());
}

// Copies from pageable memory may still be on their way when the call returns, and other streams do not wait for them.
bool arrived(bool written) { return cuCtxSynchronize() == CUDA_SUCCESS && written; }

void put_back(const Snapshot& snapshot) {
  if (arrived(snapshot.put_back())) return;
  std::fprintf(stderr, "intelliperf: the memory of the application cannot be put back\n");
  std::_Exit(125);
}

// The driver loads a kernel, and the variables beside it, when it is first launched: do that now.
void load(CUfunction function) {
  CUfunction loaded = nullptr;
  if (is_kernel(function)) cuKernelGetFunction(&loaded, reinterpret_cast<CUkernel>(function));
  find_variables(function);
}

void show_altered(const Request& request, const Launch& launch) {
  int status = static_cast<int>(launch_again(request, launch));
  const CUresult ended = cuCtxSynchronize();
  if (status == 0) status = static_cast<int>(ended);
  state->session.dispatch(launch, status, true);
  if (ended == CUDA_SUCCESS) return;
  // Such an error ends a CUDA context, and with it all that the application could still do.
  std::fprintf(stderr, "intelliperf: %s fails on other numbers with error %d\n", launch.kernel.c_str(), status);
  std::_Exit(125);
}

// Runs the launch on other numbers and shows the parent that instead. False: nothing was shown.
bool shown_on_other_numbers(Request& request) {
  const uint64_t nth = state->session.told(request.launch.kernel);
  if (!simt::worth_repeating(nth)) return false;
  load(request.function);
  read_arguments(request);
  const bool arguments = state->other_numbers == simt::OtherNumbersMode::kArguments;
  const bool fixed_grid = request.call == Call::kLaunchCooperative || has_attributes(request);
  std::vector<Launch> launches;
  std::vector<AlteredBuffer> buffers;
  if (!arguments)
    buffers = altered_buffers(request.launch, state->session.allocations());
  else if (!fixed_grid)
    launches = with_other_arguments(request.launch);
  if (!buffers.empty()) launches = {request.launch};
  Snapshot snapshot(kMover);
  if (launches.empty() || !keep(snapshot)) return false;
  for (Launch& launch : launches) {
    launch.altered = arguments ? 1 : static_cast<int>(buffers.size());
    if (!arrived(write_altered(buffers, snapshot, kMover, nth))) launch.altered = 0;
    show_altered(request, launch);
    put_back(snapshot);
  }
  return true;
}

// Before its first launch a kernel, and the variables beside it, may not be loaded yet.
void show_before(const CallFacts& facts, const CUpti_CallbackData* info) {
  Request request = request_of(facts, info);
  if (capturing(request.stream) || !state->session.is_target(request.launch.kernel)) return;
  load(request.function);
  read_arguments(request);
  request.launch.cooperative = request.call == Call::kLaunchCooperative;
  if (has_attributes(request)) request.launch.unrepeatable = "it is launched with attributes of its own";
  if (cuCtxSynchronize() == CUDA_SUCCESS) state->session.begins(request.launch);
}

void on_launch_begins(const CallFacts& facts, const CUpti_CallbackData* info) {
  *info->correlationData = 0;
  if (state->session.looks_before()) show_before(facts, info);
  if (state->other_numbers == simt::OtherNumbersMode::kNone) return;
  Request request = request_of(facts, info);
  if (capturing(request.stream) || !state->session.is_target(request.launch.kernel)) return;
  *info->correlationData = shown_on_other_numbers(request);
}

void on_launch(const CallFacts& facts, const CUpti_CallbackData* info) {
  Request request = request_of(facts, info);
  if (capturing(request.stream) || *info->correlationData) return;
  const int status = static_cast<int>(*static_cast<const CUresult*>(info->functionReturnValue));
  const bool target = state->session.is_target(request.launch.kernel);
  if (target) {
    read_arguments(request);
    find_variables(request.function);
  }
  report(request.launch, status, target);
}

// ---- graphs ----------------------------------------------------------------------------------
//
// A graph of kernels, copies and fills runs part by part first, up to one target after the other, each of which is
// shown; then memory is put back, and the application's launch does all of it. What cannot be run so, and later
// launches in a thinning row, are told after the whole graph: its last target stands for all.

void on_instantiate(const CUpti_CallbackData* info) {
  const auto& p = parameters<cuGraphInstantiateWithFlags_params>(info);  // all forms begin alike
  std::vector<CUfunction> functions;
  forget(state->graphs[*p.phGraphExec]);
  state->graphs[*p.phGraphExec] = kept(p.hGraph, functions);
  for (const CUfunction function : functions) find_variables(function);
}

void on_graph_changed(const CUpti_CallbackData* info) {
  forget(state->graphs[*static_cast<const CUgraphExec*>(info->functionParams)]);  // all forms begin with it
}

size_t last_target(const std::vector<Launch>& launches) {
  size_t last = launches.size();
  for (size_t i = 0; i < launches.size(); ++i)
    if (state->session.is_target(launches[i].kernel)) last = i;
  return last;
}

void report_all(const std::vector<Launch>& launches, size_t first, int status) {
  const size_t last = last_target(launches);
  for (size_t i = first; i < launches.size(); ++i) report(launches[i], status, i == last);
}

// Shows the targets as they come, up to the last step. Returns how many launches were told.
size_t rehearse(const KeptGraph& graph, CUstream stream) {
  const auto has_target = [](const Step& step) { return last_target(step.launches) < step.launches.size(); };
  Snapshot snapshot(kMover);
  size_t told = 0;
  size_t from = 0;
  bool kept = false;
  for (size_t i = 0; i + 1 < graph.steps.size(); ++i) {
    if (!has_target(graph.steps[i])) continue;
    if (!kept && !keep(snapshot)) break;
    kept = true;
    const CUresult status = run_steps(graph, from, i + 1, stream);
    for (; from <= i; ++from) {
      report_all(graph.steps[from].launches, 0, static_cast<int>(status));
      told += graph.steps[from].launches.size();
    }
    if (status != CUDA_SUCCESS) break;
  }
  if (kept) put_back(snapshot);
  return told;
}

void on_graph_launch_begins(const CallFacts& facts, const CUpti_CallbackData* info) {
  const auto& p = parameters<cuGraphLaunch_params>(info);
  const CUstream stream = stream_of(p.hStream, facts.per_thread);
  KeptGraph& graph = state->graphs[p.hGraph];
  *info->correlationData = 0;
  if (capturing(stream) || !graph.graph || !simt::worth_repeating(graph.launched++)) return;
  *info->correlationData = rehearse(graph, stream);
}

void on_graph_launch(const CallFacts& facts, const CUpti_CallbackData* info) {
  const auto& p = parameters<cuGraphLaunch_params>(info);
  if (capturing(stream_of(p.hStream, facts.per_thread))) return;
  const int status = static_cast<int>(*static_cast<const CUresult*>(info->functionReturnValue));
  report_all(state->graphs[p.hGraph].launches(), *info->correlationData, status);
}

// ---- transfers -------------------------------------------------------------------------------

const char* direction(uint64_t to, uint64_t from) {
  const auto on_device = [](uint64_t address) {
    const Buffer* buffer = state->session.allocations().find(address);
    return buffer && buffer->kind != MemoryKind::kPinned;
  };
  if (on_device(to)) return on_device(from) ? "memcpy_dtod" : "memcpy_htod";
  return on_device(from) ? "memcpy_dtoh" : "memcpy_htoh";
}

struct Copy1d {  // how all of these begin
  uint64_t to, from;
  size_t bytes;
  CUstream stream;  // of the asynchronous ones
};

struct Fill1d {
  uint64_t to;
  unsigned value;
  size_t count;
  CUstream stream;
};

struct Fill2d {
  uint64_t to;
  size_t pitch;
  unsigned value;
  size_t width, height;
};

void on_transfer(const CallFacts& facts, const CUpti_CallbackData* info) {
  switch (facts.call) {
    case Call::kCopy: {
      const auto& p = parameters<Copy1d>(info);
      if (facts.asynchronous && capturing(stream_of(p.stream, facts.per_thread))) return;
      return state->session.transfer(facts.operation ? facts.operation : direction(p.to, p.from), p.bytes);
    }
    case Call::kFill: {
      const auto& p = parameters<Fill1d>(info);
      if (facts.asynchronous && capturing(stream_of(p.stream, facts.per_thread))) return;
      return state->session.transfer("memset", p.count * facts.element_bytes);
    }
    case Call::kFill2d: {
      const auto& p = parameters<Fill2d>(info);
      return state->session.transfer("memset", p.width * p.height * facts.element_bytes);
    }
    case Call::kCopy2d: {
      const auto& p = *parameters<cuMemcpy2D_v2_params>(info).pCopy;
      return state->session.transfer("memcpy_2d", p.WidthInBytes * p.Height);
    }
    default: {
      const auto& p = *parameters<cuMemcpy3D_v2_params>(info).pCopy;
      return state->session.transfer("memcpy_3d", p.WidthInBytes * p.Height * p.Depth);
    }
  }
}

// ---- callbacks -------------------------------------------------------------------------------

void on_call_begins(const CallFacts& facts, const CUpti_CallbackData* info) {
  switch (facts.call) {
    case Call::kFree:
    case Call::kFreeAsync:
    case Call::kFreeHost:
      return on_free(info);
    case Call::kGraphLaunch:
      return on_graph_launch_begins(facts, info);
    default:
      return launches(facts.call) ? on_launch_begins(facts, info) : void();
  }
}

void on_call(const CallFacts& facts, const CUpti_CallbackData* info) {
  if (info->callbackSite == CUPTI_API_ENTER) return on_call_begins(facts, info);
  const bool failed = *static_cast<const CUresult*>(info->functionReturnValue) != CUDA_SUCCESS;
  if (launches(facts.call)) return on_launch(facts, info);
  if (facts.call == Call::kGraphLaunch) return on_graph_launch(facts, info);
  if (failed) return;
  switch (facts.call) {
    case Call::kAllocate:
    case Call::kAllocatePitch:
    case Call::kAllocateManaged:
    case Call::kAllocateAsync:
    case Call::kAllocateHost:
    case Call::kHostAllocate:
    case Call::kMap:
      return on_allocation(facts, info);
    case Call::kFree:
    case Call::kFreeAsync:
    case Call::kFreeHost:
      return;
    case Call::kGraphInstantiate:
      return on_instantiate(info);
    case Call::kGraphChanged:
      return on_graph_changed(info);
    case Call::kUncovered:
      return state->session.cannot_compare(facts.operation);
    default:
      return on_transfer(facts, info);
  }
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData* data) {
  if (id != CUPTI_CBID_RESOURCE_MODULE_LOADED || !data->resourceDescriptor) return;
  const auto* module = static_cast<const CUpti_ModuleResourceData*>(data->resourceDescriptor);
  for (const std::string& name : variables_of(module->pCubin, module->cubinSize)) state->variables.insert(name);
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (getpid() != state->owner) return;  // a forked child says nothing
  if (inside && domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const bool ours = inside;
  inside = true;
  {
    const std::lock_guard<std::recursive_mutex> hold(state->lock);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      on_resource(id, static_cast<const CUpti_ResourceData*>(data));
    } else if (id < state->calls.size() && state->calls[id].call != Call::kOther) {
      on_call(state->calls[id], static_cast<const CUpti_CallbackData*>(data));
    }
  }
  inside = ours;
}

std::string device_name() {
  char name[256] = "";
  CUdevice device = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS || cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS)
    return "CUDA";
  return name;
}

unsigned wave_size() { return 32; }

void finish() {
  if (getpid() == state->owner) state->session.end();
}

void require(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* why = nullptr;
  cuptiGetResultString(result, &why);
  std::fprintf(stderr, "intelliperf: %s: %s\n", what, why ? why : "unknown error");
  std::_Exit(125);
}

}  // namespace

void start_intercept() {
  const char* socket = std::getenv("INTELLIPERF_EXPORT_SOCKET");
  if (!socket || !*socket) return;
  state = new State;
  state->owner = getpid();
  const char* poison = std::getenv("INTELLIPERF_POISON");
  if (poison && *poison) state->poison = std::atoi(poison) & 0xff;
  state->other_numbers = other_numbers_mode();
  state->session.open(socket, {"cuda", device_name, wave_size, read_buffer, share_buffer});
  CUpti_SubscriberHandle subscriber = nullptr;
  require(cuptiSubscribe(&subscriber, reinterpret_cast<CUpti_CallbackFunc>(called), nullptr),
          "calls cannot be intercepted (another profiler in this process?)");
  state->calls.resize(CUPTI_DRIVER_TRACE_CBID_SIZE);
  for (uint32_t id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    const char* name = nullptr;
    if (cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS || !name) continue;
    state->calls[id] = facts_of(name);
    if (state->calls[id].call != Call::kOther)
      require(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id), "calls cannot be intercepted");
  }
  require(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE), "loaded binaries cannot be seen");
  std::atexit(finish);
}

}  // namespace intelliperf
