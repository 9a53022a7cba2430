#include "intercept.h"

#include <cuda.h>
#include <cupti.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "calls.h"
#include "cubin.h"
#include "session.h"

namespace intelliperf {

namespace {

struct State {
  std::recursive_mutex lock;
  Session session;
  int poison = -1;
  pid_t owner = 0;
  std::vector<CallFacts> calls;                         // by callback id
  std::set<std::string> variables;                      // names in the loaded binaries
  std::map<void*, size_t> searched;                     // module or library → how many names were looked up in it
  std::map<CUgraphExec, std::vector<Launch>> graphs;    // kernel nodes
};

State* state = nullptr;
thread_local bool inside = false;  // our own calls are not the application's

template <typename T>
const T& parameters(const CUpti_CallbackData* info) {
  return *static_cast<const T*>(info->functionParams);
}

// ---- memory ----------------------------------------------------------------------------------

void fresh(uint64_t base, uint64_t bytes, MemoryKind kind) {
  state->session.allocations().add(base, bytes, kind);
  if (state->poison < 0 || kind == MemoryKind::kPinned || base == 0) return;
  if (cuMemsetD8(base, static_cast<unsigned char>(state->poison), bytes) == CUDA_SUCCESS) cuStreamSynchronize(nullptr);
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
      return known ? void() : fresh(p.ptr, p.size, MemoryKind::kMapped);
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

void look_up(void* owner, const std::vector<std::string>& names, CUresult (*get)(CUdeviceptr*, size_t*, void*, const char*)) {
  for (const std::string& name : names) {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (get(&base, &bytes, owner, name.c_str()) != CUDA_SUCCESS || bytes == 0) continue;
    const Buffer* known = state->session.allocations().find(base);
    if (!known || known->base != base) state->session.allocations().add(base, bytes, MemoryKind::kSymbol, canonical(name));
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
  if (cuKernelGetLibrary(&library, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS) {
    owner = library;
  } else if (cuFuncGetModule(&module, function) == CUDA_SUCCESS) {
    owner = module;
    get = global_of_module;
  }
  if (!owner || state->searched[owner] == state->variables.size()) return;
  state->searched[owner] = state->variables.size();
  look_up(owner, {state->variables.begin(), state->variables.end()}, get);
}

// ---- launches --------------------------------------------------------------------------------

bool layout_of(CUfunction function, size_t index, size_t& offset, size_t& bytes) {
  if (cuFuncGetParamInfo(function, index, &offset, &bytes) == CUDA_SUCCESS) return true;
  return cuKernelGetParamInfo(reinterpret_cast<CUkernel>(function), index, &offset, &bytes) == CUDA_SUCCESS;
}

// The packed argument buffer of a launch that hands one over instead of single values.
const unsigned char* packed_arguments(void** extra) {
  for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) return static_cast<const unsigned char*>(extra[i + 1]);
  return nullptr;
}

void read_arguments(Launch& launch, CUfunction function, void** values, void** extra) {
  const unsigned char* packed = values ? nullptr : packed_arguments(extra);
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; (values || packed) && layout_of(function, i, offset, bytes); ++i) {
    const auto* from = values ? static_cast<const unsigned char*>(values[i]) : packed + offset;
    launch.arguments.push_back({{from, from + bytes}});
  }
}

std::string name_of(CUfunction function) {
  const char* name = nullptr;
  if (cuFuncGetName(&name, function) == CUDA_SUCCESS && name) return name;
  if (cuKernelGetName(&name, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS && name) return name;
  return "";
}

bool capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

CUstream stream_of(CUstream given, bool per_thread) { return given || !per_thread ? given : CU_STREAM_PER_THREAD; }

void report(const Launch& launch, int status, bool target) {
  if (target) {
    const CUresult ended = cuCtxSynchronize();
    if (status == 0) status = static_cast<int>(ended);
  }
  state->session.dispatch(launch, status, target);
}

void on_launch(Launch& launch, CUfunction function, void** values, void** extra, CUstream stream,
               const CUpti_CallbackData* info) {
  if (capturing(stream)) return;
  launch.kernel = canonical(info->symbolName ? info->symbolName : name_of(function));
  const int status = static_cast<int>(*static_cast<const CUresult*>(info->functionReturnValue));
  const bool target = state->session.is_target(launch.kernel);
  if (target) {
    read_arguments(launch, function, values, extra);
    find_variables(function);
  }
  report(launch, status, target);
}

template <typename Parameters>
void take_shape(Launch& launch, const Parameters& p) {
  const unsigned shape[6] = {p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ};
  std::memcpy(launch.grid, shape, sizeof launch.grid);
  std::memcpy(launch.block, shape + 3, sizeof launch.block);
  launch.dynamic_lds = p.sharedMemBytes;
}

void on_any_launch(const CallFacts& facts, const CUpti_CallbackData* info) {
  Launch launch;
  if (facts.call == Call::kLaunchEx) {
    const auto& p = parameters<cuLaunchKernelEx_params>(info);
    take_shape(launch, *p.config);
    return on_launch(launch, p.f, p.kernelParams, p.extra, stream_of(p.config->hStream, facts.per_thread), info);
  }
  if (facts.call == Call::kLaunchCooperative) {
    const auto& p = parameters<cuLaunchCooperativeKernel_params>(info);
    take_shape(launch, p);
    return on_launch(launch, p.f, p.kernelParams, nullptr, stream_of(p.hStream, facts.per_thread), info);
  }
  const auto& p = parameters<cuLaunchKernel_params>(info);
  take_shape(launch, p);
  on_launch(launch, p.f, p.kernelParams, p.extra, stream_of(p.hStream, facts.per_thread), info);
}

// ---- graphs: their kernels are told after the whole graph has run ------------------------------

void collect_kernels(CUgraph graph, std::vector<Launch>& launches, std::vector<CUfunction>& functions) {
  size_t count = 0;
  if (cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS || count == 0) return;
  std::vector<CUgraphNode> nodes(count);
  if (cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return;
  for (const CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    if (cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) continue;
    CUgraph child = nullptr;
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
      collect_kernels(child, launches, functions);
    CUDA_KERNEL_NODE_PARAMS p{};
    if (type != CU_GRAPH_NODE_TYPE_KERNEL || cuGraphKernelNodeGetParams(node, &p) != CUDA_SUCCESS) continue;
    Launch launch;
    take_shape(launch, p);
    CUfunction function = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
    launch.kernel = canonical(name_of(function));
    read_arguments(launch, function, p.kernelParams, p.extra);
    launches.push_back(launch);
    functions.push_back(function);
  }
}

void on_instantiate(const CUpti_CallbackData* info) {
  const auto& p = parameters<cuGraphInstantiateWithFlags_params>(info);  // all forms begin alike
  std::vector<Launch> launches;
  std::vector<CUfunction> functions;
  collect_kernels(p.hGraph, launches, functions);
  for (const CUfunction function : functions) find_variables(function);
  state->graphs[*p.phGraphExec] = launches;
}

void on_graph_launch(const CallFacts& facts, const CUpti_CallbackData* info) {
  const auto& p = parameters<cuGraphLaunch_params>(info);
  if (capturing(stream_of(p.hStream, facts.per_thread))) return;
  const int status = static_cast<int>(*static_cast<const CUresult*>(info->functionReturnValue));
  const std::vector<Launch>& launches = state->graphs[p.hGraph];
  size_t last = launches.size();
  for (size_t i = 0; i < launches.size(); ++i)
    if (state->session.is_target(launches[i].kernel)) last = i;
  for (size_t i = 0; i < launches.size(); ++i) report(launches[i], status, i == last);
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

void on_call(const CallFacts& facts, const CUpti_CallbackData* info) {
  const bool entered = info->callbackSite == CUPTI_API_ENTER;
  const bool frees = facts.call == Call::kFree || facts.call == Call::kFreeAsync || facts.call == Call::kFreeHost;
  if (frees) {
    if (entered) on_free(info);
    return;
  }
  if (entered) return;
  const bool failed = *static_cast<const CUresult*>(info->functionReturnValue) != CUDA_SUCCESS;
  switch (facts.call) {
    case Call::kLaunch:
    case Call::kLaunchEx:
    case Call::kLaunchCooperative: return on_any_launch(facts, info);
    case Call::kGraphLaunch: return on_graph_launch(facts, info);
    default: break;
  }
  if (failed) return;
  switch (facts.call) {
    case Call::kAllocate:
    case Call::kAllocatePitch:
    case Call::kAllocateManaged:
    case Call::kAllocateAsync:
    case Call::kAllocateHost:
    case Call::kHostAllocate:
    case Call::kMap: return on_allocation(facts, info);
    case Call::kGraphInstantiate: return on_instantiate(info);
    case Call::kUncovered: return state->session.cannot_compare(facts.operation);
    default: return on_transfer(facts, info);
  }
}

void on_resource(CUpti_CallbackId id, const CUpti_ResourceData* data) {
  if (id != CUPTI_CBID_RESOURCE_MODULE_LOADED || !data->resourceDescriptor) return;
  const auto* module = static_cast<const CUpti_ModuleResourceData*>(data->resourceDescriptor);
  for (const std::string& name : variables_of(module->pCubin, module->cubinSize)) state->variables.insert(name);
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (inside || getpid() != state->owner) return;  // a forked child says nothing
  inside = true;
  {
    const std::lock_guard<std::recursive_mutex> hold(state->lock);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      on_resource(id, static_cast<const CUpti_ResourceData*>(data));
    } else if (id < state->calls.size() && state->calls[id].call != Call::kOther) {
      on_call(state->calls[id], static_cast<const CUpti_CallbackData*>(data));
    }
  }
  inside = false;
}

std::string device_name() {
  char name[256] = "";
  CUdevice device = 0;
  if (cuCtxGetDevice(&device) != CUDA_SUCCESS || cuDeviceGetName(name, sizeof name, device) != CUDA_SUCCESS) return "CUDA";
  return name;
}

unsigned wave_size() { return 32; }

bool copy(void* to, const Buffer& from) {
  if (from.kind != MemoryKind::kPinned) return cuMemcpyDtoH(to, from.base, from.bytes) == CUDA_SUCCESS;
  std::memcpy(to, reinterpret_cast<const void*>(from.base), from.bytes);  // NOLINT(performance-no-int-to-ptr)
  return true;
}

Shared share(const Buffer& buffer) {
  Shared shared;
  if (buffer.kind != MemoryKind::kDevice || buffer.bytes == 0) {
    shared.why = "no memory of cudaMalloc";  // CUDA has IPC handles for that alone
    return shared;
  }
  CUipcMemHandle handle;
  const CUresult made = cuIpcGetMemHandle(&handle, buffer.base);
  if (made != CUDA_SUCCESS) {
    shared.why = "cuIpcGetMemHandle fails with " + std::to_string(made);
    return shared;
  }
  shared.handle.assign(handle.reserved, sizeof handle.reserved);
  shared.bytes = buffer.bytes;
  shared.style = "CUDA";
  return shared;
}

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
  state->session.open(socket, {"cuda", device_name, wave_size, copy, share});
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
