// A CUDA driver without a GPU: device memory is host memory, kernels are functions of this program, everything runs at
// once. It reports calls to one CUPTI subscriber, also those that the subscriber itself makes, and keeps activity
// records of what ran, on a clock of its own.
#include "driver.h"

#include <cuda.h>
#include <cupti.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

struct CUfunc_st {
  KernelCode code;
};
struct CUgraphNode_st {
  CUgraph graph = nullptr;
  CUgraphNodeType type{};
  CUDA_KERNEL_NODE_PARAMS kernel{};
  std::vector<std::vector<char>> values;
  std::vector<void*> pointers;
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUgraphNode original = nullptr;
  std::vector<CUgraphNode> after;
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  CUgraph graph;
};

namespace {

const char* const kNames[] = {"",
                              "cuMemAlloc_v2",
                              "cuMemFree_v2",
                              "cuMemsetD8_v2",
                              "cuMemcpyHtoD_v2",
                              "cuMemcpyDtoH_v2",
                              "cuLaunchKernel",
                              "cuLaunchKernelEx",
                              "cuLaunchCooperativeKernel",
                              "cuGraphInstantiateWithFlags",
                              "cuGraphLaunch",
                              "cuGraphExecMemsetNodeSetParams"};

struct State {
  CUpti_CallbackFunc called = nullptr;
  bool enabled[CUPTI_DRIVER_TRACE_CBID_SIZE] = {};
  bool capturing = false;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
  std::vector<CUpti_ActivityKernel10> ran;
  CUpti_BuffersCallbackRequestFunc provide = nullptr;
  CUpti_BuffersCallbackCompleteFunc consume = nullptr;
  bool activities = false;
  uint64_t now = 1000;
  std::map<CUdeviceptr, size_t> allocated;
};
State& state() {
  static auto* made = new State;
  return *made;
}

template <typename Parameters, typename Run>
CUresult reported(const char* name, const Parameters& parameters, const char* symbol, Run run) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const char* one) { return !std::strcmp(one, name); });
  const auto id = static_cast<uint32_t>(found - std::begin(kNames));
  uint64_t shared = 0xfeed;
  CUresult status = CUDA_ERROR_NOT_SUPPORTED;
  CUpti_CallbackData data{};
  data.functionName = name;
  data.functionParams = &parameters;
  data.functionReturnValue = &status;
  data.symbolName = symbol;
  data.correlationData = &shared;
  const bool heard = state().called && state().enabled[id];
  data.callbackSite = CUPTI_API_ENTER;
  if (heard) state().called(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  status = run();
  data.callbackSite = CUPTI_API_EXIT;
  if (heard) state().called(nullptr, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  return status;
}

void* host(CUdeviceptr at) { return reinterpret_cast<void*>(at); }

CUresult execute(CUfunction f, const unsigned (&grid)[3], const unsigned (&block)[3], void** values) {
  if (!grid[0] || !block[0]) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t start = state().now;
  f->code.run(values, grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]);
  state().now += 100;
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.name = f->code.name.c_str();
  record.start = start, record.end = state().now;
  record.gridX = static_cast<int>(grid[0]), record.gridY = static_cast<int>(grid[1]),
  record.gridZ = static_cast<int>(grid[2]);
  record.blockX = static_cast<int>(block[0]), record.blockY = static_cast<int>(block[1]),
  record.blockZ = static_cast<int>(block[2]);
  record.registersPerThread = 16, record.streamId = 7, record.contextId = 1;
  state().ran.push_back(record);
  state().now += 50;
  return CUDA_SUCCESS;
}

CUresult run_graph(CUgraph graph) {
  std::vector<CUgraphNode> done;
  while (done.size() < graph->nodes.size()) {
    for (const auto& node : graph->nodes) {
      const auto finished = [&](CUgraphNode one) { return std::find(done.begin(), done.end(), one) != done.end(); };
      if (finished(node.get()) || !std::all_of(node->after.begin(), node->after.end(), finished)) continue;
      const auto& k = node->kernel;
      const unsigned grid[3] = {k.gridDimX, k.gridDimY, k.gridDimZ}, block[3] = {k.blockDimX, k.blockDimY, k.blockDimZ};
      if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) execute(k.func, grid, block, node->pointers.data());
      if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
        std::memset(host(node->fill.dst), static_cast<int>(node->fill.value), node->fill.width);
      done.push_back(node.get());
    }
  }
  return CUDA_SUCCESS;
}

CUgraphNode add(CUgraph graph, CUgraphNodeType type, const CUgraphNode* after, size_t count) {
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>());
  CUgraphNode node = graph->nodes.back().get();
  node->graph = graph;
  node->type = type;
  node->after.assign(after, after + count);
  return node;
}

void set_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS& params, void** values) {
  node->kernel = params;
  for (const size_t size : params.func->code.sizes) {
    const auto* from = static_cast<const char*>(values[node->values.size()]);
    node->values.emplace_back(from, from + size);
  }
  for (auto& value : node->values) node->pointers.push_back(value.data());
  node->kernel.kernelParams = node->pointers.data();
}

CUresult parameter_of(const KernelCode& code, size_t index, size_t* offset, size_t* bytes) {
  if (index >= code.sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * index;
  *bytes = code.sizes[index];
  return CUDA_SUCCESS;
}

}  // namespace

CUfunction load_kernel(const KernelCode& code) {
  state().functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{code}));
  return state().functions.back().get();
}
void set_capturing(bool on) { state().capturing = on; }

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* at, size_t bytes) {
  const cuMemAlloc_v2_params p{at, bytes};
  return reported("cuMemAlloc_v2", p, nullptr, [&] {
    *at = reinterpret_cast<CUdeviceptr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
    state().allocated[*at] = bytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuMemFree(CUdeviceptr at) {
  const cuMemFree_v2_params p{at};
  return reported("cuMemFree_v2", p, nullptr, [&] { return std::free(host(at)), CUDA_SUCCESS; });
}
CUresult cuMemsetD8(CUdeviceptr at, unsigned char value, size_t count) {
  const cuMemsetD8_v2_params p{at, value, count};
  return reported("cuMemsetD8_v2", p, nullptr, [&] { return std::memset(host(at), value, count), CUDA_SUCCESS; });
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  const cuMemcpyDtoH_v2_params p{to, from, bytes};
  return reported("cuMemcpyDtoH_v2", p, nullptr, [&] { return std::memcpy(to, host(from), bytes), CUDA_SUCCESS; });
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  const cuMemcpyHtoD_v2_params p{to, from, bytes};
  return reported("cuMemcpyHtoD_v2", p, nullptr, [&] { return std::memcpy(host(to), from, bytes), CUDA_SUCCESS; });
}
CUresult cuIpcGetMemHandle(CUipcMemHandle*, CUdeviceptr) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = state().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  static CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(now, *mode);
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* context) { return *context = reinterpret_cast<CUcontext>(&state()), CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  return std::snprintf(name, static_cast<size_t>(length), "stand-in"), CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute, CUdevice) { return *value = 1 << 20, CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  // Of PTX: its first kernel, which writes to memory from its first argument on, as many bytes as the second says.
  const std::string text = static_cast<const char*>(image);
  const size_t at = text.find(".entry ");
  if (at == std::string::npos) return CUDA_ERROR_INVALID_VALUE;
  const size_t from = at + 7;
  const std::string name = text.substr(from, text.find('(', from) - from);
  const CUfunction made = load_kernel({name, {8, 8}, [](void** values, unsigned, unsigned) {
                                         const CUdeviceptr base = *static_cast<CUdeviceptr*>(values[0]);
                                         const auto bytes = *static_cast<uint64_t*>(values[1]);
                                         const auto found = state().allocated.find(base);
                                         if (found == state().allocated.end() || found->second < bytes) std::abort();
                                         std::memset(host(base), 1, bytes);
                                       }});
  return *module = reinterpret_cast<CUmodule>(made), CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  *function = reinterpret_cast<CUfunction>(module);
  return (*function)->code.name == name ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuLibraryGetGlobal(CUdeviceptr*, size_t*, CUlibrary, const char*) { return CUDA_ERROR_NOT_FOUND; }
CUresult cuKernelGetLibrary(CUlibrary*, CUkernel) { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuKernelGetFunction(CUfunction*, CUkernel) { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuFuncGetModule(CUmodule*, CUfunction) { return CUDA_ERROR_INVALID_HANDLE; }
// As with kernels that are loaded lazily, only the kernel's own form of the question is answered.
CUresult cuFuncGetParamInfo(CUfunction, size_t, size_t*, size_t*) { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return parameter_of(reinterpret_cast<CUfunction>(kernel)->code, index, offset, bytes);
}
CUresult cuFuncGetName(const char**, CUfunction) { return CUDA_ERROR_INVALID_HANDLE; }
CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return *name = reinterpret_cast<CUfunction>(kernel)->code.name.c_str(), CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void** values, void** extra) {
  const cuLaunchKernel_params p{f, gx, gy, gz, bx, by, bz, shared, stream, values, extra};
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return reported("cuLaunchKernel", p, f->code.name.c_str(),
                  [&] { return state().capturing ? CUDA_SUCCESS : execute(f, grid, block, values); });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** values, void** extra) {
  const cuLaunchKernelEx_params p{config, f, values, extra};
  const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const unsigned block[3] = {config->blockDimX, config->blockDimY, config->blockDimZ};
  return reported("cuLaunchKernelEx", p, f->code.name.c_str(), [&] { return execute(f, grid, block, values); });
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, CUstream stream, void** values) {
  const cuLaunchCooperativeKernel_params p{f, gx, gy, gz, bx, by, bz, shared, stream, values};
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return reported("cuLaunchCooperativeKernel", p, f->code.name.c_str(),
                  [&] { return execute(f, grid, block, values); });
}

CUresult cuGraphCreate(CUgraph* graph, unsigned) { return *graph = new CUgraph_st, CUDA_SUCCESS; }
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* params) {
  *node = add(graph, CU_GRAPH_NODE_TYPE_KERNEL, after, count);
  return set_kernel(*node, *params, params->kernelParams), CUDA_SUCCESS;
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  *node = add(graph, CU_GRAPH_NODE_TYPE_MEMSET, after, count);
  return (*node)->fill = *params, CUDA_SUCCESS;
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count, const void*) {
  return *node = add(graph, CU_GRAPH_NODE_TYPE_HOST, after, count), CUDA_SUCCESS;
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  for (size_t i = 0; nodes && i < *count; ++i) nodes[i] = graph->nodes[i].get();
  return *count = graph->nodes.size(), CUDA_SUCCESS;
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData*, size_t* count) {
  size_t found = 0;
  for (const auto& node : graph->nodes)
    for (const CUgraphNode earlier : node->after) {
      if (from) from[found] = earlier, to[found] = node.get();
      ++found;
    }
  return *count = found, CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) { return *type = node->type, CUDA_SUCCESS; }
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode, CUgraph*) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return *params = node->kernel, CUDA_SUCCESS;
}
CUresult cuGraphClone(CUgraph* copy, CUgraph graph) {
  std::map<CUgraphNode, CUgraphNode> copies;
  *copy = new CUgraph_st;
  for (const auto& node : graph->nodes) {
    CUgraphNode made = copies[node.get()] = add(*copy, node->type, nullptr, 0);
    made->original = node.get();
    made->fill = node->fill;
    if (node->type == CU_GRAPH_NODE_TYPE_KERNEL) set_kernel(made, node->kernel, node->pointers.data());
  }
  for (const auto& node : graph->nodes)
    for (const CUgraphNode earlier : node->after) copies[node.get()]->after.push_back(copies[earlier]);
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph copy) {
  for (const auto& one : copy->nodes)
    if (one->original == original) return *node = one.get(), CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  CUgraph graph = node->graph;
  for (const auto& one : graph->nodes)
    one->after.erase(std::remove(one->after.begin(), one->after.end(), node), one->after.end());
  const auto same = [&](const auto& one) { return one.get() == node; };
  graph->nodes.erase(std::find_if(graph->nodes.begin(), graph->nodes.end(), same));
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) { return delete graph, CUDA_SUCCESS; }
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  const cuGraphInstantiateWithFlags_params p{executable, graph, flags};
  return reported("cuGraphInstantiateWithFlags", p, nullptr, [&] {
    *executable = new CUgraphExec_st;
    return cuGraphClone(&(*executable)->graph, graph);
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params,
                                        CUcontext) {
  const cuGraphExecMemsetNodeSetParams_params p{executable, node};
  return reported("cuGraphExecMemsetNodeSetParams", p, nullptr, [&] {
    CUgraphNode mine = nullptr;
    cuGraphNodeFindInClone(&mine, node, executable->graph);
    return mine->fill = *params, CUDA_SUCCESS;
  });
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  const cuGraphLaunch_params p{executable, stream};
  return reported("cuGraphLaunch", p, nullptr, [&] { return run_graph(executable->graph); });
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return delete executable->graph, delete executable, CUDA_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc called, void*) {
  return state().called = called, CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId id) {
  return state().enabled[id] = enable, CUPTI_SUCCESS;
}
CUptiResult cuptiEnableDomain(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain) { return CUPTI_SUCCESS; }
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t id, const char** name) {
  if (id >= std::size(kNames)) return CUPTI_ERROR_UNKNOWN;
  return *name = kNames[id], CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) { return *text = "an error", CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc provide,
                                           CUpti_BuffersCallbackCompleteFunc consume) {
  return state().provide = provide, state().consume = consume, CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return state().activities = true, CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushPeriod(uint32_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(uint32_t) {
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  state().provide(&buffer, &size, &most);
  const size_t bytes = state().ran.size() * sizeof(CUpti_ActivityKernel10);
  if (bytes > size) std::abort();
  std::memcpy(buffer, static_cast<void*>(state().ran.data()), bytes);
  return state().consume(nullptr, 0, buffer, size, bytes), CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  auto* const first = reinterpret_cast<CUpti_ActivityKernel10*>(buffer);
  auto* const next = *record ? static_cast<CUpti_ActivityKernel10*>(*record) + 1 : first;
  if (reinterpret_cast<uint8_t*>(next) >= buffer + valid) return CUPTI_ERROR_UNKNOWN;
  return *record = next, CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  return *dropped = 0, CUPTI_SUCCESS;
}
}
