#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <cstring>
#include <string>
const char* source = R"(
#include "factor.h"
namespace n { template <class T, int k> __global__ void fill(T* to) { to[threadIdx.x] = T(k * FACTOR * threadIdx.x) + T(OFFSET); } }
__device__ int total;
)";
int main() {
  const char *text = "#define FACTOR 5\n", *name = "factor.h", *broken = "__global__ void k() { nothing(); }", *lowered, *variable;
  nvrtcProgram program;
  nvrtcCreateProgram(&program, broken, "broken.cu", 0, 0, 0);
  if (nvrtcCompileProgram(program, 0, 0) != NVRTC_ERROR_COMPILATION) return 1;
  size_t size; nvrtcGetProgramLogSize(program, &size);
  std::string log(size, 0); nvrtcGetProgramLog(program, &log[0]);
  if (log.find("nothing") == std::string::npos || log.find("broken.cu") == std::string::npos) return std::puts(log.c_str()), 2;
  nvrtcDestroyProgram(&program);
  nvrtcCreateProgram(&program, source, "fill.cu", 1, &text, &name);
  nvrtcAddNameExpression(program, "n::fill<float, 2>"); nvrtcAddNameExpression(program, "&total");
  const char* options[] = {"--gpu-architecture=compute_90", "-DOFFSET=(1,2)", "--std=c++17"};
  if (nvrtcCompileProgram(program, 3, options)) { nvrtcGetProgramLog(program, &log[0]); return std::puts(log.c_str()), 3; }
  if (nvrtcGetLoweredName(program, "n::fill<float, 2>", &lowered) || nvrtcGetLoweredName(program, "&total", &variable)) return 4;
  if (std::strncmp(lowered, "_ZN1n4fill", 10) != 0 || std::strcmp(variable, "total") != 0) return std::puts(lowered), 5;
  nvrtcGetPTXSize(program, &size); std::string ptx(size, 0); nvrtcGetPTX(program, &ptx[0]);
  std::string shorter = ptx.c_str();  // as programs keep it
  CUdevice device; CUcontext context; CUmodule module; CUfunction fill; CUdeviceptr data;
  cuInit(0); cuDeviceGet(&device, 0); cuCtxCreate(&context, 0, device); cuMemAlloc(&data, 256);
  if (cuModuleLoadDataEx(&module, shorter.c_str(), 0, 0, 0) || cuModuleGetFunction(&fill, module, lowered)) return 6;
  void* arguments[] = {&data}; float host[64];
  if (cuLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, 0, arguments, 0) || cuMemcpyDtoH(host, data, 256)) return 7;
  for (int i = 0; i < 64; ++i) if (host[i] != 10 * i + 2) return 8;
  std::puts(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION));
}
