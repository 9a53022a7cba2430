// Programs that must not end well: an instruction nobody knows, memory that is not the device's, no end at all.
#include <cstring>

#include "../check.h"

__global__ void strange(float* out) {
  float found;
  asm volatile("v_cubeid_f32 %0, %1, %1, %1" : "=v"(found) : "v"(out[threadIdx.x]));
  out[threadIdx.x] = found;
}

__global__ void astray(int* out, long far) { out[threadIdx.x + far] = 1; }

__global__ void endless(volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void quitting(int* out) {
  if (out[threadIdx.x] == 0) __builtin_trap();
}

int main(int count, char** arguments) {
  Buffer<int> buffer(64);
  const char* const what = count > 1 ? arguments[1] : "";
  if (std::strcmp(what, "strange") == 0) strange<<<1, 64>>>(reinterpret_cast<float*>(buffer.device));
  if (std::strcmp(what, "astray") == 0) astray<<<1, 64>>>(buffer.device, 1l << 40);
  if (std::strcmp(what, "endless") == 0) endless<<<1, 1>>>(buffer.device);
  if (std::strcmp(what, "quitting") == 0) quitting<<<1, 64>>>(buffer.device);
  std::puts("launched");
  std::fflush(stdout);
  buffer.download();
  std::puts("came back");
  return 0;
}
