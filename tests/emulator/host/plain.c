/* The headers serve plain C. */
#include <stdio.h>
#ifdef USE_CUDA
#include <cuda_runtime_api.h>
#define API(name) cuda##name
#else
#include <hip/hip_runtime_api.h>
#define API(name) hip##name
#endif

int main(void) {
  int *device = 0, in = 42, out = 0;
  API(Stream_t) stream;
  if (API(StreamCreate)(&stream) != API(Success)) return 1;
  if (API(Malloc)((void**)&device, sizeof in) != API(Success)) return 2;
  if (API(Memcpy)(device, &in, sizeof in, API(MemcpyHostToDevice)) != API(Success)) return 3;
  if (API(MemcpyAsync)(&out, device, sizeof out, API(MemcpyDeviceToHost), stream) != API(Success)) return 4;
  if (API(StreamSynchronize)(stream) != API(Success)) return 5;
  printf("%d %s\n", out, API(GetErrorString)(API(Free)(device)));
  return out == in ? 0 : 6;
}
