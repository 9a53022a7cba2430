// Names of the global and constant variables of a loaded GPU binary (an ELF file).
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace intelliperf {

std::vector<std::string> variables_of(const void* image, size_t bytes);

}  // namespace intelliperf
