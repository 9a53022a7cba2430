// Two processes and one buffer: the second one, started by the first, opens it, checks it and writes to it.
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <string>

#include "check.h"

constexpr int kCount = 5000;
extern char** environ;

__global__ void negate(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = -values[i];
}

std::string in_hexadecimal(const hipIpcMemHandle_t& handle) {
  std::string text;
  char digits[3];
  for (const unsigned char byte : handle.reserved) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

hipIpcMemHandle_t from_hexadecimal(const std::string& text) {
  hipIpcMemHandle_t handle;
  for (size_t n = 0; n < sizeof handle.reserved; ++n)
    handle.reserved[n] = char(std::stoi(text.substr(2 * n, 2), nullptr, 16));
  return handle;
}

int open_and_negate(const char* handle) {
  int* values = nullptr;
  SUCCEED(hipIpcOpenMemHandle(reinterpret_cast<void**>(&values), from_hexadecimal(handle), hipIpcMemLazyEnablePeerAccess));
  std::vector<int> seen(kCount);
  SUCCEED(hipMemcpy(seen.data(), values, kCount * sizeof(int), hipMemcpyDeviceToHost));
  for (int i = 0; i < kCount; ++i) expect("seen by the other", i, seen[i], 3 * i + 1);
  negate<<<(kCount + 255) / 256, 256>>>(values, kCount);
  SUCCEED(hipDeviceSynchronize());
  SUCCEED(hipIpcCloseMemHandle(values));
  return finish();
}

int main(int count, char** arguments) {
  if (count > 1) return open_and_negate(arguments[1]);
  Buffer<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values.host[i] = 3 * i + 1;
  values.upload();
  hipIpcMemHandle_t handle;
  SUCCEED(hipIpcGetMemHandle(&handle, values.device));
  const std::string text = in_hexadecimal(handle);
  char* const other[] = {arguments[0], const_cast<char*>(text.c_str()), nullptr};
  pid_t process;
  int status = -1;
  expect("started", 0, posix_spawn(&process, arguments[0], nullptr, nullptr, other, environ), 0);
  waitpid(process, &status, 0);
  expect("the other's checks", 0, status, 0);
  values.download();
  for (int i = 0; i < kCount; ++i) expect("negated", i, values.host[i], -(3 * i + 1));
  return finish();
}
