// What is loaded: kernels by the handle that a dispatch carries, and the variables that live beside them.
#pragma once
#include <hsa.h>
#include <hsa_ven_amd_loader.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metadata.h"
#include "tables.h"

namespace intelliperf {

struct LoadedKernel {
  std::string symbol;  // mangled, the same in every compilation
  std::optional<KernelLayout> layout;
  uint64_t executable = 0;
};

struct Variable {
  std::string name;
  uint64_t base = 0;
  uint64_t bytes = 0;
};

// Values of FLOAT_ROUND_MODE_32 and FLOAT_ROUND_MODE_16_64 in a kernel descriptor (LLVM, "User Guide for AMDGPU Backend").
enum class Rounding : uint32_t { kNearest = 0, kUp = 1, kDown = 2 };

class Programs {
 public:
  explicit Programs(const Functions& runtime) : runtime_(runtime) {}
  void load(hsa_executable_t executable, hsa_loaded_code_object_t loaded);
  // After the executable is frozen: takes in its kernels, returns its variables.
  std::vector<Variable> freeze(hsa_executable_t executable);
  // From the next dispatch on, its kernels round all floating-point arithmetic that way.
  void round(hsa_executable_t executable, Rounding rounding);
  // Bases of the variables that go with it.
  std::vector<uint64_t> destroy(hsa_executable_t executable);
  const LoadedKernel* find(uint64_t kernel_object) const;
  // The variable of that name beside the kernel; null where there is none.
  const Variable* variable(const LoadedKernel& kernel, const std::string& name) const;

 private:
  struct Executable {
    std::map<std::string, KernelLayout> layouts;
    std::vector<uint64_t> kernels;
    std::vector<Variable> variables;
  };
  struct Visit;
  void take_in(uint64_t handle, hsa_executable_symbol_t symbol);

  const Functions& runtime_;
  hsa_ven_amd_loader_1_01_pfn_t loader_{};
  bool has_loader_ = false;
  std::map<uint64_t, Executable> executables_;
  std::map<uint64_t, LoadedKernel> kernels_;
};

// Without the suffix by which clang makes internal symbols unique per compilation. See symbols.py, which must agree.
std::string plain_symbol(const std::string& symbol);

}  // namespace intelliperf
