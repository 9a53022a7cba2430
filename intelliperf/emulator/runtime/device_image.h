// The forms that a container of device code takes outside a program: its bytes, as in a cubin, or text, where a
// program expects PTX and may treat it as a string.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace simt {

// Reads both forms from at most `most` bytes; ~0 where the caller does not know how many there are. False: neither.
bool image_from(const char* data, size_t most, std::vector<char>* image);

std::string image_as_text(const std::vector<char>& image);

}  // namespace simt
