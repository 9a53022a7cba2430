#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>
int main() {
  std::ifstream in("scale.cu"); std::stringstream text; text << in.rdbuf();
  hiprtcProgram program;
  if (hiprtcCreateProgram(&program, text.str().c_str(), "scale.cu", 0, nullptr, nullptr)) return 1;
  const char* options[] = {"--gpu-architecture=gfx942", "-O3"};
  if (hiprtcCompileProgram(program, 2, options)) return 2;
  size_t bytes; hiprtcGetCodeSize(program, &bytes); std::vector<char> code(bytes); hiprtcGetCode(program, code.data());
  hiprtcDestroyProgram(&program);
  hipModule_t module; hipFunction_t scale; float* data; float host[64]; for (float& v : host) v = 4;
  if (hipModuleLoadData(&module, code.data()) || hipModuleGetFunction(&scale, module, "scale")) return 3;
  hipMalloc(&data, sizeof host); hipMemcpy(data, host, sizeof host, hipMemcpyHostToDevice);
  float by = 3; int count = 64; void* arguments[] = {&data, &by, &count};
  if (hipModuleLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr)) return 4;
  hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost);
  std::puts(host[0] == 12 && host[63] == 12 ? "all good" : "wrong");
}
