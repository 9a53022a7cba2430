// What the stand-in driver runs as kernels: functions of this program, by their mangled names.
#pragma once
#include <cuda.h>

#include <functional>
#include <string>
#include <vector>

struct KernelCode {
  std::string name;
  std::vector<size_t> sizes;  // of the parameters
  std::function<void(void** values, unsigned blocks, unsigned threads)> run;
};

CUfunction load_kernel(const KernelCode& code);
void set_capturing(bool on);  // of every stream
