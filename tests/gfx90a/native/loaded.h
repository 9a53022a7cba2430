// What a code object in the device's memory says about itself.
#pragma once
#include <cstdint>
#include <string>

namespace gfx90a {

struct LoadedKernel {
  uint64_t load_address = 0;  // of the code object; 0: not found
  std::string name;           // mangled; empty: not found
};
LoadedKernel find_kernel(uint64_t kernel_object, uint64_t allocation_begin);

}  // namespace gfx90a
