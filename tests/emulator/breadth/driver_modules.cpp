#include <cuda.h>
#include <cstdio>
#define CHECK(call) if (CUresult error = (call)) { const char* n = 0; cuGetErrorName(error, &n); std::printf("%s: %s\n", #call, n ? n : "?"); return 1; }
int main(int count, char** words) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction scale; CUstream stream; CUevent begin, end; CUdeviceptr data;
  CHECK(cuInit(0)) CHECK(cuDeviceGet(&device, 0)) CHECK(cuCtxCreate(&context, 0, device))
  int wide = 0; CHECK(cuDeviceGetAttribute(&wide, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device))
  if (wide != 32) { std::printf("waves of %d\n", wide); return 1; }
  CHECK(cuModuleLoad(&module, words[1])) CHECK(cuModuleGetFunction(&scale, module, "scale"))
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)) CHECK(cuEventCreate(&begin, 0)) CHECK(cuEventCreate(&end, 0))
  float host[100]; for (int i = 0; i < 100; ++i) host[i] = i;
  CHECK(cuMemAlloc(&data, sizeof host)) CHECK(cuMemcpyHtoDAsync(data, host, sizeof host, stream))
  float by = 2; int elements = 100; void* arguments[] = {&data, &by, &elements};
  CHECK(cuEventRecord(begin, stream)) CHECK(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, stream, arguments, 0))
  struct { CUdeviceptr data; float by; int count; } packed = {data, 3, 100}; size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(scale, 4, 1, 1, 32, 1, 1, 0, stream, 0, extra)) CHECK(cuEventRecord(end, stream))
  CHECK(cuFuncSetBlockShape(scale, 32, 1, 1)) CHECK(cuParamSetSize(scale, 16)) CHECK(cuParamSetv(scale, 0, &data, 8))
  CHECK(cuParamSetf(scale, 8, 2)) CHECK(cuParamSeti(scale, 12, 100)) CHECK(cuLaunchGridAsync(scale, 4, 1, stream))
  CHECK(cuMemcpyDtoHAsync(host, data, sizeof host, stream)) CHECK(cuStreamSynchronize(stream))
  float ms; int threads; CHECK(cuEventElapsedTime(&ms, begin, end))
  CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale))
  for (int i = 0; i < 100; ++i) if (host[i] != 12 * i) { std::printf("%d: %g\n", i, host[i]); return 1; }
  std::printf("%s\n", threads == 1024 && cuModuleGetFunction(&scale, module, "other") == CUDA_ERROR_NOT_FOUND ? "all good" : "odd");
}
