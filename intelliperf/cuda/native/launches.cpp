#include "launches.h"

#include <cstring>
#include <vector>

#include "signature.h"

namespace intelliperf {

namespace {

bool layout_of(CUfunction function, size_t index, size_t& offset, size_t& bytes) {
  if (!is_kernel(function)) return cuFuncGetParamInfo(function, index, &offset, &bytes) == CUDA_SUCCESS;
  return cuKernelGetParamInfo(reinterpret_cast<CUkernel>(function), index, &offset, &bytes) == CUDA_SUCCESS;
}

// The packed argument buffer of a launch that hands one over instead of single values.
const unsigned char* packed_arguments(void** extra) {
  for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2)
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) return static_cast<const unsigned char*>(extra[i + 1]);
  return nullptr;
}

std::string name_of(CUfunction function) {
  const char* name = nullptr;
  if (cuFuncGetName(&name, function) == CUDA_SUCCESS && name) return name;
  if (cuKernelGetName(&name, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS && name) return name;
  return "";
}

template <typename Parameters>
void take_shape(Launch& launch, const Parameters& p) {
  const unsigned shape[6] = {p.gridDimX, p.gridDimY, p.gridDimZ, p.blockDimX, p.blockDimY, p.blockDimZ};
  std::memcpy(launch.grid, shape, sizeof launch.grid);
  std::memcpy(launch.block, shape + 3, sizeof launch.block);
  launch.dynamic_lds = p.sharedMemBytes;
}

template <typename Parameters>
void take(Request& request, const Parameters& p, bool per_thread) {
  request.function = p.f;
  request.values = p.kernelParams;
  request.stream = stream_of(p.hStream, per_thread);
  take_shape(request.launch, p);
}

}  // namespace

bool is_kernel(CUfunction function) {
  size_t offset = 0, bytes = 0;
  return cuFuncGetParamInfo(function, 0, &offset, &bytes) == CUDA_ERROR_INVALID_HANDLE;
}

bool launches(Call call) {
  return call == Call::kLaunch || call == Call::kLaunchEx || call == Call::kLaunchCooperative;
}

CUstream stream_of(CUstream given, bool per_thread) { return given || !per_thread ? given : CU_STREAM_PER_THREAD; }

bool capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Request request_of(const CallFacts& facts, const CUpti_CallbackData* info) {
  Request request;
  request.call = facts.call;
  if (facts.call == Call::kLaunchEx) {
    const auto& p = parameters<cuLaunchKernelEx_params>(info);
    request.function = p.f;
    request.values = p.kernelParams;
    request.extra = p.extra;
    request.stream = stream_of(p.config->hStream, facts.per_thread);
    request.config = p.config;
    take_shape(request.launch, *p.config);
  } else if (facts.call == Call::kLaunchCooperative) {
    take(request, parameters<cuLaunchCooperativeKernel_params>(info), facts.per_thread);
  } else {
    const auto& p = parameters<cuLaunchKernel_params>(info);
    take(request, p, facts.per_thread);
    request.extra = p.extra;
  }
  request.launch.kernel = canonical(info->symbolName ? info->symbolName : name_of(request.function));
  return request;
}

Request request_of(const CUDA_KERNEL_NODE_PARAMS& node) {
  Request request;
  request.function = node.func ? node.func : reinterpret_cast<CUfunction>(node.kern);
  request.values = node.kernelParams;
  request.extra = node.extra;
  take_shape(request.launch, node);
  request.launch.kernel = canonical(name_of(request.function));
  return request;
}

void read_arguments(Request& request) {
  const unsigned char* packed = request.values ? nullptr : packed_arguments(request.extra);
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; (request.values || packed) && layout_of(request.function, i, offset, bytes); ++i) {
    const auto* from = request.values ? static_cast<const unsigned char*>(request.values[i]) : packed + offset;
    request.launch.arguments.push_back({{from, from + bytes}});
  }
}

CUresult launch_again(const Request& request, const Launch& other) {
  std::vector<void*> values;
  for (const Argument& argument : other.arguments) values.push_back(const_cast<unsigned char*>(argument.value.data()));
  const unsigned* grid = other.grid;
  const unsigned* block = other.block;
  const auto lds = static_cast<unsigned>(other.dynamic_lds);
  if (request.call == Call::kLaunchEx) {
    CUlaunchConfig config = *request.config;
    config.gridDimX = grid[0], config.gridDimY = grid[1], config.gridDimZ = grid[2];
    config.hStream = request.stream;
    return cuLaunchKernelEx(&config, request.function, values.data(), nullptr);
  }
  if (request.call == Call::kLaunchCooperative)
    return cuLaunchCooperativeKernel(request.function, grid[0], grid[1], grid[2], block[0], block[1], block[2], lds,
                                     request.stream, values.data());
  return cuLaunchKernel(request.function, grid[0], grid[1], grid[2], block[0], block[1], block[2], lds, request.stream,
                        values.data(), nullptr);
}

bool has_attributes(const Request& request) { return request.config && request.config->numAttrs > 0; }

}  // namespace intelliperf
