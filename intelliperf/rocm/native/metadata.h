// Argument layouts of the kernels of a code object, from its AMDGPU note (MessagePack).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace intelliperf {

struct ArgumentLayout {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool pointer = false;
};

struct KernelLayout {
  std::vector<ArgumentLayout> arguments;  // those of the source; what the compiler adds is left out
  uint64_t kernarg_bytes = 0;
  uint64_t group_bytes = 0;  // static LDS
};

// By symbol, as "_Z5saxpyPfPKffi.kd"; empty where the bytes are not a code object with such a note.
std::map<std::string, KernelLayout> kernel_layouts(const void* code_object, size_t bytes);

}  // namespace intelliperf
